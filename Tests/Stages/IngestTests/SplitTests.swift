import Kafka
import NudgeSchema
import StreamRuntime
import Testing

@testable import Ingest

@Suite("Ingest's rows when tasks are split")
struct SplitTests {
  private func partition(of id: String, count: Int32) -> Int32 { Murmur2.partition(of: Array(id.utf8), count: count) }

  @Test("each row is in the task that its home names; all kinds of rows have one")
  func homes() throws {
    let pipeline = IngestPipeline(partitions: 4, rules: IngestPipeline.rules { $0.fanOutStep = 5 })
    let people = (0..<40).map { "p\($0)" }
    for number in 0..<12 { try pipeline.group(people, in: "c\(number)") }
    for person in people {
      let result = try pipeline.user(
        .deviceRegistered(
          DeviceRegistered(userId: person, deviceId: "phone", token: "token-\(person)", platform: .android)))
      _ = pipeline.driver.sendBack(result)
      try pipeline.user(
        .feedback(FeedbackSubmitted(userId: person, conversationId: "c1", messageId: "m1", feedback: .helpful)))
    }
    pipeline.driver.now += 1_000
    for number in 0..<200 { try pipeline.message("c0", "m\(number)", from: "p1") }
    _ = pipeline.driver.sendBack(try pipeline.user(.deleted(UserDeleted(userId: "p7"))))
    try pipeline.chat(.conversationDeleted(ConversationDeleted(conversationId: "c11")))

    var kinds: Set<String> = []
    for task in 0..<Int32(4) {
      for (key, row) in try pipeline.driver.allRows(partition: task) {
        kinds.insert("\(key.parts[0]) \(key.parts.count)")
        switch try IngestRow.home(of: key) {
        case .taskOf(let id, _): #expect(partition(of: id, count: 4) == task, "\(key)")
        case .everyTask:
          switch row {
          case .erasure: break
          case .sweep(let sweep): #expect(sweep.subject == .person(userId: "p7"))
          default: Issue.record("\(key) is in each task")
          }
        }
      }
    }
    #expect(kinds == ["c 2", "c 3", "d 3", "e 3", "e 4", "f 2", "o 2", "x 2", "y 2"])
    #expect(throws: StoreFailure.self) { try IngestRow.home(of: RowKey("z", "1")) }
  }

  @Test("a pending fan-out goes on in the new task, and what comes there later stays behind it")
  func pendingFanOut() throws {
    let rules = IngestPipeline.rules { $0.fanOutStep = 10 }
    let id = try #require(
      (0..<100).map { "c\($0)" }.first { partition(of: $0, count: 4) == 1 && partition(of: $0, count: 8) == 5 })
    let people = (0..<50).map { "p\($0)" }.sorted()
    let former = IngestPipeline(partitions: 4, rules: rules)
    try former.group(people, in: id)
    // The former task's offsets are far ahead of the new one's.
    for _ in 0..<30 { try former.group(people, in: id) }
    try former.message(id, "first", from: "p0")
    var told = try former.candidates(former.driver.wake(partition: 1))

    let new = IngestPipeline(partitions: 8, rules: rules)
    new.driver.now = former.driver.now
    let coder = RecordCoder()
    var moved: [(key: RowKey, bytes: [UInt8]?)] = []
    for (key, row) in try former.driver.allRows(partition: 1) {
      guard case .taskOf(let owner, let movedAs) = try IngestRow.home(of: key), partition(of: owner, count: 8) == 5
      else {
        continue
      }
      moved.append((movedAs ?? key, try row.encoded(coder: coder, at: .latest)))
    }
    new.driver.load(moved.sorted { $0.key < $1.key }, partition: 5)
    try new.driver.restart(partition: 5)
    try new.message(id, "second", from: "p0", envelope: new.envelope("another"))
    // A task that starts again reads its pending fan-outs in the order of their keys.
    try new.driver.restart(partition: 5)
    for _ in 0..<20 { told += try new.candidates(new.driver.wake(partition: 5)) }
    for person in people.dropFirst() {
      let messages = told.filter { $0.recipients.contains { $0.userId == person } }.map(\.messageId)
      #expect(messages == ["first", "second"], "\(person)")
    }
    #expect(
      try IngestRow.home(of: RowKey("f", "-000000000000001c"))
        == .taskOf("c", movedAs: RowKey("f", "-000000000000001c")))
  }
}
