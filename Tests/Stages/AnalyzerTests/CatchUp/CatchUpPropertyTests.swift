import NudgeSchema
import StreamRuntime
import TestSupport
import Testing

@testable import Analyzer

/// `NUDGE_CATCH_UP_SCHEDULES` says how many schedules (`Tests/trial schedules` runs more); `NUDGE_TEST_SEED` which.
@Suite("The catch-up, against an oracle of the requirement")
struct CatchUpPropertyTests {
  private static let schedules: Int = runParameter("NUDGE_CATCH_UP_SCHEDULES") ?? 50

  @Test(
    "D18: over random days, in time zones with daylight saving, each held or missed message is in one catch-up or was read"
  )
  func schedules() throws {
    var random = SeededGenerator(announcedFor: "catch-up")
    for number in 0..<Self.schedules {
      let seed = random.next()
      var schedule = try Schedule(seed: seed)
      if let fault = try schedule.play() {
        Issue.record("schedule \(number), seed \(seed): \(fault)")
        return
      }
    }
  }
}

/// Some days of a person with a direct chat, a small and a large group, drawn from a seed.
private struct Schedule {
  private static let zones = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Auckland", nil]
  /// Days around which clocks are changed: 2026-03-07 and 2026-10-24, 12:00 UTC; and one without.
  private static let days: [Milliseconds] = [1_772_884_800_000, 1_792_843_200_000, noon]
  var random: SeededGenerator
  let scene: Scene
  var oracle = CatchUpOracle()
  var now: Milliseconds
  var count = 0
  var told: Set<String> = []
  var log: [String] = []

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    now = Self.days[random.below(Self.days.count)]
    var rules = AnalyzerRules(hash: standInHash)
    rules.policy.catchUpSpreadSeconds = 0
    // The oracle knows no bursts: messages that a burst silences are in the catch-ups of people who have set times.
    (rules.policy.directBurstSeconds, rules.policy.groupBurstSeconds) = (0, 0)
    scene = Scene(rules, now: now)
    try scene.gain("phone", at: now)
    if let fault = try prefer() { Issue.record("\(fault)") }
  }

  /// A time of the day that daylight saving neither leaves out nor repeats.
  private mutating func time() -> String {
    let minute = (4 * 60 + random.below(20 * 60)) % 1_440
    func pad(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(pad(minute / 60)):\(pad(minute % 60))"
  }

  /// Plays it to the end. Returns what went wrong.
  mutating func play() throws -> String? {
    let steps = 20 + random.below(60)
    for _ in 0..<steps {
      // Minutes between most events, hours between some.
      now += Int64(1 + random.below(random.oneIn(4) ? 20_000_000 : 900_000))
      if let fault = try pass() ?? act() { return fault + "\n" + log.suffix(60).joined(separator: "\n") }
      if random.oneIn(8) { try scene.driver.restart() }
    }
    // All mutes end, there is a device, and a catch-up tells of what is left.
    now += minute
    var patch = PreferencesPatch(enabled: true, muted: [])
    if oracle.times?.isEmpty == true { patch.digestTimes = .set(nil) }
    (oracle.isEnabled, oracle.mutes) = (true, [:])
    if oracle.times?.isEmpty == true {
      oracle.times = nil
      oracle.preferencesChanged(at: now, wasQuiet: oracle.isQuiet(now))
    }
    scene.driver.now = now
    try scene.prefer(patch, at: now)
    if !oracle.hasDevice { try gain() }
    // At the time itself: an hour later it may be quiet again.
    for _ in 0..<20 {
      guard let due = oracle.due else { break }
      now = max(now, due)
      if let fault = try pass() { return fault + "\n" + log.joined(separator: "\n") }
    }
    guard oracle.heldCount == 0 else { return "still held\n" + log.joined(separator: "\n") }
    let rows = try scene.driver.rows(below: AnalyzerRow.missedKey("ann")).count
    return rows == 0 ? nil : "\(rows) rows are left\n" + log.joined(separator: "\n")
  }

  private mutating func pass() throws -> String? {
    scene.driver.now = now
    // A timer that moves itself may be due again.
    for _ in 0..<3 {
      let pushes = try scene.driver.fireTimers().flatMap { try scene.written($0).pushes }
      let found = pushes.filter(\.isCatchUp)
      let expected = oracle.passed(now)
      if let fault = compare(found, expected) { return fault }
    }
    return nil
  }

  private mutating func compare(_ found: [Push], _ expected: CatchUpOracle.Told?) -> String? {
    guard found.count == (expected == nil ? 0 : 1) else {
      return "\(found.count) catch-ups, expected \(expected.map { "\($0)" } ?? "none")"
    }
    guard let push = found.first, let expected else { return nil }
    log.append("\(now): told of \(expected)")
    // One message is that message, where its last text is known.
    guard (push.kind == .message) == (expected.ids.count == 1 && expected.texts.count == 1) else {
      return "it is a \(push.kind) of \(expected)"
    }
    if push.kind == .message {
      guard let id = push.messageId, expected.texts == [id: push.body ?? ""], push.senderId == "bob" else {
        return "it shows \(push.messageId ?? ""), \(push.body ?? ""), expected \(expected.texts)"
      }
    }
    guard told.isDisjoint(with: expected.ids) else { return "told twice: \(told.intersection(expected.ids))" }
    told.formUnion(expected.ids)
    guard let digest = push.digest else { return nil }
    let keys = (digest.parts ?? []).flatMap(\.keys)
    guard keys.count == digest.messages, Set(keys) == Set(expected.ids.map { Digest.key($0) }) else {
      return "it tells of \(digest.parts ?? []), expected \(expected)"
    }
    guard (min(3, expected.kept)...min(3, expected.texts.count)).contains(digest.lines.count),
      digest.lines.allSatisfy({ expected.texts[$0.messageId] == $0.text })
    else { return "its lines are \(digest.lines), expected of \(expected.texts)" }
    return nil
  }

  private mutating func act() throws -> String? {
    count += 1
    switch random.below(16) {
    case 0...6:
      let id = "m\(count)"
      let group = random.oneIn(3) ? "Hikers" : nil
      let conversation = group == nil ? "c\(random.below(2))" : "g"
      let isNamed = group != nil && random.oneIn(2)
      let isUrgent = random.oneIn(6)
      let body = isUrgent ? "urgent: text of \(id)" : "text of \(id)"
      log.append("\(now): \(id) in \(conversation), named \(isNamed), urgent \(isUrgent)")
      // A large group at level smart shows only messages that name the person, or cannot wait.
      oracle.message(
        id, in: conversation, at: now, body, isWanted: group == nil || isNamed || isUrgent, isUrgent: isUrgent)
      let origin = scene.nextOrigin()
      for _ in 0..<(random.oneIn(10) ? 2 : 1) {
        let written = try scene.message(
          id, in: conversation, at: now, RecipientContext(mentioned: false, named: isNamed), group: group,
          body: body, origin: origin)
        if let rejection = written.rejection { return "refused: \(rejection)" }
      }
    case 7:
      let conversation = ["c0", "c1", "g"][random.below(3)]
      log.append("\(now): \(conversation) is read")
      oracle.read(conversation, upTo: now)
      try scene.read(conversation, at: now)
    case 8:
      guard let message = oracle.someMessage(random.below(8)) else { return nil }
      log.append("\(now): \(message.conversation) is read up to \(message.id)")
      oracle.read(message.conversation, upTo: message.at)
      try scene.read(message.conversation, upTo: message.id, at: now)
    case 9:
      guard let message = oracle.someMessage(random.below(8)) else { return nil }
      if random.oneIn(2) {
        log.append("\(now): \(message.id) is deleted")
        oracle.delete(message.id)
        try scene.withdraw(message.id, in: message.conversation, at: now)
      } else {
        log.append("\(now): \(message.id) is edited")
        oracle.edit(message.id, "edit \(count)")
        try scene.edit(message.id, in: message.conversation, body: "edit \(count)", at: now)
      }
    case 10: return try prefer()
    case 11:
      let conversation = ["c0", "c1", "g"][random.below(3)]
      let until: Milliseconds? = random.oneIn(4) ? nil : now + Int64(random.below(40_000_000))
      oracle.mutes = random.oneIn(3) ? [:] : [conversation: until]
      log.append("\(now): mutes \(oracle.mutes)")
      let muted = oracle.mutes.map { MutedConversation(conversationId: $0.key, until: $0.value) }
      try scene.prefer(PreferencesPatch(muted: muted), at: now)
    case 12, 13:
      guard let message = oracle.somePushed(random.below(12)) else { return nil }
      log.append("\(now): the push of \(message.id) is missed")
      let missed = Scene.missed(message.id, in: message.conversation, at: message.at, text: message.sentText)
      oracle.missed(message.id, at: now, after: PersonContext.lateCollection)
      for _ in 0..<(random.oneIn(4) ? 2 : 1) { try scene.send(.pushMissed(missed), at: now) }
    default:
      if oracle.hasDevice {
        guard random.oneIn(3) else { return nil }
        log.append("\(now): the device is lost")
        oracle.hasDevice = false
        guard case .device(let device)? = try scene.driver.row(AnalyzerRow.deviceKey("ann", "phone")) else {
          return nil
        }
        try scene.send(
          .deviceInvalidated(
            DeviceInvalidated(
              userId: "ann", deviceId: "phone", tokenHash: device.tokenHash, version: device.version,
              code: "UNREGISTERED")), at: now)
      } else {
        try gain()
      }
    }
    return try pass()
  }

  private mutating func gain() throws {
    log.append("\(now): a device is gained")
    oracle.gained(at: now)
    try scene.gain("phone", token: "token-\(now)", version: now, at: now)
  }

  private mutating func prefer() throws -> String? {
    let zone = Self.zones[random.below(Self.zones.count)]
    var quiet: QuietHours?
    if !random.oneIn(4) {
      let (start, end) = (time(), time())
      if start != end { quiet = QuietHours(start: start, end: end, timeZone: zone) }
    }
    var times: [String]?
    switch random.below(4) {
    case 0: times = [time()]
    case 1: times = [time(), time(), time()]
    case 2: times = random.oneIn(3) ? [] : nil
    default: break
    }
    let own = Self.zones[random.below(4)]
    log.append("\(now): quiet \(quiet.map { "\($0)" } ?? "none"), times \(times ?? ["default"]), zone \(own ?? "")")
    let before = (oracle.quiet, oracle.times, oracle.timeZone)
    let wasQuiet = oracle.isQuiet(now)
    (oracle.quiet, oracle.times, oracle.timeZone) = (quiet, times, own)
    if before.0 != quiet || before.1 != times || before.2 != own {
      oracle.preferencesChanged(at: now, wasQuiet: wasQuiet)
    }
    let written = try scene.prefer(
      PreferencesPatch(quietHours: .set(quiet), maxAnalysesPerHour: 10_000, digestTimes: .set(times), timeZone: own),
      at: now)
    return written.rejection.map { "refused: \($0)" }
  }
}
