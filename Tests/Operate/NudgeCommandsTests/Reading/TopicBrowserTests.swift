import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import TestSupport
import Testing

@testable import NudgeCommands

/// A broker of the test's own, and records on it.
private struct BrowsedBroker {
  let broker: EmbeddedBroker
  let cluster: ClusterSettings
  private let producer: Producer

  init() throws {
    broker = try EmbeddedBroker()
    try TopicCreation.create(on: broker, partitions: 3)
    cluster = ClusterSettings(bootstrapServers: broker.bootstrapServers)
    producer = try Producer(
      .producer(bootstrapServers: broker.bootstrapServers, transactionalID: nil), name: "test")
  }

  func produce(_ value: String, key: String, to topic: Topic, at time: Milliseconds) throws {
    try producer.produce(
      topic: try producer.topic(topic.rawValue), partition: -1, key: Array(key.utf8), value: Array(value.utf8),
      timestamp: time)
  }

  func flush() throws { try producer.flush(timeout: .seconds(30)) }
}

private func silent() -> ReadingProgress { ReadingProgress(isTerminal: false, write: { _ in }) }

@Suite("Reading topics")
struct TopicBrowserTests {
  @Test("a person's records are found on their partition, in order, and no others")
  func byKey() throws {
    let world = try BrowsedBroker()
    for number in 0..<300 {
      try world.produce(#"{"n":\#(number)}"#, key: "user-\(number % 30)", to: .decisions, at: 1_000 + Int64(number))
    }
    try world.flush()
    let browser = try TopicBrowser(world.cluster, progress: silent())
    defer { browser.close() }
    var numbers: [Int64] = []
    try browser.records(of: .decisions, key: "user-7") { record in
      numbers.append(try JSONValue(record.valueBytes() ?? [])["n"]?.integer ?? -1)
      return true
    }
    let expected: [Int64] = Array(stride(from: 7, to: 300, by: 30))
    #expect(numbers == expected)
    let first = try #require(try browser.ranges(of: .decisions).first { $0.count > 0 })
    let offset = try browser.withRecord(
      at: RecordPosition(topic: "nudge.decisions", partition: first.place.partition, offset: first.from + 1)
    ) { $0.offset }
    #expect(offset == first.from + 1)
    let gone = try browser.withRecord(
      at: RecordPosition(topic: "nudge.decisions", partition: first.place.partition, offset: first.to + 5)
    ) { $0.offset }
    #expect(gone == nil)
  }

  @Test("a broker that does not find offsets by time is read from the beginning")
  func times() throws {
    let world = try BrowsedBroker()
    for number in 0..<30 {
      try world.produce("{}", key: "user-\(number)", to: .decisions, at: 1_000 + Int64(number))
    }
    try world.flush()
    let browser = try TopicBrowser(world.cluster, progress: silent())
    defer { browser.close() }
    let ranges = try browser.ranges(of: .decisions, from: 1_010)
    #expect(ranges.reduce(0) { $0 + $1.count } == 30)
    var seen = 0
    try browser.read(ranges, "reading") { _ in
      seen += 1
      return true
    }
    #expect(seen == 30)
  }

  @Test("an unknown partition is an error that names the number of partitions")
  func strangePartition() throws {
    let world = try BrowsedBroker()
    let browser = try TopicBrowser(world.cluster, progress: silent())
    defer { browser.close() }
    #expect(throws: CommandError.self) { try browser.ranges(of: .decisions, partitions: [7]) }
  }
}
