import Foundation
import Synchronization
import Testing

@testable import Kafka

/// The time-out of everything in these tests; generous for a loaded machine.
let patience = Duration.seconds(30)

struct Impatience: Error, CustomStringConvertible {
  let description: String
}

/// Repeats an attempt until it returns a value; throws at the deadline.
func eventually<Value>(_ what: String, within limit: Duration = patience, _ attempt: () throws -> Value?) throws
  -> Value
{
  let end = ContinuousClock.now + limit
  while ContinuousClock.now < end {
    if let value = try attempt() { return value }
  }
  throw Impatience(description: "waited \(limit) for \(what)")
}

func uniqueName(_ what: String) -> String { "\(what)-\(UUID().uuidString.prefix(8))" }

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

/// Collects the arguments of callbacks.
final class Collected<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])
  func add(_ element: Element) { elements.withLock { $0.append(element) } }
  var all: [Element] { elements.withLock { $0 } }
}

extension Consumer {
  /// A consumer that assigns itself these partitions, from their beginnings.
  static func reading(
    _ partitions: [TopicPartition], of bootstrapServers: String, from offset: Int64 = Offset.beginning,
    _ overrides: [ClientConfiguration.Property] = []
  ) throws -> Consumer {
    let configuration = ClientConfiguration.consumer(
      bootstrapServers: bootstrapServers, group: nil, reportsEndOfPartition: true)
    let consumer = try Consumer(configuration.merging(overrides: overrides), name: uniqueName("reader"))
    try consumer.assign(partitions.map { TopicPartitionOffset($0, offset: offset) })
    return consumer
  }

  /// Polls until there are this many records.
  func records(_ count: Int) throws -> [ConsumerRecord] {
    var records: [ConsumerRecord] = []
    _ = try eventually("\(count) records") {
      if case .record(let record) = poll(timeout: .milliseconds(100)) { records.append(record) }
      return records.count >= count ? true : nil
    }
    return records
  }

  /// All values up to the end of each assigned partition.
  func valuesToEnd(of partitions: [TopicPartition]) throws -> [String?] {
    var values: [String?] = []
    var open = Set(partitions)
    _ = try eventually("the end of \(partitions)") {
      switch poll(timeout: .milliseconds(100)) {
      case .record(let record): values.append(text(record.valueBytes()))
      case .endOfPartition(let partition, _): open.remove(partition)
      case .error(let error): throw error
      default: break
      }
      return open.isEmpty ? true : nil
    }
    return values
  }

  /// Polls until the group gives or takes partitions.
  func rebalance() throws -> Event {
    try eventually("a rebalance") {
      switch poll(timeout: .milliseconds(100)) {
      case .some(.assigned(let partitions)): return .assigned(partitions)
      case .some(.revoked(let partitions, let lost)): return .revoked(partitions, lost: lost)
      default: return nil
      }
    }
  }

  /// Polls until the group gives partitions, giving up what it takes meanwhile.
  func assigned() throws -> [TopicPartition] {
    while true {
      switch try rebalance() {
      case .assigned(let partitions): return partitions
      default: try assign([])
      }
    }
  }
}

extension Producer {
  /// Produces texts into partition 0 and waits until they are acknowledged.
  func write(_ values: [String], to topic: String, partition: Int32 = 0) throws {
    let handle = try self.topic(topic)
    for value in values { try produce(topic: handle, partition: partition, key: bytes("k"), value: bytes(value)) }
    try flush(timeout: patience)
  }
}
