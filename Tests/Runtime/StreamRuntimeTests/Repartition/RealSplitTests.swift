import Foundation
import Kafka
import NudgeSchema
import TestSupport
import Testing

@testable import StreamRuntime

extension RealServiceTests {
  @Test(
    "12 tasks become 48: each row is in its new task alone, as it was (NUDGE_REPARTITION_ROWS=1000000 for a million)")
  func split() throws {
    let count: Int = runParameter("NUDGE_REPARTITION_ROWS") ?? 20_000
    let brokers = try Self.broker.get().bootstrapServers
    let names = TopicNames(prefix: "split.")
    let admin = try Admin(ClientConfiguration(bootstrapServers: brokers))
    let topics = [Topic.timeline, .analyzerState].map {
      Admin.NewTopic(
        name: names($0), partitions: 12, replicationFactor: 1, configuration: TopicPlan($0).configuration)
    }
    for result in try admin.createTopics(topics, timeout: .seconds(30)).values { try result.get() }
    try wait(for: "the topics") {
      try admin.listTopics(timeout: .seconds(5)).count { names.topic(named: $0.key) != nil } >= 2
    }

    func key(_ number: Int) -> String { "person-\(number)" }
    func value(_ number: Int) -> [UInt8] { Array("\(number) \(String(repeating: "x", count: number % 300))".utf8) }
    let producer = try Producer(.producer(bootstrapServers: brokers, transactionalID: nil), name: "test-rows")
    defer { producer.close() }
    let changelog = try producer.topic(names(.analyzerState))
    for number in 0..<count {
      let partition = Murmur2.partition(of: Array(key(number).utf8), count: 12)
      let row = RowKey("k", key(number)).bytes
      // Some were changed, and some removed and made again.
      if number % 10 == 0 { try producer.produce(topic: changelog, partition: partition, key: row, value: [1]) }
      if number % 20 == 0 { try producer.produce(topic: changelog, partition: partition, key: row, value: nil) }
      try producer.produce(topic: changelog, partition: partition, key: row, value: value(number))
    }
    for task: Int32 in 0..<12 {
      let position = PositionRecord(sequence: 7, next: ["nudge.timeline": 0], writer: "test")
      try producer.produce(
        topic: changelog, partition: task, key: PositionRecord.key.bytes, value: try RecordCoder().encode(position))
    }
    try producer.flush(timeout: .seconds(120))

    let split = try TaskSplit(
      of: CountingStage.definition, CountingStage.splitRules, topics: names, bootstrapServers: brokers)
    #expect(throws: StateRepairError.self) { try split.carryOut(from: 12, to: 48) { _ in } }
    for result in try admin.createPartitions([names(.analyzerState): 48], timeout: .seconds(30)).values {
      try result.get()
    }
    try wait(for: "48 partitions") { try admin.listTopics(timeout: .seconds(5))[names(.analyzerState)] == 48 }
    let planned = try split.survey(from: 12, to: 48)
    #expect(planned.reduce(0) { $0 + $1.rows } == count)
    // Stopped in the middle, and begun again by another process.
    var tasks = 0
    #expect(throws: StoppedSplit.self) {
      try split.carryOut(from: 12, to: 48) { _ in
        tasks += 1
        if tasks == 5 { throw StoppedSplit() }
      }
    }
    let second = try TaskSplit(
      of: CountingStage.definition, CountingStage.splitRules, topics: names, bootstrapServers: brokers)
    let started = ContinuousClock.now
    var moved = 0
    try second.carryOut(from: 12, to: 48) { moved += $0.moving }
    print("split of \(count) rows: \(moved) rows of the last 7 tasks moved in \(ContinuousClock.now - started)")

    // The rows as a restore would find them.
    let reader = try LogReader(brokers, overrides: [], log: { _ in })
    defer { reader.close() }
    try reader.warmUp([names(.analyzerState)])
    var found = 0
    for task: Int32 in 0..<48 {
      let place = TopicPartition(topic: names(.analyzerState), partition: task)
      let ends = try reader.ends(of: place)
      var rows: [RowKey: [UInt8]] = [:]
      try reader.records(of: place, from: ends.start, to: ends.high) { record in
        rows[RowKey(bytes: record.keyBytes() ?? [])] = record.valueBytes()
      }
      let last = rows.removeValue(forKey: PositionRecord.key)
      let position = try RecordCoder().decode(PositionRecord.self, from: try #require(last))
      #expect(position.sequence == (task < 12 ? 7 : 1) && position.next == ["nudge.timeline": 0])
      found += rows.count
      for (row, bytes) in rows {
        let id = row.parts[1]
        let number = Int(id.dropFirst("person-".count)) ?? -1
        guard Murmur2.partition(of: Array(id.utf8), count: 48) == task, bytes == value(number) else {
          Issue.record("\(id) is in task \(task) with \(bytes.count) bytes")
          return
        }
      }
    }
    #expect(found == count)
  }
}

private struct StoppedSplit: Error {}
