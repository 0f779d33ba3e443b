import NudgeSchema
import Wording

/// Decides a case. It changes nothing: whatever is to change is part of its ruling.
struct Judge {
  let facts: Case
  var trail = Trail()
  var spend: Ruling.Spend?
  var targets: [PushTarget] = []
  var hasExpiredDevices = false
  /// Its text is put into the person's language at the end.
  var notice: Notice?

  private init(_ facts: Case) {
    self.facts = facts
    if facts.replay == nil { spend = Ruling.Spend() }
  }

  /// The ruling on a case.
  static func rule(on facts: Case, zones: inout TimeZones) throws -> Ruling {
    var judge = Judge(facts)
    let verdict = try judge.check(&zones)
    var ruling = Ruling(verdict: verdict, trail: judge.trail, burst: facts.person.conversation.burst)
    judge.present(&ruling)
    if case .arrival = facts.occasion { judge.wait(&ruling) }
    judge.budget(&ruling, zones: &zones)
    if case .arrival = facts.occasion { judge.awaitRead(&ruling) }
    if !ruling.isHeldAlert, ruling.hold?.kind != .presence {
      ruling.missed = judge.missed(ruling.verdict, ruling.presentation)
    }
    ruling.escalates = judge.escalates(ruling)
    ruling.trail = judge.trail
    (ruling.targets, ruling.dropsDevices) = (verdict.reason.notifies ? judge.targets : [], judge.hasExpiredDevices)
    (ruling.spend, ruling.notice) = (judge.spend, judge.notice)
    return ruling
  }

  var message: CandidateMessage { facts.message }
  var context: RecipientContext { facts.context }
  var preferences: EffectivePreferences { facts.person.preferences }
  var conversation: PersonConversationRow { facts.person.conversation }
  var replay: ReplayBudget? { facts.replay }
  var resend: Resend? { facts.resend }
  var held: Occasion.Held? { facts.held }
  var rules: AnalyzerRules { facts.rules }
  var now: Milliseconds { facts.now }

  // MARK: How it appears

  /// How a message that notifies appears. Where a burst holds its alert back, the decision says so.
  private mutating func present(_ ruling: inout Ruling) {
    guard ruling.verdict.reason.notifies, let priority = trail.assessment?.priority else { return }
    let wanted = presentation(priority)
    ruling.presentation = wanted
    if let resend {
      // A message that an alert held back stays silent, also where that alert failed: it is made again, too.
      ruling.presentation = Presentation.allCases.last { $0 == wanted || $0 == resend.push.presentation }
      return
    }
    guard wanted == .alert else { return }
    let heldBack = Burst.alert(
      after: &ruling.burst, at: message.sentAt, isPersonal: isPersonal, isAnew: facts.anew != nil, length: burstLength)
    guard let heldBack else { return }
    trail.note(heldBack)
    ruling.verdict.explanation = ruling.verdict.explanation.framed(by: .heldBack)
    ruling.presentation = .silent
  }

  /// Where the person is active on a device, the alert waits: they may be about to read the message there (D17).
  private mutating func wait(_ ruling: inout Ruling) {
    guard ruling.presentation == .alert, !conversation.isFull, let priority = trail.assessment?.priority,
      let device = facts.person.user.activeDevice(at: now, notShowing: facts.conversationId, rules)
    else { return }
    let policy = rules.policy
    let seconds = priority == .high ? policy.highWaitSeconds : policy.mediumWaitSeconds
    guard seconds > 0, targets.contains(where: { !sameId($0.deviceId, device.deviceId) }),
      !(context.mentioned && message.isUrgent)
    else { return }
    ruling.hold = Hold(key: message.key, place: facts.place, due: now + Milliseconds(seconds) * 1_000, kind: .alert)
    trail.noteWait(for: device)
    // It has not alerted yet, and may never do.
    ruling.burst = conversation.burst
    ruling.presentation = nil
  }

  /// Asks the person's budget for the alert of a message that is to make one now. Without it the message is shown silently, and is in
  /// the next catch-up (D20).
  private mutating func budget(_ ruling: inout Ruling, zones: inout TimeZones) {
    guard spend != nil, ruling.presentation == .alert, let limit = preferences.dailyAlerts,
      let assessment = trail.assessment, !isFree
    else { return }
    let today = preferences.localDay(at: now, zones: &zones)
    var user = facts.person.user
    let answer = user.spendAlert(of: limit, today: today, value: AlertBudget.value(of: assessment))
    trail.note(answer)
    if answer.allows {
      spend?.alerts = user.spentAlerts
      return
    }
    // An alert that does not sound silences none after it.
    ruling.burst = conversation.burst
    ruling.verdict.explanation = ruling.verdict.explanation.framed(by: .overBudget, dailyAlerts: limit)
    ruling.presentation = .silent
  }

  /// Whether the alert is on no budget: the message mentions the person, or a starred sender wrote to them alone.
  private var isFree: Bool {
    context.mentioned
      || message.candidate.conversation.kind == .direct && preferences.isStarred(message.candidate.sender.userId)
  }

  /// A message of an open conversation does not count on the badge, whichever check decided, until nothing has proved that it was
  /// read (D1).
  private func awaitRead(_ ruling: inout Ruling) {
    let reason = ruling.verdict.reason
    guard facts.counts(ruling.verdict), reason != .duplicate else { return }
    if reason == .alreadyRead, let due = facts.waitsForRead {
      ruling.hold = Hold(key: message.key, place: facts.place, due: due, kind: .presence)
      return
    }
    let wait = Milliseconds(rules.policy.presenceSeconds) * 1_000
    guard wait > 0, facts.isOpen else { return }
    ruling.hold = Hold(
      key: message.key, place: facts.place, due: now + wait,
      kind: reason == .activeConversation ? .presence : .badge)
  }

  /// Whether the message is said again unless it arrives or is read (D21).
  private func escalates(_ ruling: Ruling) -> Bool {
    rules.policy.escalates && replay == nil && ruling.isShown && trail.assessment?.priority == .high
      && (context.mentioned || message.candidate.conversation.kind == .direct)
  }
}

extension Case {
  /// Whether the message, where it is not read, counts on the badge.
  func counts(_ verdict: Verdict) -> Bool {
    !isRead && verdict.reason != .withdrawn && message.candidate.possibleRepeat != true
  }
}
