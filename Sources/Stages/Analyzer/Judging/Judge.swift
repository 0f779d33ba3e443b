import NudgeSchema
import Wording

/// Decides a case. It changes nothing: all changes are part of the ruling.
struct Judge {
  let facts: Case
  var trail = Trail()
  var spend: Ruling.Spend?
  var targets: [PushTarget] = []
  var hasExpiredDevices = false
  var deviceLocale: String??
  /// Its text is translated at the end.
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
    ruling.targets = verdict.reason.notifies ? judge.targets : []
    let wait = judge.wait(ruling)
    // An alert that sounds on a device now is spent now.
    if wait?.sounds ?? true { judge.budget(&ruling, zones: &zones) }
    if let wait, ruling.presentation == .alert { judge.deferAlert(&ruling, wait) }
    if case .arrival = facts.occasion { judge.awaitRead(&ruling) }
    if !ruling.isHeldAlert, ruling.hold?.kind != .presence {
      ruling.missed = judge.missed(ruling.verdict, ruling.presentation)
    }
    ruling.escalates = judge.escalates(ruling)
    judge.awaitAnswers(&ruling)
    ruling.trail = judge.trail
    (ruling.spend, ruling.notice, ruling.dropsDevices) = (judge.spend, judge.notice, judge.hasExpiredDevices)
    ruling.deviceLocale = judge.deviceLocale
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

  /// How a message that notifies appears. If a burst holds back its alert, the decision says so.
  private mutating func present(_ ruling: inout Ruling) {
    guard ruling.verdict.reason.notifies, let priority = trail.assessment?.priority else { return }
    let wanted = presentation(priority)
    ruling.presentation = wanted
    if let resend {
      // A message whose alert was held back stays silent, also if its push failed and is made again.
      ruling.presentation = Presentation.allCases.last { $0 == wanted || $0 == resend.push.presentation }
      return
    }
    guard wanted == .alert else { return }
    let heldBack = Burst.alert(
      after: &ruling.burst, at: message.sentAt, rank: rank(of: priority), isPersonal: isPersonal,
      isAnew: facts.anew != nil || hasSounded, length: burstLength)
    guard let heldBack else { return }
    trail.record(heldBack)
    ruling.verdict.explanation = ruling.verdict.explanation.framed(by: .heldBack)
    ruling.presentation = .silent
  }

  /// The rank of an alert. A message with a higher rank than the last alert always sounds.
  private func rank(of priority: Priority) -> Int {
    if message.isUrgent { return 3 }
    switch priority {
    case .low: return 0
    case .medium: return 1
    case .high: return 2
    }
  }

  /// Whether the message's alert sounded on a device when it arrived. Then it is neither held back nor spent again.
  private var hasSounded: Bool { held?.pushedTo.isEmpty == false }

  /// The wait of an alert.
  private struct Wait {
    /// The device because of which the alert waits.
    let device: DeviceActivity
    let until: Milliseconds
    /// The devices that are notified now.
    let now: [PushTarget]

    var sounds: Bool { !now.isEmpty }
  }

  /// If the person has the app open on a device, the alert goes to that device at once and waits for the others,
  /// because they may be about to read the message (D17). Nil if it does not wait.
  private func wait(_ ruling: Ruling) -> Wait? {
    guard case .arrival = facts.occasion, ruling.presentation == .alert, let priority = trail.assessment?.priority,
      !message.isUrgent, !conversation.isFull,
      let device = facts.person.user.activeDevice(at: now, notShowing: facts.conversationId, rules)
    else { return nil }
    let seconds = priority == .high ? rules.policy.highWaitSeconds : rules.policy.otherWaitSeconds
    let open = ruling.targets.filter {
      facts.person.user.isInApp(on: $0.deviceId, at: now, horizon: rules.activityHorizon)
    }
    guard seconds > 0, open.count < ruling.targets.count else { return nil }
    return Wait(device: device, until: now + Milliseconds(seconds) * 1_000, now: open)
  }

  private mutating func deferAlert(_ ruling: inout Ruling, _ wait: Wait) {
    ruling.hold = Hold(key: message.key, place: facts.place, due: wait.until, kind: .alert)
    trail.recordWait(for: wait.device)
    ruling.targets = wait.now
    if wait.sounds { return }
    // The message has not alerted yet, and may never do so.
    ruling.burst = conversation.burst
    ruling.presentation = nil
  }

  /// How long the push to a device waits for an answer to the banner, in milliseconds.
  private static let answerTime: Milliseconds = 2_000

  /// A device whose stream shows the message may confirm that before its push is sent (D22). Urgent messages do not
  /// wait.
  private mutating func awaitAnswers(_ ruling: inout Ruling) {
    guard ruling.isShown, !message.isUrgent, facts.showsBanner(ruling.verdict.reason) else { return }
    let due = now + Self.answerTime
    let (user, horizon) = (facts.person.user, rules.activityHorizon)
    var waiting = 0
    for index in ruling.targets.indices
    where user.answersBanners(on: ruling.targets[index].deviceId, at: now, horizon: horizon) {
      ruling.targets[index].notBefore = due
      waiting += 1
    }
    if waiting > 0 { trail.recordAnswers(from: waiting, until: due) }
  }

  /// Asks the person's budget for the alert of a message that is about to make one. Without an alert left, the message
  /// is shown silently and is in the next catch-up (D20).
  private mutating func budget(_ ruling: inout Ruling, zones: inout TimeZones) {
    guard spend != nil, !hasSounded, ruling.presentation == .alert, let limit = preferences.dailyAlerts,
      let assessment = trail.assessment, !isFree
    else { return }
    let today = preferences.localDay(at: now, zones: &zones)
    var user = facts.person.user
    let answer = user.spendAlert(of: limit, today: today, value: AlertBudget.value(of: assessment))
    trail.record(answer)
    if answer.allows {
      spend?.alerts = user.spentAlerts
      return
    }
    // An alert that does not sound silences none after it.
    ruling.burst = conversation.burst
    ruling.verdict.explanation = ruling.verdict.explanation.framed(by: .overBudget, dailyAlerts: limit)
    ruling.presentation = .silent
  }

  /// Whether the alert costs no budget, because the message is urgent, mentions the person, or is a direct message of a
  /// starred sender.
  private var isFree: Bool {
    message.isUrgent || context.mentioned
      || message.candidate.conversation.kind == .direct && preferences.isStarred(message.candidate.sender.userId)
  }

  /// A message in an open conversation does not count on the badge until its hold ends, whichever check decided,
  /// because it is probably read (D1).
  private func awaitRead(_ ruling: inout Ruling) {
    let reason = ruling.verdict.reason
    guard facts.counts(ruling.verdict), reason != .duplicate else { return }
    if reason == .alreadyRead, let due = facts.waitsForRead {
      ruling.hold = Hold(key: message.key, place: facts.place, due: due, kind: .presence)
      return
    }
    var wait = Milliseconds(rules.policy.presenceSeconds) * 1_000
    guard wait > 0, let open = facts.open else { return }
    if message.isUrgent { wait = min(wait, rules.activityHorizon.ofUrgent.person) }
    ruling.hold = Hold(
      key: message.key, place: facts.place,
      due: now + rules.activityHorizon.wait(on: open, of: facts.activityAt, atMost: wait),
      kind: reason == .activeConversation ? .presence : .badge)
  }

  /// Whether the message is pushed again unless it arrives or is read (D21).
  private func escalates(_ ruling: Ruling) -> Bool {
    rules.policy.escalates && replay == nil && ruling.isShown && ruling.heldUntil == nil
      && trail.assessment?.priority == .high
      && (context.mentioned || message.candidate.conversation.kind == .direct)
  }
}

extension Case {
  /// Whether the message counts on the badge if it is not read.
  func counts(_ verdict: Verdict) -> Bool {
    !isRead && ![.withdrawn, .history, .mutedSender].contains(verdict.reason)
      && message.candidate.possibleRepeat != true
  }
}

/// A message that is not shown as it would be, and waits for the person's catch-up.
struct Missed: Equatable {
  /// Its value in thousandths.
  var rank: Int
  /// Whether it would have alerted.
  var alerts: Bool
  /// Whether Nudge was late and the person has no catch-up times of their own. Then the catch-up comes soon.
  var isLate = false
}

extension Judge {
  /// The message's entry in the person's catch-up; nil if it is shown or was not wanted.
  ///
  /// Without catch-up times of their own, people catch up on messages that would have been shown. With them, they also
  /// catch up on messages that only changed the badge or were silenced by a burst. People who have set nothing catch up
  /// on late messages. A message that a budget silenced is in every catch-up, and never makes it sound.
  func missed(_ verdict: Verdict, _ presentation: Presentation?) -> Missed? {
    guard replay == nil, preferences.catchesUp || verdict.reason == .expired && preferences.digestTimes == nil else {
      return nil
    }
    if trail.isOverBudget, verdict.reason.notifies { return missed(trail.assessment, as: .silent) }
    // A message that Nudge was late with is in everybody's catch-up.
    guard preferences.catchesUpOnAll || verdict.reason == .expired else { return nil }
    let hasTimes = preferences.digestTimes != nil
    switch verdict.reason {
    case .relevant, .simpleRules, .notifyAll:
      guard hasTimes, presentation == .badge || presentation == .silent && trail.hasBurst else { return nil }
      return missed(trail.assessment, as: .silent)
    case .quietHours, .noDevice:
      let wanted = self.presentation(trail.assessment?.priority ?? .low)
      return wanted == .badge && !hasTimes ? nil : missed(trail.assessment, as: wanted)
    case .conversationMuted, .expired, .analysisLimit:
      guard message.candidate.possibleRepeat != true,
        verdict.reason != .conversationMuted || !preferences.isMutedForGood(message.candidate.conversationId)
      else { return nil }
      // The checks ended before the level and the priority were determined.
      var further = self
      further.trail = Trail()
      guard further.level() == nil else { return nil }
      let assessment = rules.policy.simpleRules.assess(traits(readingText: true))
      let wanted = further.presentation(assessment.priority)
      if wanted == .badge, !hasTimes { return nil }
      var missed = missed(assessment, as: wanted)
      missed.isLate = verdict.reason == .expired && !preferences.catchesUpOnAll
      return missed
    case .duplicate, .notificationsDisabled, .alreadyRead, .activeConversation, .activeElsewhere, .withdrawn, .level,
      .replayStopped, .replayLimit, .history, .mutedSender:
      return nil
    }
  }

  private func missed(_ assessment: Assessment?, as wanted: Presentation) -> Missed {
    Missed(rank: Int(((assessment?.score ?? 0) * 1_000).rounded()), alerts: wanted == .alert)
  }
}
