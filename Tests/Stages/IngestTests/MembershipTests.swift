import Ingest
import NudgeSchema
import StreamRuntime
import TestSupport
import Testing

@Suite struct MembershipTests {
  private func added(_ userId: String, _ name: String? = nil) -> ChatEventBody {
    .memberAdded(MembershipChange(conversationId: "c", userId: userId, displayName: name))
  }

  private func removed(_ userId: String) -> ChatEventBody {
    .memberRemoved(MembershipChange(conversationId: "c", userId: userId))
  }

  @Test("M7: joining and leaving take effect in order with the messages around them")
  func inOrder() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben"])
    #expect(try pipeline.recipients(pipeline.message(from: "ann")) == ["ben"])
    try pipeline.chat(added("cleo"), pipeline.envelope(after: 1))
    #expect(try pipeline.recipients(pipeline.message(from: "ann")) == ["ben", "cleo"])
    try pipeline.chat(removed("ben"), pipeline.envelope(after: 2))
    #expect(try pipeline.recipients(pipeline.message(from: "ann")) == ["cleo"])
    try pipeline.group(["ann", "dan"], envelope: pipeline.envelope(after: 3))
    #expect(try pipeline.recipients(pipeline.message(from: "ann")) == ["dan"])
    #expect(try pipeline.candidates(pipeline.message(from: "ann")).first?.conversation.memberCount == 2)
  }

  @Test("M7: a snapshot inside a message takes effect before the message, at the message's stamp")
  func snapshotInMessage() throws {
    let pipeline = IngestPipeline()
    let snapshot = ConversationSnapshot(
      kind: .group, name: "New", members: ["ann", "ben", "cleo"].map { IngestPipeline.member($0) })
    let message = MessageCreated(
      conversationId: "c", messageId: "m", senderId: "ann", text: "hi", conversation: snapshot)
    let result = try pipeline.chat(.messageCreated(message), pipeline.envelope(after: 100))
    #expect(try pipeline.recipients(result) == ["ben", "cleo"])
    #expect(try pipeline.candidates(result).first?.title == "Ann in New")
    try pipeline.group(["ann"], name: "Old", envelope: pipeline.envelope(after: 99))
    let next = try pipeline.message("c", "m2", from: "ann")
    #expect(try pipeline.recipients(next) == ["ben", "cleo"])
    #expect(try pipeline.candidates(next).first?.conversation.name == "New")
  }

  @Test("M7: the same snapshot with every message changes nothing and keeps single changes that are later")
  func repeatedSnapshot() throws {
    let pipeline = IngestPipeline()
    let message = { (messageId: String) in
      MessageCreated(
        conversationId: "c", messageId: messageId, senderId: "ann", text: "hi",
        conversation: ConversationSnapshot(kind: .group, members: ["ann", "ben"].map { IngestPipeline.member($0) }))
    }
    try pipeline.chat(.messageCreated(message("m1")), pipeline.envelope(after: 1))
    #expect(
      try pipeline.recipients(pipeline.chat(.messageCreated(message("m2")), pipeline.envelope(after: 2))) == ["ben"])
    try pipeline.chat(added("cleo"), pipeline.envelope(after: 10))
    let earlier = try pipeline.chat(.messageCreated(message("m3")), pipeline.envelope(after: 5))
    #expect(try pipeline.recipients(earlier) == ["ben", "cleo"])
    let later = try pipeline.chat(.messageCreated(message("m4")), pipeline.envelope(after: 11))
    #expect(try pipeline.recipients(later) == ["ben"])
    #expect(
      try pipeline.withdrawals(later)
        == [MessageWithdrawn(userIds: ["cleo"], conversationId: "c", messageId: nil, cause: .left)])
  }

  @Test("D12: an older change that comes late brings no older state back")
  func lateChanges() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben"])
    try pipeline.chat(removed("ben"), pipeline.envelope(after: 10))
    try pipeline.chat(added("ben"), pipeline.envelope(after: 5))
    #expect(try pipeline.recipients(pipeline.message(from: "ann")) == [])
    try pipeline.chat(removed("cleo"), pipeline.envelope(after: 10))
    try pipeline.chat(added("cleo"), pipeline.envelope(after: 5))
    #expect(try pipeline.recipients(pipeline.message("c", "m2", from: "ann")) == [])
    try pipeline.group(["ann", "ben", "cleo", "dan"], envelope: pipeline.envelope(after: 7))
    #expect(try pipeline.recipients(pipeline.message("c", "m3", from: "ann")) == ["dan"])
    try pipeline.chat(added("eve"), pipeline.envelope(after: 6))
    #expect(try pipeline.recipients(pipeline.message("c", "m4", from: "ann")) == ["dan"])
  }

  @Test("D12: of two changes at one time the greater event id wins")
  func tie() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann"])
    try pipeline.chat(removed("ben"), pipeline.envelope("b", after: 1))
    try pipeline.chat(added("ben"), pipeline.envelope("a", after: 1))
    #expect(try pipeline.recipients(pipeline.message(from: "ann")) == [])
    try pipeline.chat(added("ben"), pipeline.envelope("c", after: 1))
    #expect(try pipeline.recipients(pipeline.message("c", "m2", from: "ann")) == ["ben"])
  }

  @Test("D13: who leaves, alone or by a snapshot, is told so on their timeline; nobody else is")
  func leavers() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben", "cleo", "dan"])
    let one = try pipeline.chat(removed("ben"), pipeline.envelope(after: 1))
    #expect(
      try pipeline.withdrawals(one)
        == [MessageWithdrawn(userIds: ["ben"], conversationId: "c", messageId: nil, cause: .left)])
    let snapshot = try pipeline.group(["ann"], envelope: pipeline.envelope(after: 2))
    #expect(
      try pipeline.withdrawals(snapshot)
        == [MessageWithdrawn(userIds: ["cleo", "dan"], conversationId: "c", messageId: nil, cause: .left)])
    #expect(try pipeline.chat(removed("stranger"), pipeline.envelope(after: 3)).outputs.isEmpty)
  }

  @Test("D13: an edited or deleted message reaches all members, 500 a record")
  func withdrawn() throws {
    let pipeline = IngestPipeline(partitions: 3, rules: IngestPipeline.rules { $0.fanOutStep = 2_000 })
    let everybody = (0..<2_000).map { "u\($0)" }
    try pipeline.group(everybody)
    let edited = try pipeline.chat(
      .messageEdited(MessageRevision(conversationId: "c", messageId: "m", text: "new text")))
    let withdrawals = try pipeline.withdrawals(edited)
    #expect(withdrawals.flatMap(\.userIds).sorted() == everybody.sorted())
    #expect(withdrawals.allSatisfy { $0.userIds.count <= 500 && $0.body == "new text" && $0.cause == .edited })
    let deleted = try pipeline.chat(.messageDeleted(MessageRevision(conversationId: "c", messageId: "m")))
    #expect(try pipeline.withdrawals(deleted).flatMap(\.userIds).count == 2_000)
    #expect(try pipeline.withdrawals(deleted).allSatisfy { $0.body == nil && $0.cause == .deleted })
  }

  @Test(
    "D13: the edit of a group's message carries title and sender; behind thousands of others, the group's name")
  func editedTitle() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben"])
    try pipeline.message("c", "m1", from: "ann")
    func edited(_ messageId: String) throws -> MessageWithdrawn? {
      try pipeline.withdrawals(
        try pipeline.chat(
          .messageEdited(MessageRevision(conversationId: "c", messageId: messageId, text: "new text")))
      ).first
    }
    func expectAnn(sourceLocation: SourceLocation = #_sourceLocation) throws {
      let withdrawn = try edited("m1")
      #expect(withdrawn?.title == "Ann in Hikers", sourceLocation: sourceLocation)
      #expect(withdrawn?.sender == IngestPipeline.member("ann"), sourceLocation: sourceLocation)
    }
    try expectAnn()
    for number in 0..<100 { try pipeline.message("c", "later\(number)", from: "ben") }
    try expectAnn()
    try pipeline.driver.restart()
    try expectAnn()
    for number in 100..<140 { try pipeline.message("c", "later\(number)", from: "ben") }
    try expectAnn()
    let old = try edited("of which nothing is known")
    #expect(old?.title == "Hikers" && old?.sender == nil && old?.body == "new text")
    #expect(old?.userIds == ["ann", "ben"])
  }

  @Test("D13: of a direct conversation the edit of any message has the other member as sender, however old it is")
  func editedDirect() throws {
    let pipeline = IngestPipeline()
    try pipeline.chat(
      .conversationUpdated(
        ConversationUpdated(
          conversationId: "d", kind: .direct, members: ["ann", "ben"].map { IngestPipeline.member($0) })))
    let edited = try pipeline.chat(
      .messageEdited(MessageRevision(conversationId: "d", messageId: "old", text: "new text")))
    let withdrawals = try pipeline.withdrawals(edited)
    #expect(withdrawals.map(\.userIds) == [["ann"], ["ben"]])
    #expect(withdrawals.map(\.title) == ["Ben", "Ann"])
    #expect(withdrawals.map { $0.sender?.userId } == ["ben", "ann"])
  }

  @Test("D12: removed members are remembered up to the bound; beyond it older changes of strangers have no effect")
  func boundedTombstones() throws {
    let pipeline = IngestPipeline(rules: IngestPipeline.rules { $0.removedMembers = 10 })
    try pipeline.group(["ann"])
    for number in 1...100 {
      try pipeline.chat(added("u\(number)"), pipeline.envelope(after: Int64(number * 10)))
      try pipeline.chat(removed("u\(number)"), pipeline.envelope(after: Int64(number * 10 + 1)))
    }
    var rows = 0
    for number in 1...100 where try pipeline.driver.row(RowKey("c", "c", "u\(number)")) != nil { rows += 1 }
    #expect((1...10).contains(rows))
    try pipeline.chat(added("u3"), pipeline.envelope(after: 30))
    #expect(try pipeline.recipients(pipeline.message(from: "ann")) == [])
    try pipeline.chat(added("u3"), pipeline.envelope(after: 2_000))
    #expect(try pipeline.recipients(pipeline.message("c", "m2", from: "ann")) == ["u3"])
  }

  @Test(
    "D12: a large conversation remembers a tenth of its members, so that forgetting costs a look at all of them seldom")
  func tombstonesOfALargeConversation() throws {
    let pipeline = IngestPipeline(rules: IngestPipeline.rules { $0.removedMembers = 10 })
    try pipeline.group((0..<400).map { "u\($0)" })
    func leave(_ numbers: Range<Int>) throws -> Int {
      for number in numbers {
        try pipeline.chat(removed("u\(number)"), pipeline.envelope(after: 100 + Int64(number)))
      }
      return try pipeline.driver.rows(below: RowKey("c", "c")).count { _, row in
        if case .member(let member) = row { !member.takesPart } else { false }
      }
    }
    #expect(try leave(0..<36) == 36)
    #expect(try (15...20).contains(leave(36..<38)), "half of them are forgotten at once")
    try pipeline.chat(added("u3"), pipeline.envelope(after: 102))
    #expect(try !pipeline.recipients(pipeline.message(from: "u399")).contains("u3"), "it is older than its removal")
  }

  @Test("D12: any order of arrival of the same changes ends in the same rows, those that the stamps say")
  func anyOrder() throws {
    var random = SeededGenerator(announcedFor: "anyOrder (members)")
    let seed = random.seed
    for round in 0..<60 {
      let users = (0..<6).map { "u\($0)" }
      var events: [(Envelope, ChatEventBody)] = []
      for number in 0..<Int.random(in: 2...14, using: &random) {
        // Few different times, so that event ids have to decide.
        let envelope = Envelope(
          eventId: "e\(Int.random(in: 0..<1_000, using: &random))-\(number)",
          occurredAt: IngestPipeline.start + Int64.random(in: 0..<8, using: &random))
        let user = users.randomElement(using: &random) ?? "u0"
        let name = ["A", "B", nil].randomElement(using: &random) ?? nil
        switch Int.random(in: 0..<4, using: &random) {
        case 0, 1: events.append((envelope, added(user, name)))
        case 2: events.append((envelope, removed(user)))
        default:
          let members = users.filter { _ in Bool.random(using: &random) }
            .map { Member(userId: $0, displayName: name ?? "N") }
          events.append(
            (
              envelope,
              .conversationUpdated(
                ConversationUpdated(
                  conversationId: "c", kind: Bool.random(using: &random) ? .group : .direct, name: name,
                  members: members))
            ))
        }
      }
      let expected = oracle(events, users)
      for _ in 0..<4 {
        events.shuffle(using: &random)
        let pipeline = IngestPipeline()
        for (envelope, body) in events {
          try pipeline.chat(body, envelope)
          if Int.random(in: 0..<4, using: &random) == 0 { try pipeline.driver.restart() }
          // A message in between brings the roster into memory.
          if Bool.random(using: &random) { try pipeline.message(from: "u0") }
        }
        for user in users {
          var member: MemberRow?
          if case .member(let row)? = try pipeline.driver.row(RowKey("c", "c", user)) { member = row }
          #expect(member?.takesPart ?? false == expected.members.keys.contains(user), "seed \(seed), round \(round)")
          if let name = expected.members[user] { #expect(member?.displayName == name, "seed \(seed), round \(round)") }
          #expect(member?.stamp == expected.stamps[user] ?? nil, "seed \(seed), round \(round)")
        }
        guard case .conversation(let row)? = try pipeline.driver.row(RowKey("c", "c")) else {
          Issue.record("no conversation, seed \(seed), round \(round)")
          continue
        }
        #expect(row.memberCount == expected.members.count, "seed \(seed), round \(round)")
        #expect(row.removedCount == expected.removed, "seed \(seed), round \(round)")
        #expect(row.kind == expected.kind && row.name == expected.name, "seed \(seed), round \(round)")
        let sender = try #require(users.first)
        if expected.members.keys.contains(sender) {
          let last = try pipeline.message("c", "last", from: sender)
          #expect(
            try pipeline.recipients(last) == expected.members.keys.filter { $0 != sender }.sorted(),
            "seed \(seed), round \(round)")
        }
      }
    }
  }

  /// The members by the stamps, one person at a time.
  private func oracle(_ events: [(Envelope, ChatEventBody)], _ users: [String]) -> (
    members: [String: String?], stamps: [String: EventStamp], removed: Int, kind: ConversationKind?, name: String?
  ) {
    let ordered = events.sorted { EventStamp($0.0, takenAt: nil) < EventStamp($1.0, takenAt: nil) }
    var members: [String: String?] = [:]
    var stamps: [String: EventStamp] = [:]
    var kind: ConversationKind?
    var name: String?
    for (envelope, body) in ordered {
      switch body {
      case .conversationUpdated(let fields):
        (kind, name) = (fields.kind, fields.name)
        members = [:]
        stamps = [:]
        for member in fields.members { members.updateValue(member.displayName, forKey: member.userId) }
      case .memberAdded(let change):
        members.updateValue(change.displayName, forKey: change.userId)
        stamps[change.userId] = EventStamp(envelope, takenAt: nil)
      case .memberRemoved(let change):
        members.removeValue(forKey: change.userId)
        stamps[change.userId] = EventStamp(envelope, takenAt: nil)
      default: break
      }
    }
    return (members, stamps, stamps.keys.filter { !members.keys.contains($0) }.count, kind, name)
  }
}
