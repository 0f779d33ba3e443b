import Ingest
import NudgeSchema
import StreamRuntime
import Testing

/// What a member may not do with ids that somebody else uses, or is going to use.
@Suite("M6: an id belongs to its type and its sender")
struct ReusedIdTests {
  private static let byUser = [RecordHeaderField(RecordHeader.caller, RecordHeader.user)]

  private func pipeline() throws -> IngestPipeline {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben", "mallory"])
    return pipeline
  }

  @discardableResult
  private func post(
    _ pipeline: IngestPipeline, _ eventId: String, _ messageId: String, from sender: String, byUser: Bool,
    conversation: ConversationSnapshot? = nil
  ) throws -> IngestPipeline.Result {
    try pipeline.chat(
      .messageCreated(
        MessageCreated(
          conversationId: "c", messageId: messageId, senderId: sender, text: "hello", conversation: conversation)),
      pipeline.envelope(eventId, after: 100), headers: byUser ? Self.byUser : [])
  }

  private func remove(_ pipeline: IngestPipeline, _ userId: String, _ eventId: String) throws -> IngestPipeline.Result {
    try pipeline.chat(
      .memberRemoved(MembershipChange(conversationId: "c", userId: userId)), pipeline.envelope(eventId, after: 100))
  }

  @Test("a member who takes the event id of his own removal first is removed all the same")
  func removal() throws {
    let pipeline = try pipeline()
    #expect(try post(pipeline, "c-remove-mallory", "x", from: "mallory", byUser: true).rejection == nil)
    let removal = try remove(pipeline, "mallory", "c-remove-mallory")
    #expect(removal.rejection == nil)
    #expect(try pipeline.withdrawals(removal).map(\.userIds) == [["mallory"]])
    let secret = try post(pipeline, "e", "m", from: "ann", byUser: false)
    #expect(try pipeline.recipients(secret) == ["ben"], "now that he is out")
    // The removal's own retry is still one.
    #expect(try remove(pipeline, "mallory", "c-remove-mallory").outputs.isEmpty)
  }

  @Test(
    "no event of a backend is kept from its effect by an id that a member used before",
    arguments: ["conversation.updated", "member_added", "edited", "deleted", "message"])
  func kinds(_ kind: String) throws {
    let pipeline = try pipeline()
    try post(pipeline, "theirs", "m", from: "ann", byUser: false)
    try post(pipeline, "taken", "x", from: "mallory", byUser: true)
    let body: ChatEventBody =
      switch kind {
      case "conversation.updated":
        .conversationUpdated(
          ConversationUpdated(
            conversationId: "c", kind: .group, members: ["ann", "ben"].map { IngestPipeline.member($0) }))
      case "member_added": .memberAdded(MembershipChange(conversationId: "c", userId: "cid"))
      case "edited": .messageEdited(MessageRevision(conversationId: "c", messageId: "m", text: "new"))
      case "deleted": .messageDeleted(MessageRevision(conversationId: "c", messageId: "m"))
      default: .messageCreated(MessageCreated(conversationId: "c", messageId: "n", senderId: "ann", text: "hi"))
      }
    let result = try pipeline.chat(body, pipeline.envelope("taken", after: 200))
    #expect(result.rejection == nil)
    if kind == "member_added" {
      #expect(try pipeline.recipients(pipeline.message("c", "after", from: "ann")).contains("cid"))
    } else {
      #expect(!result.outputs.isEmpty)
    }
  }

  @Test("a producer that gives one id to events of two types, or of two senders, is told so; a retry is none of them")
  func ownMistakes() throws {
    let pipeline = try pipeline()
    try post(pipeline, "one", "m1", from: "ann", byUser: false)
    #expect(try remove(pipeline, "ben", "one").rejection?.code == .eventIdReused)
    #expect(try post(pipeline, "one", "m2", from: "ben", byUser: false).rejection?.code == .eventIdReused)
    #expect(try pipeline.recipients(post(pipeline, "two", "m3", from: "ann", byUser: false)) == ["ben", "mallory"])
    let retry = try post(pipeline, "one", "m1", from: "ann", byUser: false)
    #expect(retry.rejection == nil && retry.outputs.isEmpty)
    // Over both ways, as a reply that the app and its backend publish.
    try post(pipeline, "reply", "m4", from: "ben", byUser: true)
    #expect(try post(pipeline, "reply", "m4", from: "ben", byUser: false).outputs.isEmpty)
    try pipeline.driver.restart()
    #expect(try remove(pipeline, "ben", "one").rejection?.code == .eventIdReused, "known after a restart")
  }

  @Test("a backend's message that its sender's app published already brings its snapshot, and no second message")
  func snapshot() throws {
    let pipeline = try pipeline()
    try post(pipeline, "reply", "m", from: "ben", byUser: true)
    let snapshot = ConversationSnapshot(kind: .group, members: ["ann", "ben"].map { IngestPipeline.member($0) })
    let again = try post(pipeline, "reply", "m", from: "ben", byUser: false, conversation: snapshot)
    #expect(try pipeline.candidates(again).isEmpty)
    #expect(try pipeline.withdrawals(again).map(\.userIds) == [["mallory"]])
  }

  @Test("another sender's message id is refused; a backend's message is taken where a member used its id ahead of it")
  func messageIds() throws {
    let pipeline = try pipeline()
    try post(pipeline, "e1", "m1", from: "ann", byUser: false)
    #expect(try post(pipeline, "e2", "m1", from: "ben", byUser: false).rejection?.code == .messageIdReused)
    #expect(try post(pipeline, "e3", "m1", from: "mallory", byUser: true).rejection?.code == .messageIdReused)
    for number in 2...5 { try post(pipeline, "ahead-\(number)", "m\(number)", from: "mallory", byUser: true) }
    for number in 2...5 {
      let real = try post(pipeline, "real-\(number)", "m\(number)", from: "ann", byUser: false)
      #expect(try pipeline.recipients(real) == ["ben", "mallory"])
    }
    // It belongs to the backend's sender from now on, and so does an edit's name.
    #expect(try post(pipeline, "late", "m2", from: "ben", byUser: true).rejection?.code == .messageIdReused)
    let edit = try pipeline.chat(.messageEdited(MessageRevision(conversationId: "c", messageId: "m2", text: "new")))
    #expect(try pipeline.withdrawals(edit).map { $0.sender?.userId } == ["ann"])
    // Of two apps the first has it: what is on a phone is not replaced.
    try post(pipeline, "first", "m9", from: "ben", byUser: true)
    #expect(try post(pipeline, "second", "m9", from: "mallory", byUser: true).rejection?.code == .messageIdReused)
    // One's own message under another event id is the analyzer's to recognise.
    #expect(try post(pipeline, "again", "m1", from: "ann", byUser: false).rejection == nil)
  }

  @Test("a message id is known after 300 other messages")
  func depth() throws {
    let pipeline = try pipeline()
    try post(pipeline, "first", "m", from: "ann", byUser: false)
    for number in 0..<300 { try post(pipeline, "e\(number)", "m\(number)", from: "ben", byUser: false) }
    #expect(try post(pipeline, "theft", "m", from: "mallory", byUser: true).rejection?.code == .messageIdReused)
    // Another member's ids do not stand in his way.
    #expect(try post(pipeline, "e7", "mine", from: "mallory", byUser: true).rejection?.code == .eventIdReused)
  }

  @Test("a person's id is not taken from the operator either: preferences that a backend sets come through")
  func userEvents() throws {
    let pipeline = IngestPipeline()
    func send(_ body: UserEventBody, byUser: Bool) throws -> IngestPipeline.Result {
      try pipeline.driver.send(
        UserEvent(pipeline.envelope("same"), body), to: .userEvents, key: "ann", headers: byUser ? Self.byUser : [])
    }
    let read = UserEventBody.read(MessageRead(userId: "ann", conversationId: "c"))
    let preferences = UserEventBody.preferences(
      PreferencesUpdated(userId: "ann", preferences: PreferencesPatch(enabled: false)))
    #expect(try send(read, byUser: true).outputs.count == 1)
    #expect(try send(preferences, byUser: true).rejection?.code == .eventIdReused)
    #expect(try send(preferences, byUser: false).outputs.count == 1)
    #expect(try send(preferences, byUser: false).outputs.isEmpty)
    #expect(try send(read, byUser: true).outputs.isEmpty)
  }

  @Test("that an app sent a message travels with its candidates, at once, in steps, and by way of another partition")
  func caller() throws {
    let pipeline = IngestPipeline(partitions: 4, rules: IngestPipeline.rules { $0.fanOutStep = 3 })
    for (conversation, members) in [("c", 3), ("d", 9)] {
      let people = (0..<members).map { "p\($0)" }
      try pipeline.group(people, in: conversation)
      for byUser in [false, true] {
        let event = ChatEvent(
          pipeline.envelope(after: 100),
          .messageCreated(
            MessageCreated(
              conversationId: conversation, messageId: "m-\(byUser)", senderId: "p0", text: "look",
              attachments: [.init(kind: .image, url: "https://evil.example/a.gif")])))
        let own = pipeline.partition(of: conversation)
        let moved = try pipeline.driver.send(
          event, to: .chatEvents, key: conversation, partition: (own + 1) % 4, headers: byUser ? Self.byUser : [])
        #expect(moved.outputs.map(\.partition) == [own])
        var results = pipeline.driver.sendBack(moved)
        for _ in 0..<5 {
          pipeline.driver.now += 100
          results.append(pipeline.driver.wake(partition: own))
        }
        let candidates = try results.flatMap { try pipeline.candidates($0) }
        #expect(Set(candidates.flatMap(\.recipients).map(\.userId)).count == members - 1)
        #expect(candidates.allSatisfy { $0.byUser == (byUser ? true : nil) && $0.attachment?.url != nil })
      }
    }
  }
}
