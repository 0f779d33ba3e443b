import Analyzer
import NudgeSchema
import StreamRuntime
import Testing

@testable import Ingest

/// D16, through ingest and analyzer.
@Suite("Erasure of a conversation")
struct ConversationErasureTests {
  private func chat(_ body: ChatEventBody, _ pipeline: DecidingPipeline) throws -> IngestPipeline.Result {
    let result = try pipeline.ingest.chat(body, pipeline.ingest.envelope(after: IngestPipeline.transit))
    try pipeline.passOn(result)
    return result
  }

  private let deletion = ChatEventBody.conversationDeleted(ConversationDeleted(conversationId: "c"))

  @Test("D16: after conversation.deleted no row of it stays, its badge is gone, and devices are told")
  func nothingStays() throws {
    let pipeline = try DecidingPipeline(["ann", "ben"])
    for number in 0..<5 {
      pipeline.wait(1_000)
      try pipeline.message("m\(number)", from: "ben")
    }
    pipeline.wait(1_000)
    _ = try chat(deletion, pipeline)
    let (_, written) = try pipeline.wakeUntilIdle()
    let pushes = try written.filter { $0.topic == .pushes }.map {
      try pipeline.analyzer.decode(PushEvent.self, from: $0).body
    }
    #expect(pushes.contains(.cancelled(PushCancelled(userId: "ann", conversationId: "c"))))
    let reads = pushes.compactMap { if case .push(let push) = $0 { push } else { nil } }
    #expect(reads.map(\.kind) == [.read] && reads.first?.badge == 0)
    for parent in [RowKey("c"), RowKey("c", "c"), RowKey("e", "c"), RowKey("e", "c", "c"), RowKey("y")] {
      #expect(try pipeline.ingest.driver.rows(below: parent).isEmpty)
    }
    for userId in ["ann", "ben"] { #expect(try pipeline.analyzer.rows(below: RowKey("c", userId)).isEmpty) }
  }

  @Test("D16: later events of a deleted conversation are refused, until it is published again")
  func refusedUntilPublished() throws {
    let pipeline = try DecidingPipeline(["ann", "ben"])
    try pipeline.message("m1", from: "ben")
    let old = pipeline.ingest.envelope("old", after: IngestPipeline.transit)
    pipeline.wait(1_000)
    _ = try chat(deletion, pipeline)
    let message = ChatEventBody.messageCreated(
      MessageCreated(conversationId: "c", messageId: "m2", senderId: "ben", text: "hello"))
    #expect(try chat(message, pipeline).rejection?.code == .unknownConversation)
    let joining = ChatEventBody.memberAdded(MembershipChange(conversationId: "c", userId: "cid"))
    #expect(try chat(joining, pipeline).rejection?.code == .unknownConversation)
    // A snapshot older than the deletion does not bring it back.
    #expect(try pipeline.ingest.group(["ann", "ben"], envelope: old).rejection?.code == .unknownConversation)
    pipeline.wait(1_000)
    // Published again while its members are still being told.
    try pipeline.passOn(
      pipeline.ingest.group(["ann", "ben"], envelope: pipeline.ingest.envelope(after: IngestPipeline.transit)))
    try pipeline.wakeUntilIdle()
    let decisions = try pipeline.message("m3", from: "ben")
    #expect(decisions.map(\.userId) == ["ann"] && decisions.first?.badge == 1)
  }

  @Test("D16: a group of 2,000 is erased in bounded steps, across a restart; each member is told once")
  func largeGroup() throws {
    let pipeline = IngestPipeline()
    let people = (0..<2_000).map { "p\($0)" }
    try pipeline.group(people)
    try pipeline.message(from: "p0")
    try pipeline.driver.commit()
    pipeline.driver.now += 1_000
    var results = [try pipeline.chat(deletion)]
    for step in 0..<100 {
      pipeline.driver.now += 100
      let result = pipeline.driver.wake()
      #expect(try pipeline.withdrawals(result).reduce(0) { $0 + $1.userIds.count } <= 200)
      results.append(result)
      if step == 3 { try pipeline.driver.restart() }
      if result.wakeAt == nil { break }
    }
    let told = try results.flatMap { try pipeline.withdrawals($0) }
    #expect(told.allSatisfy { $0.cause == .conversationDeleted && $0.messageId == nil })
    #expect(told.flatMap(\.userIds).sorted() == people.sorted())
    #expect(try pipeline.driver.rows(below: RowKey("c", "c")).isEmpty)
    // The pending message reaches nobody.
    #expect(try results.allSatisfy { try pipeline.candidates($0).isEmpty })
  }
}
