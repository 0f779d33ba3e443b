import Analyzer
import NudgeSchema
import StreamRuntime
import TestSupport
import Testing

@testable import Ingest

/// D16, through ingest and analyzer.
@Suite("Erasure of a person")
struct PersonErasureTests {
  private let everybody = ["ann", "ben", "cid"]

  /// All rows of both stages whose key or content has an id.
  private func rows(of id: String, in pipeline: DecidingPipeline) throws -> [String] {
    let coder = RecordCoder()
    let bytes = Array(id.utf8)
    func names(_ key: RowKey, _ row: [UInt8]) -> Bool { key.bytes.contains(bytes) || row.contains(bytes) }
    var found: [String] = []
    for (key, row) in try pipeline.ingest.driver.allRows() where try names(key, row.encoded(coder: coder, at: .latest))
    {
      found.append("ingest \(key)")
    }
    for (key, row) in try pipeline.analyzer.allRows() where try names(key, row.encoded(coder: coder, at: .latest)) {
      found.append("analyzer \(key)")
    }
    return found
  }

  private func delete(_ userId: String, _ pipeline: DecidingPipeline) throws {
    try pipeline.user(.deleted(UserDeleted(userId: userId)))
  }

  private func lively() throws -> DecidingPipeline {
    let pipeline = try DecidingPipeline(everybody.map { "\($0)-id" })
    for number in 0..<20 {
      pipeline.wait(1_000)
      try pipeline.message("m\(number)", from: ["ann-id", "ben-id", "cid-id"][number % 3])
    }
    try pipeline.user(.activity(Activity(userId: "ann-id", deviceId: "ann-id-phone", state: .foreground)))
    try pipeline.user(
      .preferences(PreferencesUpdated(userId: "ann-id", preferences: PreferencesPatch(keywords: ["hiking"]))))
    try pipeline.user(
      .feedback(FeedbackSubmitted(userId: "ann-id", conversationId: "c", messageId: "m1", feedback: .helpful)))
    return pipeline
  }

  @Test("D16: after user.deleted no row of ingest or analyzer names the person, and others' rows stay")
  func nothingStays() throws {
    let pipeline = try lively()
    #expect(try rows(of: "ann-id", in: pipeline).count > 5)
    let others = try rows(of: "ben-id", in: pipeline).filter { $0.contains("ben-id") && !$0.contains("ann-id") }
    pipeline.wait(1_000)
    try delete("ann-id", pipeline)
    try pipeline.wakeUntilIdle()
    #expect(try rows(of: "ann-id", in: pipeline) == [])
    let left = try rows(of: "ben-id", in: pipeline)
    #expect(others.allSatisfy { left.contains($0) })
    // The conversation works without them.
    let decisions = try pipeline.message("next", from: "ben-id")
    #expect(decisions.map(\.userId) == ["cid-id"] && decisions.allSatisfy { $0.outcome == .notify })
  }

  @Test("D16: what waits for a deleted person is cancelled at once")
  func cancelled() throws {
    let pipeline = try lively()
    let result = try pipeline.ingest.user(
      .deleted(UserDeleted(userId: "ann-id")), pipeline.ingest.envelope(after: IngestPipeline.transit))
    let pushes = try pipeline.passOn(result).filter { $0.topic == .pushes }.map {
      try pipeline.analyzer.decode(PushEvent.self, from: $0).body
    }
    #expect(pushes.first == .cancelled(PushCancelled(userId: "ann-id", erased: true)))
  }

  @Test("D16: later events of a deleted person are refused as user_deleted, until they register a device")
  func refusedUntilRegistered() throws {
    let pipeline = try lively()
    pipeline.wait(1_000)
    try delete("ann-id", pipeline)
    try pipeline.wakeUntilIdle()
    func code(_ body: UserEventBody, after: Milliseconds = 0) throws -> DeadLetterCode? {
      let result = try pipeline.ingest.user(body, pipeline.ingest.envelope(after: IngestPipeline.transit + after))
      try pipeline.passOn(result)
      return result.rejection?.code
    }
    let read = UserEventBody.read(MessageRead(userId: "ann-id", conversationId: "c"))
    let registration = UserEventBody.deviceRegistered(
      DeviceRegistered(userId: "ann-id", deviceId: "new", token: "new-token", platform: .ios))
    #expect(try code(read) == .userDeleted)
    #expect(
      try code(.deviceUnregistered(DeviceUnregistered(userId: "ann-id", deviceId: "ann-id-phone"))) == .userDeleted)
    #expect(
      try pipeline.ingest.message(
        from: "ann-id", envelope: pipeline.ingest.envelope(after: IngestPipeline.transit)
      ).rejection?.code == .userDeleted)
    let joining = ChatEventBody.memberAdded(MembershipChange(conversationId: "c", userId: "ann-id"))
    #expect(
      try pipeline.ingest.chat(joining, pipeline.ingest.envelope(after: IngestPipeline.transit)).rejection?.code
        == .userDeleted)
    // A snapshot that still has them tells nobody of it.
    let snapshot = try pipeline.ingest.group(
      everybody.map { "\($0)-id" }, envelope: pipeline.ingest.envelope(after: IngestPipeline.transit))
    #expect(snapshot.rejection == nil)
    #expect(try pipeline.message("m-x", from: "ben-id").map(\.userId) == ["cid-id"])
    // A registration from before the deletion brings nothing back.
    #expect(try code(registration, after: -60_000) == .userDeleted)
    #expect(try rows(of: "ann-id", in: pipeline) == [])

    pipeline.wait(1_000)
    #expect(try code(registration) == nil)
    #expect(try code(read) == nil)
    pipeline.wait(1_000)
    #expect(
      try pipeline.passOn(
        pipeline.ingest.chat(joining, pipeline.ingest.envelope(after: IngestPipeline.transit))
      ).isEmpty)
    let decisions = try pipeline.message("m-y", from: "ben-id")
    #expect(decisions.map(\.userId).sorted() == ["ann-id", "cid-id"])
    #expect(decisions.allSatisfy { $0.outcome == .notify })
  }

  @Test("D16: a stream that a deleted person still has open is reported in vain, and makes no dead letter")
  func openStream() throws {
    let pipeline = try lively()
    pipeline.wait(1_000)
    try delete("ann-id", pipeline)
    try pipeline.wakeUntilIdle()
    func report(live: Bool?) throws -> (code: DeadLetterCode?, records: Int) {
      let result = try pipeline.ingest.user(
        .activity(Activity(userId: "ann-id", deviceId: "ann-id-phone", state: .idle, live: live)),
        pipeline.ingest.envelope(after: IngestPipeline.transit))
      return (result.rejection?.code, try pipeline.passOn(result).count)
    }
    for isOpen in [true, false] {
      let (code, records) = try report(live: isOpen)
      #expect(code == nil && records == 0)
    }
    // Reports of the app itself are refused, so that its backend learns of the deletion.
    #expect(try report(live: nil).code == .userDeleted)
    #expect(try rows(of: "ann-id", in: pipeline) == [])
  }

  @Test("D16: who registers and joins again while the deletion is still swept through the conversations stays in them")
  func joinsWhileSwept() throws {
    let pipeline = try lively()
    let snapshot = everybody.map { "\($0)-id" }
    try pipeline.passOn(
      pipeline.ingest.group(snapshot, in: "d", envelope: pipeline.ingest.envelope(after: IngestPipeline.transit)))
    try pipeline.passOn(
      pipeline.ingest.group(snapshot, in: "e", envelope: pipeline.ingest.envelope(after: IngestPipeline.transit)))
    pipeline.wait(10)
    try delete("ann-id", pipeline)
    pipeline.wait(10)
    try pipeline.user(
      .deviceRegistered(DeviceRegistered(userId: "ann-id", deviceId: "new", token: "new-token", platform: .ios)))
    pipeline.wait(10)
    // By a join, by a snapshot, and not at all.
    let joining = ChatEventBody.memberAdded(MembershipChange(conversationId: "c", userId: "ann-id"))
    let joined = try pipeline.ingest.chat(joining, pipeline.ingest.envelope(after: IngestPipeline.transit))
    #expect(joined.rejection == nil)
    try pipeline.passOn(joined)
    try pipeline.passOn(
      pipeline.ingest.group(snapshot, in: "d", envelope: pipeline.ingest.envelope(after: IngestPipeline.transit)))
    try pipeline.wakeUntilIdle()
    for (conversation, recipients) in [("c", ["ann-id", "cid-id"]), ("d", ["ann-id", "cid-id"]), ("e", ["cid-id"])] {
      let message = try pipeline.ingest.message(
        conversation, "after", from: "ben-id", envelope: pipeline.ingest.envelope(after: IngestPipeline.transit))
      #expect(try pipeline.ingest.recipients(message) == recipients, "\(conversation)")
    }
  }

  @Test("D16: a retry of user.deleted does not delete a person who has registered again")
  func retry() throws {
    let pipeline = try lively()
    let envelope = pipeline.ingest.envelope("deletion", after: IngestPipeline.transit)
    let deletion = UserEventBody.deleted(UserDeleted(userId: "ann-id"))
    try pipeline.passOn(pipeline.ingest.user(deletion, envelope))
    try pipeline.wakeUntilIdle()
    try pipeline.user(
      .deviceRegistered(DeviceRegistered(userId: "ann-id", deviceId: "new", token: "new-token", platform: .ios)))
    let again = try pipeline.ingest.user(deletion, envelope)
    #expect(again.outputs.isEmpty && again.rejection == nil)
    #expect(try !rows(of: "ann-id", in: pipeline).isEmpty)
  }

  @Test("D16: the token of a deleted person's phone is free: its next user gets it without a loss for anybody")
  func tokenIsFree() throws {
    let pipeline = try lively()
    pipeline.wait(1_000)
    try delete("ann-id", pipeline)
    try pipeline.wakeUntilIdle()
    for case (_, .owner(let owner)) in try pipeline.ingest.driver.rows(below: RowKey("o")) {
      #expect(owner.owner?.userId != "ann-id")
    }
  }

  @Test("D16: a person in thousands of conversations is erased in bounded steps, across a restart")
  func manyConversations() throws {
    let pipeline = try DecidingPipeline(["ann-id", "ben-id"])
    for number in 0..<3_000 {
      try pipeline.passOn(
        pipeline.ingest.group(
          ["ann-id", "ben-id"], in: "c\(number)", envelope: pipeline.ingest.envelope(after: IngestPipeline.transit)))
      if number % 4 == 0 {
        let result = try pipeline.ingest.message(
          "c\(number)", "m", from: "ben-id", envelope: pipeline.ingest.envelope(after: IngestPipeline.transit))
        try pipeline.passOn(result)
      }
    }
    pipeline.wait(1_000)
    // Into the stores: what is not there yet is looked at whatever the step's bound is.
    try pipeline.ingest.driver.commit()
    try pipeline.analyzer.commit()
    try delete("ann-id", pipeline)
    // A step or two, a crash, and the rest.
    for _ in 0..<2 {
      pipeline.wait(100)
      try pipeline.passOn(pipeline.ingest.driver.wake())
      _ = pipeline.analyzer.wake()
    }
    try pipeline.ingest.driver.restart()
    try pipeline.analyzer.restart()
    let (steps, _) = try pipeline.wakeUntilIdle()
    #expect(steps > 3 && steps < 100)
    #expect(try rows(of: "ann-id", in: pipeline) == [])
  }

  /// Groups of 100 out of 900 persons, and one whom nobody deletes.
  private func groups(_ count: Int) throws -> IngestPipeline {
    let pipeline = IngestPipeline()
    for number in 0..<count {
      try pipeline.group((0..<100).map { "p\((number * 31 + $0 * 7) % 900)-id" } + ["keeper"], in: "c\(number)")
    }
    pipeline.driver.now += 1_000
    try pipeline.driver.commit()
    return pipeline
  }

  private func delete(_ number: Int, _ pipeline: IngestPipeline) throws {
    _ = pipeline.driver.sendBack(
      try pipeline.user(
        .deleted(UserDeleted(userId: "p\(number)-id")), pipeline.envelope(after: IngestPipeline.transit)))
  }

  private func wakeUntilIdle(_ pipeline: IngestPipeline) -> Int {
    for step in 0..<10_000 {
      pipeline.driver.now += 100
      if pipeline.driver.wake().wakeAt == nil { return step }
    }
    return .max
  }

  private func rows(naming id: String, _ pipeline: IngestPipeline) throws -> Int {
    try pipeline.driver.allRows().count { key, _ in key.parts.contains { $0 == id || $0.dropFirst() == id } }
  }

  /// All that the keys of rows name, also without the first character.
  private func names(_ pipeline: IngestPipeline) throws -> Set<String> {
    var names: Set<String> = []
    for (key, _) in try pipeline.driver.allRows() {
      for part in key.parts { names.formUnion([String(part), String(part.dropFirst())]) }
    }
    return names
  }

  @Test("D16: deletions that wait are one pass through the conversations, however many they are")
  func onePass() throws {
    var steps: [Int] = []
    for count in [1, 10, 800] {
      let pipeline = try groups(60)
      for number in 0..<count { try delete(number, pipeline) }
      steps.append(wakeUntilIdle(pipeline))
      let left = try names(pipeline)
      for number in 0..<count { #expect(!left.contains("p\(number)-id"), "p\(number)") }
      #expect(try rows(naming: "p899-id", pipeline) > 0 && rows(naming: "keeper", pipeline) == 60)
      for case (let key, .conversation(let row)) in try pipeline.driver.rows(below: RowKey("c")) {
        #expect(try row.memberCount == pipeline.driver.rows(below: key).count)
      }
    }
    #expect(steps[0] > 6 && steps[0] < 30 && steps[1] == steps[0] && steps[2] <= steps[0] + 1, "\(steps)")
  }

  @Test(
    "D16: who is deleted while a pass is under way is taken out by the next one, across restarts; a deletion twice is one"
  )
  func nextPass() throws {
    let pipeline = try groups(60)
    for number in 0..<20 { try delete(number, pipeline) }
    for step in 0..<40 {
      pipeline.driver.now += 100
      _ = pipeline.driver.wake()
      if step % 3 == 1, step < 12 {
        for number in 0..<5 { try delete(100 + step * 10 + number, pipeline) }
        try delete(3, pipeline)
      }
      if step == 4 || step == 9 { try pipeline.driver.restart() }
    }
    #expect(wakeUntilIdle(pipeline) < 40)
    let deleted = Array(0..<20) + [1, 4, 7, 10].flatMap { step in (0..<5).map { 100 + step * 10 + $0 } }
    let left = try names(pipeline)
    for number in deleted { #expect(!left.contains("p\(number)-id"), "p\(number)") }
    #expect(try rows(naming: "p300-id", pipeline) > 0)
    #expect(try pipeline.driver.rows(below: RowKey("y")).isEmpty)
  }

  @Test("D16: every task of ingest forgets the person, whichever their conversations are in")
  func allTasks() throws {
    let pipeline = IngestPipeline(partitions: 4)
    for number in 0..<12 { try pipeline.group(["ann-id", "ben-id"], in: "c\(number)") }
    pipeline.driver.now += 1_000
    let result = try pipeline.user(.deleted(UserDeleted(userId: "ann-id")))
    _ = pipeline.driver.sendBack(result)
    for partition in 0..<Int32(4) {
      for _ in 0..<20 where pipeline.driver.wake(partition: partition).wakeAt != nil {}
    }
    for number in 0..<12 {
      let message = try pipeline.message("c\(number)", "m\(number)", from: "ben-id")
      #expect(message.rejection == nil && message.outputs.count == 1)
      #expect(try pipeline.message("c\(number)", "n", from: "ann-id").rejection?.code == .userDeleted)
    }
  }
}

extension Array where Element == UInt8 {
  /// Whether the bytes are in it, one after the other.
  fileprivate func contains(_ needle: [UInt8]) -> Bool {
    guard let first = needle.first, count >= needle.count else { return false }
    return (0...(count - needle.count)).contains {
      self[$0] == first && self[$0..<($0 + needle.count)].elementsEqual(needle)
    }
  }
}
