import NudgeSchema
import StreamRuntime
import TestSupport

@testable import Analyzer

/// What happens in a life, a line each. Writing it takes a tenth of a schedule's time, so only a life with a fault is told.
final class AttentionLog {
  private(set) var lines: [String] = []
  private let isKept: Bool

  init(isKept: Bool) { self.isKept = isKept }

  func add(_ line: @autoclosure () -> String) {
    if isKept { lines.append(line()) }
  }
}

/// Some days of a person with two devices, two direct chats, a starred sender's and a group, with everything turned on at once; drawn from
/// a seed.
struct AttentionLife {
  static let zones = [
    "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Auckland", "Pacific/Honolulu",
  ]
  /// Days around which clocks are changed: 2026-03-07, 2026-03-28, 2026-10-24 and 2026-10-31, 12:00 UTC; and one without.
  private static let days: [Milliseconds] = [
    1_772_884_800_000, 1_774_699_200_000, 1_792_843_200_000, 1_793_448_000_000, noon,
  ]
  private static let conversations = ["c0", "c1", "star", "g"]

  private var random: SeededGenerator
  private let scene: Scene
  private let rules: AnalyzerRules
  private(set) var oracle = AttentionOracle()
  private var now: Milliseconds
  private var count = 0
  /// The most that passes between two events.
  private var pace = 5 * minute
  private var digestTimes: [String]?
  /// The versions of the devices that the person has.
  private var versions: [String: Int64] = [:]
  let log: AttentionLog

  init(seed: UInt64, log: AttentionLog = AttentionLog(isKept: false)) throws {
    self.log = log
    random = SeededGenerator(seed: seed)
    now = Self.days[random.below(Self.days.count)]
    var rules = AnalyzerRules(hash: standInHash)
    rules.policy.presenceSeconds = random.oneIn(4) ? 0 : 120
    rules.policy.highWaitSeconds = random.oneIn(4) ? 0 : 2
    rules.policy.otherWaitSeconds = random.oneIn(4) ? 0 : 4
    rules.policy.dailyAlerts = random.oneIn(2) ? random.below(8) : nil
    rules.policy.catchUpSpreadSeconds = random.oneIn(2) ? 0 : 300
    rules.policy.againSeconds = random.oneIn(4) ? 0 : 60 + random.below(3_600)
    rules.policy.webhookSeconds = random.oneIn(4) ? 0 : 60 + random.below(3_600)
    (scene, self.rules) = (Scene(rules, now: now), rules)
    scene.unread = [.banners, .outcomes]
    oracle.again = Milliseconds(rules.policy.againSeconds) * second
    oracle.webhook = Milliseconds(rules.policy.webhookSeconds) * second
    oracle.limit = rules.policy.dailyAlerts
    let policy = rules.policy
    log.add(
      "\(now): waits \(policy.presenceSeconds), \(policy.highWaitSeconds), \(policy.otherWaitSeconds), said again "
        + "\(policy.againSeconds), \(policy.webhookSeconds), alerts \(policy.dailyAlerts ?? -1)")
    for device in ["phone", "tablet"] { try gain(device) }
    try scene.prefer(PreferencesPatch(starredSenders: ["star"], badgeMode: .messages), at: now)
    try plan()
  }

  /// Plays it to the end. Returns what went wrong.
  mutating func play() throws -> String? {
    for _ in 0..<(30 + random.below(90)) {
      // A talk lasts a while; then hours pass.
      if random.oneIn(10) { pace = [4 * second, 4 * second, 15 * minute][random.below(3)] }
      let most = random.oneIn(12) ? 6 * hour : pace
      if let fault = try advance(to: now + 1 + Int64(random.below(Int(most)))) ?? act() { return fault }
      if random.oneIn(8) { try scene.driver.restart() }
    }
    return try end()
  }

  /// The person wants everything again, has a device, and no longer looks; time passes.
  private mutating func end() throws -> String? {
    now += second
    scene.driver.now = now
    (oracle.isEnabled, oracle.mutes, oracle.silenced, oracle.catchesUp) = (true, [:], [], true)
    oracle.leveled = []
    var patch = PreferencesPatch(enabled: true, muted: [], conversationLevels: [])
    if digestTimes?.isEmpty == true { patch.digestTimes = .set(nil) }
    if let fault = try note(scene.prefer(patch, at: now)) { return fault }
    oracle.changed(movesCatchUp: true)
    if oracle.devices.isEmpty { try gain("phone") }
    for _ in 0..<200 {
      var dues = [oracle.nextDue]
      if case .user(let row)? = try scene.driver.row(AnalyzerRow.userKey("ann")) { dues.append(row.catchUpAt) }
      // A step that waits for the end of quiet hours comes then, or finds that it is no longer wanted.
      if case .escalations(let row)? = try scene.driver.row(AnalyzerRow.escalationsKey("ann")) {
        dues.append(row.timerAt)
      }
      guard let due = dues.compactMap({ $0 }).min() else { break }
      if let fault = try advance(to: due) { return fault }
    }
    if let fault = try advance(to: now + 10 * minute) { return fault }
    if let missing = oracle.missing { return missing }
    let held = try Self.conversations.flatMap { try scene.driver.rows(below: RowKey("h", "ann", $0)) }
    if !held.isEmpty { return "\(held.count) rows of messages that wait are left: \(held)" }
    let missed = try scene.driver.rows(below: AnalyzerRow.missedKey("ann")).count
    if missed > 0 { return "\(missed) rows of a catch-up are left" }
    return try scene.driver.row(AnalyzerRow.escalationsKey("ann")) == nil
      ? nil : "a list of messages to say again is left"
  }

  /// Fires what is due up to a time, each at its time.
  private mutating func advance(to time: Milliseconds) throws -> String? {
    while true {
      now = max(now, min(oracle.nextDue ?? .max, time))
      scene.driver.now = now
      var pushes: [Push] = []
      // A timer that moves itself may be due again.
      for _ in 0..<2 {
        for result in try scene.driver.fireTimers() {
          let written = try scene.written(result)
          pushes += written.pushes
          if let fault = note(written) { return fault }
        }
      }
      if let fault = oracle.passed(now, pushes) { return "\(now): \(fault)" }
      if now >= time { return nil }
    }
  }

  private mutating func note(_ written: Written, isReplay: Bool = false) -> String? {
    for decision in written.decisions.map(\.body) {
      log.add("\(now):   \(decision.messageId) \(decision.outcome.rawValue), \(decision.reason.rawValue)")
    }
    for push in written.pushes {
      log.add(
        "\(now):   push \(push.kind.rawValue) \(push.messageId ?? "") \(push.priority) \(push.presentation) "
          + "\(push.escalation == nil ? "" : "again ")\(push.digest?.parts?.flatMap(\.keys).joined(separator: " ") ?? "")"
      )
    }
    return oracle.judge(written, at: now, isReplay: isReplay).map { "\(now): \($0)" }
  }

  // MARK: What happens

  private mutating func act() throws -> String? {
    count += 1
    switch random.below(27) {
    case 0...8: return try message()
    case 9, 10, 24, 25: return try activity()
    case 11, 12: return try read()
    case 13:
      let conversation = Self.conversations[random.below(4)]
      log.add("\(now): the person writes in \(conversation)")
      oracle.read(conversation, upTo: now)
      oracle.answered(in: conversation)
      oracle.see(on: nil, in: conversation, at: now)
      return try note(scene.wrote("own\(count)", in: conversation, at: now))
    case 14, 15: return try takeBack()
    case 16: return try replay()
    case 17, 18: return try arrival()
    case 19: return try device()
    case 20, 21: return try mute()
    case 26: return try verdict()
    default: return try plan()
    }
  }

  private mutating func message() throws -> String? {
    let id = "m\(count)"
    let conversation = Self.conversations[random.below(4)]
    let isGroup = conversation == "g"
    let context = RecipientContext(
      mentioned: isGroup && random.oneIn(3), named: isGroup && random.oneIn(3))
    var candidate = Scene.candidate(
      id, in: conversation, context, group: isGroup ? "Hikers" : nil, members: random.oneIn(2) ? 40 : 8,
      body: random.oneIn(3) ? "this is urgent" : "text of \(id)")
    if conversation == "star" || isGroup && random.oneIn(4) {
      candidate.sender = Member(userId: "star", displayName: "Star")
    }
    // Its producer was cut off for a while.
    let late = random.oneIn(8) ? Int64(1 + random.below(Int(3 * hour))) : 0
    log.add(
      "\(now): \(id) in \(conversation), \(candidate.body), \(context.mentioned) \(candidate.sender.userId), "
        + "\(late) late")
    oracle.wrote(candidate, at: now, late: late)
    let origin = scene.nextOrigin()
    // As on a broker without transactions.
    for _ in 0..<(random.oneIn(10) ? 2 : 1) {
      scene.driver.now = now
      let written = try scene.send(
        .candidate(candidate), at: now - late, origin: origin, arrivedAt: late > 0 ? now : nil)
      if let fault = note(written) { return fault }
    }
    return nil
  }

  private mutating func activity() throws -> String? {
    guard let device = oracle.devices.sorted().randomElement(using: &random) else { return nil }
    let open = random.oneIn(2) ? nil : Self.conversations[random.below(4)]
    let state: Activity.State = open == nil && random.oneIn(3) ? .background : .foreground
    log.add("\(now): \(device) shows \(open ?? "nothing"), \(state)")
    oracle.reports(state, open, on: device, at: now)
    return try note(scene.activity(device, state, in: open, at: now))
  }

  private mutating func read() throws -> String? {
    if random.oneIn(2), let message = someMessage() {
      log.add("\(now): read up to \(message.candidate.messageId)")
      oracle.read(message.candidate.conversationId, upTo: message.at)
      oracle.see(on: "tablet", in: message.candidate.conversationId, at: now)
      return try note(
        scene.read(message.candidate.conversationId, upTo: message.candidate.messageId, at: now, on: "tablet"))
    }
    let conversation = Self.conversations[random.below(4)]
    log.add("\(now): \(conversation) is read")
    oracle.read(conversation, upTo: now)
    oracle.see(on: nil, in: conversation, at: now)
    return try note(scene.read(conversation, at: now))
  }

  /// An edit, a deletion, or the person leaves the group.
  private mutating func takeBack() throws -> String? {
    if random.oneIn(6) {
      log.add("\(now): the person leaves g")
      oracle.removed(nil, in: "g", at: now)
      // The level of a conversation that one leaves is forgotten.
      oracle.silenced.remove("g")
      oracle.leveled.remove("g")
      return try note(scene.withdraw(nil, in: "g", cause: .left, at: now))
    }
    guard let message = someMessage() else { return nil }
    let (id, conversation) = (message.candidate.messageId, message.candidate.conversationId)
    if random.oneIn(2) {
      log.add("\(now): \(id) is edited")
      oracle.edited(id)
      return try note(scene.edit(id, in: conversation, body: "edit \(count)", at: now))
    }
    log.add("\(now): \(id) is deleted")
    oracle.removed(id, in: conversation, at: now)
    return try note(scene.withdraw(id, in: conversation, at: now))
  }

  private mutating func replay() throws -> String? {
    guard let message = someMessage() else { return nil }
    var candidate = message.candidate
    candidate.replayId = "replay-\(count)"
    candidate.forced = random.oneIn(2) ? true : nil
    log.add("\(now): \(candidate.messageId) is decided again, by force: \(candidate.forced == true)")
    return try note(scene.send(.redecide(candidate), at: message.at - message.late), isReplay: true)
  }

  private mutating func arrival() throws -> String? {
    guard let device = oracle.devices.sorted().randomElement(using: &random), let message = someMessage(),
      message.pushes > 0
    else { return nil }
    let id = message.candidate.messageId
    log.add("\(now): \(device) has \(id)")
    oracle.arrived(id)
    let pushId = rules.pushId(
      userId: "ann", kind: .message,
      cause: .message(conversationId: message.candidate.conversationId, messageId: id))
    let report = NotificationReport(
      userId: "ann", deviceId: device, pushId: pushId, conversationId: message.candidate.conversationId,
      messageId: id)
    let bodies: [UserEventBody] = [
      .notificationReceived(report), .notificationOpened(report), .notificationDismissed(report),
    ]
    let kind = random.below(3)
    if kind == 1 { oracle.see(on: device, in: message.candidate.conversationId, at: now) }
    return try note(scene.send(.user(bodies[kind]), at: now))
  }

  private mutating func verdict() throws -> String? {
    guard let message = someMessage() else { return nil }
    let (id, conversation) = (message.candidate.messageId, message.candidate.conversationId)
    let isHelpful = random.oneIn(3)
    log.add("\(now): \(id) was \(isHelpful ? "" : "not ")helpful")
    oracle.found(helpful: isHelpful, in: conversation)
    let feedback = FeedbackSubmitted(
      userId: "ann", conversationId: conversation, messageId: id, feedback: isHelpful ? .helpful : .notHelpful)
    return try note(scene.send(.user(.feedback(feedback)), at: now))
  }

  private mutating func device() throws -> String? {
    let device = random.oneIn(2) ? "phone" : "tablet"
    guard oracle.devices.contains(device) else { return try gain(device) }
    guard case .device(let row)? = try scene.driver.row(AnalyzerRow.deviceKey("ann", device)) else { return nil }
    log.add("\(now): \(device) is lost")
    // The conversation that it shows stays open: a device needs no token for that.
    oracle.devices.remove(device)
    return try note(
      scene.send(
        .deviceInvalidated(
          DeviceInvalidated(
            userId: "ann", deviceId: device, tokenHash: row.tokenHash, version: row.version, code: "UNREGISTERED")),
        at: now))
  }

  @discardableResult
  private mutating func gain(_ device: String) throws -> String? {
    log.add("\(now): \(device) is gained")
    oracle.devices.insert(device)
    return try note(scene.gain(device, token: "\(device)-\(now)", version: now, at: now))
  }

  // MARK: Preferences

  private mutating func mute() throws -> String? {
    var patch = PreferencesPatch()
    switch random.below(8) {
    case 0:
      oracle.isEnabled.toggle()
      patch.enabled = oracle.isEnabled
    case 1, 2:
      let level = [NotificationLevel.all, .smart, .mentions, .none][random.below(4)]
      let conversation = Self.conversations[random.below(4)]
      (oracle.silenced, oracle.leveled) = (level == .none ? [conversation] : [], [conversation])
      patch.conversationLevels = [ConversationLevel(conversationId: conversation, level: level)]
    default:
      oracle.mutes = [:]
      if !random.oneIn(3) {
        let until: Milliseconds? = random.oneIn(4) ? nil : now + Int64(1 + random.below(40_000_000))
        oracle.mutes[Self.conversations[random.below(4)]] = (until, random.oneIn(2))
      }
      patch.muted = oracle.mutes.map {
        MutedConversation(
          conversationId: $0.key, until: $0.value.until, exceptMentions: $0.value.exceptMentions ? true : nil)
      }
    }
    log.add("\(now): enabled \(oracle.isEnabled), mutes \(oracle.mutes), nothing of \(oracle.silenced)")
    oracle.changed(movesCatchUp: false)
    return try note(scene.prefer(patch, at: now))
  }

  /// Quiet hours, times, the zone and the bound.
  @discardableResult
  private mutating func plan() throws -> String? {
    let zone = Self.zones[random.below(Self.zones.count)]
    var quiet: QuietHours?
    if random.oneIn(2) {
      let (start, end) = (random.below(1_440), random.below(1_440))
      if start != end { quiet = QuietHours(start: QuietSpan.text(start), end: QuietSpan.text(end), timeZone: zone) }
    }
    switch random.below(8) {
    case 0: digestTimes = []
    // Times that daylight saving neither leaves out nor repeats.
    case 1, 2: digestTimes = (0...random.below(3)).map { _ in QuietSpan.text((240 + random.below(1_200)) % 1_440) }
    default: digestTimes = nil
    }
    let limit = random.oneIn(3) ? nil : random.below(7)
    log.add(
      "\(now): \(limit.map { "\($0)" } ?? "the operator's") a day in \(zone), quiet \(quiet.map { "\($0)" } ?? "never"), "
        + "times \(digestTimes.map { "\($0)" } ?? "default")")
    (oracle.zone, oracle.quiet) = (zone, quiet)
    oracle.catchesUp = digestTimes?.isEmpty != true
    oracle.limit = limit ?? rules.policy.dailyAlerts
    oracle.changed(movesCatchUp: true)
    return try note(
      scene.prefer(
        PreferencesPatch(
          quietHours: .set(quiet), maxAnalysesPerHour: 10_000, digestTimes: .set(digestTimes), timeZone: zone,
          dailyAlerts: .set(limit)), at: now))
  }

  /// One of the last messages that are still there.
  private mutating func someMessage() -> AttentionOracle.Message? {
    oracle.order.suffix(8).compactMap { oracle.messages[$0] }.filter { !$0.isGone }.randomElement(using: &random)
  }
}
