import Foundation
import NudgeSchema
@testable import StreamRuntime
import TestSupport
import Testing

@testable import Ingest

@Suite("M7: fan-out in steps")
struct SteppedFanOutTests {
  @Test("a message to 10,000 is one short step, then so many recipients a step; in between, others are served")
  func bounded() throws {
    let pipeline = IngestPipeline(partitions: 4)
    let everybody = (0..<10_000).map { "user-\($0)" }
    let group = try pipeline.group(everybody)
    #expect(group.rejection == nil)
    try pipeline.group(["ann", "ben"], in: "small")
    let task = pipeline.partition(of: "c")
    let created = try pipeline.message("c", "large", from: "user-17", mentions: ["user-4711"])
    // The sender's own record.
    #expect(try created.outputs.count == 1 && pipeline.candidates(created).isEmpty)
    #expect(created.wakeAt == pipeline.driver.now)

    var reached: [String] = []
    var mentioned: [String] = []
    var steps = 0
    var wakeAt = created.wakeAt
    while let time = wakeAt {
      pipeline.driver.now = time
      let result = pipeline.driver.wake(partition: task)
      let recipients = try pipeline.candidates(result).flatMap(\.recipients)
      #expect(recipients.count <= 200)
      reached += recipients.map(\.userId)
      mentioned += recipients.filter(\.context.mentioned).map(\.userId)
      if let next = result.wakeAt {
        #expect(next == time + IngestRules().fanOutPause)
        // Somebody else's message goes through at once.
        if steps % 10 == 0 {
          let other = try pipeline.message("small", "m\(steps)", from: "ann")
          #expect(try pipeline.recipients(other) == ["ben"])
        }
      }
      wakeAt = result.wakeAt
      steps += 1
    }
    #expect(reached.count == 9_999 && Set(reached) == Set(everybody).subtracting(["user-17"]))
    #expect(mentioned == ["user-4711"])
    // The last wake finds nothing more.
    #expect(steps == 51)
    #expect(try pipeline.driver.row(RowKey("f"), partition: task) == nil)
  }

  private func wakeUntilIdle(_ pipeline: IngestPipeline) -> [IngestPipeline.Result] {
    var results: [IngestPipeline.Result] = []
    while results.last?.wakeAt != nil || results.isEmpty {
      pipeline.driver.now += 100
      results.append(pipeline.driver.wake())
    }
    return results
  }

  @Test(
    "M7: a conversation that is too large to be read whole reaches all in their order, whom it mentions, answers and names"
  )
  func paged() throws {
    let everybody = (0..<60).map { "user-\($0)" }.sorted()
    func pipeline(_ whole: Int, cached: Int = 100_000) throws -> IngestPipeline {
      let pipeline = IngestPipeline(
        rules: IngestPipeline.rules {
          $0.fanOutStep = 7
          $0.wholeRoster = whole
          $0.cachedMembers = cached
        })
      try pipeline.group(everybody)
      for user in everybody.dropFirst(50) {
        try pipeline.chat(.memberRemoved(MembershipChange(conversationId: "c", userId: user)))
      }
      return pipeline
    }
    func reached(_ pipeline: IngestPipeline) throws -> [String: RecipientContext] {
      try pipeline.message("c", "m1", from: everybody[3])
      _ = wakeUntilIdle(pipeline)
      let result = try pipeline.message(
        "c", "m2", from: everybody[1], "User-31, and \(everybody[7].capitalized): have a look", replyTo: "m1",
        mentions: [everybody[9], everybody[55], "nobody"])
      let results = [result] + wakeUntilIdle(pipeline)
      let recipients = try results.flatMap { try pipeline.candidates($0) }.filter { $0.messageId == "m2" }.flatMap(
        \.recipients)
      #expect(recipients.map(\.userId) == everybody.prefix(50).filter { $0 != everybody[1] })
      return Dictionary(recipients.map { ($0.userId, $0.context) }, uniquingKeysWith: { first, _ in first })
    }
    let (paged, whole) = (try reached(pipeline(10)), try reached(pipeline(1_000)))
    #expect(try reached(pipeline(1_000, cached: 1)) == whole, "the roster is in no cache")
    for user in everybody.prefix(50) where user != everybody[1] {
      let (a, b) = (try #require(paged[user]), try #require(whole[user]))
      #expect(
        a.mentioned == b.mentioned && a.named == b.named && a.answered == b.answered && a.exchange == b.exchange,
        "\(user)")
    }
    #expect(paged.filter { $0.value.named }.count == 2 && paged[everybody[9]]?.mentioned == true)
    #expect(paged[everybody[3]]?.answered == true)
  }

  @Test("M7: producers.md and decision 29 name the pace of large fan-outs that the settings make")
  func documentedPace() throws {
    let rules = IngestRules()
    let pace = rules.fanOutStep * 1_000 / Int(rules.fanOutPause)
    let text = "\(pace / 1_000),\(String(pace % 1_000 + 1_000).dropFirst())"
    let producers = try String(contentsOf: Repository.file("docs/producers.md"), encoding: .utf8)
    #expect(
      producers.contains("A message to more than \(rules.fanOutStep) members goes out \(rules.fanOutStep) at a time"))
    #expect(producers.contains("at most \(text) members a second for each partition"))
    let decision = try String(
      contentsOf: Repository.file("docs/decisions/0029-fan-out-in-steps.md"), encoding: .utf8)
    #expect(decision.contains("A record for more than \(rules.fanOutStep) people"))
    #expect(decision.contains("Every \(rules.fanOutPause) ms the task serves the next \(rules.fanOutStep) people"))
    #expect(decision.contains("\(text) people a second"))
  }

  @Test("a fan-out goes on where it was after a restart, and again where it was when the same task starts elsewhere")
  func restarts() throws {
    let pipeline = IngestPipeline(rules: IngestPipeline.rules { $0.fanOutStep = 3 })
    let everybody = (0..<20).map { "user-\($0)" }.sorted()
    try pipeline.group(everybody)
    try pipeline.message("c", "m", from: "user-0")
    var reached: [String] = []
    for _ in 0..<8 {
      reached += try pipeline.recipients(pipeline.driver.wake())
      #expect(try pipeline.driver.restart().wakeAt != nil || reached.count == 19)
    }
    #expect(reached == everybody.filter { $0 != "user-0" })
  }

  @Test("M7: a conversation that gets more than it can be served has no more pending fan-outs than the bound")
  func boundedPending() throws {
    let pipeline = IngestPipeline(
      rules: IngestPipeline.rules {
        $0.fanOutStep = 3
        $0.pendingFanOuts = 2
      })
    let everybody = (0..<20).map { "user-\($0)" }.sorted()
    try pipeline.group(everybody)
    for number in 0..<6 {
      let result = try pipeline.message("c", "m\(number)", from: "user-0")
      #expect(try pipeline.driver.rows(below: RowKey("f")).count == min(number + 1, 2))
      // The oldest one makes room: it is written to its end.
      let told = number < 2 ? [] : everybody.filter { $0 != "user-0" }
      #expect(try pipeline.recipients(result) == told)
      #expect(try pipeline.candidates(result).allSatisfy { $0.messageId == "m\(number - 2)" })
    }
  }

  @Test("what is caused names the generation of its cause's topic: that of a fan-out stays the one it began with")
  func generations() throws {
    let pipeline = IngestPipeline(rules: IngestPipeline.rules { $0.fanOutStep = 3 })
    pipeline.driver.generations = [.chatEvents: InputGeneration(number: 7, from: 2, former: 5)]
    func generations(_ result: IngestPipeline.Result) throws -> Set<Int32?> {
      Set(try pipeline.timeline(result).map(\.origin.generation))
    }
    try pipeline.group(["ann", "ben"], in: "c")
    // Offset 1 is of the former life.
    #expect(try generations(pipeline.message("c", "m1", from: "ann")) == [5])
    #expect(try generations(pipeline.message("c", "m2", from: "ann")) == [7])
    try pipeline.group((0..<20).map { "user-\($0)" }, in: "large")
    try pipeline.message("large", "m3", from: "user-0")
    pipeline.driver.generations = [.chatEvents: InputGeneration(number: 9, from: 0)]
    try pipeline.driver.restart()
    #expect(try generations(pipeline.driver.wake()) == [7])
    #expect(try generations(pipeline.user(.read(MessageRead(userId: "ann", conversationId: "c")))) == [nil])
  }

  @Test(
    "state that is being rebuilt needs no steps: what is written is dropped, and nothing is left to be written later")
  func rebuilding() throws {
    let pipeline = IngestPipeline(rules: IngestPipeline.rules { $0.fanOutStep = 3 })
    pipeline.driver.isRebuilding = true
    try pipeline.group((0..<20).map { "user-\($0)" })
    #expect(try pipeline.message(from: "user-0").wakeAt == nil)
    #expect(try pipeline.driver.restart().wakeAt == nil)
  }

  @Test("what is on its way is shown as JSON whose fields can be left out")
  func shown() throws {
    let pipeline = IngestPipeline(rules: IngestPipeline.rules { $0.fanOutStep = 3 })
    try pipeline.group((0..<20).map { "user-\($0)" })
    try pipeline.message("c", "m", from: "user-0", "a secret")
    let row = try #require(try pipeline.driver.row(RowKey("f", "0000000000000001c")))
    let object = try JSONSerialization.jsonObject(with: Data(row.json(coder: RecordCoder())))
    let event = try #require((object as? [String: Any])?["event"] as? [String: Any])
    #expect(event["body"] as? String == "a secret")
  }

  // MARK: The same as in one step

  /// The events one person got of one conversation, in order, however they were split into records.
  private struct Told: Equatable {
    var order: OriginOrder
    var source: RecordPosition
    var body: TimelineEventBody
    var headers: [RecordHeaderField]

    static func == (a: Told, b: Told) -> Bool {
      a.order.offset == b.order.offset && a.source == b.source && a.body == b.body && a.headers == b.headers
    }
  }

  private struct Person: Hashable {
    var userId: String
    var conversationId: String
  }

  private func tell(_ outputs: [OutputRecord], _ pipeline: IngestPipeline, into told: inout [Person: [Told]]) throws {
    for output in outputs where output.topic == .timeline {
      let event = try pipeline.driver.decode(TimelineEvent.self, from: output)
      func note(_ userId: String, _ conversationId: String, _ body: TimelineEventBody) {
        told[Person(userId: userId, conversationId: conversationId), default: []].append(
          Told(order: event.origin.order, source: event.source, body: body, headers: output.headers))
      }
      switch event.body {
      case .candidate(var candidate):
        let recipients = candidate.recipients
        for recipient in recipients {
          candidate.recipients = [recipient]
          note(recipient.userId, candidate.conversationId, .candidate(candidate))
        }
      case .withdrawn(var withdrawn):
        let people = withdrawn.userIds
        for userId in people {
          withdrawn.userIds = [userId]
          note(userId, withdrawn.conversationId, .withdrawn(withdrawn))
        }
      case .sent(let sent): note(sent.userId, sent.conversationId, event.body)
      default: Issue.record("\(event.body.type) of a chat event")
      }
    }
  }

  private static let users = (0..<12).map { "user\($0)" }

  private func event(_ number: Int, _ random: inout SeededGenerator) -> ChatEventBody {
    let conversation = "c\(random.below(2))"
    let user = Self.users[random.below(Self.users.count)]
    switch random.below(14) {
    case 0:
      let members = Self.users.filter { _ in random.below(4) > 0 }.map { IngestPipeline.member($0) }
      return .conversationUpdated(
        ConversationUpdated(conversationId: conversation, kind: .group, name: "G\(random.below(3))", members: members))
    case 1, 2:
      return .memberAdded(
        MembershipChange(conversationId: conversation, userId: user, displayName: "Name\(random.below(3))"))
    case 3, 4: return .memberRemoved(MembershipChange(conversationId: conversation, userId: user))
    case 5: return .messageDeleted(MessageRevision(conversationId: conversation, messageId: "m\(number - 1)"))
    case 6:
      return .messageEdited(
        MessageRevision(conversationId: conversation, messageId: "m\(number - 1)", text: "now \(number)"))
    default:
      var snapshot: ConversationSnapshot?
      if random.oneIn(12) {
        snapshot = ConversationSnapshot(kind: .group, name: "S", members: Self.users.map { IngestPipeline.member($0) })
      }
      let named = random.oneIn(3) ? Self.users[random.below(Self.users.count)] : "nobody"
      return .messageCreated(
        MessageCreated(
          conversationId: conversation, messageId: "m\(number)", senderId: user, text: "hello \(named) Name1",
          replyTo: random.oneIn(3) ? "m\(number - 2)" : nil,
          mentions: random.oneIn(4) ? [Self.users[random.below(Self.users.count)]] : nil, conversation: snapshot))
    }
  }

  @Test(
    "whatever comes in between, restarts included, each person is told the same in the same order as by one large step")
  func sameAsOneStep() throws {
    var random = SeededGenerator(announcedFor: "fan-out in steps")
    let seed = random.seed
    for round in 0..<12 {
      let partitions: Int32 = 2
      let whole = IngestPipeline(partitions: partitions, rules: IngestPipeline.rules { $0.fanOutStep = 1_000 })
      let (step, pending) = (1 + random.below(4), 1 + random.below(4))
      let stepped = IngestPipeline(
        partitions: partitions,
        rules: IngestPipeline.rules {
          $0.fanOutStep = step
          $0.pendingFanOuts = pending
        })
      var expected: [Person: [Told]] = [:]
      var found: [Person: [Told]] = [:]
      var stepsTaken = 0
      for number in 0..<120 {
        // A few of them late, so that older changes meet newer ones.
        let envelope = Envelope(
          eventId: "e\(number)", occurredAt: IngestPipeline.start + Milliseconds(number - (random.oneIn(6) ? 5 : 0)))
        let body = event(number, &random)
        let headers = random.oneIn(2) ? [RecordHeaderField(RecordHeader.replayId, "r\(number)")] : []
        let one = try whole.chat(body, envelope, headers: headers)
        let other = try stepped.chat(body, envelope, headers: headers)
        #expect(one.rejection?.code == other.rejection?.code, "seed \(seed), round \(round), event \(number)")
        try tell(one.outputs, whole, into: &expected)
        try tell(other.outputs, stepped, into: &found)
        for partition in 0..<partitions {
          if random.oneIn(8) { try stepped.driver.restart(partition: partition) }
          for _ in 0..<random.below(4) {
            let woken = stepped.driver.wake(partition: partition)
            stepsTaken += woken.outputs.isEmpty ? 0 : 1
            try tell(woken.outputs, stepped, into: &found)
          }
        }
      }
      for partition in 0..<partitions {
        while case let woken = stepped.driver.wake(partition: partition), woken.wakeAt != nil || !woken.outputs.isEmpty
        {
          try tell(woken.outputs, stepped, into: &found)
        }
      }
      #expect(stepsTaken > 20)
      #expect(Set(found.keys) == Set(expected.keys), "seed \(seed), round \(round)")
      for (person, told) in found {
        #expect(told == expected[person], "seed \(seed), round \(round), \(person)")
        #expect(zip(told, told.dropFirst()).allSatisfy { $0.order < $1.order }, "seed \(seed), round \(round)")
      }
    }
  }
}
