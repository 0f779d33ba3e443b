import Kafka
import NudgeSchema
import ServiceKit
import TestSupport
import Testing

@testable import StreamRuntime

extension RealServiceTests {
  /// The operator's record for each task.
  private func finalise(_ level: Int32, _ brokers: String, _ prefix: String) throws {
    let producer = try Producer(
      ClientConfiguration.producer(bootstrapServers: brokers, transactionalID: nil), name: "test-level")
    let topics = TopicNames(prefix: prefix)
    for record in LevelSurvey.records(finalising: FormatLevel(level), CountingStage.definition, tasks: partitions) {
      try producer.produce(
        topic: try producer.topic(topics(record.topic)), partition: record.partition, key: record.key, value: nil,
        headers: record.headers.map { ($0.name, $0.value) })
    }
    try producer.flush(timeout: .seconds(30))
    producer.close()
  }

  @Test(
    "two releases take turns until a level is finalised while it runs; after that the former one ends, and says why")
  func levels() throws {
    let prefix = "levels."
    let brokers = try prepare(prefix)
    let directory = try TemporaryDirectory()
    func service(knowing level: Int32) throws -> ServiceUnderTest {
      var limits = StreamLimits()
      limits.latestLevel = FormatLevel(level)
      let service = try ServiceUnderTest(
        brokers: brokers, stateDirectory: directory.path, prefix: prefix, limits: limits)
      try service.start()
      return service
    }
    func produce(_ range: Range<Int>) throws {
      try Records.produce(
        records(range), brokers: brokers, topic: "\(prefix)nudge.timeline", partitions: partitions)
    }
    let survey = try LevelSurvey(
      of: CountingStage.definition, topics: TopicNames(prefix: prefix), bootstrapServers: brokers)
    // Forward, back and forward again.
    for (turn, level) in [Int32(1), 2, 1, 2].enumerated() {
      let running = try service(knowing: level)
      try produce(turn * 20..<(turn + 1) * 20)
      try expect((turn + 1) * 2, brokers, prefix, of: running)
      #expect(running.ends.isEmpty)
      if turn == 3 {
        #expect(try survey.read().levels.values.allSatisfy { $0 == .first })
        #expect(try survey.read().members.map(\.release) == [.current])
        try finalise(2, brokers, prefix)
        try wait(for: "all tasks to take the level") {
          let found = try survey.read()
          return found.levels.count == Int(partitions) && found.levels.values.allSatisfy { $0 == FormatLevel(2) }
        }
        #expect(running.ends.isEmpty && running.logged("an operator has finalised a level"))
      }
      running.service.stop()
    }
    let former = try service(knowing: 1)
    wait(for: "the former release to end") { !former.ends.isEmpty }
    #expect(former.ends.first?.exitCode == 70 && former.ends.first?.reason.contains("is at level 2") == true)
    former.service.stop()
    let later = try service(knowing: 2)
    try produce(80..<100)
    try expect(10, brokers, prefix, of: later)
    later.service.stop()
  }

  @Test(
    "a named process that another release replaces within its session keeps its client.id at the broker; its tasks say what runs"
  )
  func namedMember() throws {
    let prefix = "named."
    let brokers = try prepare(prefix)
    let directory = try TemporaryDirectory()
    let survey = try LevelSurvey(
      of: CountingStage.definition, topics: TopicNames(prefix: prefix), bootstrapServers: brokers)
    for (turn, level) in [Int32(1), 2, 1].enumerated() {
      var limits = StreamLimits()
      limits.latestLevel = FormatLevel(level)
      let running = try ServiceUnderTest(
        brokers: brokers, stateDirectory: directory.path, instance: "a", prefix: prefix, limits: limits)
      try running.start()
      if turn == 0 {
        try Records.produce(
          records(0..<200), brokers: brokers, topic: "\(prefix)nudge.timeline", partitions: partitions)
        try expect(20, brokers, prefix, of: running)
      }
      // Without a record, from the second turn on.
      try wait(for: "all tasks to say what their release knows") {
        let found = try survey.read()
        return found.known.count == Int(partitions) && found.known.values.allSatisfy { $0 == FormatLevel(level) }
      }
      #expect(try survey.read().members.map(\.isStatic) == [true])
      running.service.stop()
      #expect(running.ends.isEmpty)
    }
  }
}
