import NudgeSchema
import StreamRuntime
import TestSupport
import Testing

@testable import Analyzer

/// `NUDGE_ESCALATION_SCHEDULES` says how many schedules (`Tests/trial schedules` runs more); `NUDGE_TEST_SEED` which.
@Suite("Saying it again, against an oracle of the requirement")
struct EscalationPropertyTests {
  private static let schedules: Int = runParameter("NUDGE_ESCALATION_SCHEDULES") ?? 80

  @Test(
    "issue 41: over random lives each message is pushed again and told at its time, or not at all, as the issue says")
  func schedules() throws {
    var random = SeededGenerator(announcedFor: "escalation")
    for number in 0..<Self.schedules {
      let seed = random.next()
      var life = try Life(seed: seed)
      if let fault = try life.play() {
        Issue.record("schedule \(number), seed \(seed): \(fault)\n\(life.log.suffix(40).joined(separator: "\n"))")
        return
      }
    }
  }
}

/// Says which messages must be said again, by the words of the issue alone.
private struct EscalationOracle {
  struct Waiting {
    var id: String
    var conversation: String
    var isMention: Bool
    var due: Milliseconds
    var isAgain = true
    /// It was read, or a device has it.
    var isSettled = false
  }

  var again: Milliseconds = 0
  var webhook: Milliseconds = 0
  var isEnabled = true
  /// Muted conversations; true: except for mentions.
  var mutes: [String: Bool] = [:]
  var waiting: [Waiting] = []

  var nextDue: Milliseconds? { waiting.map(\.due).min() }

  mutating func pushed(_ id: String, in conversation: String, isMention: Bool, at time: Milliseconds) {
    guard again > 0, waiting.count < 16 else { return }
    waiting.append(Waiting(id: id, conversation: conversation, isMention: isMention, due: time + again))
  }

  mutating func settle(_ ids: Set<String>) {
    for index in waiting.indices where ids.contains(waiting[index].id) { waiting[index].isSettled = true }
  }

  /// The steps of a time: `again m1`, `webhook m1`.
  mutating func passed(_ now: Milliseconds, hasDevice: Bool) -> Set<String> {
    var said: Set<String> = []
    var next: [Waiting] = []
    for var one in waiting {
      guard one.due <= now else {
        next.append(one)
        continue
      }
      let isMuted = mutes[one.conversation].map { !($0 && one.isMention) } ?? false
      if one.isSettled || !isEnabled || isMuted { continue }
      if !one.isAgain {
        said.insert("webhook \(one.id)")
        continue
      }
      if hasDevice { said.insert("again \(one.id)") }
      if webhook > 0 {
        one.isAgain = false
        one.due = now + webhook
        next.append(one)
      }
    }
    waiting = next
    return said
  }
}

/// Some hours of a person with direct chats and a group, drawn from a seed.
private struct Life {
  private struct Message {
    var id: String
    var conversation: String
    var pushes: [Push] = []
    var isGone = false
  }

  private static let conversations = ["c0", "c1", "c2", "g"]
  private var random: SeededGenerator
  private let scene: Scene
  private var oracle = EscalationOracle()
  private var now = noon
  private var count = 0
  private var hasDevice = true
  private var messages: [Message] = []
  private var said: Set<String> = []
  private(set) var log: [String] = []

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    var rules = AnalyzerRules(hash: standInHash)
    rules.policy.againSeconds = random.oneIn(5) ? 0 : 60 + random.below(3_600)
    rules.policy.webhookSeconds = random.oneIn(5) ? 0 : 60 + random.below(3_600)
    rules.policy.directBurstSeconds = 0
    scene = Scene(rules)
    oracle.again = Milliseconds(rules.policy.againSeconds) * second
    oracle.webhook = Milliseconds(rules.policy.webhookSeconds) * second
    try scene.gain("phone")
  }

  mutating func play() throws -> String? {
    for _ in 0..<(20 + random.below(60)) {
      if let fault = try advance(to: now + Int64(1 + random.below(random.oneIn(4) ? 3_000_000 : 240_000))) {
        return fault
      }
      try act()
      if random.oneIn(10) { try scene.driver.restart() }
    }
    if let fault = try advance(to: now + 24 * hour) { return fault }
    let rows = try scene.driver.rows(below: AnalyzerRow.heldKey("ann")).count
    let index = try scene.driver.row(AnalyzerRow.escalationsKey("ann"))
    return rows == 0 && index == nil ? nil : "\(rows) rows are left, and \(index.map { "\($0)" } ?? "no list")"
  }

  /// Fires what is due up to a time, each at its time.
  private mutating func advance(to time: Milliseconds) throws -> String? {
    while true {
      let due = min(oracle.nextDue ?? .max, time)
      now = max(now, due)
      scene.driver.now = now
      let pushes = try scene.driver.fireTimers().flatMap { try scene.written($0).pushes }
      var found: Set<String> = []
      for push in pushes where push.escalation != nil {
        guard let id = push.messageId, found.insert("\(push.kind == .escalation ? "webhook" : "again") \(id)").inserted
        else { return "it is said twice: \(push)" }
        if push.kind == .message, let index = messages.firstIndex(where: { $0.id == id }) {
          messages[index].pushes.append(push)
        }
      }
      let expected = oracle.passed(now, hasDevice: hasDevice)
      if !found.isEmpty { log.append("\(now): said \(found.sorted())") }
      guard found == expected else { return "at \(now) it said \(found.sorted()), expected \(expected.sorted())" }
      guard said.isDisjoint(with: found) else { return "it is said once more: \(found)" }
      said.formUnion(found)
      if now >= time { return nil }
    }
  }

  private mutating func act() throws {
    count += 1
    switch random.below(16) {
    case 0...6: try write()
    case 7:
      let conversation = Self.conversations[random.below(4)]
      log.append("\(now): \(conversation) is read")
      settle { $0.conversation == conversation }
      try scene.read(conversation, at: now)
    case 8:
      // Only messages that the conversation still knows one by one.
      guard let index = someMessage() else { return }
      let message = messages[index]
      log.append("\(now): \(message.conversation) is read up to \(message.id)")
      let ids = Set(messages[...index].filter { $0.conversation == message.conversation }.map(\.id))
      settle { ids.contains($0.id) }
      try scene.read(message.conversation, upTo: message.id, at: now)
    case 9:
      let conversation = Self.conversations[random.below(3)]
      log.append("\(now): the person writes in \(conversation)")
      settle { $0.conversation == conversation }
      try scene.wrote("own\(count)", in: conversation, at: now)
    case 10:
      guard let index = someMessage() else { return }
      log.append("\(now): \(messages[index].id) is deleted")
      oracle.waiting.removeAll { $0.id == messages[index].id }
      messages[index].isGone = true
      try scene.withdraw(messages[index].id, in: messages[index].conversation, at: now)
    case 11:
      guard random.oneIn(3) else { return }
      log.append("\(now): the person leaves g")
      oracle.waiting.removeAll { $0.conversation == "g" }
      for index in messages.indices where messages[index].conversation == "g" { messages[index].isGone = true }
      try scene.withdraw(nil, in: "g", cause: .left, at: now)
    case 12: try prefer()
    case 13:
      log.append("\(now): the device is \(hasDevice ? "lost" : "back")")
      if hasDevice {
        guard case .device(let row)? = try scene.driver.row(AnalyzerRow.deviceKey("ann", "phone")) else { return }
        try scene.send(
          .deviceInvalidated(
            DeviceInvalidated(
              userId: "ann", deviceId: "phone", tokenHash: row.tokenHash, version: row.version, code: "UNREGISTERED")),
          at: now)
      } else {
        try scene.gain("phone", token: "token-\(now)", version: now, at: now)
      }
      hasDevice.toggle()
    default: try reportArrival()
    }
  }

  private mutating func write() throws {
    let id = "m\(count)"
    let conversation = Self.conversations[random.below(4)]
    let isGroup = conversation == "g"
    let (isMention, isUrgent) = (isGroup && random.oneIn(2), !isGroup && random.oneIn(2))
    let origin = scene.nextOrigin()
    log.append("\(now): \(id) in \(conversation), mention \(isMention), urgent \(isUrgent)")
    for run in 0..<(random.oneIn(8) ? 2 : 1) {
      let written = try scene.message(
        id, in: conversation, at: now, RecipientContext(mentioned: isMention), group: isGroup ? "Hikers" : nil,
        body: isUrgent ? "This is urgent" : "hello there", origin: origin)
      guard run == 0 else { continue }
      messages.append(
        Message(id: id, conversation: conversation, pushes: written.pushes.filter { $0.kind == .message }))
      guard isMention || isUrgent, !messages[messages.count - 1].pushes.isEmpty else { continue }
      oracle.pushed(id, in: conversation, isMention: isMention, at: now)
    }
  }

  /// A device reports the first push of a message, or the second.
  private mutating func reportArrival() throws {
    guard hasDevice, let index = someMessage(), let push = messages[index].pushes.randomElement(using: &random) else {
      return
    }
    log.append("\(now): \(messages[index].id) arrived")
    let id = messages[index].id
    settle { $0.id == id }
    let report = NotificationReport(
      userId: "ann", deviceId: "phone", pushId: push.pushId, conversationId: push.conversationId,
      messageId: push.messageId)
    let bodies: [UserEventBody] = [
      .notificationReceived(report), .notificationOpened(report), .notificationDismissed(report),
    ]
    try scene.send(.user(bodies[random.below(3)]), at: now)
  }

  private mutating func prefer() throws {
    var patch = PreferencesPatch()
    if random.oneIn(3) {
      oracle.isEnabled.toggle()
      patch.enabled = oracle.isEnabled
    } else {
      oracle.mutes = random.oneIn(2) ? [:] : [Self.conversations[random.below(4)]: random.oneIn(2)]
      patch.muted = oracle.mutes.map {
        MutedConversation(conversationId: $0.key, exceptMentions: $0.value ? true : nil)
      }
    }
    log.append("\(now): enabled \(oracle.isEnabled), mutes \(oracle.mutes)")
    try scene.prefer(patch, at: now)
  }

  private mutating func settle(_ isMeant: (Message) -> Bool) {
    oracle.settle(Set(messages.filter(isMeant).map(\.id)))
  }

  /// One of the last messages that are still there.
  private mutating func someMessage() -> Int? {
    let indices = messages.indices.suffix(10).filter { !messages[$0].isGone }
    return indices.randomElement(using: &random)
  }
}
