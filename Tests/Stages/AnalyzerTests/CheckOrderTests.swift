import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("Decisions: the checks")
struct CheckOrderTests {
  private let order = [
    "duplicate", "notifications_disabled", "conversation_muted", "already_read", "expired", "active_conversation",
    "level", "analysis_limit", "priority", "quiet_hours", "no_device",
  ]

  @Test("D: a message that passes every check is notified of, and all checks are recorded in their order")
  func passesAll() throws {
    let scene = try Scene.smart()
    let written = try scene.message("m1")
    let decision = try #require(written.decision)
    #expect(decision.outcome == .notify)
    #expect(decision.reason == .relevant)
    #expect(decision.allChecks.map(\.check) == order)
    #expect(decision.allChecks.allSatisfy { $0.result == .pass })
    #expect(decision.checks.map(\.check) == ["level", "no_device"])
    #expect(decision.pushId == written.push?.pushId)
    #expect(written.push?.targets.map(\.deviceId) == ["phone"])
  }

  /// Everything that can suppress does; one after the other is taken away. Each time the first that is left must decide.
  @Test("D: of several checks that would suppress, the first decides, and none after it is made")
  func firstHitWins() throws {
    let expected: [DecisionReason] = [
      .duplicate, .notificationsDisabled, .conversationMuted, .alreadyRead, .expired, .activeConversation,
      .level, .analysisLimit, .quietHours, .noDevice, .relevant,
    ]
    for (count, reason) in expected.enumerated() {
      let scene = Scene()
      if count <= 0 { try scene.message("m1", at: noon) }
      var patch = PreferencesPatch(fallback: .suppressAll)
      patch.defaultLevels = DefaultLevels(direct: count <= 6 ? NotificationLevel.none : .smart)
      if count <= 1 { patch.enabled = false }
      if count <= 2 { patch.muted = [MutedConversation(conversationId: "c1")] }
      if count <= 3 { try scene.read(at: noon + 3 * second) }
      if count <= 5 { try scene.activity("tablet", in: "c1", at: noon) }
      if count <= 7 { patch.maxAnalysesPerHour = 0 }
      if count <= 8 { patch.quietHours = .set(QuietHours(start: "00:00", end: "23:59")) }
      if count > 9 { try scene.gain("phone") }
      try scene.prefer(patch)
      let decision = try scene.message("m1", decidedAt: count <= 4 ? noon + 2 * hour : noon).decision
      #expect(decision?.reason == reason)
      let outcome: DecisionBody.Outcome =
        reason == .relevant ? .notify : reason == .activeConversation ? .deferred : .suppress
      #expect(decision?.outcome == outcome)
      let last = reason == .relevant ? "no_device" : reason.rawValue
      // The catch-up of a suppressed message is noted after the checks.
      let checks = decision?.allChecks.filter { $0.check != "catch_up" }
      #expect(checks?.map(\.check) == Array(order[...(order.firstIndex(of: last) ?? 0)]))
      #expect(checks?.dropLast().allSatisfy { $0.result == .pass } == true)
    }
  }

  @Test("D: a message published a second time under another event id is a duplicate, and counts once")
  func duplicate() throws {
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(badgeMode: .messages))
    #expect(try scene.message("m1").decision?.badge == 1)
    let second = try scene.message("m1")
    #expect(second.decision?.reason == .duplicate)
    #expect(second.decision?.badge == 1)
    #expect(second.pushEvents.isEmpty)
  }

  @Test("D: a message is expired from the first millisecond after its freshness, by the wall clock")
  func expired() throws {
    let scene = try Scene.withPhone()
    #expect(try scene.message("m1", at: noon, decidedAt: noon + hour).decision?.outcome == .notify)
    #expect(try scene.message("m2", at: noon, decidedAt: noon + hour + 1).decision?.reason == .expired)
  }

  @Test("M6: what may be a repeat of an event long forgotten notifies nobody and counts for nothing")
  func possibleRepeat() throws {
    let scene = try Scene.withPhone()
    let written = try scene.message("m1", possibleRepeat: true)
    #expect(written.decision?.reason == .expired)
    #expect(written.decision?.badge == 0)
    #expect(written.pushEvents.isEmpty)
  }

  @Test("D8: a muted conversation is silent until its time, and a mention passes if the person chose so")
  func muted() throws {
    let scene = try Scene.withPhone()
    let mention = RecipientContext(mentioned: true)
    try scene.prefer(
      PreferencesPatch(muted: [
        MutedConversation(conversationId: "c1", until: noon + minute),
        MutedConversation(conversationId: "c2", exceptMentions: true), MutedConversation(conversationId: "c3"),
      ]))
    #expect(try scene.message("m1", in: "c1", at: noon + minute - 1).decision?.reason == .conversationMuted)
    #expect(try scene.message("m2", in: "c1", at: noon + minute).decision?.outcome == .notify)
    #expect(try scene.message("m3", in: "c2").decision?.reason == .conversationMuted)
    #expect(try scene.message("m4", in: "c2", mention).decision?.outcome == .notify)
    #expect(try scene.message("m5", in: "c3", mention).decision?.reason == .conversationMuted)
    #expect(try scene.message("m6", in: "c4").decision?.outcome == .notify)
    #expect(try scene.message("m7", in: "c2", RecipientContext(answered: true)).decision?.outcome == .notify)
    #expect(try scene.message("m8", in: "c2", RecipientContext(named: true)).decision?.reason == .conversationMuted)
  }

  @Test("D10: a decision names its cause, its source, its mode and its replay, and inherits the trace")
  func record() throws {
    let scene = try Scene.withPhone()
    scene.driver.now = noon + minute + 1
    let origin = scene.nextOrigin()
    let event = TimelineEvent(
      Envelope(eventId: "x", occurredAt: noon), origin: origin, source: origin.position,
      .candidate(Scene.candidate("m1", replayId: "replay-7")))
    let trace = RecordHeaderField(RecordHeader.traceparent, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    let result = try scene.driver.send(event, to: .timeline, key: "c1", headers: [trace])
    let written = try scene.written(result)
    let decision = try #require(written.decisions.first)
    #expect(decision.origin == Origin(topic: "nudge.timeline", partition: 0, offset: 1))
    #expect(decision.source == origin.position)
    #expect(decision.envelope == Envelope(eventId: "timeline-0-1-decision-0", occurredAt: noon))
    #expect(decision.body.mode == .catchingUp)
    #expect(decision.body.replayId == "replay-7")
    #expect(decision.body.decidedAt == noon + minute + 1)
    #expect(result.outputs.allSatisfy { $0.headers == [trace] && $0.key == Array("ann".utf8) })
    #expect(try scene.message("m2", at: noon, decidedAt: noon + minute).decision?.mode == .live)
  }

  @Test("T4: no check, signal or text of a decision holds the message's text, a keyword or a token")
  func noSecrets() throws {
    let scene = try Scene.smart()
    try scene.prefer(PreferencesPatch(keywords: ["zebra"]))
    scene.driver.now = noon
    let result = try scene.driver.send(
      TimelineEvent(
        Envelope(eventId: "x", occurredAt: noon), origin: scene.nextOrigin(),
        source: RecordPosition(topic: "chat.events", partition: 0, offset: 9),
        .candidate(Scene.candidate("m1", body: "the zebra is urgent"))), to: .timeline, key: "c1")
    let decision = try #require(result.outputs.first { $0.topic == .decisions }?.value)
    let text = String(decoding: decision, as: UTF8.self)
    #expect(text.contains("keyword"))
    #expect(!text.contains("zebra") && !text.contains("token-phone"))
  }

  @Test("M: each of many recipients gets a decision of their own")
  func manyRecipients() throws {
    let scene = try Scene.withPhone()
    try scene.gain("phone", token: "t2", user: "cleo")
    let people = ["ann", "cleo", "dan"]
    let written = try scene.send(.candidate(Scene.candidate("m1", to: people)), at: noon, origin: scene.nextOrigin())
    #expect(written.decisions.map(\.body.userId) == people)
    #expect(written.decisions.map(\.body.reason) == [.notifyAll, .notifyAll, .noDevice])
    #expect(Set(written.decisions.map(\.envelope.eventId)).count == 3)
    #expect(Set(written.pushes.map(\.pushId)).count == 2)
  }
}
