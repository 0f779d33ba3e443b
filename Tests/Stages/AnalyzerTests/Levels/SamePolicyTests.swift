import Foundation
import NudgeSchema
import StreamRuntime
import TestSupport
import Testing

@testable import Analyzer

/// Random people with random preferences, and what is decided again of the messages to them.
@Suite("Replays under the same policy")
struct SamePolicyTests {
  private static let people = ["ann", "ben", "cleo"]
  private static let senders = ["bob", "eve", "dan"]
  private static let conversations = ["direct-1", "direct-2", "small", "large"]

  /// An analyzer that records its input, as the timeline does.
  private final class Recorder {
    var random: SeededGenerator
    let rules: AnalyzerRules
    let driver: StageDriver<AnalyzerStage>
    private(set) var records: [(record: InputRecord, now: Milliseconds, decisions: [[UInt8]])] = []
    private var time = noon
    private var offset: Int64 = 0
    private var messages = 0
    private let coder = RecordCoder()

    init(_ seeded: SeededGenerator) {
      var random = seeded
      var rules = AnalyzerRules(hash: standInHash)
      rules.policy.directLevel = random.choice()
      rules.policy.groupLevel = random.choice()
      rules.policy.smallGroupMembers = [0, 20][random.below(2)]
      rules.policy.directBurstSeconds = random.below(20)
      self.random = random
      self.rules = rules
      driver = StageDriver(AnalyzerStage(rules: rules), now: noon)
    }

    func one<Value>(of values: [Value]) -> Value { values[random.below(values.count)] }
    func maybe<Value>(_ value: @autoclosure () -> Value) -> Value? { random.oneIn(3) ? value() : nil }

    @discardableResult
    func send(_ body: TimelineEventBody, at time: Milliseconds, now: Milliseconds) throws -> [DecisionBody] {
      let origin = Origin(topic: "chat.events", partition: 0, offset: offset)
      let event = TimelineEvent(
        Envelope(eventId: "e\(offset)", occurredAt: time), origin: origin, source: origin.position, body)
      let record = InputRecord(
        topic: .timeline, topicName: "nudge.timeline", partition: 0, offset: offset, timestamp: time,
        key: Array("any".utf8), value: try coder.encode(event))
      offset += 1
      driver.now = now
      let step = driver.process(record)
      #expect(step.rejection == nil)
      let decisions = step.outputs.filter { $0.topic == .decisions }
      records.append((record, now, decisions.map { $0.value ?? [] }))
      if random.oneIn(50) { try driver.restart() }
      return try decisions.map { try driver.decode(Decision.self, from: $0).body }
    }

    /// A message to all, decided a moment or hours later. A replay asks for some of the decisions again at the same moment.
    func message() throws {
      messages += 1
      let (conversation, sender) = (one(of: SamePolicyTests.conversations), one(of: SamePolicyTests.senders))
      let isDirect = conversation.hasPrefix("direct")
      var candidate = MessageCandidate(
        conversationId: conversation, messageId: "m\(messages)",
        sender: Member(userId: sender, displayName: sender.capitalized),
        conversation: CandidateConversation(
          kind: isDirect ? .direct : .group, name: isDirect ? nil : "Hikers",
          memberCount: isDirect ? 2 : conversation == "small" ? 8 : 80, activeSpeakers: 2),
        title: sender.capitalized,
        body: one(of: ["the weather is fine here", "this is urgent", "here are the tickets", "Hey, are you free?"]),
        recipients: (isDirect ? [one(of: SamePolicyTests.people)] : SamePolicyTests.people).map { userId in
          Recipient(
            userId: userId,
            context: RecipientContext(
              mentioned: random.oneIn(4), named: random.oneIn(5), answered: random.oneIn(6),
              exchange: random.below(4)))
        })
      if random.oneIn(30) { candidate.possibleRepeat = true }
      // Some come late: read by their time.
      let sent = random.oneIn(12) ? time - 10 * minute : time
      let now = time + (random.oneIn(15) ? 2 * hour : Int64(random.below(3_000)))
      for first in try send(.candidate(candidate), at: sent, now: now) where random.oneIn(3) {
        try askAgain(candidate, first, at: sent, now: now)
      }
    }

    /// A decision by levels, mutes, quiet hours and devices alone is made in the same way again, by force also of a shown message.
    private func askAgain(
      _ candidate: MessageCandidate, _ first: DecisionBody, at sent: Milliseconds, now: Milliseconds
    ) throws {
      switch first.reason {
      // Reads and the window of analyses have moved on by the decision itself.
      case .activeConversation, .alreadyRead, .expired, .analysisLimit, .relevant, .duplicate, .withdrawn,
        .replayStopped, .replayLimit, .activeElsewhere, .history:
        return
      case .quietHours, .noDevice, .simpleRules, .notifyAll: guard first.level != .smart else { return }
      case .notificationsDisabled, .conversationMuted, .level, .mutedSender: break
      }
      var candidate = candidate
      candidate.recipients = candidate.recipients.filter { $0.userId == first.userId }
      candidate.replayId = "replay-\(offset)"
      candidate.forced = first.outcome == .notify ? true : nil
      let again = try #require(try send(.redecide(candidate), at: sent, now: now).first)
      #expect(again.outcome == first.outcome && again.reason == first.reason, "seed \(random.seed): \(first)")
      #expect(again.priority == first.priority && again.level == first.level, "seed \(random.seed): \(first)")
      #expect(again.policy == first.policy)
    }

    func step() throws {
      time += Int64(random.below(random.oneIn(20) ? 6 * 3_600_000 : 90_000))
      let (user, conversation) = (one(of: SamePolicyTests.people), one(of: SamePolicyTests.conversations))
      let device = "\(user)-phone"
      let id = "m\(max(1, messages - random.below(40)))"
      switch random.below(20) {
      case 0:
        try send(.user(.preferences(PreferencesUpdated(userId: user, preferences: preferences()))), at: time, now: time)
      case 1:
        try send(
          .user(.read(MessageRead(userId: user, conversationId: conversation, messageId: maybe(id)))), at: time,
          now: time)
      case 2:
        try send(
          .user(
            .activity(
              Activity(
                userId: user, deviceId: device, state: random.oneIn(2) ? .foreground : .background,
                conversationId: maybe(conversation)))), at: time, now: time)
      case 3:
        try send(
          .sent(MessageSent(userId: user, conversationId: conversation, messageId: "own-\(offset)")), at: time,
          now: time)
      case 4:
        try send(
          .withdrawn(
            MessageWithdrawn(
              userIds: SamePolicyTests.people, conversationId: conversation, messageId: id, cause: .deleted)), at: time,
          now: time)
      case 5:
        try send(
          .deviceGained(
            DeviceGained(userId: user, deviceId: device, token: "token-\(user)", version: 1, platform: .ios)),
          at: time, now: time)
      case 6:
        try send(
          .user(
            .feedback(
              FeedbackSubmitted(
                userId: user, conversationId: conversation, messageId: id,
                feedback: random.oneIn(2) ? .helpful : .notHelpful))), at: time, now: time)
      default: try message()
      }
    }

    private func preferences() -> PreferencesPatch {
      var patch = PreferencesPatch()
      patch.enabled = maybe(!random.oneIn(4))
      patch.maxAnalysesPerHour = maybe(random.below(4))
      patch.fallback = maybe(random.choice(AnalysisFallback.self))
      patch.starredSenders = maybe([one(of: SamePolicyTests.senders)])
      patch.keywords = maybe(["tickets"])
      patch.badgeMode = maybe(random.choice(BadgeMode.self))
      patch.showPreviews = maybe(random.oneIn(2))
      patch.burstSeconds = maybe(random.below(90))
      patch.mutedSenders = maybe([one(of: SamePolicyTests.senders)])
      if random.oneIn(3) {
        let until = maybe(time + hour)
        patch.muted = [
          MutedConversation(
            conversationId: one(of: SamePolicyTests.conversations), until: until, exceptMentions: maybe(true))
        ]
      }
      if random.oneIn(3) {
        let direct = maybe(random.choice(NotificationLevel.self))
        patch.defaultLevels = DefaultLevels(direct: direct, group: maybe(random.choice(NotificationLevel.self)))
      }
      if random.oneIn(3) {
        let conversation = one(of: SamePolicyTests.conversations)
        patch.conversationLevels = [ConversationLevel(conversationId: conversation, level: random.choice())]
      }
      if random.oneIn(3) {
        let start = random.below(24)
        patch.quietHours = .set(
          maybe(
            QuietHours(
              start: "\(start < 10 ? "0" : "")\(start):00",
              end: "\((start + 9) % 24 < 10 ? "0" : "")\((start + 9) % 24):30",
              timeZone: maybe("Europe/Berlin"))))
      }
      return patch
    }
  }

  @Test(
    "D15: a timeline decided again, by another instance under the same policy, gives the same decisions byte for byte")
  func same() throws {
    var random = SeededGenerator(announcedFor: "samePolicy")
    let usual: Set<String> = [
      "notify_all", "simple_rules", "relevant", "level", "conversation_muted", "quiet_hours", "already_read",
      "expired", "no_device", "notifications_disabled", "active_conversation", "analysis_limit",
    ]
    var reasons: Set<String> = []
    // 8 worlds, and more where a rare kind of decision has not occurred.
    for number in 0..<400 where number < 8 || !reasons.isSuperset(of: usual) {
      let recorder = Recorder(SeededGenerator(seed: random.next()))
      for user in Self.people.dropLast() {
        try recorder.send(
          .deviceGained(
            DeviceGained(userId: user, deviceId: "\(user)-phone", token: "token-\(user)", version: 1, platform: .ios)),
          at: noon, now: noon)
      }
      for _ in 0..<250 { try recorder.step() }
      let other = StageDriver(AnalyzerStage(rules: recorder.rules))
      for (record, now, decisions) in recorder.records {
        other.now = now
        let again = other.process(record).outputs.filter { $0.topic == .decisions }
        try #require(again.map { $0.value ?? [] } == decisions, "seed \(random.seed), offset \(record.offset)")
        for output in again { reasons.insert(try other.decode(Decision.self, from: output).body.reason.rawValue) }
      }
    }
    // The worlds are not so narrow that only a few kinds of decision occur.
    #expect(reasons.isSuperset(of: usual), "\(reasons.sorted())")
  }

  @Test("D15: under a policy with another level of direct conversations the decisions for groups stay as they were")
  func otherPolicy() throws {
    var random = SeededGenerator(announcedFor: "otherPolicy")
    let recorder = Recorder(SeededGenerator(seed: random.next()))
    for _ in 0..<400 { try recorder.step() }
    var rules = recorder.rules
    rules.policy.directLevel = rules.policy.directLevel == .all ? .none : .all
    let other = StageDriver(AnalyzerStage(rules: rules))
    var (groups, changed) = (0, 0)
    for (record, now, decisions) in recorder.records {
      other.now = now
      let again = try other.process(record).outputs.filter { $0.topic == .decisions }.map {
        try other.decode(Decision.self, from: $0).body
      }
      let before = try decisions.map { bytes in try RecordCoder().decode(Decision.self, from: bytes).body }
      try #require(again.count == before.count)
      for (was, now) in zip(before, again) {
        if was.conversationId.hasPrefix("direct") {
          changed += was.level != now.level ? 1 : 0
        } else if now.level != .smart {
          // Direct messages may use up the hour's analyses, so smart groups may differ.
          groups += 1
          #expect(was.reason == now.reason && was.presentation == now.presentation, "seed \(random.seed): \(was)")
        }
        #expect(was.policy != now.policy)
      }
    }
    #expect(groups > 0 && changed > 0, "seed \(random.seed)")
  }
}

extension SeededGenerator {
  fileprivate mutating func choice<Choice: CaseIterable>(_: Choice.Type = Choice.self) -> Choice {
    let all = Array(Choice.allCases)
    return all[below(all.count)]
  }
}
