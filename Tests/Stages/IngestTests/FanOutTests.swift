import Ingest
import NudgeSchema
import StreamRuntime
import Testing

@Suite struct FanOutTests {
  @Test("M1: a message reaches every participant of its conversation except the sender")
  func everybodyButTheSender() throws {
    let pipeline = IngestPipeline(partitions: 4)
    try pipeline.group(["ann", "ben", "cleo", "dan"])
    let result = try pipeline.message(from: "ben")
    #expect(result.rejection == nil)
    #expect(try pipeline.recipients(result) == ["ann", "cleo", "dan"])
  }

  @Test("M1: the sender gets a record of their own on their timeline")
  func senderRecord() throws {
    let pipeline = IngestPipeline(partitions: 4)
    try pipeline.group(["ann", "ben"])
    let result = try pipeline.message("c", "m7", from: "ben")
    let sent = try #require(
      result.outputs.first { output in
        if case .sent = (try? pipeline.driver.decode(TimelineEvent.self, from: output))?.body { true } else { false }
      })
    #expect(
      try pipeline.driver.decode(TimelineEvent.self, from: sent).body
        == .sent(MessageSent(userId: "ben", conversationId: "c", messageId: "m7")))
    #expect(sent.key == Array("ben".utf8))
    #expect(sent.partition == result.outputs.last?.partition)
  }

  @Test("M2: a sender who is no participant notifies nobody, and the event is dead-lettered")
  func strangerSends() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben"])
    let result = try pipeline.message(from: "eve")
    #expect(result.rejection?.code == .senderNotMember)
    #expect(result.outputs.isEmpty)
  }

  @Test("M2: a sender who was removed notifies nobody")
  func removedSender() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben"])
    try pipeline.chat(
      .memberRemoved(MembershipChange(conversationId: "c", userId: "ben")), pipeline.envelope(after: 1))
    #expect(try pipeline.message(from: "ben").rejection?.code == .senderNotMember)
  }

  @Test("M2: a message to a conversation nobody spoke of is dead-lettered as unknown_conversation")
  func unknownConversation() throws {
    let pipeline = IngestPipeline()
    #expect(try pipeline.message(from: "ann").rejection?.code == .unknownConversation)
    let edited = try pipeline.chat(
      .messageEdited(MessageRevision(conversationId: "c", messageId: "m", text: "new")))
    #expect(edited.rejection?.code == .unknownConversation)
    let deleted = try pipeline.chat(.messageDeleted(MessageRevision(conversationId: "c", messageId: "m")))
    #expect(deleted.rejection?.code == .unknownConversation)
  }

  @Test("M2: what was refused can be sent again once the conversation is known")
  func refusedIsNotRemembered() throws {
    let pipeline = IngestPipeline()
    let envelope = pipeline.envelope("once")
    #expect(try pipeline.message(from: "ann", envelope: envelope).rejection?.code == .unknownConversation)
    try pipeline.group(["ann", "ben"])
    #expect(try pipeline.recipients(pipeline.message(from: "ann", envelope: envelope)) == ["ben"])
  }

  @Test("M4: what the event carries is on the candidate, trace context and replay id included")
  func carriesEverything() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben", "cleo"])
    let message = MessageCreated(
      conversationId: "c", messageId: "m1", senderId: "ann", text: "look",
      attachments: [ChatAttachment(kind: .image, url: "https://example.com/1.jpg"), ChatAttachment(kind: .file)],
      replyTo: "m0", mentions: ["ben", "zoe"],
      sender: SenderProfile(displayName: "Ann B.", avatarUrl: "https://example.com/ann.jpg"))
    let traceparent = RecordHeaderField(
      RecordHeader.traceparent, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
    let envelope = pipeline.envelope("e1", after: -5_000)
    let result = try pipeline.chat(
      .messageCreated(message), envelope,
      headers: [traceparent, RecordHeaderField(RecordHeader.replayId, "replay-7")])
    let event = try #require(try pipeline.timeline(result).first)
    #expect(event.envelope == envelope)
    #expect(event.source == RecordPosition(topic: "chat.events", partition: 0, offset: 1))
    #expect(event.origin == Origin(event.source))
    let candidate = try #require(try pipeline.candidates(result).first)
    #expect(candidate.conversationId == "c")
    #expect(candidate.messageId == "m1")
    #expect(
      candidate.sender == Member(userId: "ann", displayName: "Ann B.", avatarUrl: "https://example.com/ann.jpg"))
    #expect(
      candidate.conversation
        == CandidateConversation(
          kind: .group, name: "Hikers", memberCount: 3, activeSpeakers: 1, features: candidate.conversation.features))
    #expect(candidate.conversation.features != nil)
    #expect(candidate.attachment == ChatAttachment(kind: .image, url: "https://example.com/1.jpg"))
    #expect(candidate.mentions == ["ben", "zoe"])
    #expect(candidate.replyTo == "m0")
    #expect(candidate.replayId == "replay-7")
    #expect(result.outputs.allSatisfy { $0.headers.contains(traceparent) })
  }

  @Test("M7: 10,000 members are a record a timeline partition and 500 people, each person once")
  func largeGroup() throws {
    let pipeline = IngestPipeline(partitions: 12, rules: IngestPipeline.rules { $0.fanOutStep = 10_000 })
    let everybody = (0..<10_000).map { "user-\($0)" }
    try pipeline.group(everybody)
    let result = try pipeline.message(from: "user-17")
    #expect(try pipeline.recipients(result) == everybody.filter { $0 != "user-17" }.sorted())
    let candidates = try pipeline.candidates(result)
    #expect(candidates.allSatisfy { (1...500).contains($0.recipients.count) })
    #expect(candidates.count <= 36)
    var origins: [Int32: [OriginOrder]] = [:]
    for output in result.outputs {
      let event = try pipeline.driver.decode(TimelineEvent.self, from: output)
      origins[output.partition, default: []].append(event.origin.order)
      if case .candidate(let candidate) = event.body {
        for recipient in candidate.recipients.prefix(20) {
          #expect(partition(of: recipient.userId, 12) == output.partition)
        }
      }
    }
    for (partition, orders) in origins {
      #expect(orders.map(\.index) == Array(0..<Int32(orders.count)), "partition \(partition)")
    }
  }

  @Test("M7: people who spell their ids alike for Unicode are two people")
  func canonicallyEquivalentIds() throws {
    let pipeline = IngestPipeline()
    let composed = "jos\u{e9}"
    let decomposed = "jose\u{301}"
    try pipeline.group([composed, decomposed, "ann"])
    let result = try pipeline.message(from: composed, mentions: [decomposed])
    let recipients = try pipeline.candidates(result).flatMap(\.recipients)
    #expect(recipients.map { Array($0.userId.utf8) } == [Array("ann".utf8), Array(decomposed.utf8)])
    #expect(recipients.map(\.context.mentioned) == [false, true])
  }

  private func partition(of key: String, _ count: Int32) -> Int32 {
    // The driver says where a key belongs: a record without a place of its own goes there.
    let pipeline = IngestPipeline(partitions: count)
    let sent = try? pipeline.user(.read(MessageRead(userId: key, conversationId: "c")))
    return sent?.outputs.first?.partition ?? -1
  }

  @Test("D12, D13: an edit that comes before its message is what the message says; an older one is not")
  func editBeforeMessage() throws {
    for (offset, body) in [(1, "the last text"), (-5_000, "the first text")] as [(Int64, String)] {
      let pipeline = IngestPipeline()
      try pipeline.group(["ann", "ben"])
      let envelope = pipeline.envelope()
      try pipeline.chat(
        .messageEdited(MessageRevision(conversationId: "c", messageId: "m", text: "the last text")),
        pipeline.envelope(after: offset))
      let result = try pipeline.message("c", "m", from: "ann", "the first text", envelope: envelope)
      #expect(try pipeline.candidates(result).map(\.body) == [body])
    }
  }
}
