import NudgeSchema
import StreamRuntime
import Wording

extension AnalyzerStage {
  /// `message.candidate`: one decision for each recipient.
  mutating func decide(_ candidate: MessageCandidate, because cause: Cause, in step: Step<AnalyzerStage>) throws {
    let message = CandidateMessage(candidate, sentAt: cause.happenedAt, rules: rules)
    for (number, recipient) in message.candidate.recipients.enumerated() {
      if try isDropped(recipient.userId, because: cause, in: step) { continue }
      var person = try PersonContext(
        userId: recipient.userId, number: number, cause: cause, rules: rules, codec: codec, step: step)
      try decide(message, for: recipient, &person)
      try person.save()
    }
  }

  /// `candidate.redecide`: one more decision for each recipient, for a replay.
  mutating func redecide(_ candidate: MessageCandidate, because cause: Cause, in step: Step<AnalyzerStage>) throws {
    let message = CandidateMessage(candidate, sentAt: cause.happenedAt, rules: rules)
    var replay = try ReplayBudget(candidate, in: step)
    for (number, recipient) in message.candidate.recipients.enumerated() {
      if try isDropped(recipient.userId, because: cause, in: step) { continue }
      var person = try PersonContext(
        userId: recipient.userId, number: number, cause: cause, rules: rules, codec: codec, step: step)
      if try decideAgain(message, for: recipient, replay, &person) { replay.notified() }
      try person.save()
    }
    try replay.save(because: cause, in: step)
  }

  private mutating func decide(
    _ message: CandidateMessage, for recipient: Recipient, _ person: inout PersonContext
  ) throws {
    let conversationId = message.candidate.conversationId
    let before = try person.conversation(conversationId)
    var conversation = before
    guard conversation.advance(to: person.cause.origin) else { return }
    let message = message.apart(in: conversation)
    let place = conversation.place(arrivingAt: person.cause.arrivedAt, order: person.cause.origin.order)
    let wasRead =
      conversation.settleReadAhead(message.key, at: place)
      || conversation.hasRead(place, tolerance: rules.clockTolerance)

    let preferences = EffectivePreferences(try person.preferences(), rules: rules)
    var decisionChecks = DecisionChecks(
      message: message, context: recipient.context, preferences: preferences, conversation: conversation,
      place: place, isRead: wasRead, replay: nil, resend: nil, held: nil, learned: try person.learned(),
      rules: rules, now: person.step.now)
    decisionChecks.isErased = try isErased(message, isReplayed: false, for: person)
    let isOpen =
      !conversation.isFull
      && person.user.activity(showing: conversationId, at: message.sentAt, horizon: rules.activityHorizon) != nil
    if !isOpen, !wasRead {
      decisionChecks.waitsForRead = conversation.waitsForRead(message, at: person.step.now)
    }
    let (reached, targets) = try decisionChecks.run(&person, zones: &zones)
    var verdict = reached
    var presentation = present(&verdict, &decisionChecks, in: &conversation)
    var hold: Hold?
    if presentation == .alert, !conversation.isFull, let priority = decisionChecks.checks.assessment?.priority,
      let (device, wait) = person.wait(
        beforeAlertOf: message, priority, mentioned: recipient.context.mentioned, on: targets)
    {
      hold = Hold(key: message.key, place: place, due: person.step.now + wait, kind: .alert)
      decisionChecks.checks.noteWait(for: device)
      // It has not alerted yet, and may never do.
      conversation.burst = before.burst
      presentation = nil
    }
    presentation = budget(
      presentation, &verdict, &decisionChecks, in: &conversation, burst: before.burst, for: &person)
    let isHeldAlert = hold != nil
    let isShown = presentation == .alert || presentation == .silent
    // An alert that does not wait ends the waits of the alerts before it.
    let ended = presentation == .alert ? conversation.takeAlerts() : []

    if verdict.reason != .duplicate {
      // A message of an open conversation does not count on the badge, whichever check decided, until nothing has proved that
      // it was read (D1).
      let wait = Milliseconds(rules.policy.presenceSeconds) * 1_000
      if isOpen, wait == 0 { conversation.read(upTo: place) }
      let isWithdrawn = verdict.reason == .withdrawn
      let counts = !wasRead && !isWithdrawn && message.candidate.possibleRepeat != true
      if isOpen, wait > 0, counts {
        hold = Hold(
          key: message.key, place: place, due: person.step.now + wait,
          kind: verdict.reason == .activeConversation ? .presence : .badge)
      }
      let waitsForRead = verdict.reason == .alreadyRead ? decisionChecks.waitsForRead : nil
      if counts, let waitsForRead {
        hold = Hold(key: message.key, place: place, due: waitsForRead, kind: .presence)
      }
      var marks: RecentMessage.Marks = []
      if counts && !isOpen && waitsForRead == nil { marks.insert(.unread) }
      if verdict.reason.notifies, !isHeldAlert { marks.insert(.notified) }
      if isShown { marks.insert(.shown) }
      if isWithdrawn { marks.insert(.withdrawn) }
      let forgotten = conversation.add(
        RecentMessage(
          key: message.key, place: place, marks: marks, sender: message.sender.value, judged: decisionChecks.judged))
      if let forgotten, forgotten.marks.isSuperset(of: [.notified, .unread]),
        forgotten.marks.isDisjoint(with: [.foundHelpful, .foundUnhelpful, .reactedTo])
      {
        try person.learn(.ignored, about: forgotten, in: conversationId)
      }
      if let hold {
        conversation.hold(hold)
        if hold.kind != .badge { try person.keepHeld(message, for: recipient, decisionChecks.checks.analysis) }
        try person.armHolds(of: &conversation, conversationId)
      }
    }
    try person.keep(conversation, was: before, for: conversationId)
    for hold in ended { try decideHeld(hold, in: conversationId, for: &person) }

    try person.cancelRead(conversation, was: before, for: conversationId, last: message.candidate.messageId)
    if !isHeldAlert, hold?.kind != .presence, conversation.isMissed(message.key, place) {
      try holdBack(&decisionChecks, verdict, presentation, for: &person)
    }
    let concluded =
      isHeldAlert ? Verdict(reason: .activeElsewhere, explanation: Explanation(.activeElsewhere)) : verdict
    try person.conclude(
      decisionChecks, concluded, targets, presentation, heldUntil: hold.flatMap { $0.kind == .badge ? nil : $0.due })
    if conversation.unread < before.unread {
      try person.pushRead(
        conversationId, upTo: message.candidate.messageId, at: message.sentAt,
        except: person.devices(showing: conversationId))
    } else if verdict.reason.raisesBadgeLater, conversation.unread > before.unread {
      try person.raiseBadge(preferences, zones: &zones)
    }
    try showBanner(of: message, verdict, preferences, at: message.sentAt, to: &person)
  }

  /// Shows the message inside the app to a person who has it open at a time (D9).
  func showBanner(
    of message: CandidateMessage, _ verdict: Verdict, _ preferences: EffectivePreferences, at time: Milliseconds,
    to person: inout PersonContext
  ) throws {
    guard verdict.reason.allowsBanner, !sameId(message.candidate.sender.userId, person.userId),
      person.user.isInApp(at: time, horizon: rules.activityHorizon)
    else { return }
    let words = try person.words(preferences)
    try person.emit(.banner(person.banner(message, showText: preferences.showPreviews, words: words)))
  }

  /// Decides a message again for a replay. It changes neither the badge, nor what counts as read, nor the hourly limit, and
  /// shows no banner: it only makes up for a push that was not made or failed, or makes one more by force. For a person who was
  /// no recipient before, the message counts on the badge from now on.
  private mutating func decideAgain(
    _ message: CandidateMessage, for recipient: Recipient, _ replay: ReplayBudget, _ person: inout PersonContext
  ) throws -> Bool {
    let conversationId = message.candidate.conversationId
    let before = try person.conversation(conversationId)
    var conversation = before
    let message = message.apart(in: conversation)
    let known = conversation.message(message.key)
    let place = known?.place ?? MessagePlace(at: message.sentAt, order: OriginOrder(offset: 0, index: 0))
    let resend = try replay.resend(to: person.userId, sentAt: message.sentAt, in: person.step)
    let wasReadAhead = replay.isRederived && known == nil && conversation.settleReadAhead(message.key, at: place)
    let preferences = EffectivePreferences(try person.preferences(), rules: rules)
    var decisionChecks = DecisionChecks(
      message: message, context: recipient.context, preferences: preferences, conversation: conversation,
      place: place, isRead: wasReadAhead || conversation.isRead(place, known), replay: replay, resend: resend,
      held: nil, learned: try person.learned(), rules: rules, now: person.step.now)
    decisionChecks.isLeftToCatchUp = try person.isLeftToCatchUp(message.key, conversation, in: conversationId)
    decisionChecks.isErased = try isErased(message, isReplayed: true, for: person)
    let (reached, targets) = try decisionChecks.run(&person, zones: &zones)
    var verdict = reached
    let presentation = present(&verdict, &decisionChecks, in: &conversation)
    if replay.isRederived, known == nil, verdict.reason.isKept {
      let isOpen =
        person.user.activity(showing: conversationId, at: message.sentAt, horizon: rules.activityHorizon) != nil
      var marks: RecentMessage.Marks = []
      if !decisionChecks.isRead, !isOpen, message.candidate.possibleRepeat != true { marks.insert(.unread) }
      conversation.add(RecentMessage(key: message.key, place: place, marks: marks, sender: message.sender.value))
    }
    if verdict.reason.notifies {
      let isShown = presentation != .badge
      let marks: RecentMessage.Marks = isShown ? [.notified, .shown] : .notified
      if conversation.message(message.key) == nil {
        conversation.add(RecentMessage(key: message.key, place: place, marks: marks, sender: message.sender.value))
      } else {
        conversation.mark(message.key) { $0.formUnion(marks) }
      }
      try person.countNotification(byReplay: replay.replayId)
      try resend?.take(for: person.userId, because: person.cause, in: person.step)
    }
    try person.keep(conversation, was: before, for: conversationId)
    if verdict.reason.notifies, presentation != .badge { try person.dropMissed(message.key, in: conversationId) }
    try person.conclude(decisionChecks, verdict, targets, presentation)
    if verdict.reason.raisesBadgeLater, conversation.unread > before.unread {
      try person.raiseBadge(preferences, zones: &zones)
    }
    return verdict.reason.notifies
  }

  /// How a message that notifies appears; nil: it does not notify. Where a burst holds its alert back, the decision says so.
  func present(
    _ verdict: inout Verdict, _ decisionChecks: inout DecisionChecks, in conversation: inout PersonConversationRow
  ) -> Presentation? {
    guard verdict.reason.notifies, let priority = decisionChecks.checks.assessment?.priority else { return nil }
    let presentation = decisionChecks.presentation(priority)
    if let resend = decisionChecks.resend {
      // A message that an alert held back stays silent, also where that alert failed: it is made again, too.
      return Presentation.allCases.last { $0 == presentation || $0 == resend.push.presentation }
    }
    guard presentation == .alert else { return presentation }
    let burst = conversation.alert(
      at: decisionChecks.message.sentAt, isPersonal: decisionChecks.isPersonal, isAnew: decisionChecks.anew != nil,
      burst: decisionChecks.burstLength)
    guard let burst else { return .alert }
    decisionChecks.checks.note(burst)
    verdict.explanation = verdict.explanation.framed(by: .heldBack)
    return .silent
  }
}

extension PersonContext {
  /// Writes the decision and, where it notifies, the push.
  ///
  /// - Parameter heldUntil: When the final decision is made at the latest; nil: this one is final.
  mutating func conclude(
    _ decisionChecks: DecisionChecks, _ verdict: Verdict, _ targets: [PushTarget], _ presentation: Presentation?,
    heldUntil: Milliseconds? = nil
  ) throws {
    let message = decisionChecks.message
    var checks = decisionChecks.checks
    let notifies = verdict.reason.notifies
    let badge = user.badge(decisionChecks.preferences.badgeMode)
    let priority = checks.assessment?.priority
    let words = try words(decisionChecks.preferences)
    var push: Push?
    if notifies, let priority, let presentation {
      if presentation == .badge, user.toldBadge == badge, decisionChecks.resend == nil {
        // The devices show this number already: a request to each of them would change nothing.
        checks.noteUnchanged(badge: badge)
      } else {
        user.toldBadge = badge
        push = self.push(
          message, verdict.reason, priority, presentation, to: targets, decisionChecks.preferences,
          decisionChecks.context, words: words, badge: badge,
          anew: decisionChecks.anew, expiresAt: decisionChecks.expiresAt)
      }
      if let push, let due = try awaitArrival(of: push, decisionChecks, verdict.reason) { checks.noteEscalation(due) }
    }
    try emit(
      DecisionBody(
        userId: userId, messageId: message.candidate.messageId, conversationId: message.candidate.conversationId,
        outcome: heldUntil != nil ? .deferred : notifies ? .notify : .suppress, reason: verdict.reason,
        text: verdict.explanation.text(in: words),
        presentation: presentation, level: checks.level?.level, priority: priority,
        score: checks.assessment?.score, signals: checks.assessment?.signals ?? [], checks: checks.checks, badge: badge,
        analysis: checks.analysis, model: checks.model, rules: checks.rules, policy: rules.policyVersion.version,
        pushId: push?.pushId,
        mode: rules.mode(sentAt: message.sentAt, decidedAt: decisionChecks.held?.at ?? step.now),
        decidedAt: step.now, heldUntil: heldUntil, replayId: message.candidate.replayId))
    step.count(
      heldUntil != nil
        ? DecisionTally.place(deferredBy: verdict.reason) : DecisionTally.place(verdict.reason, priority))
    if let push { try emit(.push(push), hasOwnId: decisionChecks.anew == nil && message.apartFrom == nil) }
    if var notice = decisionChecks.limitNotice {
      notice.text = words.limitNotice(notice.fallback, limit: notice.limit)
      try emit(.notice(notice))
    }
  }

  /// The words in the person's language: that of their preferences, else that of the device heard of last.
  func words(_ preferences: EffectivePreferences) throws -> Wording {
    if let locale = preferences.locale { return Wording(locale: locale) }
    var latest: PersonDeviceRow?
    for deviceId in user.devices {
      guard let device = try device(deviceId), device.token != nil, device.locale != nil else { continue }
      if device.registeredAt > latest?.registeredAt ?? .min { latest = device }
    }
    return Wording(locale: latest?.locale)
  }
}

extension DecisionReason {
  /// Whether a message with this decision may still appear inside the app: quiet hours, the hourly limit and a missing
  /// device say nothing about somebody who has the app before their eyes.
  var allowsBanner: Bool {
    switch self {
    case .duplicate, .withdrawn, .notificationsDisabled, .conversationMuted, .alreadyRead, .expired,
      .activeConversation, .activeElsewhere, .level, .replayStopped, .replayLimit:
      false
    case .analysisLimit, .quietHours, .noDevice, .relevant, .simpleRules, .notifyAll: true
    }
  }

  /// Whether the conversation remembers a message with this decision. A message that a limit kept a replay from may be decided once more.
  fileprivate var isKept: Bool { ![.duplicate, .withdrawn, .replayStopped, .replayLimit].contains(self) }

  /// Whether a message with this decision counts on the badge without a push of its own: the devices are told a little later.
  var raisesBadgeLater: Bool {
    switch self {
    case .conversationMuted, .expired, .analysisLimit, .quietHours, .level: true
    case .duplicate, .withdrawn, .notificationsDisabled, .alreadyRead, .activeConversation, .activeElsewhere,
      .replayStopped, .replayLimit, .noDevice, .relevant, .simpleRules, .notifyAll:
      false
    }
  }
}
