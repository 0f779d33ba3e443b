import Foundation
import KafkaTransactions

/// The native sink, in this process.
final class SinkClient: TransactionClient {
  static let name = "sink"
  let name: String
  private let target: TransactionTarget
  private let sink: TransactionalProducer
  private var content: TransactionContent
  private let value: [UInt8]
  private var number: Int64 = 0

  static let timeout: Duration = .seconds(30)

  /// Opens a sink whose ids begin so.
  /// - Parameter version: of its transactions; nil: the cluster's.
  init(_ target: TransactionTarget, id: String = "sink", version: TransactionVersion? = nil) throws {
    self.target = target
    name = version.map { "\(Self.name), version \($0.rawValue)" } ?? Self.name
    var configuration = try TransactionalProducerConfiguration(bootstrapServers: target.bootstrapServers)
    configuration.transactionVersion = version
    sink = try TransactionalProducer(
      configuration,
      transactionalIDs: ["\(id)-0", "\(id)-1"],
      topics: target.topics, group: target.group)
    content = sink.makeContent(timestamp: 0)
    value = [UInt8](repeating: UInt8(ascii: "x"), count: target.recordBytes)
    try sink.open(timeout: Self.timeout)
  }

  func run(_ shape: TransactionShape, transactions: Int) throws -> TransactionRun {
    let places = shape.places(topicCount: target.topics.count)
    let inputs = places.filter { $0.topic == 0 }.map(\.partition)
    var run = TransactionRun(latencies: [], cpuSeconds: 0)
    run.latencies.reserveCapacity(transactions)
    let processor = Clocks.processor
    for _ in 0..<transactions {
      let start = Clocks.steady
      try commit(places, inputs)
      run.latencies.append((Clocks.steady - start) * 1e3)
    }
    run.cpuSeconds = Clocks.processor - processor
    return run
  }

  private func commit(_ places: [TransactionShape.Place], _ inputs: [Int32]) throws {
    number += 1
    content.reset(timestamp: Int64(Date().timeIntervalSince1970 * 1000))
    for place in places {
      for _ in 0..<place.records {
        content.append(topic: place.topic, partition: place.partition, key: nil, value: value)
      }
    }
    content.offsets = TransactionOffsets(
      group: target.group, memberID: target.member, generation: target.generation, instanceID: nil,
      offsets: inputs.map { .init(topic: target.topics[0], partition: $0, offset: number, metadata: "") })
    let outcome = sink.commit(content, timeout: Self.timeout)
    guard case .committed = outcome else { throw BenchmarkFailure("\(name): \(outcome)") }
  }

  func close() { sink.close() }
}
