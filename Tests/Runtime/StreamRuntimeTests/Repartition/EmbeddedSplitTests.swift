import Kafka
import NudgeSchema
import ServiceKit
import TestSupport
import Testing

@testable import StreamRuntime

extension CountingStage {
  static let splitRules = SplitRules(home: { key, _ in .taskOf(key.parts[1]) })
}

@Suite("Tasks that are split, on the embedded broker")
struct EmbeddedSplitTests {
  @Test("counts go on in the new tasks; nothing is counted twice")
  func goesOn() throws {
    let broker = try EmbeddedBroker()
    // This broker cannot add partitions: the topics have them from the start, and records come by the former number.
    for topic in ["nudge.timeline", "nudge.decisions", "nudge.analyzer-state", "nudge.dead-letters"] {
      try broker.createTopic(topic, partitions: 6)
    }
    let brokers = broker.bootstrapServers
    let directory = try TemporaryDirectory()
    let records = (0..<200).map { (key: String?.some("key-\($0 % 20)"), value: "value") }
    func outputs() throws -> [String: [Int]] {
      let read = try Records.all(brokers: brokers, topic: "nudge.decisions", partitions: 6)
      return Dictionary(grouping: read) { $0.key ?? "" }.mapValues { records in
        records.compactMap { $0.value?.split(separator: " ").first.flatMap { Int($0) } }
      }
    }
    func run(_ count: Int) throws {
      let service = try ServiceUnderTest(brokers: brokers, stateDirectory: directory.path)
      try service.start()
      try wait(for: "\(count) outputs") { try outputs().values.reduce(0) { $0 + $1.count } >= count }
      service.service.stop()
      #expect(service.ends.isEmpty)
    }
    try Records.produce(records, brokers: brokers, topic: "nudge.timeline", partitions: 2)
    try run(200)

    let split = try TaskSplit(
      of: CountingStage.definition, CountingStage.splitRules, topics: TopicNames(), bootstrapServers: brokers)
    let planned = try split.survey(from: 2, to: 6)
    #expect(planned.map(\.rows).reduce(0, +) == 20 && planned.map(\.moving).reduce(0, +) > 0)
    var done: [SplitTask] = []
    try split.carryOut(from: 2, to: 6) { done.append($0) }
    #expect(done == planned)
    #expect(try split.survey(from: 2, to: 6).allSatisfy { $0.moving == 0 && $0.copies == 0 && $0.bytes == 0 })
    // Again, as after a crash at the end.
    try split.carryOut(from: 2, to: 6) { #expect($0.moving == 0) }

    try Records.produce(records, brokers: brokers, topic: "nudge.timeline", partitions: 6)
    try run(400)
    let found = try outputs()
    #expect(found.count == 20)
    for (key, counts) in found { #expect(counts.sorted() == Array(1...20), "counts of \(key)") }
  }

  @Test("answers that former owners have handed over stop the split while they may be needed")
  func handovers() throws {
    let broker = try EmbeddedBroker()
    for topic in ["nudge.timeline", "nudge.analyzer-state"] { try broker.createTopic(topic, partitions: 2) }
    let brokers = broker.bootstrapServers
    let producer = try Producer(.producer(bootstrapServers: brokers, transactionalID: nil), name: "test")
    defer { producer.close() }
    let timeline = try producer.topic("nudge.timeline")
    for number: UInt8 in 0..<3 {
      try producer.produce(
        topic: timeline, partition: 0, key: [number], value: [1],
        headers: number == 1 ? [(RecordHeader.handover, Array("process".utf8))] : [])
    }
    func write(_ handovers: HandoverRange?) throws {
      let position = PositionRecord(sequence: 3, next: ["nudge.timeline": 3], writer: "test", handovers: handovers)
      try producer.produce(
        topic: try producer.topic("nudge.analyzer-state"), partition: 0, key: PositionRecord.key.bytes,
        value: try RecordCoder().encode(position))
      try producer.flush(timeout: .seconds(30))
    }
    func survey(inMinutes minutes: Milliseconds) throws -> Int {
      let now = SystemClock.milliseconds() + minutes * 60_000
      return try TaskSplit(
        of: CountingStage.definition, CountingStage.splitRules, topics: TopicNames(), bootstrapServers: brokers,
        now: { now }
      ).survey(from: 1, to: 2).count
    }
    try write(HandoverRange(from: 1, to: 2))
    let refusal = #expect(throws: StateRepairError.self) { try survey(inMinutes: 0) }
    #expect(refusal?.description.contains("task 0 of counting keeps answers") == true)
    #expect(try survey(inMinutes: 11) == 1)
    // The range has none of them any more, or there is no range.
    try write(HandoverRange(from: 2, to: 3))
    #expect(try survey(inMinutes: 0) == 1)
    try write(nil)
    #expect(try survey(inMinutes: 0) == 1)
  }

  @Test("O7: new tasks have the level of the task that they are split from")
  func level() throws {
    let broker = try EmbeddedBroker()
    for topic in ["nudge.timeline", "nudge.analyzer-state"] { try broker.createTopic(topic, partitions: 4) }
    let brokers = broker.bootstrapServers
    let producer = try Producer(.producer(bootstrapServers: brokers, transactionalID: nil), name: "test")
    defer { producer.close() }
    for task: Int32 in 0..<2 {
      let position = PositionRecord(
        sequence: 3, next: ["nudge.timeline": 0], writer: "test", level: task == 1 ? FormatLevel(2) : nil)
      try producer.produce(
        topic: try producer.topic("nudge.analyzer-state"), partition: task, key: PositionRecord.key.bytes,
        value: try RecordCoder().encode(position))
    }
    try producer.flush(timeout: .seconds(30))
    try TaskSplit(
      of: CountingStage.definition, CountingStage.splitRules, topics: TopicNames(), bootstrapServers: brokers
    ).carryOut(from: 2, to: 4) { _ in }
    let logs = try StageLogs(
      of: CountingStage.definition, topics: TopicNames(), bootstrapServers: brokers, properties: [:], log: { _ in })
    let levels = try (0..<4).map { try logs.lastPosition(of: $0)?.position.level }
    #expect(levels == [nil, FormatLevel(2), nil, FormatLevel(2)])
    #expect(try logs.lastPosition(of: 3)?.position.writer.contains("repartition") == true)
  }

  @Test("records that were not processed stop the split of a stage that does not pass them on")
  func unprocessed() throws {
    let broker = try EmbeddedBroker()
    for topic in ["nudge.timeline", "nudge.analyzer-state"] { try broker.createTopic(topic, partitions: 4) }
    let brokers = broker.bootstrapServers
    let coder = RecordCoder()
    let producer = try Producer(.producer(bootstrapServers: brokers, transactionalID: nil), name: "test")
    defer { producer.close() }
    for task: Int32 in 0..<2 {
      let position = PositionRecord(sequence: 3, next: ["nudge.timeline": 0], writer: "test")
      try producer.produce(
        topic: try producer.topic("nudge.analyzer-state"), partition: task, key: PositionRecord.key.bytes,
        value: try coder.encode(position))
    }
    try producer.flush(timeout: .seconds(30))
    func split(_ waiting: [Topic: SplitRules.Waiting]) throws -> [SplitTask] {
      try TaskSplit(
        of: CountingStage.definition,
        SplitRules(waiting: waiting, home: { key, _ in .taskOf(key.parts[1]) }), topics: TopicNames(),
        bootstrapServers: brokers
      ).survey(from: 2, to: 4)
    }
    #expect(try split([:]).count == 2)
    let timeline = try producer.topic("nudge.timeline")
    // A timer's record fires again where its row is.
    try producer.produce(
      topic: timeline, partition: 0, key: [1], value: [2], headers: [(RecordHeader.timer, Array("1 name".utf8))])
    try producer.flush(timeout: .seconds(30))
    #expect(try split([:]).count == 2)
    try producer.produce(topic: timeline, partition: 0, key: [1], value: [2], headers: [("to-all", [1])])
    try producer.flush(timeout: .seconds(30))
    let refusal = #expect(throws: StateRepairError.self) { try split([:]) }
    #expect(refusal?.description.contains("has 1 records that counting has not processed") == true)
    #expect(throws: StateRepairError.self) { try split([.timeline: .passedOnUnless(header: "to-all")]) }
    #expect(try split([.timeline: .passedOnUnless(header: "other")])[0].waiting == ["nudge.timeline": 1])
    #expect(try split([.timeline: .passedOn])[0].waiting == ["nudge.timeline": 2])
  }
}
