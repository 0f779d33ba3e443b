import Ingest
import NudgeSchema
import StreamRuntime
import TestSupport
import Testing

@Suite struct RecoveryTests {
  /// Random events of three conversations, eight people and four tokens, some of them refused, late or sent twice.
  private func script(_ random: inout SeededGenerator, count: Int) -> [(topic: Topic, key: String, bytes: [UInt8])] {
    let users = (0..<8).map { "user\($0)" }
    let coder = RecordCoder()
    var records: [(topic: Topic, key: String, bytes: [UInt8])] = []
    for number in 0..<count {
      if let earlier = records.randomElement(using: &random), Int.random(in: 0..<8, using: &random) == 0 {
        records.append(earlier)
        continue
      }
      let user = users.randomElement(using: &random) ?? "user0"
      let conversation = "c\(Int.random(in: 0..<3, using: &random))"
      let envelope = Envelope(
        eventId: "e\(number)", occurredAt: IngestPipeline.start + Int64.random(in: 0..<2_000, using: &random))
      let device = "d\(Int.random(in: 0..<2, using: &random))"
      var chat: ChatEventBody?
      var event: UserEventBody?
      switch Int.random(in: 0..<12, using: &random) {
      case 0:
        let members = users.filter { _ in Bool.random(using: &random) }.map { IngestPipeline.member($0) }
        chat = .conversationUpdated(ConversationUpdated(conversationId: conversation, kind: .group, members: members))
      case 1: chat = .memberAdded(MembershipChange(conversationId: conversation, userId: user, displayName: "N"))
      case 2: chat = .memberRemoved(MembershipChange(conversationId: conversation, userId: user))
      case 3: chat = .messageDeleted(MessageRevision(conversationId: conversation, messageId: "m\(number / 2)"))
      case 4: event = .deviceUnregistered(DeviceUnregistered(userId: user, deviceId: device))
      case 5, 6:
        event = .deviceRegistered(
          DeviceRegistered(
            userId: user, deviceId: device, token: "t\(Int.random(in: 0..<4, using: &random))", platform: .web))
      case 7: event = .read(MessageRead(userId: user, conversationId: conversation))
      default:
        chat = .messageCreated(
          MessageCreated(
            conversationId: conversation, messageId: "m\(number)", senderId: user, text: "hello \(user)",
            replyTo: "m\(number - 2)", mentions: [users[number % 8]]))
      }
      if let chat, let bytes = try? coder.encode(ChatEvent(envelope, chat)) {
        records.append((.chatEvents, conversation, bytes))
      } else if let event, let bytes = try? coder.encode(UserEvent(envelope, event)) {
        records.append((.userEvents, user, bytes))
      }
    }
    return records
  }

  @Test("Exactly once: a task that crashes after any commit writes what one that never crashed writes")
  func crashAnywhere() throws {
    var random = SeededGenerator(announcedFor: "crashAnywhere (ingest)")
    let seed = random.seed
    for round in 0..<6 {
      let partitions: Int32 = 3
      let records = script(&random, count: 250)
      let steady = IngestPipeline(partitions: partitions)
      let crashing = IngestPipeline(partitions: partitions)
      for (number, record) in records.enumerated() {
        var expected: [OutputRecord] = []
        var found: [OutputRecord] = []
        var refused: [DeadLetterCode?] = []
        for (pipeline, isCrashing) in [(steady, false), (crashing, true)] {
          let result = pipeline.driver.send(bytes: record.bytes, to: record.topic, key: Array(record.key.utf8))
          let outputs = result.outputs + pipeline.driver.sendBack(result).flatMap(\.outputs)
          if isCrashing { found = outputs } else { expected = outputs }
          refused.append(result.rejection?.code)
        }
        #expect(found == expected, "seed \(seed), round \(round), record \(number)")
        #expect(refused[0] == refused[1], "seed \(seed), round \(round), record \(number)")
        if Int.random(in: 0..<5, using: &random) == 0 {
          try crashing.driver.restart(partition: Int32.random(in: 0..<partitions, using: &random))
        }
      }
    }
  }

  @Test("Exactly once: a record that is processed again at its old place writes nothing more")
  func processedAgain() throws {
    var random = SeededGenerator(announcedFor: "processedAgain")
    let seed = random.seed
    let pipeline = IngestPipeline()
    for (number, record) in script(&random, count: 300).enumerated() {
      let input = InputRecord(
        topic: record.topic, topicName: record.topic.rawValue, partition: 0, offset: Int64(number),
        timestamp: pipeline.driver.now, key: Array(record.key.utf8), value: record.bytes)
      let first = pipeline.driver.process(input)
      _ = pipeline.driver.sendBack(first)
      let second = pipeline.driver.process(input)
      #expect(second.outputs.isEmpty, "seed \(seed), record \(number)")
      #expect(second.rejection?.code == first.rejection?.code, "seed \(seed), record \(number)")
    }
  }

  @Test("A step that is refused leaves nothing: not the snapshot it brought, nor the roster in memory")
  func refusedStepLeavesNothing() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben"])
    let message = MessageCreated(
      conversationId: "c", messageId: "m", senderId: "eve", text: "hi",
      conversation: ConversationSnapshot(kind: .group, members: [IngestPipeline.member("ben")]))
    let refused = try pipeline.chat(.messageCreated(message), pipeline.envelope(after: 10))
    #expect(refused.rejection?.code == .senderNotMember && refused.outputs.isEmpty)
    #expect(try pipeline.recipients(pipeline.message(from: "ann")) == ["ben"])
  }

  @Test("Every row reads as it was written, and the largest the schema allows are below 16 kB")
  func rows() throws {
    let pipeline = IngestPipeline()
    let long = { (prefix: String) in prefix + String(repeating: "\"", count: 256 - prefix.utf8.count) }
    let conversation = long("c")
    let users = (0..<30).map { long("u\($0)") }
    let name = String(repeating: "\u{1}", count: 256)
    let url = String(repeating: "\\", count: 2_048)
    try pipeline.chat(
      .conversationUpdated(
        ConversationUpdated(
          conversationId: conversation, kind: .group, name: name,
          members: users.map { Member(userId: $0, displayName: name, avatarUrl: url) })))
    for number in 0..<300 {
      try pipeline.message(
        conversation, long("m\(number)"), from: users[number % 30], mentions: users,
        envelope: pipeline.envelope(String(repeating: "\"", count: 124) + "\(number)", after: Int64(number)))
    }
    let keys =
      [RowKey("c", conversation), RowKey("e", "c", conversation), RowKey("e", "c", conversation, "0")]
      + users.map { RowKey("c", conversation, $0) }
    let coder = RecordCoder()
    for key in keys {
      let row = try #require(try pipeline.driver.row(key))
      let bytes = try row.encoded(coder: coder, at: .latest)
      #expect(bytes.count <= StateLimits.maxRowBytes)
      let read = try bytes.withUnsafeBytes { try IngestRow(key: key, bytes: $0, coder: coder) }
      #expect(read == row)
    }
  }
}
