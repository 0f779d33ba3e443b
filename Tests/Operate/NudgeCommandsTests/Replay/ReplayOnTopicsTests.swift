import Analyzer
import Ingest
import Kafka
import NudgeSchema
import ServiceKit
import StreamRuntime
import TestSupport
import Testing

@testable import NudgeCommands

/// The topics of a pipeline on a broker, as its services would have written them: each event goes through ingest and analyzer at once.
private final class TopicsOfAPipeline {
  let broker: EmbeddedBroker
  let cluster: ClusterSettings
  var now = SystemClock.milliseconds() - 600_000
  private let producer: Producer
  private let ingest: StageDriver<IngestStage>
  private let analyzer: StageDriver<AnalyzerStage>
  private let partitions: Int32 = 3
  private let coder = RecordCoder()
  private var offsets: [String: Int64] = [:]
  private var count = 0
  private(set) var pushes: [Push] = []
  private(set) var decisions: [DecisionBody] = []
  static let rules = AnalyzerRules(hash: { SHA256Digest.of($0) })

  init() throws {
    broker = try EmbeddedBroker()
    try TopicCreation.create(on: broker, partitions: 3)
    cluster = ClusterSettings(bootstrapServers: broker.bootstrapServers)
    producer = try Producer(.producer(bootstrapServers: broker.bootstrapServers, transactionalID: nil), name: "test")
    ingest = StageDriver(IngestStage(IngestRules()), partitions: partitions)
    analyzer = StageDriver(AnalyzerStage(rules: Self.rules), partitions: partitions)
  }

  private func write(
    _ topic: Topic, _ partition: Int32, key: [UInt8]?, _ value: [UInt8]?, headers: [RecordHeaderField] = []
  ) throws -> Int64 {
    try producer.produce(
      topic: try producer.topic(topic.rawValue), partition: partition, key: key, value: value,
      headers: headers.map { ($0.name, $0.value) }, timestamp: now)
    defer { offsets["\(topic) \(partition)", default: 0] += 1 }
    return offsets["\(topic) \(partition)", default: 0]
  }

  private func record(
    _ topic: Topic, _ partition: Int32, _ offset: Int64, key: [UInt8]?, _ value: [UInt8]?,
    _ headers: [RecordHeaderField]
  ) -> InputRecord {
    InputRecord(
      topic: topic, topicName: topic.rawValue, partition: partition, offset: offset, timestamp: now, key: key,
      value: value, headers: headers)
  }

  /// Publishes an event of a conversation.
  func chat(_ body: ChatEventBody, dated time: Milliseconds? = nil) throws {
    count += 1
    now += 1_000
    let value = try coder.encode(ChatEvent(Envelope(eventId: "chat-\(count)", occurredAt: time ?? now), body))
    let key = Array(body.conversationId.utf8)
    let partition = Murmur2.partition(of: key, count: partitions)
    let offset = try write(.chatEvents, partition, key: key, value)
    ingest.now = now
    let step = ingest.process(record(.chatEvents, partition, offset, key: key, value, []))
    if let rejection = step.rejection {
      let headers = [
        (RecordHeader.errorCode, rejection.code.rawValue), (RecordHeader.errorStage, "ingest"),
        (RecordHeader.originTopic, "chat.events"), (RecordHeader.originPartition, "\(partition)"),
        (RecordHeader.originOffset, "\(offset)"), (RecordHeader.originTimestamp, "\(now)"),
      ]
      _ = try write(
        .deadLetters, partition, key: key, value, headers: headers.map { RecordHeaderField($0.0, $0.1) })
    }
    try pass(step.outputs)
  }

  private func pass(_ outputs: [OutputRecord]) throws {
    for output in outputs where output.topic == .timeline { try timeline(output) }
  }

  private func timeline(_ output: OutputRecord) throws {
    let offset = try write(.timeline, output.partition, key: output.key, output.value, headers: output.headers)
    analyzer.now = now
    let step = analyzer.process(
      record(.timeline, output.partition, offset, key: output.key, output.value, output.headers))
    #expect(step.rejection == nil)
    for written in step.outputs {
      switch written.topic {
      case .decisions:
        decisions.append(try analyzer.decode(Decision.self, from: written).body)
        _ = try write(.decisions, written.partition, key: written.key, written.value, headers: written.headers)
      case .pushes:
        if case .push(let push) = try analyzer.decode(PushEvent.self, from: written).body { pushes.append(push) }
        _ = try write(.pushes, written.partition, key: written.key, written.value, headers: written.headers)
      default: break
      }
    }
  }

  /// Puts an event on a person's timeline.
  func user(_ userId: String, _ body: TimelineEventBody) throws {
    count += 1
    now += 1_000
    let origin = Origin(topic: "user.events", partition: 0, offset: Int64(count))
    let event = TimelineEvent(
      Envelope(eventId: "user-\(count)", occurredAt: now), origin: origin, source: origin.position, body)
    let key = Array(userId.utf8)
    try timeline(
      OutputRecord(
        topic: .timeline, partition: Murmur2.partition(of: key, count: partitions), key: key,
        value: try coder.encode(event), headers: []))
  }

  func device(_ userId: String, _ deviceId: String = "phone") throws {
    try user(
      userId,
      .deviceGained(
        DeviceGained(userId: userId, deviceId: deviceId, token: "t-\(userId)-\(deviceId)", version: 1, platform: .ios)))
  }

  func message(_ id: String, in conversation: String, from sender: String, dated time: Milliseconds? = nil) throws {
    try chat(
      .messageCreated(
        MessageCreated(
          conversationId: conversation, messageId: id, senderId: sender, text: "urgent words of \(id)")),
      dated: time)
  }

  func conversation(_ id: String, _ members: [String]) throws {
    try chat(
      .conversationUpdated(
        ConversationUpdated(
          conversationId: id, kind: .direct, name: nil,
          members: members.map { Member(userId: $0, displayName: $0) })))
  }

  /// The last push of a message for a person.
  func push(_ messageId: String, to userId: String) throws -> Push {
    try #require(pushes.last { $0.messageId == messageId && $0.userId == userId })
  }

  func outcome(_ messageId: String, of userId: String, on deviceId: String = "phone", _ result: OutcomeResult) throws {
    count += 1
    let push = try push(messageId, to: userId)
    let body = OutcomeBody(
      pushId: push.pushId, userId: userId, deviceId: deviceId, tokenHash: "h", result: result, attempts: 1,
      finishedAt: now)
    let key = Array(userId.utf8)
    let origin = Origin(topic: "nudge.pushes", partition: 0, offset: Int64(count))
    _ = try write(
      .outcomes, Murmur2.partition(of: key, count: partitions), key: key,
      try coder.encode(
        Outcome(Envelope(eventId: "o\(count)", occurredAt: now), origin: origin, source: origin.position, body)))
  }

  /// Does what ingest has to do in steps.
  func sweep() throws {
    for partition in 0..<partitions {
      for _ in 0..<20 { try pass(ingest.wake(partition: partition).outputs) }
    }
  }

  /// Writes a push to the topic, as the analyzer would.
  private func write(_ push: Push) throws {
    count += 1
    now += 1_000
    pushes.append(push)
    let key = Array(push.userId.utf8)
    let origin = Origin(topic: "nudge.timeline", partition: 0, offset: Int64(count))
    _ = try write(
      .pushes, Murmur2.partition(of: key, count: partitions), key: key,
      try coder.encode(
        PushEvent(Envelope(eventId: "p\(count)", occurredAt: now), origin: origin, source: origin.position, .push(push))
      ))
  }

  /// A catch-up that tells of messages.
  func tell(_ messageIds: [String], in conversationId: String, to userId: String) throws {
    let parts = [
      Digest.Part(
        conversationId: conversationId, messages: messageIds.count, keys: messageIds.map { Digest.key($0) })
    ]
    try write(
      Push(
        pushId: "digest-\(count)", kind: .digest, userId: userId, targets: [], priority: .medium, presentation: .alert,
        badge: 1, digest: Digest(messages: messageIds.count, conversations: 1, lines: [], parts: parts),
        ttlSeconds: 3_600, expiresAt: now + 3_600_000, decidedAt: now))
  }

  /// The second push of an escalation, which no decision names.
  func pushAgain(_ messageId: String, to userId: String) throws {
    var push = try push(messageId, to: userId)
    push.pushId = "again-\(messageId)"
    try write(push)
  }

  /// Writes the state as changelogs would have it.
  private func writeState() throws {
    for partition in 0..<partitions {
      for (key, row) in try ingest.allRows(partition: partition) {
        _ = try write(.ingestState, partition, key: key.bytes, try row.encoded(coder: coder, at: .latest))
      }
      for (key, row) in try analyzer.allRows(partition: partition) {
        _ = try write(.analyzerState, partition, key: key.bytes, try row.encoded(coder: coder, at: .latest))
      }
    }
    try producer.flush(timeout: .seconds(30))
  }

  /// The plan of a replay, and what its dry run says.
  func plan(
    _ mode: ReplayMode, _ change: (inout ReplaySelection) -> Void = { _ in }
  ) throws -> (plan: ReplayPlan, forecast: ReplayForecast.Result) {
    try writeState()
    let browser = try TopicBrowser(cluster, progress: ReadingProgress(isTerminal: false, write: { _ in }))
    var selection = ReplaySelection(since: 0, until: .max / 2)
    if mode == .rederive { selection.topic = .chatEvents }
    change(&selection)
    let freshness = Self.rules.policy.freshness
    let plan =
      mode == .rederive
      ? try RederivePlanning(selection: selection, freshness: freshness, now: now, browser: browser).plan()
      : try ReplayPlanning(selection: selection, mode: mode, freshness: freshness, now: now, browser: browser).plan()
    let forecast = try ReplayForecast(rules: Self.rules, browser: browser, now: now).result(of: plan.items, mode: mode)
    return (plan, forecast)
  }

  /// Writes a plan as a replay does. Returns the pushes that follow.
  func apply(_ plan: ReplayPlan, _ mode: ReplayMode, replayId: String) throws -> [Push] {
    let before = pushes.count
    for item in plan.items {
      let record = try ReplayRecord.record(item, replayId: replayId, mode: mode, coder: coder)
      try timeline(
        OutputRecord(
          topic: record.topic, partition: record.partition, key: record.key, value: record.value,
          headers: record.headers.map { RecordHeaderField($0.name, $0.value ?? []) }))
    }
    return Array(pushes[before...])
  }
}

@Suite("Replays on topics", .timeLimit(.minutes(2)))
struct ReplayOnTopicsTests {
  @Test("resend-failed tells the devices that lack a message, of what is unread, once")
  func resendFailed() throws {
    let topics = try TopicsOfAPipeline()
    for (user, device) in [("ann", "phone"), ("ann", "tablet"), ("ben", "phone"), ("cem", "phone")] {
      try topics.device(user, device)
    }
    for user in ["ann", "ben", "cem"] { try topics.conversation("with-\(user)", ["bot", user]) }
    try topics.message("a1", in: "with-ann", from: "bot")
    try topics.message("b1", in: "with-ben", from: "bot")
    try topics.message("b2", in: "with-ben", from: "bot")
    try topics.message("c1", in: "with-cem", from: "bot")
    try topics.message("c2", in: "with-cem", from: "bot")
    try topics.outcome("a1", of: "ann", .sent)
    try topics.outcome("a1", of: "ann", on: "tablet", .gaveUp)
    try topics.outcome("b1", of: "ben", .expired)
    try topics.outcome("b2", of: "ben", .rejected)
    try topics.outcome("c1", of: "cem", .gaveUp)
    // c2 waits in its lane.
    try topics.user(
      "cem", .user(.read(MessageRead(userId: "cem", conversationId: "with-cem", messageId: "c1", deviceId: nil))))

    let missing = try topics.plan(.resendMissing)
    #expect(missing.plan.items.isEmpty && missing.plan.standings[.alreadyNotified] == 4)
    let (plan, forecast) = try topics.plan(.resendFailed)
    #expect(plan.standings == [.failed: 4, .alreadyNotified: 1])
    #expect(forecast.wouldSend == 3 && forecast.suppressed == [.alreadyRead: 1])
    let pushes = try topics.apply(plan, .resendFailed, replayId: "r-1")
    #expect(
      Set(pushes.map { "\($0.messageId ?? "") \($0.targets.map(\.deviceId))" }) == [
        #"a1 ["tablet"]"#, #"b1 ["phone"]"#, #"b2 ["phone"]"#,
      ])
    // A second operator with the plan of before: nothing follows.
    #expect(try topics.apply(plan, .resendFailed, replayId: "r-2").isEmpty)

    // While they wait, and when they were sent, nothing is left to do; what fails again can be made again.
    let waiting = try topics.plan(.resendFailed)
    #expect(waiting.plan.standings == [.failed: 1, .alreadyNotified: 4] && waiting.forecast.wouldSend == 0)
    try topics.outcome("a1", of: "ann", on: "tablet", .sent)
    try topics.outcome("b1", of: "ben", .gaveUp)
    try topics.outcome("b2", of: "ben", .sent)
    let again = try topics.plan(.resendFailed)
    #expect(again.plan.standings == [.failed: 2, .alreadySent: 2, .alreadyNotified: 1])
    #expect(again.forecast.wouldSend == 1)
    #expect(try topics.apply(again.plan, .resendFailed, replayId: "r-3").map(\.messageId) == ["b1"])
  }

  @Test("resend-failed leaves out what is too old unless told, and what a device has reported although it failed")
  func resendFailedAge() throws {
    let topics = try TopicsOfAPipeline()
    for user in ["ann", "ben"] {
      try topics.device(user)
      try topics.conversation("with-\(user)", ["bot", user])
      try topics.message("m-\(user)", in: "with-\(user)", from: "bot")
      try topics.outcome("m-\(user)", of: user, .gaveUp)
    }
    let report = NotificationReport(
      userId: "ben", deviceId: "phone", pushId: try topics.push("m-ben", to: "ben").pushId, conversationId: "with-ben",
      messageId: "m-ben")
    try topics.user("ben", .user(.notificationReceived(report)))
    topics.now += 2 * 3_600_000
    let fresh = try topics.plan(.resendFailed)
    #expect(fresh.plan.standings == [.expired: 1, .alreadySent: 1] && fresh.plan.items.isEmpty)
    let (plan, forecast) = try topics.plan(.resendFailed) { $0.maxAge = 3 * 3_600_000 }
    #expect(plan.standings == [.failed: 1, .alreadySent: 1] && forecast.wouldSend == 1)
    #expect(plan.items.first?.fields.maxAgeSeconds == 3 * 3_600)
    #expect(try topics.apply(plan, .resendFailed, replayId: "r-1").map(\.userId) == ["ann"])
    let other = try topics.plan(.resendFailed) {
      $0.maxAge = 3 * 3_600_000
      $0.results = [.expired]
    }
    #expect(other.plan.items.isEmpty)
  }

  /// Notifications off, messages, notifications on: what `resend-missing` is for.
  private func missed(_ topics: TopicsOfAPipeline, _ messages: [(id: String, conversation: String)]) throws {
    try topics.device("ann")
    for conversation in Set(messages.map(\.conversation)).sorted() {
      try topics.conversation(conversation, ["bot", "ann"])
    }
    func prefer(_ enabled: Bool) throws {
      let patch = PreferencesPatch(enabled: enabled)
      try topics.user("ann", .user(.preferences(PreferencesUpdated(userId: "ann", preferences: patch))))
    }
    try prefer(false)
    for message in messages { try topics.message(message.id, in: message.conversation, from: "bot") }
    try prefer(true)
  }

  @Test("no mode serves what was deleted or an old text", arguments: [ReplayMode.resendMissing, .force])
  func changed(mode: ReplayMode) throws {
    let topics = try TopicsOfAPipeline()
    try missed(topics, [("kept", "c1"), ("deleted", "c1"), ("edited", "c1"), ("ended", "c2")])
    try topics.chat(.messageDeleted(MessageRevision(conversationId: "c1", messageId: "deleted", text: nil)))
    let first = topics.now
    try topics.chat(.messageEdited(MessageRevision(conversationId: "c1", messageId: "edited", text: "urgent: last")))
    // An older edit that comes late changes nothing.
    try topics.chat(
      .messageEdited(MessageRevision(conversationId: "c1", messageId: "edited", text: "urgent: older")), dated: first)
    try topics.chat(.conversationDeleted(ConversationDeleted(conversationId: "c2")))
    try topics.sweep()
    let (plan, forecast) = try topics.plan(mode) { $0.user = "ann" }
    #expect(plan.standings == [.missing: 2, .withdrawn: 2])
    #expect(plan.items.map(\.fields.messageId) == ["kept", "edited"])
    #expect(plan.items.last?.fields.body == "urgent: last" && forecast.wouldSend == 2)
    let pushes = try topics.apply(plan, mode, replayId: "r-1")
    #expect(pushes.map(\.body) == ["urgent words of kept", "urgent: last"])
  }

  @Test("resend-failed after an outage serves neither what was deleted meanwhile nor an old text, nor who was deleted")
  func failedAndChanged() throws {
    let topics = try TopicsOfAPipeline()
    for user in ["ann", "ben"] {
      try topics.device(user)
      try topics.conversation("with-\(user)", ["bot", user])
      for message in ["deleted", "edited"] {
        try topics.message("\(message)-\(user)", in: "with-\(user)", from: "bot")
        try topics.outcome("\(message)-\(user)", of: user, .gaveUp)
      }
    }
    try topics.chat(
      .messageDeleted(MessageRevision(conversationId: "with-ann", messageId: "deleted-ann", text: nil)))
    try topics.chat(
      .messageEdited(MessageRevision(conversationId: "with-ann", messageId: "edited-ann", text: "urgent: last")))
    try topics.user("ben", .user(.deleted(UserDeleted(userId: "ben"))))
    let (plan, _) = try topics.plan(.resendFailed)
    #expect(plan.standings == [.withdrawn: 1, .failed: 1, .erased: 2])
    #expect(plan.items.map(\.fields.body) == ["urgent: last"])
    #expect(try topics.apply(plan, .resendFailed, replayId: "r-1").map(\.messageId) == ["edited-ann"])
  }

  @Test("what a catch-up told of is neither missing nor failed")
  func toldInCatchUp() throws {
    let topics = try TopicsOfAPipeline()
    try missed(topics, [("m1", "c1"), ("m2", "c1")])
    try topics.tell(["m1"], in: "c1", to: "ann")
    let (plan, _) = try topics.plan(.resendMissing)
    #expect(plan.standings == [.missing: 1, .alreadyNotified: 1])
    #expect(plan.items.map(\.fields.messageId) == ["m2"])
  }

  @Test("a message whose second push was delivered has not failed")
  func saidAgain() throws {
    let topics = try TopicsOfAPipeline()
    try topics.device("ann")
    try topics.conversation("c1", ["bot", "ann"])
    try topics.message("m1", in: "c1", from: "bot")
    try topics.outcome("m1", of: "ann", .gaveUp)
    #expect(try topics.plan(.resendFailed).plan.standings == [.failed: 1])
    try topics.pushAgain("m1", to: "ann")
    #expect(try topics.plan(.resendFailed).plan.standings == [.alreadyNotified: 1], "it waits")
    try topics.outcome("m1", of: "ann", .sent)
    #expect(try topics.plan(.resendFailed).plan.standings == [.alreadySent: 1])
  }

  @Test("rederive decides for members whose membership came after the message, once, and for no one who joined later")
  func rederive() throws {
    let topics = try TopicsOfAPipeline()
    for user in ["ann", "ben", "cem", "dan"] { try topics.device(user) }
    try topics.conversation("c", ["ann", "ben"])
    let before = topics.now
    try topics.message("m1", in: "c", from: "ann")
    try topics.message("m2", in: "c", from: "ann")
    try topics.message("m3", in: "c", from: "ann")
    try topics.chat(.messageDeleted(MessageRevision(conversationId: "c", messageId: "m2", text: nil)))
    try topics.chat(.messageEdited(MessageRevision(conversationId: "c", messageId: "m3", text: "urgent: changed")))
    // Cem belonged to it all along, and nobody had said so; Dan joins now.
    try topics.chat(
      .memberAdded(MembershipChange(conversationId: "c", userId: "cem", displayName: "Cem")), dated: before + 500)
    try topics.chat(.memberAdded(MembershipChange(conversationId: "c", userId: "dan", displayName: "Dan")))
    // A conversation that was unknown when its message came, and one that still is.
    try topics.message("u1", in: "late", from: "ann")
    try topics.message("u2", in: "never", from: "ann")
    try topics.conversation("late", ["ann", "dan"])

    let (plan, forecast) = try topics.plan(.rederive)
    #expect(plan.standings == [.decided: 2, .missing: 2, .joinedLater: 2])
    #expect(plan.deadLetters.count == 1 && plan.refusedAgain == 1)
    #expect(plan.items.map(\.fields.messageId) == ["m1", "m3"])
    #expect(plan.items.allSatisfy { $0.fields.recipients.map(\.userId) == ["cem"] && $0.fields.rederived == true })
    #expect(plan.items.last?.fields.body == "urgent: changed")
    #expect(forecast.wouldSend == 2)
    let pushes = try topics.apply(plan, .rederive, replayId: "r-1")
    #expect(pushes.map(\.userId) == ["cem", "cem"] && pushes.map(\.messageId) == ["m1", "m3"])
    #expect(try topics.apply(plan, .rederive, replayId: "r-2").isEmpty, "another replay repeats nothing")
    #expect(topics.decisions.last?.reason == .duplicate && topics.decisions.last?.badge == 1)

    let rest = try topics.plan(.rederive) { $0.members = .current }
    #expect(rest.plan.standings == [.decided: 4, .missing: 2] && rest.forecast.wouldSend == 2)
    #expect(rest.plan.items.allSatisfy { $0.fields.recipients.map(\.userId) == ["dan"] })
    let narrow = try topics.plan(.rederive) {
      $0.members = .current
      $0.message = "m3"
    }
    #expect(narrow.plan.items.map(\.fields.messageId) == ["m3"] && narrow.plan.deadLetters.isEmpty)
  }
}
