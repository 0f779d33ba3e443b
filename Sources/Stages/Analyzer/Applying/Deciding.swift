import NudgeCodec
import NudgeSchema
import StreamRuntime
import Wording

/// One decision about one person that a record asks for.
enum Assignment {
  /// A message arrived.
  case arrival(CandidateMessage, Recipient)
  /// The wait of a message has ended.
  case held(Hold, in: String)
  /// A replay asks for a decision on a message.
  case replay(CandidateMessage, Recipient, ReplayBudget)
}

/// A case with its ruling, after the rows have changed but before its records are written. It is an object, as the case
/// is.
final class Ruled {
  let facts: Case
  fileprivate(set) var ruling: Ruling
  /// The conversation's row after the case.
  let after: PersonConversationRow

  init(_ facts: Case, _ ruling: Ruling, after: PersonConversationRow) {
    self.facts = facts
    self.ruling = ruling
    self.after = after
  }
}

extension AnalyzerStage {
  /// `message.candidate`: makes one decision for each recipient.
  mutating func decide(_ candidate: MessageCandidate, because cause: Cause, in step: Step<AnalyzerStage>) throws {
    let message = CandidateMessage(candidate, sentAt: cause.happenedAt, policy: step.policy)
    for (number, recipient) in message.candidate.recipients.enumerated() {
      if try isDropped(recipient.userId, because: cause, in: step) { continue }
      var person = try context(of: recipient.userId, number: number, because: cause, in: step)
      try decide(.arrival(message, recipient), for: &person)
      try person.save()
    }
  }

  /// `candidate.redecide`: makes another decision for each recipient, for a replay.
  mutating func redecide(_ candidate: MessageCandidate, because cause: Cause, in step: Step<AnalyzerStage>) throws {
    let message = CandidateMessage(candidate, sentAt: cause.happenedAt, policy: step.policy)
    var replay = try ReplayBudget(candidate, in: step)
    for (number, recipient) in message.candidate.recipients.enumerated() {
      if try isDropped(recipient.userId, because: cause, in: step) { continue }
      var person = try context(of: recipient.userId, number: number, because: cause, in: step)
      if try decide(.replay(message, recipient, replay), for: &person) { replay.notified() }
      try person.save()
    }
    try replay.save(because: cause, in: step)
  }

  /// Judges a task and applies the ruling. An alert ends the waits of earlier alerts. These are decided before it is
  /// written, so that a person's devices get messages in order. Returns whether something notifies.
  @discardableResult
  mutating func decide(_ task: Assignment, for person: inout PersonContext) throws -> Bool {
    guard let (ruled, ended) = try apply(task, to: &person) else { return false }
    var notifies = ruled.ruling.verdict.reason.notifies
    for hold in ended {
      if try decide(.held(hold, in: ruled.facts.conversationId), for: &person) { notifies = true }
    }
    try person.write(ruled, zones: &zones)
    return notifies
  }

  /// Judges a task and changes the person's rows. Returns the ruling to write, and the waits that end with it; nil if
  /// the task is a repeat.
  private mutating func apply(_ task: Assignment, to person: inout PersonContext) throws -> (Ruled, ended: [Hold])? {
    guard let facts = try facts(of: task, for: person) else { return nil }
    if let ended = facts.ended { try person.forgetHeld(ended.hold.key, in: facts.conversationId) }
    let ruling = try Judge.rule(on: facts, zones: &zones)
    if ruling.dropsDevices { _ = try person.targets() }
    person.pay(ruling.spend)
    var after = facts.person.conversation
    after.burst = ruling.burst
    let ended = try person.settle(facts, ruling, in: &after)
    try person.keep(after, was: facts.person.conversationBefore, for: facts.conversationId)
    return (Ruled(facts, ruling, after: after), ended)
  }

  /// The facts of a task; nil if the task is a repeat.
  private func facts(of task: Assignment, for person: PersonContext) throws -> Case? {
    let unknown: CandidateMessage
    let recipient: Recipient
    let held: EndedHold?
    switch task {
    case .arrival(let message, let to), .replay(let message, let to, _): (unknown, recipient, held) = (message, to, nil)
    case .held(let hold, let conversationId):
      guard let row = try person.heldMessage(hold.key, in: conversationId), let to = row.recipient else { return nil }
      unknown = CandidateMessage(row.candidate, sentAt: row.sentAt, policy: person.rules.policyVersion)
      (recipient, held) = (to, EndedHold(hold, row))
    }
    let conversationId = unknown.candidate.conversationId
    let before = try person.conversation(conversationId)
    var conversation = before
    if case .arrival = task, !conversation.advance(to: person.cause.origin) { return nil }
    let message = unknown.apart(in: conversation)
    let known = conversation.message(message.key)

    let occasion: Occasion
    let place: MessagePlace
    var isRead = false
    switch task {
    case .arrival:
      occasion = .arrival
      place = conversation.place(arrivingAt: person.cause.arrivedAt, order: person.cause.origin.order)
      isRead =
        conversation.settleReadAhead(message.key, at: place)
        || conversation.hasRead(place, tolerance: person.rules.clockTolerance)
    case .held(let hold, _):
      guard let held else { return nil }
      occasion = .held(.init(held.row))
      place = hold.place
      isRead = conversation.isRead(place, known)
    case .replay(_, _, let replay):
      occasion = .replay(replay, try replay.resend(to: person.userId, sentAt: message.sentAt, in: person.step))
      place = known?.place ?? MessagePlace(at: message.sentAt, order: OriginOrder(offset: 0, index: 0))
      let wasReadAhead = replay.isRederived && known == nil && conversation.settleReadAhead(message.key, at: place)
      isRead = wasReadAhead || conversation.isRead(place, known)
    }
    var isReplay = false
    if case .replay = task { isReplay = true }
    let facts = Case(
      message: message, context: recipient.context, occasion: occasion,
      person: PersonSnapshot(
        userId: person.userId, user: person.user,
        preferences: try person.effectivePreferences(), conversation: conversation, conversationBefore: before,
        learned: try person.learned(), rows: person.rows),
      place: place, isRead: isRead, ended: held, rules: person.rules, now: person.step.now)
    if isReplay { facts.isLeftToCatchUp = try person.isLeftToCatchUp(message.key, conversation, in: conversationId) }
    if case .arrival = task, !isRead, !facts.isOpen {
      facts.waitsForRead = conversation.waitsForRead(message, at: person.step.now)
    }
    facts.arrivedAt = person.cause.arrivedAt
    // A held message was checked when it arrived.
    if held == nil { facts.isErased = try isErased(message, isReplayed: isReplay, for: person) }
    return facts
  }
}

extension PersonContext {
  /// Deducts what the ruling spends.
  fileprivate mutating func pay(_ spend: Ruling.Spend?) {
    guard let spend else { return }
    if let window = spend.window { user.window = window }
    if let noticed = spend.noticedWindow { user.noticedWindow = noticed }
    if let alerts = spend.alerts { user.spentAlerts = alerts }
  }

  /// Applies a ruling to the conversation's row. Returns the waits that it ends.
  fileprivate mutating func settle(
    _ facts: Case, _ ruling: Ruling, in conversation: inout PersonConversationRow
  ) throws -> [Hold] {
    switch facts.occasion {
    case .arrival: return try settleArrival(facts, ruling, in: &conversation)
    case .held:
      conversation.decided(facts.message, ruling)
      return []
    case .replay(let replay, let resend):
      try settleReplay(facts, ruling, replay, resend, in: &conversation)
      return []
    }
  }

  private mutating func settleArrival(
    _ facts: Case, _ ruling: Ruling, in conversation: inout PersonConversationRow
  ) throws -> [Hold] {
    let reason = ruling.verdict.reason
    // An alert that does not wait ends the waits of earlier alerts.
    let ended = ruling.presentation == .alert && !ruling.isHeldAlert ? conversation.takeAlerts() : []
    if reason == .duplicate { return ended }
    let (message, isOpen) = (facts.message, facts.isOpen)
    if isOpen, rules.policy.presenceSeconds == 0 { conversation.read(upTo: facts.place) }
    var marks: RecentMessage.Marks = []
    let isHeld = ruling.hold.map { $0.kind != .alert } ?? false
    if facts.counts(ruling.verdict), !isOpen, !isHeld { marks.insert(.unread) }
    if reason.notifies, !ruling.isHeldAlert || ruling.isShown { marks.insert(.notified) }
    marks.show(ruling)
    if reason == .withdrawn { marks.insert(.withdrawn) }
    let forgotten = conversation.add(
      RecentMessage(
        key: message.key, place: facts.place, marks: marks, sender: message.sender.value,
        judged: ruling.judged(of: message), heldBack: ruling.heldBack))
    if let forgotten, forgotten.marks.isSuperset(of: [.notified, .unread]),
      forgotten.marks.isDisjoint(with: [.foundHelpful, .foundUnhelpful, .reactedTo])
    {
      try learn(.ignored, about: forgotten, in: facts.conversationId)
    }
    if let hold = ruling.hold {
      conversation.hold(hold)
      if hold.kind != .badge {
        try keepHeld(
          message, facts.context, ruling.trail.analysis,
          pushedTo: ruling.isHeldAlert ? ruling.targets.map(\.deviceId) : [])
      }
      try armHolds(of: &conversation, facts.conversationId)
    }
    return ended
  }

  /// A replay changes neither what counts as read nor the hourly limit, because it only replaces a push that was
  /// missing or failed, or adds one by force. For a person who was not a recipient before, the message counts on the
  /// badge from now on.
  private mutating func settleReplay(
    _ facts: Case, _ ruling: Ruling, _ replay: ReplayBudget, _ resend: Resend?,
    in conversation: inout PersonConversationRow
  ) throws {
    let (message, reason) = (facts.message, ruling.verdict.reason)
    if replay.isRederived, conversation.message(message.key) == nil, reason.isKept {
      let counts = facts.counts(ruling.verdict) && !facts.isOpen
      conversation.add(
        RecentMessage(
          key: message.key, place: facts.place, marks: counts ? .unread : [], sender: message.sender.value,
          heldBack: ruling.heldBack))
    }
    guard reason.notifies else { return }
    var marks: RecentMessage.Marks = ruling.presentation != .badge ? [.notified, .shown] : .notified
    marks.show(ruling)
    if conversation.message(message.key) == nil {
      conversation.add(
        RecentMessage(key: message.key, place: facts.place, marks: marks, sender: message.sender.value))
    } else {
      conversation.mark(message.key) { $0.formUnion(marks) }
    }
    conversation.keep(ruling.heldBack, of: message.key)
    try countNotification(byReplay: replay.replayId)
    try resend?.take(for: userId, because: cause, in: step)
  }

  /// Writes the ruling: the decision and the push, and their consequences for the badge, the catch-up and the app.
  fileprivate mutating func write(_ ruled: Ruled, zones: inout TimeZones) throws {
    let (facts, before, after) = (ruled.facts, ruled.facts.person.conversationBefore, ruled.after)
    let (message, conversationId) = (facts.message, facts.conversationId)
    if case .arrival = facts.occasion {
      try cancelRead(after, was: before, for: conversationId, last: message.candidate.messageId)
    }
    if let missed = ruled.ruling.missed, after.isMissed(message.key, facts.place),
      let due = try holdBack(facts, missed, zones: &zones)
    {
      ruled.ruling.trail.recordCatchUp(due)
    }
    if facts.replay != nil, ruled.ruling.isShown { try dropMissed(message.key, in: conversationId) }
    if let held = facts.ended?.row {
      try causing(held) { try $0.conclude(facts, ruled.ruling, in: after) }
    } else {
      try conclude(facts, ruled.ruling, in: after)
    }
    let verdict = ruled.ruling.verdict
    if case .arrival = facts.occasion, after.unread < before.unread {
      try pushRead(
        conversationId, upTo: message.candidate.messageId, at: facts.place.at, except: devices(showing: conversationId))
    } else if verdict.reason.raisesBadgeLater, facts.ended != nil || after.unread > before.unread {
      try raiseBadge(facts.person.preferences, zones: &zones)
    }
    if facts.showsBanner(verdict.reason) { try showBanner(facts, ruled.ruling) }
  }
}

extension Ruling {
  /// The sender and score for later signals; nil if the message was not judged.
  fileprivate func judged(of message: CandidateMessage) -> RecentMessage.Judged? {
    trail.assessment.map {
      RecentMessage.Judged(sender: message.sender.value, score: Int16(($0.score * 1000).rounded()))
    }
  }
}

extension PersonConversationRow {
  /// Stores why a known message did not alert.
  fileprivate mutating func keep(_ reason: HeldBackReason?, of key: MessageKey) {
    guard let index = recent.lastIndex(where: { $0.key == key }) else { return }
    recent[index].heldBack = reason
  }

  /// Applies the final decision on a held message.
  fileprivate mutating func decided(_ message: CandidateMessage, _ ruling: Ruling) {
    guard let index = recent.lastIndex(where: { $0.key == message.key }) else { return }
    if ruling.verdict.reason.notifies { recent[index].marks.insert(.notified) }
    recent[index].marks.show(ruling)
    recent[index].heldBack = ruling.heldBack
    if let judged = ruling.judged(of: message) { recent[index].judged = judged }
  }
}

extension RecentMessage.Marks {
  /// Sets whether the message appears.
  fileprivate mutating func show(_ ruling: Ruling) {
    if ruling.isShown { insert(.shown) }
  }
}

extension AnalyzerStage {
  /// The most people per step whose pushes of a stopped replay are cancelled.
  static let stopsAStep = 500

  /// `replay.stopped`: the replay decides nothing more, and its pushes that wait in the dispatcher's lanes are
  /// cancelled, for some people in each step.
  mutating func stop(_ stopped: ReplayStopped, because cause: Cause, in step: Step<AnalyzerStage>) throws {
    try ReplayBudget.stop(stopped.replayId, because: cause, in: step)
    let rows = RowKey("r", stopped.replayId)
    let page = try step.keys(
      below: rows, after: stopped.after.map { RowKey("r", stopped.replayId, $0) }, limit: Self.stopsAStep)
    for (number, key) in page.keys.enumerated() {
      guard let userId = key.parts.last else { continue }
      if try isDropped(userId, because: cause, in: step) { continue }
      let event = cause.event(
        PushEventBody.cancelled(PushCancelled(userId: userId, replayId: stopped.replayId)), named: .pushCancelled,
        number: number, index: Int32(number))
      try step.emit(bytes: codec.encode(event), to: .pushes, key: userId)
    }
    guard let last = page.next?.parts.last else { return }
    let next = TimelineEvent(
      Envelope(eventId: "\(cause.envelope.eventId)-next", occurredAt: cause.envelope.occurredAt),
      origin: cause.ownOrigin, source: cause.source,
      .replayStopped(ReplayStopped(replayId: stopped.replayId, after: last)))
    try step.emit(bytes: codec.encode(next), to: .timeline, key: stopped.replayId, partition: step.partition)
  }
}

extension AnalyzerStage {
  /// `timer.fired` of a person or a replay.
  mutating func timerFired(
    _ fired: TimerFired, key: [UInt8]?, because cause: Cause, in step: Step<AnalyzerStage>
  ) throws {
    if let replayId = ReplayBudget.replayId(ofTimer: fired.timer) { return try ReplayBudget.forget(replayId, in: step) }
    let userId = String(decoding: key ?? [], as: UTF8.self)
    if try isDropped(userId, because: cause, in: step) { return }
    var person = try context(of: userId, because: cause, in: step)
    switch PersonTimer(fired.timer, of: userId) {
    case .badge: try person.badgeTimerFired(fired, zones: &zones)
    case .hold(let conversationId): try holdTimerFired(fired, in: conversationId, for: &person)
    case .catchUp: try person.catchUpTimerFired(fired, zones: &zones)
    case .escalation: try person.escalationTimerFired(fired, zones: &zones)
    case .device(let id): try person.deviceTimerFired(fired, id)
    case nil: break
    }
    try person.save()
  }

  /// Makes the final decisions on held messages that are due, in the order in which the messages were written.
  private mutating func holdTimerFired(
    _ fired: TimerFired, in conversationId: String, for person: inout PersonContext
  ) throws {
    let before = try person.conversation(conversationId)
    guard before.holdTimerAt == fired.dueAt else { return }
    var conversation = before
    conversation.holdTimerAt = nil
    let due = conversation.takeHolds(dueBy: max(fired.dueAt, person.step.now))
    try person.armHolds(of: &conversation, conversationId)
    try person.keep(conversation, was: before, for: conversationId, holdsEnd: .due)
    for hold in due where hold.kind != .badge { try decide(.held(hold, in: conversationId), for: &person) }
    guard due.contains(where: { $0.kind == .badge }) else { return }
    let preferences = try person.effectivePreferences()
    guard preferences.enabled, person.user.toldBadge != person.user.badge(preferences.badgeMode) else { return }
    try person.raiseBadge(preferences, zones: &zones)
  }
}
