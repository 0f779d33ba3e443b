import NudgeSchema
import StreamRuntime
import TestSupport
import Testing

@testable import Analyzer

/// `NUDGE_HOLD_SCHEDULES` says how many schedules (`Tests/trial schedules` runs more); `NUDGE_TEST_SEED` which.
@Suite("Held messages, against an oracle of the requirement")
struct HoldPropertyTests {
  private static let schedules: Int = runParameter("NUDGE_HOLD_SCHEDULES") ?? 60

  @Test("D1: over random days each message has one final decision, as the oracle says, and no push follows a read")
  func schedules() throws {
    var random = SeededGenerator(announcedFor: "holds")
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

/// A day of a person with two devices and three conversations, drawn from a seed.
private struct Schedule {
  var random: SeededGenerator
  let scene: Scene
  var oracle = HoldOracle(wait: 2 * minute, alertWait: 4 * second)
  var now = noon
  var count = 0
  /// Pushes of messages by id, and final decisions.
  var pushed: [String: Int] = [:]
  var finals: [String: Int] = [:]
  var deferred: Set<String> = []
  var log: [String] = []

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    scene = try Scene.withPhone()
    try scene.gain("tablet")
    try scene.prefer(PreferencesPatch(badgeMode: .messages))
  }

  private mutating func conversation() -> String { "c\(random.below(3))" }

  /// Plays it to the end. Returns what went wrong.
  mutating func play() throws -> String? {
    let steps = 10 + random.below(50)
    for _ in 0..<steps {
      // Seconds between most events, minutes between some.
      now += Int64(1 + random.below(random.oneIn(4) ? 90_000 : 4_000))
      if let fault = try pass() ?? act() { return fault + "\n" + log.suffix(40).joined(separator: "\n") }
      if random.oneIn(8) { try scene.driver.restart() }
    }
    now += 10 * minute
    if let fault = try pass() { return fault + "\n" + log.joined(separator: "\n") }
    let open = deferred.filter { finals[$0] != 1 }
    return open.isEmpty ? nil : "without one final decision: \(open.sorted())\n" + log.joined(separator: "\n")
  }

  /// Timers that are due, one after the other.
  private mutating func pass() throws -> String? {
    scene.driver.now = now
    var written: [Written] = []
    for result in try scene.driver.fireTimers() { written.append(try scene.written(result)) }
    log.append("\(now - noon): passed")
    // Each conversation has a timer of its own, so that they may come in another order.
    return compare(oracle.passed(now), written, sorted: true)
  }

  private mutating func act() throws -> String? {
    count += 1
    switch random.below(12) {
    case 0...4:
      let (id, conversation) = ("m\(count)", conversation())
      let isUrgent = random.oneIn(4)
      log.append("\(now - noon): \(id) in \(conversation)\(isUrgent ? ", urgent" : "")")
      let expected = oracle.message(id, in: conversation, at: now, isUrgent: isUrgent)
      let (origin, body) = (scene.nextOrigin(), isUrgent ? "this is urgent" : "hello there")
      let first = try scene.message(id, in: conversation, at: now, body: body, origin: origin)
      // As on a broker without transactions.
      let again = random.oneIn(10) ? [try scene.message(id, in: conversation, at: now, body: body, origin: origin)] : []
      return compare(expected, [first] + again)
    case 5, 6, 7:
      let device = random.oneIn(2) ? "phone" : "tablet"
      let open = random.oneIn(4) ? nil : conversation()
      log.append("\(now - noon): \(device) shows \(open ?? "nothing")")
      let state: Activity.State = open == nil && random.oneIn(2) ? .background : .foreground
      let expected = oracle.report(device, isForeground: state == .foreground, in: open, at: now)
      return compare(expected, [try scene.activity(device, state, in: open, at: now)])
    case 8:
      let conversation = conversation()
      log.append("\(now - noon): \(conversation) is read")
      oracle.see(on: "phone", in: conversation, at: now)
      return compare(
        oracle.read(conversation, upTo: now), [try scene.read(conversation, at: now, on: "phone")])
    case 9:
      guard let message = oracle.someMessage(random.below(6)) else { return nil }
      log.append("\(now - noon): \(message.conversation) is read up to \(message.id)")
      oracle.see(on: "tablet", in: message.conversation, at: now)
      return compare(
        oracle.read(message.conversation, upTo: message.at),
        [try scene.read(message.conversation, upTo: message.id, at: now, on: "tablet")])
    case 10:
      let conversation = conversation()
      log.append("\(now - noon): writes in \(conversation)")
      oracle.see(in: conversation, at: now)
      return compare(
        oracle.read(conversation, upTo: now), [try scene.wrote("own\(count)", in: conversation, at: now)])
    default:
      if random.oneIn(2), let message = oracle.someMessage(random.below(6)) {
        log.append("\(now - noon): \(message.id) is deleted")
        return compare(oracle.delete(message.id), [try scene.withdraw(message.id, in: message.conversation, at: now)])
      }
      let muted: Set<String> = random.oneIn(2) ? [] : [conversation()]
      log.append("\(now - noon): mutes \(muted)")
      oracle.mute(muted)
      let patch = PreferencesPatch(muted: muted.sorted().map { MutedConversation(conversationId: $0) })
      return compare([], [try scene.prefer(patch, at: now)])
    }
  }

  private mutating func compare(
    _ expected: [HoldOracle.Decided], _ written: [Written], sorted: Bool = false
  ) -> String? {
    let bodies = written.flatMap(\.decisions).map(\.body)
    var found = bodies.map {
      HoldOracle.Decided(messageId: $0.messageId, outcome: $0.outcome, reason: $0.reason)
    }
    var expected = expected
    if sorted {
      found.sort { $0.messageId < $1.messageId }
      expected.sort { $0.messageId < $1.messageId }
    }
    guard found == expected else { return "decided \(found), expected \(expected)" }
    for body in bodies {
      if body.outcome.isFinal { finals[body.messageId, default: 0] += 1 } else { deferred.insert(body.messageId) }
      if finals[body.messageId, default: 0] > 1 { return "\(body.messageId) has two final decisions" }
    }
    let pushes = written.flatMap(\.pushes).filter { $0.kind == .message }
    for push in pushes {
      for target in push.targets { pushed["\(push.messageId ?? "") on \(target.deviceId)", default: 0] += 1 }
    }
    let notified = bodies.filter { $0.outcome == .notify || $0.reason == .activeElsewhere }.map(\.messageId)
    guard pushes.compactMap(\.messageId) == notified else {
      return "pushed \(pushes.map(\.messageId)), not \(notified)"
    }
    if let twice = pushed.first(where: { $0.value > 1 }) { return "\(twice.key) was pushed twice" }
    if let rejection = written.compactMap(\.rejection).first { return "refused: \(rejection)" }
    guard case .user(let user)? = try? scene.driver.row(AnalyzerRow.userKey("ann")) else { return "no row" }
    guard user.unreadMessages == oracle.unread else {
      return "\(user.unreadMessages) unread, expected \(oracle.unread)"
    }
    let rows = (try? scene.driver.rows(below: RowKey("h", "ann", "c0")).count) ?? -1
    let others = ["c1", "c2"].reduce(rows) {
      $0 + ((try? scene.driver.rows(below: RowKey("h", "ann", $1)).count) ?? -1)
    }
    return others == oracle.held ? nil : "\(others) rows of held messages, expected \(oracle.held)"
  }
}
