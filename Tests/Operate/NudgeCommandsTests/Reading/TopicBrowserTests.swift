import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import Synchronization
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

@Suite("Reading topics for people")
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

  @Test("a broker that knows no offsets by time is read from the beginning rather than not at all")
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

  @Test("a partition that is not there is said to be, with how many there are")
  func strangePartition() throws {
    let world = try BrowsedBroker()
    let browser = try TopicBrowser(world.cluster, progress: silent())
    defer { browser.close() }
    #expect(throws: ReadingError.self) { try browser.ranges(of: .decisions, partitions: [7]) }
  }

  @Test("without a broker each command ends with an error that names the setting, within ten seconds")
  func noBroker() {
    let commands = [
      ["explain", "--user", "ann"], ["tail", "decisions"], ["lag"], ["dead-letters", "list"], ["replay", "list"],
    ]
    let results = Mutex<[(command: [String], status: Int32, said: String, took: Duration)]>([])
    // All at a time: each takes eight seconds.
    DispatchQueue.concurrentPerform(iterations: commands.count) { number in
      let start = ContinuousClock.now
      var said = ""
      // Nothing listens on the discard port of this machine.
      let status = NudgeCLI.run(
        commands[number] + ["--bootstrap-servers", "127.0.0.1:9"], environment: [:], output: { _ in },
        errors: { said += $0 })
      let took = start.duration(to: .now)
      results.withLock { $0.append((commands[number], status, said, took)) }
    }
    for (command, status, said, took) in results.withLock({ $0 }) {
      #expect(status == ExitCode.failure, "\(command)")
      #expect(said.contains("--bootstrap-servers 127.0.0.1:9"), "\(command): \(said)")
      #expect(took < .seconds(10), "\(command)")
    }
    #expect(results.withLock { $0.count } == commands.count)
  }
}
