import Analyzer
import Ingest
import NudgeLab
import NudgeSchema
import StreamRuntime

/// Measures what waiting, catch-ups and a budget change, on annotated chat logs replayed through the analyzer: how often people are
/// interrupted, and when they see what was meant for them (docs/attention.md).
struct AttentionMeasure {
  /// The settings that are compared. Each has all that the one before it has.
  enum Setting: String, CaseIterable, Encodable {
    /// No alert waits, nobody catches up.
    case off
    case wait
    /// At 18:00 UTC.
    case catchUp = "wait and catch-up"
    case budget = "wait, catch-up and 10 alerts a day"
  }

  /// Sums of one log, or of several.
  struct Sums: Equatable {
    /// People and the days on which they wrote.
    var days = 0
    /// Alerts on these days, those of catch-ups among them, on devices whose app is not in use.
    var alerts = 0
    /// Messages that answer the person.
    var meant = 0
    /// With a sound within 10 s.
    var heard = 0
    /// Shown or read within 10 s, with or without a sound.
    var seen = 0
    /// Later than that, and not later than the day's catch-up.
    var seenThatDay = 0
    /// Those of them that a catch-up was the first to tell.
    var caughtUp = 0

    /// Later than the day's catch-up, or never.
    var late: Int { meant - seen - seenThatDay }

    static func += (a: inout Sums, b: Sums) {
      a.days += b.days
      a.alerts += b.alerts
      a.meant += b.meant
      a.heard += b.heard
      a.seen += b.seen
      a.seenThatDay += b.seenThatDay
      a.caughtUp += b.caughtUp
    }
  }

  let level: NotificationLevel
  let seed: UInt64
  /// The sums of each log.
  private(set) var logs: [Setting: [Sums]] = [:]

  init(level: NotificationLevel, seed: UInt64) { (self.level, self.seed) = (level, seed) }

  /// Replays a log, given in order, in each setting.
  mutating func add(_ log: [ChatMessage]) throws {
    let script = AttentionScript(log, seed: seed)
    for setting in Setting.allCases {
      var replay = AttentionReplay(log, level: level, setting)
      logs[setting, default: []].append(try replay.play(script))
    }
  }
}

/// A log replayed in one setting.
struct AttentionReplay {
  private struct Sight {
    let message: Int
    let at: Milliseconds
    var heardAt: Milliseconds?
    var seenAt: Milliseconds?
    var isCaughtUp = false
  }

  private struct PersonDay: Hashable {
    var userId: String
    var day: Milliseconds
  }

  private let log: [ChatMessage]
  private let setting: AttentionMeasure.Setting
  private let driver: StageDriver<AnalyzerStage>
  private let conversationId: String
  private var conversation = OfflineConversation()
  private var speakers = LogSpeakers()
  private var offset: Int64 = 0
  private var alerts: [PersonDay: Int] = [:]
  /// The devices of each person with the app in the foreground: an alert is a banner inside the app there.
  private var inUse: [String: Set<String>] = [:]
  /// The messages meant for each person, in order.
  private var sights: [String: [Sight]] = [:]

  init(_ log: [ChatMessage], level: NotificationLevel, _ setting: AttentionMeasure.Setting) {
    var rules = AnalyzerRules(hash: { _ in Array(repeating: 0, count: 32) })
    rules.policy.groupLevel = level
    rules.policy.catchUpSpreadSeconds = 0
    if setting == .off { (rules.policy.highWaitSeconds, rules.policy.otherWaitSeconds) = (0, 0) }
    if setting == .budget { rules.policy.dailyAlerts = 10 }
    (self.log, self.setting) = (log, setting)
    driver = StageDriver(AnalyzerStage(rules: rules))
    conversationId = log.first?.log ?? ""
  }

  mutating func play(_ script: AttentionScript) throws -> AttentionMeasure.Sums {
    driver.now = (script.entries.first?.at ?? 0) - 60_000
    for person in script.people { try introduce(person) }
    for entry in script.entries {
      driver.now = entry.at
      for result in try driver.fireTimers() { try note(result) }
      switch entry.event {
      case .tick: break
      case .message(let place): try write(log[place])
      case .report(let person, let device, let isForeground, let isOpen):
        if isForeground { inUse[person, default: []].insert(device) } else { inUse[person]?.remove(device) }
        try send(
          .user(
            .activity(
              Activity(
                userId: person, deviceId: device, state: isForeground ? .foreground : .background,
                conversationId: isOpen ? conversationId : nil))))
      case .read(let person, let device, let upTo):
        let number = upTo.map { log[$0].number }
        see(person, upTo: number)
        try send(
          .user(
            .read(
              MessageRead(
                userId: person, conversationId: conversationId, messageId: number.map { String($0) }, deviceId: device))
          ))
      }
    }
    return sums()
  }

  private mutating func introduce(_ person: String) throws {
    for device in ["phone", "laptop"] {
      try send(
        .deviceGained(
          DeviceGained(
            userId: person, deviceId: device, token: "\(device)-\(person)", version: 1,
            platform: device == "phone" ? .ios : .web)))
    }
    guard setting == .catchUp || setting == .budget else { return }
    try send(
      .user(
        .preferences(
          PreferencesUpdated(
            userId: person, preferences: PreferencesPatch(digestTimes: .set(["18:00"]), timeZone: "UTC")))))
  }

  private mutating func write(_ message: ChatMessage) throws {
    let sender = ChatNames.user(message.nick)
    conversation.join(sender, displayName: message.nick)
    let day = PersonDay(userId: sender, day: message.at / AttentionScript.day)
    alerts[day] = alerts[day] ?? 0
    let recipients = speakers.recipients(of: sender)
    let candidate = conversation.candidate(
      of: MessageCreated(
        conversationId: conversationId, messageId: String(message.number), senderId: sender,
        text: message.text.isEmpty ? nil : message.text), at: message.at, for: recipients)
    see(sender, upTo: nil)
    try send(.sent(MessageSent(userId: sender, conversationId: conversationId, messageId: String(message.number))))
    for person in (speakers.answered(by: message) ?? []).intersection(recipients) {
      sights[person, default: []].append(Sight(message: message.number, at: message.at))
    }
    if !recipients.isEmpty { try send(.candidate(candidate)) }
    speakers.wrote(message, sender)
    try driver.commit()
  }

  private mutating func send(_ body: TimelineEventBody) throws {
    offset += 1
    let origin = Origin(topic: "chat.events", partition: 0, offset: offset)
    try note(
      driver.send(
        TimelineEvent(
          Envelope(eventId: "e\(offset)", occurredAt: driver.now), origin: origin, source: origin.position, body),
        to: .timeline, key: "log"))
  }

  /// Notes what a step shows people.
  private mutating func note(_ result: StageDriver<AnalyzerStage>.StepResult) throws {
    if let rejection = result.rejection { throw ChatLogError("the analyzer refused a record: \(rejection)") }
    for output in result.outputs where output.topic == .pushes {
      guard case .push(let push) = try driver.decode(PushEvent.self, from: output).body,
        push.kind == .message && push.replaces != true || push.kind == .digest,
        push.presentation == .alert || push.presentation == .silent
      else { continue }
      let now = driver.now
      let isElsewhere = push.targets.contains { !(inUse[push.userId]?.contains($0.deviceId) ?? false) }
      if push.presentation == .alert, isElsewhere {
        // Only days on which the person was active count.
        alerts[PersonDay(userId: push.userId, day: now / AttentionScript.day)]? += 1
      }
      if let parts = push.digest?.parts {
        // Not each of many messages has a key.
        let areAllKnown = parts.allSatisfy { $0.keys.count == $0.messages }
        let keys = Set(parts.flatMap(\.keys))
        change(push.userId) { sight in
          guard sight.seenAt == nil, !areAllKnown || keys.contains(Digest.key(String(sight.message))) else { return }
          sight.seenAt = now
          sight.isCaughtUp = true
        }
      } else if let id = push.messageId {
        change(push.userId) { sight in
          guard String(sight.message) == id else { return }
          sight.seenAt = sight.seenAt ?? now
          if push.presentation == .alert { sight.heardAt = sight.heardAt ?? now }
        }
      }
    }
  }

  private mutating func see(_ person: String, upTo number: Int?) {
    let now = driver.now
    change(person) { sight in
      if sight.seenAt == nil, sight.message <= number ?? .max { sight.seenAt = now }
    }
  }

  private mutating func change(_ person: String, _ body: (inout Sight) -> Void) {
    for index in sights[person]?.indices ?? 0..<0 { body(&sights[person]![index]) }
  }

  private func sums() -> AttentionMeasure.Sums {
    var sums = AttentionMeasure.Sums()
    sums.days = alerts.count
    sums.alerts = alerts.values.reduce(0, +)
    for sight in sights.values.joined() {
      sums.meant += 1
      func isWithin(_ time: Milliseconds?, _ limit: Milliseconds) -> Bool { time.map { $0 <= limit } ?? false }
      let soon = sight.at + 10_000
      if isWithin(sight.heardAt, soon) { sums.heard += 1 }
      if isWithin(sight.seenAt, soon) {
        sums.seen += 1
      } else if isWithin(sight.seenAt, AttentionScript.nextCatchUp(after: sight.at)) {
        sums.seenThatDay += 1
        if sight.isCaughtUp { sums.caughtUp += 1 }
      }
    }
    return sums
  }
}
