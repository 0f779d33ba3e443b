import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import TestSupport
import Testing

@testable import StreamRuntime

extension RealServiceTests {
  private func repair(_ brokers: String, _ prefix: String) throws -> StateRepair {
    try StateRepair(of: CountingStage.definition, topics: TopicNames(prefix: prefix), bootstrapServers: brokers)
  }

  private func loseChangelog(_ brokers: String, _ prefix: String) throws {
    try recreate(.analyzerState, brokers, prefix)
  }

  /// Deletes a topic and creates it again, empty.
  private func recreate(_ topic: Topic, _ brokers: String, _ prefix: String) throws {
    let admin = try Admin(ClientConfiguration(bootstrapServers: brokers))
    let name = TopicNames(prefix: prefix)(topic)
    for result in try admin.deleteTopics([name], timeout: .seconds(30)).values { try result.get() }
    try wait(for: "the topic to be gone and made anew") {
      let made = try admin.createTopics(
        [
          Admin.NewTopic(
            name: name, partitions: Int(partitions), replicationFactor: 1,
            configuration: TopicPlan(topic).configuration)
        ], timeout: .seconds(30))
      switch made[name] {
      case .success: return true
      // The broker deletes in the background.
      case .failure(let error) where error.isTopicAlreadyExists: return false
      case .failure(let error): throw error
      case nil: return false
      }
    }
    // The broker knows the new topic before it has put the new, empty logs into the place of the old ones.
    let consumer = try Consumer(.consumer(bootstrapServers: brokers, group: nil), name: "test-ends")
    defer { consumer.close() }
    wait(for: "the new topic to be empty") {
      (0..<partitions).allSatisfy {
        let ends = try? consumer.watermarks(TopicPartition(topic: name, partition: $0), timeout: .seconds(5))
        return ends?.high == 0
      }
    }
    try wait(for: "the new topic to be known") { try admin.listTopics(timeout: .seconds(5))[name] != nil }
  }

  private var limits: StreamLimits {
    var limits = StreamLimits()
    limits.stateLostRetry = 200
    // Many small transactions.
    limits.maxBatchRecords = 5
    return limits
  }

  private func service(
    _ brokers: String, _ prefix: String, _ directory: TemporaryDirectory, _ limits: StreamLimits? = nil
  ) throws -> ServiceUnderTest {
    let service = try ServiceUnderTest(
      brokers: brokers, stateDirectory: directory.path, prefix: prefix, limits: limits ?? self.limits)
    try service.start()
    return service
  }

  private func produce(_ count: Int, _ brokers: String, _ prefix: String) throws {
    try Records.produce(
      records(0..<count), brokers: brokers, topic: "\(prefix)nudge.timeline", partitions: partitions)
  }

  /// Waits for this many outputs, and returns their counts by key.
  private func counts(_ total: Int, _ brokers: String, _ prefix: String) throws -> [String: [Int]] {
    var found: [String: [Int]] = [:]
    try wait(for: "\(total) outputs") {
      found = try counts(brokers, prefix)
      return found.values.reduce(0) { $0 + $1.count } >= total
    }
    return found
  }

  /// The last positions of tasks.
  private func positions(_ brokers: String, _ prefix: String, tasks: [Int32]) throws -> [PositionRecord] {
    let reader = try LogReader(brokers, overrides: [], log: { _ in })
    defer { reader.close() }
    let changelog = TopicNames(prefix: prefix)(.analyzerState)
    try reader.warmUp([changelog])
    return try tasks.map { task in
      let place = TopicPartition(topic: changelog, partition: task)
      let ends = try reader.ends(of: place)
      let found = try reader.last(of: place, from: ends.start, to: ends.high) { record -> PositionRecord? in
        guard record.keyBytes() == PositionRecord.key.bytes else { return nil }
        return try PositionRecord(record.valueBytes(), offset: record.offset, coder: RecordCoder())
      }
      return try #require(found)
    }
  }

  @Test("an input that was deleted and created again stops the task until the loss is accepted; its state stays")
  func inputRecreated() throws {
    let prefix = "recreated."
    let brokers = try prepare(prefix)
    let directory = try TemporaryDirectory()
    let first = try service(brokers, prefix, directory)
    try produce(200, brokers, prefix)
    try expect(20, brokers, prefix, of: first)
    // While it runs, the consumer's offset falls out of the log. The process ends, as often as it is started.
    try recreate(.timeline, brokers, prefix)
    try produce(30, brokers, prefix)
    wait(for: "the service to end") { !first.ends.isEmpty }
    #expect(first.ends.allSatisfy { $0.reason.contains("nudge state accept-loss") }, "\(first.ends)")
    first.service.stop()

    let second = try service(brokers, prefix, directory)
    wait(for: "the loss to be found") {
      second.logged("an input was deleted and created again") || !second.ends.isEmpty
    }
    wait(for: "readiness to say so") { !second.isReady && !second.health.readiness.reasons.isEmpty }
    let repair = try repair(brokers, prefix)
    let behind = try repair.tasks().filter { $0.condition == .inputReplaced }
    #expect(!behind.isEmpty && behind.allSatisfy { $0.isLost && $0.replaced == ["nudge.timeline"] })
    #expect(throws: StateRepairError.self) { try repair.plan(.rebuild) }
    let planned = try repair.plan(.acceptLoss)
    #expect(planned.map(\.task) == behind.map(\.task))
    #expect(planned.allSatisfy { $0.keepsState && $0.rowsRemoved == 0 && $0.next["nudge.timeline"] == 0 })
    #expect(second.ends.isEmpty)
    try repair.carryOut(.acceptLoss)
    wait(for: "the service to be ready") { second.isReady }
    // All that is in the new topic is of its new life.
    for position in try positions(brokers, prefix, tasks: behind.map(\.task)) {
      let generation = try #require(position.generations?["nudge.timeline"])
      #expect(generation.number > 100_000_000 && generation.from == 0 && generation.former == nil)
    }
    // The counts go on: the state is as it was.
    let found = try counts(230, brokers, prefix)
    for (key, counts) in found { #expect(counts == Array(1...23), "counts of \(key)") }
    second.service.stop()
    #expect(second.ends.isEmpty)
    #expect(try repair.tasks().allSatisfy { !$0.isLost })
  }

  /// The service that finds the new topic larger than the former one. Its position is in the middle of the new records.
  private func replaceInput(
    _ brokers: String, _ prefix: String, _ directory: TemporaryDirectory, more: Int
  ) throws -> ServiceUnderTest {
    let first = try service(brokers, prefix, directory)
    try produce(50, brokers, prefix)
    try expect(5, brokers, prefix, of: first)
    first.service.stop()
    try recreate(.timeline, brokers, prefix)
    try produce(more, brokers, prefix)
    let second = try service(brokers, prefix, directory)
    wait(for: "the loss to be found") {
      second.logged("an input was deleted and created again") || !second.ends.isEmpty
    }
    #expect(!second.isReady && second.ends.isEmpty)
    return second
  }

  @Test(
    "an input that was created again while the service was down, and has more records than before, is read from its beginning"
  )
  func inputRecreatedAndGrown() throws {
    let prefix = "grown."
    let brokers = try prepare(prefix)
    let second = try replaceInput(brokers, prefix, try TemporaryDirectory(), more: 120)
    defer { second.service.stop() }
    let repair = try repair(brokers, prefix)
    let found = try repair.tasks().filter(\.isLost)
    #expect(!found.isEmpty && found.allSatisfy { $0.condition == .inputReplaced && $0.behind.isEmpty })
    let planned = try repair.plan(.acceptLoss)
    #expect(planned.map(\.task) == found.map(\.task) && planned.allSatisfy { $0.next["nudge.timeline"] == 0 })
    try repair.carryOut(.acceptLoss)
    wait(for: "the service to be ready") { second.isReady }
    for (key, counts) in try counts(170, brokers, prefix) { #expect(counts == Array(1...17), "counts of \(key)") }
    #expect(try repair.tasks().allSatisfy { !$0.isLost })
  }

  @Test("a copy of an input with the same offsets is gone on with where the former one was left")
  func inputMirrored() throws {
    let prefix = "mirrored."
    let brokers = try prepare(prefix)
    let directory = try TemporaryDirectory()
    // The first 50 records of the copy are those that were processed.
    let second = try replaceInput(brokers, prefix, directory, more: 70)
    let repair = try repair(brokers, prefix)
    let before = try repair.tasks()
    #expect(throws: StateRepairError.self) { try repair.plan(.rebuild) }
    try repair.carryOut(.adoptTopics)
    wait(for: "the service to be ready") { second.isReady }
    for (key, counts) in try counts(70, brokers, prefix) { #expect(counts == Array(1...7), "counts of \(key)") }
    second.service.stop()
    for (old, state) in zip(before, try repair.tasks()) where old.condition == .inputReplaced {
      #expect(state.condition == .present && state.sequence ?? 0 > old.sequence ?? 0)
    }
    // The ids are in the positions now.
    let third = try service(brokers, prefix, directory)
    wait(for: "the third to be ready") { third.isReady }
    #expect(try repair.plan(.adoptTopics).isEmpty)
    third.service.stop()
  }

  @Test("an input that is shorter than the position is no copy of the former one")
  func noMirror() throws {
    let prefix = "nomirror."
    let brokers = try prepare(prefix)
    let second = try replaceInput(brokers, prefix, try TemporaryDirectory(), more: 10)
    defer { second.service.stop() }
    #expect(throws: StateRepairError.self) { try repair(brokers, prefix).plan(.adoptTopics) }
  }

  @Test("a service whose changelog is created again while it runs commits nothing more, and its state counts as lost")
  func changelogRecreated() throws {
    let prefix = "rechangelog."
    let brokers = try prepare(prefix)
    let directory = try TemporaryDirectory()
    let first = try service(brokers, prefix, directory)
    try produce(50, brokers, prefix)
    try expect(5, brokers, prefix, of: first)
    try loseChangelog(brokers, prefix)
    try produce(10, brokers, prefix)
    wait(for: "the service to end") { !first.ends.isEmpty }
    #expect(first.ends.allSatisfy { $0.reason.contains("\(prefix)nudge.analyzer-state: deleted and created again") })
    first.service.stop()
    #expect(try counts(brokers, prefix).values.allSatisfy { $0 == Array(1...5) })
    let second = try service(brokers, prefix, directory)
    wait(for: "the loss to be found") { second.logged("the state of this task is lost") || !second.ends.isEmpty }
    #expect(try repair(brokers, prefix).tasks().contains { $0.condition == .lost })
    second.service.stop()
  }

  @Test(
    "a task whose changelog was deleted and created again does not run until the loss is accepted")
  func acceptLoss() throws {
    let prefix = "accept."
    let brokers = try prepare(prefix)
    let directories = [try TemporaryDirectory(), try TemporaryDirectory()]
    let first = try service(brokers, prefix, directories[0])
    try produce(200, brokers, prefix)
    try expect(20, brokers, prefix, of: first)
    first.service.stop()
    let repair = try repair(brokers, prefix)
    let before = try repair.tasks()
    #expect(throws: StateRepairError.self) { try repair.plan(.acceptLoss, tasks: [0]) }
    try loseChangelog(brokers, prefix)

    let second = try service(brokers, prefix, directories[1])
    wait(for: "the loss to be found") { second.logged("the state of this task is lost") || !second.ends.isEmpty }
    wait(for: "readiness to say so") {
      second.health.readiness.reasons.values.contains { $0.contains("is lost") }
    }
    let lost = try repair.tasks()
    let numbers = lost.filter { $0.condition == .lost }.map(\.task)
    #expect(numbers == before.filter { $0.condition == .present }.map(\.task) && !numbers.isEmpty)
    for (old, state) in zip(before, lost) where state.condition == .lost {
      #expect(state.committedSequence == old.sequence && state.committed == old.next)
    }
    // While it is lost nothing of it is done.
    try produce(10, brokers, prefix)
    #expect(!second.isReady)

    let planned = try repair.plan(.acceptLoss)
    #expect(planned.map(\.task) == numbers && planned.allSatisfy { $0.rebuildTo.isEmpty && $0.rowsRemoved == 0 })
    #expect(try repair.tasks() == lost, "a plan writes nothing")
    var written: [TaskRepair] = []
    try repair.carryOut(.acceptLoss, tasks: [numbers[0]]) { written.append($0) }
    #expect(written == [planned[0]])
    #expect(throws: StateRepairError.self) { try repair.carryOut(.acceptLoss, tasks: [numbers[0]]) }
    try repair.carryOut(.acceptLoss) { written.append($0) }
    #expect(written == planned)
    wait(for: "the service to be ready") { second.isReady }
    var found = try counts(210, brokers, prefix)
    for (key, counts) in found { #expect(counts == Array(1...20) + [1], "counts of \(key)") }

    // More than the log that was lost had: the store of that log seems to fit into this one.
    try produce(600, brokers, prefix)
    found = try counts(810, brokers, prefix)
    second.service.stop()
    let third = try service(brokers, prefix, directories[0])
    wait(for: "the third to be ready") { third.isReady }
    #expect(
      third.capture.entries.contains { "\($0.metadata)".contains("otherHistory") },
      "the old store must be found to be of the lost log\n\(third.lastLines)")
    try produce(10, brokers, prefix)
    found = try counts(820, brokers, prefix)
    for (key, counts) in found { #expect(counts == Array(1...20) + Array(1...62), "counts of \(key)") }
    third.service.stop()
    #expect(first.ends.isEmpty && second.ends.isEmpty && third.ends.isEmpty)
  }

  @Test("accepting the loss removes rows without a position")
  func rowsWithoutPosition() throws {
    let prefix = "leftover."
    let brokers = try prepare(prefix)
    let directory = try TemporaryDirectory()
    let first = try service(brokers, prefix, directory)
    try produce(20, brokers, prefix)
    try expect(2, brokers, prefix, of: first)
    first.service.stop()
    try loseChangelog(brokers, prefix)
    let producer = try Producer(
      ClientConfiguration.producer(bootstrapServers: brokers, transactionalID: nil), name: "leftover")
    for key in (0..<10).map({ "key-\($0)" }) {
      try producer.produce(
        topic: try producer.topic("\(prefix)nudge.analyzer-state"),
        partition: Murmur2.partition(of: Array(key.utf8), count: partitions), key: RowKey("k", key).bytes,
        value: Array("99".utf8))
    }
    try producer.flush(timeout: .seconds(30))
    producer.close()
    let second = try service(brokers, prefix, directory)
    wait(for: "the loss to be found") { second.logged("the state of this task is lost") }
    var removed = 0
    try repair(brokers, prefix).carryOut(.acceptLoss) { removed += $0.rowsRemoved }
    #expect(removed == 10)
    wait(for: "the service to be ready") { second.isReady }
    try produce(10, brokers, prefix)
    for (key, counts) in try counts(30, brokers, prefix) { #expect(counts == [1, 2, 1], "counts of \(key)") }
    second.service.stop()
  }

  @Test("a repair does not hide records written to the changelog in between")
  func writtenMeanwhile() throws {
    let prefix = "meanwhile."
    let brokers = try prepare(prefix)
    let directory = try TemporaryDirectory()
    let first = try service(brokers, prefix, directory)
    try produce(20, brokers, prefix)
    try expect(2, brokers, prefix, of: first)
    first.service.stop()
    try loseChangelog(brokers, prefix)
    let repair = try repair(brokers, prefix)
    let numbers = try repair.plan(.acceptLoss).map(\.task)
    try #require(numbers.count > 1)
    var written: [Int32] = []
    #expect(throws: StateRepairError.self) {
      try repair.carryOut(.acceptLoss) { done in
        written.append(done.task)
        // All were looked at before the first was written.
        do {
          let producer = try Producer(
            ClientConfiguration.producer(bootstrapServers: brokers, transactionalID: nil), name: "meanwhile")
          try producer.produce(
            topic: try producer.topic("\(prefix)nudge.analyzer-state"), partition: numbers[1],
            key: RowKey("k", "somebody").bytes, value: Array("1".utf8))
          try producer.flush(timeout: .seconds(30))
          producer.close()
        } catch {
          Issue.record("\(error)")
        }
      }
    }
    #expect(written == [numbers[0]])
    #expect(try repair.tasks().filter { $0.condition == .lost }.map(\.task) == Array(numbers[1...]))
    // Seen now, it is removed.
    var removed: [Int] = []
    try repair.carryOut(.acceptLoss) { removed.append($0.rowsRemoved) }
    #expect(removed == [1] + Array(repeating: 0, count: numbers.count - 2))
    #expect(try repair.tasks().allSatisfy { $0.condition != .lost })
  }

  @Test("a rebuilt state is as before: counts continue, timers stay, and nothing is written twice")
  func rebuild() throws {
    let prefix = "rebuild."
    let brokers = try prepare(prefix)
    let directory = try TemporaryDirectory()
    func lines(_ topic: String) throws -> [String] {
      try Records.all(brokers: brokers, topic: "\(prefix)nudge.\(topic)", partitions: partitions).map { $0.value ?? "" }
    }
    func fired() throws -> Int { try lines("decisions").count { $0.hasPrefix("fired") } }
    let first = try service(brokers, prefix, directory)
    try produce(180, brokers, prefix)
    let timers = [1, 20_000, 86_400_000].flatMap { delay in
      (0..<10).map { (key: Optional("key-\($0)"), value: CountingStage.timer(after: delay)) }
    }
    let poison = (0..<10).map { (key: Optional("key-\($0)"), value: "poison") }
    try Records.produce(
      timers + poison, brokers: brokers, topic: "\(prefix)nudge.timeline", partitions: partitions)
    try wait(for: "counts, timers and dead letters") {
      try lines("decisions").count >= 220 && lines("dead-letters").count == 10
    }
    first.service.stop()
    let timersFired = try fired()
    let records = try lines("timeline").count
    #expect(timersFired >= 10)
    try loseChangelog(brokers, prefix)

    let second = try service(brokers, prefix, directory)
    wait(for: "the loss to be found") { second.logged("the state of this task is lost") }
    let repair = try repair(brokers, prefix)
    try repair.carryOut(.rebuild) { #expect($0.rebuildTo.keys.sorted() == ["nudge.timeline"]) }
    wait(for: "the service to be ready") { second.isReady }
    #expect(second.logged("restoring"))
    // Ready once it runs; that nothing is left to rebuild is committed some milliseconds later.
    try wait(for: "the end of the rebuild to be committed") {
      try repair.tasks().allSatisfy { $0.condition == .present }
    }
    #expect(!second.logged("moved by somebody else") && !second.logged("were never processed"))
    #expect(try lines("dead-letters").count == 10)

    try produce(10, brokers, prefix)
    try wait(for: "the later timers and the last counts") { try fired() >= 20 && lines("decisions").count >= 240 }
    second.service.stop()
    #expect(try fired() == 20, "each timer has fired once")
    #expect(try lines("timeline").count == records + 10 + 20 - timersFired)
    for (key, counts) in try counts(brokers, prefix) {
      #expect(counts.filter { $0 > 0 } == Array(1...22), "counts of \(key)")
    }
    #expect(first.ends.isEmpty && second.ends.isEmpty)
  }

  @Test(
    "an interrupted rebuild continues, with and without its disk, and ends before new records are processed")
  func brokenOff() throws {
    let prefix = "broken."
    let brokers = try prepare(prefix)
    let directory = try TemporaryDirectory()
    let first = try service(brokers, prefix, directory, StreamLimits())
    try produce(6000, brokers, prefix)
    try expect(600, brokers, prefix, of: first)
    first.service.stop()
    try loseChangelog(brokers, prefix)
    let repair = try repair(brokers, prefix)
    try repair.carryOut(.rebuild)
    try produce(10, brokers, prefix)
    var reached: Int64 = 0
    for life in 1...2 {
      let service = try service(brokers, prefix, directory)
      var states: [TaskState] = []
      try wait(for: "a part to be rebuilt") {
        states = try repair.tasks()
        return states.contains { $0.next.values.reduce(0, +) > reached }
      }
      service.service.stop()
      #expect(service.ends.isEmpty)
      states = try repair.tasks()
      try #require(states.contains { $0.condition == .rebuilding }, "it was broken off in the middle")
      let next = states.flatMap(\.next.values).max() ?? 0
      #expect(next > reached)
      reached = next
      // Another loss of state still finds what was processed before the first.
      for state in states where state.condition == .rebuilding {
        for (topic, end) in state.rebuildTo { #expect(state.committed[topic] ?? 0 > end) }
      }
      if life == 1 { try FileManager.default.removeItem(atPath: directory.path + "/counting") }
    }
    let last = try service(brokers, prefix, directory, StreamLimits())
    wait(for: "the last to be ready") { last.isReady }
    for (key, counts) in try counts(6010, brokers, prefix) { #expect(counts == Array(1...601), "counts of \(key)") }
    last.service.stop()
    #expect(last.ends.isEmpty)
  }

  @Test(
    "moved committed offsets are trusted only on request, because later records may have been processed")
  func movedOffsetsAndLostState() throws {
    let prefix = "movedlost."
    let brokers = try prepare(prefix)
    let directory = try TemporaryDirectory()
    let first = try service(brokers, prefix, directory)
    try produce(20, brokers, prefix)
    try expect(2, brokers, prefix, of: first)
    first.service.stop()
    try loseChangelog(brokers, prefix)
    try rewindGroup(brokers, prefix)
    let repair = try repair(brokers, prefix)
    #expect(throws: StateRepairError.self) { try repair.carryOut(.acceptLoss) }
    #expect(try repair.tasks().allSatisfy { $0.condition == .lost && $0.sequence == nil })
    let planned = try repair.plan(.acceptLoss, trustingMovedOffsets: true)
    #expect(planned.allSatisfy { $0.trustsMovedOffsets && $0.next == ["nudge.timeline": 0] })
  }
}
