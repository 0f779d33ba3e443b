import Foundation
import NudgeSchema

/// The requirements that hold whatever a person has turned on, said of the records alone: waits, catch-ups, a bound on alerts and messages
/// said again at once. It knows what happened and which preferences hold, and judges each record that is written.
///
/// - No push of a message that was read, was taken back, or is of a conversation that was left.
/// - One final decision a message, by the time that its deferred one names; one first push for each device: where the app is open with the
///   deferred decision, elsewhere with the final one.
/// - A catch-up of one message may be a push of that message.
/// - What a decision keeps for the catch-up is in one of them, at the time that it names, unless it was read before.
/// - A catch-up that is shown changes without a sound, and tells no more of what was read or taken back; emptied, it goes.
/// - No date of the person's has more alerts than the bound. Mentions, urgent messages, and direct ones of starred senders, do not count.
/// - In quiet hours nothing but what cannot wait, and no catch-up; an edit replaces what is shown. No push tells a larger number of what
///   they suppressed.
/// - What is urgent waits a minute at most, and only where somebody was a minute before. A report that repeats does not read it.
/// - A direct conversation whose last verdict was "not helpful" does not alert until "helpful", or until the person writes there: unless the
///   message cannot wait, comes from a starred sender, or the person chose a level for it.
/// - A message is said again and told once, at its times, and not where it was read, arrived, or is not wanted.
struct AttentionOracle {
  struct Message {
    let candidate: MessageCandidate
    /// When it arrived.
    let at: Milliseconds
    /// How long before it was written.
    let late: Milliseconds
    var finals = 0
    var pushes = 0
    /// Devices that had it at once, because the app was open there.
    var ahead: Set<String> = []
    /// Its final decision comes by then.
    var heldUntil: Milliseconds?
    var isRead = false
    /// It may count as read: nobody but the analyzer knows whether it still waited when a device showed the conversation.
    var mayBeRead = false
    var isGone = false
    var hasArrived = false
    /// A push showed it.
    var wasShown = false
    /// It was decided while the person's last word on the conversation was that being told did not help.
    var mustBeSilent = false
    var catchUp: CatchUp?

    var isMention: Bool { candidate.recipients[0].context.mentioned }
    /// Its text is another one now, which says nothing of urgency.
    var isEdited = false

    var isUrgent: Bool { !isEdited && wasUrgent }
    var wasUrgent: Bool { candidate.body.contains("urgent") }
    var isDirect: Bool { candidate.conversation.kind == .direct }
  }

  /// A decision keeps the message for the catch-up.
  struct CatchUp: Equatable {
    /// nil: it moved since, with the person's preferences, or waits for a device.
    var due: Milliseconds?
    /// It may be dropped: the person did not want it for a time.
    var mayBeDropped = false
  }

  private struct Again {
    let id: String
    var due: Milliseconds
    var isAgain = true
    /// There were too many: it may not be in the list.
    var isUncertain: Bool
    /// It waits for the end of quiet hours.
    var isDelayed = false

    /// It may never be said, or at any time: for a while the person did not want it, or had no device, and nobody but the analyzer knows when it
    /// looked.
    var isOpen: Bool { isDelayed && isUncertain }
  }

  /// How often it was about what.
  struct Tally {
    var held = 0
    var alerts = 0
    var caughtUp = 0
    var again = 0
    var told = 0
    var readInTime = 0

    static func += (a: inout Tally, b: Tally) {
      a.held += b.held
      a.alerts += b.alerts
      a.caughtUp += b.caughtUp
      a.again += b.again
      a.told += b.told
      a.readInTime += b.readInTime
    }
  }

  // The operator's policy, and the person's preferences.
  var again: Milliseconds = 0
  var webhook: Milliseconds = 0
  var isEnabled = true
  var limit: Int?
  var zone = "UTC"
  var quiet: QuietHours?
  var catchesUp = true
  var mutes: [String: (until: Milliseconds?, exceptMentions: Bool)] = [:]
  /// Conversations at level `none`.
  var silenced: Set<String> = []
  /// Conversations for which the person chose a level.
  var leveled: Set<String> = []
  /// Direct conversations of which the person's last word is that being told did not help.
  private var unhelpful: Set<String> = []
  var devices: Set<String> = []
  /// The conversations that devices showed last, and when.
  private var shown: [String: (conversation: String, at: Milliseconds)] = [:]
  /// What devices said last, and the last sign of a person there: a report that only repeats is none.
  private var claims: [String: (state: Activity.State, conversation: String?, personAt: Milliseconds)] = [:]

  private(set) var tally = Tally()
  private(set) var messages: [String: Message] = [:]
  /// The ids in order.
  private(set) var order: [String] = []
  /// The ids by the keys that catch-ups have.
  private var ids: [String: String] = [:]
  private var waiting: [Again] = []
  private var alerts: [Int64: Int] = [:]
  /// The ids of the catch-up of several messages that was shown last.
  private var told: Set<String> = []
  /// The number that devices were told last; nil if they may know another one.
  private var badge: Int? = 0
  /// Quiet hours suppressed a message since the number was told by day.
  private var isSuppressed = false
  private var hasRead = false

  // MARK: What happens

  mutating func wrote(_ candidate: MessageCandidate, at time: Milliseconds, late: Milliseconds = 0) {
    messages[candidate.messageId] = Message(candidate: candidate, at: time, late: late)
    ids[Digest.key(candidate.messageId)] = candidate.messageId
    order.append(candidate.messageId)
  }

  mutating func read(_ conversation: String, upTo time: Milliseconds) {
    hasRead = true
    change(in: conversation, upTo: time) { message, tally in
      if message.heldUntil != nil { tally.readInTime += 1 }
      message.isRead = true
      message.catchUp = nil
    }
  }

  /// A device reports. What it shows is read up to the last message that waits, as long as there are signs of a person there.
  mutating func reports(_ state: Activity.State, _ conversation: String?, on device: String, at time: Milliseconds) {
    let known = claims[device]
    let isRepeat = known.map { $0.state == state && $0.conversation == conversation } ?? false
    let personAt = isRepeat ? known?.personAt ?? time : time
    claims[device] = (state, conversation, personAt)
    shows(conversation, on: device, at: time, isSeen: time - personAt <= 300_000, since: personAt)
  }

  /// The person reads or taps on a device; nil: they read or write, where the conversation is shown.
  mutating func see(on device: String?, in conversation: String, at time: Milliseconds) {
    for (name, claim) in claims where device.map({ $0 == name }) ?? (claim.conversation == conversation) {
      claims[name]?.personAt = max(claim.personAt, time)
    }
  }

  /// `sign`: the last sign of a person there. A report without one reads no urgent message, and none shown since the last sign.
  private mutating func shows(
    _ conversation: String?, on device: String, at time: Milliseconds, isSeen: Bool, since sign: Milliseconds
  ) {
    shown[device] = conversation.map { ($0, time) }
    guard let conversation, isSeen else { return }
    let here = order.filter { messages[$0]?.candidate.conversationId == conversation }
    let urgent = here.filter { messages[$0]!.isUrgent && messages[$0]!.heldUntil != nil && messages[$0]!.at >= sign }
    for id in urgent { messages[id]?.heldUntil = time }
    let unseen =
      here.compactMap { messages[$0] }.filter {
        $0.wasShown && !$0.isRead && !$0.isGone && $0.at >= sign
      }.map(\.at) + urgent.compactMap { messages[$0]?.at }
    let last = here.compactMap { messages[$0] }.filter { $0.heldUntil != nil && $0.at < unseen.min() ?? .max }.map(\.at)
    if let last = last.max() { read(conversation, upTo: last) }
    change(in: conversation, upTo: time) { message, _ in
      message.mayBeRead = true
      message.catchUp?.mayBeDropped = true
    }
  }

  /// Whether a device shows a conversation, by a report of the last two minutes and a sign of the person of the last five.
  private func isOpen(_ conversation: String, at time: Milliseconds) -> Bool {
    shown.contains { device, open in
      open.conversation == conversation && time - open.at <= 120_000
        && claims[device].map { time - $0.personAt <= 300_000 } ?? false
    }
  }

  /// A message was taken back; nil: the person left the conversation.
  mutating func removed(_ id: String?, in conversation: String, at time: Milliseconds) {
    change(in: conversation, upTo: time) { message, _ in
      guard id == nil || message.candidate.messageId == id else { return }
      message.isGone = true
      message.catchUp = nil
    }
  }

  mutating func found(helpful isHelpful: Bool, in conversation: String) {
    if isHelpful { unhelpful.remove(conversation) } else { unhelpful.insert(conversation) }
  }

  /// The person wrote, which says more than a verdict.
  mutating func answered(in conversation: String) { unhelpful.remove(conversation) }

  mutating func edited(_ id: String) { messages[id]?.isEdited = true }

  mutating func arrived(_ id: String) { messages[id]?.hasArrived = true }

  /// Preferences or devices are others now. `movesCatchUp`: also when the person catches up.
  mutating func changed(movesCatchUp: Bool) {
    // A person who turns notifications off is told no number later.
    if !isEnabled { isSuppressed = false }
    // With the quiet hours their end moves, which nobody but the analyzer knows.
    for index in waiting.indices where movesCatchUp && waiting[index].isDelayed { waiting[index].isUncertain = true }
    for id in order where messages[id]?.catchUp != nil {
      if movesCatchUp { messages[id]?.catchUp?.due = nil }
      guard let message = messages[id] else { continue }
      let conversation = message.candidate.conversationId
      let isUnwanted = mutes[conversation].map { $0.until == nil } ?? false || silenced.contains(conversation)
      if !isEnabled || !catchesUp || isUnwanted { messages[id]?.catchUp?.mayBeDropped = true }
      if mutes[conversation] != nil { messages[id]?.catchUp?.due = nil }
    }
  }

  private mutating func change(
    in conversation: String, upTo time: Milliseconds, _ body: (inout Message, inout Tally) -> Void
  ) {
    for id in order where messages[id]?.candidate.conversationId == conversation && messages[id]!.at <= time {
      body(&messages[id]!, &tally)
    }
  }

  // MARK: What is written

  /// The next time at which something must come.
  var nextDue: Milliseconds? {
    let holds = order.compactMap { messages[$0]?.heldUntil } + order.compactMap { messages[$0]?.catchUp?.due }
    return (holds + waiting.filter { !$0.isOpen }.map(\.due)).min()
  }

  /// Judges what a step wrote; what is wrong with it, else nil. `isReplay`: a replay asked for it.
  mutating func judge(_ written: Written, at now: Milliseconds, isReplay: Bool = false) -> String? {
    if let rejection = written.rejection { return "refused: \(rejection)" }
    for decision in written.decisions.map(\.body) where !isReplay {
      if let fault = decided(decision) { return fault }
    }
    for push in written.pushes {
      if let fault = toldBadge(push, at: now) { return fault }
      if push.kind == .message, let id = push.messageId { messages[id]?.wasShown = true }
      let fault: String? =
        switch push.kind {
        case .message: push.escalation == nil ? pushed(push, written, at: now, isReplay: isReplay) : nil
        case .digest: push.replaces == true ? changed(push) : caughtUp(push, at: now)
        case .badge, .read, .deleted, .escalation: nil
        }
      if let fault { return fault }
    }
    // A device that read it itself knows the number.
    if hasRead, written.pushes.isEmpty { badge = nil }
    hasRead = false
    return nil
  }

  /// In quiet hours nothing tells a larger number of what they suppressed, but what cannot wait.
  private mutating func toldBadge(_ push: Push, at now: Milliseconds) -> String? {
    guard push.kind != .escalation else { return nil }
    let lowers = [.badge, .read, .deleted].contains(push.kind) || push.replaces == true
    if lowers, isQuiet(now), isSuppressed, let badge, push.badge > badge {
      return "a push of \(push.kind) raises the badge from \(badge) to \(push.badge) in quiet hours"
    }
    if !isQuiet(now) { isSuppressed = false }
    badge = push.badge
    return nil
  }

  private mutating func decided(_ decision: DecisionBody) -> String? {
    let id = decision.messageId
    guard let message = messages[id] else { return "\(id) is decided, and unknown" }
    if message.finals > 0 { return "\(id) is decided after its final decision" }
    let conversation = message.candidate.conversationId
    messages[id]?.mustBeSilent =
      message.isDirect && !message.isUrgent && unhelpful.contains(conversation) && !leveled.contains(conversation)
    guard decision.outcome.isFinal else {
      guard let until = decision.heldUntil else { return "\(id) is deferred without an end" }
      messages[id]?.heldUntil = until
      tally.held += 1
      let isSeen = claims.values.contains {
        $0.state == .foreground && $0.conversation == conversation && message.at - $0.personAt <= 60_000
      }
      if message.isUrgent, decision.reason == .activeElsewhere || until - message.at > 60_000 {
        return "\(id) is urgent, and waits until \(until)"
      }
      if message.isUrgent, decision.reason == .activeConversation, !isSeen { return "\(id) waits, and nobody is there" }
      return nil
    }
    messages[id]?.finals = 1
    messages[id]?.heldUntil = nil
    if decision.reason == .quietHours, !devices.isEmpty { isSuppressed = true }
    // A device shows it: the conversation is read up to there, and where nothing waits for a report no other event says so. A mute comes
    // before that check, and hides that reason.
    if decision.reason == .activeConversation || isOpen(message.candidate.conversationId, at: message.at) {
      change(in: message.candidate.conversationId, upTo: message.at) { message, _ in
        message.mayBeRead = true
        message.catchUp?.mayBeDropped = true
      }
    }
    // Where a device shows the conversation, the badge waits, and so may the catch-up.
    let isShown = shown.values.contains {
      $0.conversation == message.candidate.conversationId && message.at - $0.at <= 120_000
    }
    for case .number(let due)? in decision.checks.map({ $0.check == "catch_up" ? $0.inputs["dueAt"] : nil }) {
      if message.isRead || message.isGone { return "\(id) is kept for a catch-up, and read" }
      messages[id]?.catchUp = CatchUp(due: isShown ? nil : due)
      // There is one catch-up: what waits for a later time comes along.
      for other in order where messages[other]?.catchUp?.due.map({ due < $0 }) ?? false {
        messages[other]?.catchUp?.due = due
      }
    }
    return nil
  }

  private mutating func pushed(_ push: Push, _ written: Written, at now: Milliseconds, isReplay: Bool) -> String? {
    guard let id = push.messageId, let message = messages[id] else { return "a push of an unknown message" }
    if message.isRead || message.isGone { return "\(id) is pushed after it was read or taken back" }
    if push.targets.contains(where: { !devices.contains($0.deviceId) }) { return "\(id) is pushed to a lost device" }
    // Edits and replays cost nothing, and are not said again.
    if push.replaces == true { return nil }
    // A replay has the text as it came.
    if !(isReplay ? message.wasUrgent : message.isUrgent), isQuiet(now) { return "\(id) is pushed in quiet hours" }
    if isReplay {
      messages[id]?.catchUp = nil
      return nil
    }
    let targets = Set(push.targets.map(\.deviceId))
    let isFree =
      message.isMention || message.isUrgent || message.isDirect && message.candidate.sender.userId == "star"
    let sounds = push.presentation == .alert && !isFree
    if sounds, message.mustBeSilent { return "\(id) alerts, though the person found that of no help" }
    guard let decision = written.decisions.first(where: { $0.body.messageId == id })?.body else {
      return caughtUp([Digest.key(id)], push, at: now)
    }
    if decision.outcome == .deferred {
      guard message.ahead.isEmpty, message.pushes == 0 else { return "\(id) is pushed once more, and deferred" }
      messages[id]?.ahead = targets
      return sounds ? spend("\(id)", at: now) : nil
    }
    messages[id]?.pushes += 1
    guard message.pushes == 0, decision.outcome == .notify else {
      return "\(id) is pushed \(message.pushes + 1) times, or without a decision"
    }
    if !targets.isDisjoint(with: message.ahead) { return "\(id) is pushed to a device that had it" }
    if again > 0, push.priority == .high, message.isMention || message.isDirect {
      waiting.append(Again(id: id, due: now + again, isUncertain: waiting.count >= 16))
    }
    return sounds && message.ahead.isEmpty ? spend("\(id)", at: now) : nil
  }

  private mutating func spend(_ what: String, at now: Milliseconds) -> String? {
    guard let limit else { return nil }
    let used = alerts[day(now), default: 0] + 1
    alerts[day(now)] = used
    tally.alerts += 1
    return used <= limit ? nil : "\(what) is alert \(used) of \(limit)"
  }

  private mutating func caughtUp(_ push: Push, at now: Milliseconds) -> String? {
    guard let digest = push.digest, let parts = digest.parts else { return "a catch-up of nothing" }
    let keys = parts.flatMap(\.keys)
    guard keys.count == digest.messages, Set(keys).count == keys.count else { return "it tells of \(parts)" }
    if let line = digest.lines.first(where: { !keys.contains(Digest.key($0.messageId)) }) { return "a line of \(line)" }
    if keys.count > 1 { told = Set(keys.compactMap { ids[$0] }) }
    return caughtUp(keys, push, at: now)
  }

  /// A catch-up in place of the one that is shown.
  private func changed(_ push: Push) -> String? {
    guard let digest = push.digest else { return "a changed catch-up of nothing" }
    if push.presentation == .alert { return "a changed catch-up sounds" }
    let left = told.filter { id in messages[id].map { !$0.isRead && !$0.isGone } ?? false }
    if digest.messages > left.count { return "a changed catch-up has \(digest.messages) messages, of \(left.count)" }
    if let line = digest.lines.first(where: { !left.contains($0.messageId) }) {
      return "a changed catch-up tells of \(line.messageId)"
    }
    return (push.presentation == .badge) == (digest.messages == 0) ? nil : "an empty catch-up stays"
  }

  private mutating func caughtUp(_ keys: [String], _ push: Push, at now: Milliseconds) -> String? {
    if isQuiet(now) { return "a catch-up in quiet hours" }
    for key in keys {
      guard let id = ids[key], let message = messages[id] else { return "a catch-up tells of an unknown message" }
      if message.isRead || message.isGone { return "a catch-up tells of \(id), which was read or taken back" }
      guard let catchUp = message.catchUp else { return "a catch-up tells of \(id), which is not held, or once more" }
      if let due = catchUp.due, now < due { return "\(id) is told at \(now), before \(due)" }
      messages[id]?.catchUp = nil
      tally.caughtUp += 1
    }
    return push.presentation == .alert ? spend("a catch-up", at: now) : nil
  }

  // MARK: Time passes

  /// All timers of a time have fired, and wrote these pushes. Returns a fault; nil: there is none.
  mutating func passed(_ now: Milliseconds, _ pushes: [Push]) -> String? {
    var said: [String: Int] = [:]
    for push in pushes where push.escalation != nil {
      said["\(push.kind == .escalation ? "webhook" : "again") \(push.messageId ?? "")", default: 0] += 1
    }
    if let fault = escalated(now, &said) { return fault }
    if let more = said.keys.first { return "it says \(more), which is not due, or once more" }
    for id in order {
      guard let message = messages[id] else { continue }
      if let until = message.heldUntil, until <= now { return "\(id) is not decided at \(until)" }
      guard let due = message.catchUp?.due, due <= now else { continue }
      // It waits for the end of quiet hours or of a mute, or for a device.
      let mute = mutes[message.candidate.conversationId]
      if isQuiet(now) || devices.isEmpty || mute.map({ $0.until.map { now < $0 } ?? false }) ?? false {
        messages[id]?.catchUp?.due = nil
      } else if message.catchUp?.mayBeDropped == true {
        messages[id]?.catchUp?.due = nil
      } else {
        return "\(id) is not told at \(due)"
      }
    }
    return nil
  }

  private mutating func escalated(_ now: Milliseconds, _ said: inout [String: Int]) -> String? {
    var next: [Again] = []
    for var one in waiting {
      // At the end of quiet hours there may have been no device to say it again to.
      if one.isDelayed, one.isAgain, said["webhook \(one.id)"] != nil { one.isAgain = false }
      if one.isDelayed, devices.isEmpty { one.isUncertain = true }
      let step = "\(one.isAgain ? "again" : "webhook") \(one.id)"
      guard one.due <= now || one.isDelayed && said[step] != nil, let message = messages[one.id] else {
        next.append(one)
        continue
      }
      let conversation = message.candidate.conversationId
      let isMuted =
        mutes[conversation].map {
          $0.until.map { now < $0 } ?? true && !($0.exceptMentions && message.isMention)
        } ?? false
      let count = said.removeValue(forKey: step) ?? 0
      if count > 1 { return "it says \(step) twice" }
      let isUnwanted = !isEnabled || isMuted || silenced.contains(conversation)
      // What may count as read meanwhile may never be said.
      if one.isDelayed, count == 0, message.mayBeRead { one.isUncertain = true }
      if isUnwanted, one.isDelayed, count == 0, !message.isRead, !message.isGone, !message.hasArrived {
        one.isUncertain = true
        next.append(one)
        continue
      }
      if message.isRead || message.isGone || message.hasArrived || isUnwanted {
        if count > 0 { return "it says \(step), which is read, has arrived, or is not wanted" }
        continue
      }
      if !message.isUrgent, isQuiet(now) || one.isDelayed && count == 0 {
        if count > 0 { return "it says \(step) in quiet hours" }
        // Within an hour of their end: daylight saving may leave that out.
        one.isDelayed = true
        one.due = max(one.due, now) + hour
        next.append(one)
        continue
      }
      let mustBe = !one.isAgain || !devices.isEmpty
      if mustBe, count == 0 {
        if message.mayBeRead || one.isUncertain { continue }
        return "it does not say \(step)"
      }
      if !mustBe, count > 0 { return "it says \(step) without a device" }
      if one.isAgain { tally.again += count } else { tally.told += count }
      guard one.isAgain, webhook > 0 else { continue }
      (one.isAgain, one.isDelayed) = (false, false)
      one.due = now + webhook
      next.append(one)
    }
    waiting = next
    return nil
  }

  /// A message of which something is missing once all is over; nil: there is none.
  var missing: String? {
    for id in order {
      guard let message = messages[id] else { continue }
      if message.finals != 1 { return "\(id) has no final decision" }
      if let catchUp = message.catchUp, !catchUp.mayBeDropped { return "\(id) is in no catch-up" }
    }
    let left = waiting.filter { !$0.isOpen }.map(\.id)
    return left.isEmpty ? nil : "\(left) still wait to be said again"
  }

  // MARK: The person's clock

  private static let zones: [String: TimeZone] = Dictionary(
    uniqueKeysWithValues: AttentionLife.zones.compactMap { name in TimeZone(identifier: name).map { (name, $0) } })

  /// Minutes since 1970 by the person's clocks.
  private func minutes(_ time: Milliseconds, _ zone: String?) -> Int64 {
    let seconds = time / 1_000
    let offset = zone.flatMap { Self.zones[$0] }?.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds))) ?? 0
    return (seconds + Int64(offset)) / 60
  }

  private func day(_ time: Milliseconds) -> Int64 { minutes(time, zone) / 1_440 }

  private func isQuiet(_ time: Milliseconds) -> Bool {
    guard let quiet else { return false }
    func minute(_ text: String) -> Int64 { Int64(text.prefix(2))! * 60 + Int64(text.suffix(2))! }
    let (start, end, now) = (minute(quiet.start), minute(quiet.end), minutes(time, quiet.timeZone) % 1_440)
    return start <= end ? start <= now && now < end : now >= start || now < end
  }
}
