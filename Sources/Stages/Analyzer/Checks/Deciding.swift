import NudgeSchema
import StreamRuntime
import Wording

extension AnalyzerStage {
  /// `message.candidate`: one decision for each recipient.
  mutating func decide(_ candidate: MessageCandidate, because cause: Cause, in step: Step<AnalyzerStage>) throws {
    let message = CandidateMessage(candidate, sentAt: cause.happenedAt, rules: rules)
    for (number, recipient) in candidate.recipients.enumerated() {
      var person = try PersonStep(
        userId: recipient.userId, number: number, cause: cause, rules: rules, codec: codec, step: step)
      try decide(message, for: recipient, &person)
      try person.save()
    }
  }

  /// `candidate.redecide`: one more decision for each recipient, for a replay.
  mutating func redecide(_ candidate: MessageCandidate, because cause: Cause, in step: Step<AnalyzerStage>) throws {
    let message = CandidateMessage(candidate, sentAt: cause.happenedAt, rules: rules)
    var replay = try ReplayAsking(candidate, in: step)
    for (number, recipient) in candidate.recipients.enumerated() {
      var person = try PersonStep(
        userId: recipient.userId, number: number, cause: cause, rules: rules, codec: codec, step: step)
      if try decideAgain(message, for: recipient, replay, &person) { replay.notified() }
      try person.save()
    }
    try replay.save(because: cause, in: step)
  }

  private mutating func decide(
    _ message: CandidateMessage, for recipient: Recipient, _ person: inout PersonStep
  ) throws {
    let conversationId = message.candidate.conversationId
    let before = try person.conversation(conversationId)
    var conversation = before
    guard conversation.advance(to: person.cause.origin) else { return }
    let place = MessagePlace(at: message.sentAt, order: person.cause.origin.order)
    let wasRead =
      conversation.settleReadAhead(message.key, at: place)
      || conversation.hasRead(place, tolerance: rules.clockTolerance)

    let preferences = EffectivePreferences(try person.preferences(), rules: rules)
    var deliberation = Deliberation(
      message: message, context: recipient.context, preferences: preferences, conversation: conversation,
      place: place, isRead: wasRead, replay: nil, taste: try person.taste(), rules: rules, now: person.step.now)
    let (reached, targets) = try deliberation.run(&person, zones: &zones)
    var verdict = reached
    let isHeld = hold(&verdict, &deliberation, in: &conversation)
    let isShown = verdict.reason.notifies && deliberation.checks.assessment?.priority != .low

    if verdict.reason != .duplicate {
      // Whatever decided: an open conversation is read up to this message, and never counts on the badge (D1).
      let isOpen =
        person.user.activity(showing: conversationId, at: message.sentAt, horizon: rules.activityHorizon) != nil
      if isOpen { conversation.read(upTo: place) }
      var marks: RecentMessage.Marks = []
      if !wasRead && !isOpen && message.candidate.possibleRepeat != true { marks.insert(.unread) }
      if verdict.reason.notifies { marks.insert(.notified) }
      if isShown { marks.insert(.shown) }
      let judged = deliberation.checks.assessment.map {
        RecentMessage.Judged(sender: message.sender.value, score: Int16(($0.score * 1000).rounded()))
      }
      let forgotten = conversation.add(RecentMessage(key: message.key, place: place, marks: marks, judged: judged))
      if let forgotten, forgotten.marks.isSuperset(of: [.notified, .unread]),
        forgotten.marks.isDisjoint(with: [.foundHelpful, .foundUnhelpful, .reactedTo])
      {
        try person.learn(.ignored, about: forgotten, in: conversationId)
      }
    }
    try person.keep(conversation, was: before, for: conversationId)

    try person.cancelRead(conversation, was: before, for: conversationId, last: message.candidate.messageId)
    try person.conclude(deliberation, verdict, targets, isHeld: isHeld)
    if conversation.unread < before.unread {
      try person.pushRead(conversationId, except: person.devices(showing: conversationId))
    }
    if verdict.reason.allowsBanner, !sameId(message.candidate.sender.userId, person.userId),
      person.user.isInApp(at: message.sentAt, horizon: rules.activityHorizon)
    {
      let words = try person.words(preferences)
      try person.emit(.banner(person.banner(message, showText: preferences.showPreviews, words: words)))
    }
  }

  /// Decides a message again for a replay. It changes neither the badge, nor what counts as read, nor the hourly limit, and
  /// shows no banner: it only makes up for a push that was not made, or makes one more by force.
  private mutating func decideAgain(
    _ message: CandidateMessage, for recipient: Recipient, _ replay: ReplayAsking, _ person: inout PersonStep
  ) throws -> Bool {
    let conversationId = message.candidate.conversationId
    let before = try person.conversation(conversationId)
    var conversation = before
    let known = conversation.message(message.key)
    let place = known?.place ?? MessagePlace(at: message.sentAt, order: OriginOrder(offset: 0, index: 0))
    var deliberation = Deliberation(
      message: message, context: recipient.context,
      preferences: EffectivePreferences(try person.preferences(), rules: rules), conversation: conversation,
      place: place, isRead: conversation.isRead(place, known), replay: replay, taste: try person.taste(), rules: rules,
      now: person.step.now)
    let (reached, targets) = try deliberation.run(&person, zones: &zones)
    var verdict = reached
    let isHeld = hold(&verdict, &deliberation, in: &conversation)
    if verdict.reason.notifies {
      let isShown = deliberation.checks.assessment?.priority != .low
      let marks: RecentMessage.Marks = isShown ? [.notified, .shown] : .notified
      if conversation.message(message.key) == nil {
        conversation.add(RecentMessage(key: message.key, place: place, marks: marks))
      } else {
        conversation.mark(message.key) { $0.formUnion(marks) }
      }
      try person.countNotification(byReplay: replay.replayId)
    }
    try person.keep(conversation, was: before, for: conversationId)
    try person.conclude(deliberation, verdict, targets, isHeld: isHeld)
    return verdict.reason.notifies
  }

  /// Whether a burst holds back the alert of a message that is shown; then the decision says so.
  private func hold(
    _ verdict: inout Verdict, _ deliberation: inout Deliberation, in conversation: inout ConversationRow
  ) -> Bool {
    guard verdict.reason.notifies, let priority = deliberation.checks.assessment?.priority,
      deliberation.message.candidate.conversation.kind == .group
    else { return false }
    let burst = conversation.show(
      priority, at: deliberation.message.sentAt, isMention: deliberation.context.mentioned,
      burst: deliberation.preferences.burst)
    guard let burst else { return false }
    deliberation.checks.note(burst)
    verdict.explanation = verdict.explanation.heldBack()
    return true
  }
}

extension PersonStep {
  /// Writes the decision and, where it notifies, the push.
  fileprivate mutating func conclude(
    _ deliberation: Deliberation, _ verdict: Verdict, _ targets: [PushTarget], isHeld: Bool
  ) throws {
    let message = deliberation.message
    var checks = deliberation.checks
    let notifies = verdict.reason.notifies
    let badge = user.badge(deliberation.preferences.badgeMode)
    let priority = checks.assessment?.priority
    // How it appears: what a burst holds back is as quiet as what matters less.
    let shownAs = isHeld ? .medium : priority
    let words = try words(deliberation.preferences)
    var push: Push?
    if notifies, let priority {
      if priority == .low, user.toldBadge == badge {
        // The devices show this number already: a request to each of them would change nothing.
        checks.noteUnchanged(badge: badge)
      } else {
        user.toldBadge = badge
        push = self.push(
          message, verdict, priority: shownAs ?? priority, to: targets, deliberation.preferences,
          mentioned: deliberation.context.mentioned, words: words, badge: badge,
          forcedBy: deliberation.replay.flatMap { $0.isForced ? $0.replayId : nil })
        // It passed the quiet hours by its own priority.
        if isHeld { push?.quietHours = nil }
      }
    }
    try emit(
      DecisionBody(
        userId: userId, messageId: message.candidate.messageId, conversationId: message.candidate.conversationId,
        outcome: notifies ? .notify : .suppress, reason: verdict.reason, text: verdict.explanation.text(in: words),
        presentation: notifies ? shownAs.map { Presentation($0) } : nil, priority: priority,
        score: checks.assessment?.score, signals: checks.assessment?.signals ?? [], checks: checks.checks, badge: badge,
        analysis: checks.analysis, model: checks.model, rules: checks.rules, pushId: push?.pushId,
        mode: step.now - message.sentAt > rules.catchingUpAfter ? .catchingUp : .live,
        decidedAt: step.now, replayId: message.candidate.replayId))
    step.count(DecisionTally.place(verdict.reason, priority))
    if let push { try emit(.push(push)) }
    if var notice = deliberation.limitNotice {
      notice.text = words.limitNotice(notice.fallback, limit: notice.limit)
      try emit(.notice(notice))
    }
  }

  /// The words in the person's language: that of their preferences, else that of the device heard of last.
  fileprivate func words(_ preferences: EffectivePreferences) throws -> Wording {
    if let locale = preferences.locale { return Wording(locale: locale) }
    var latest: DeviceRow?
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
  fileprivate var allowsBanner: Bool {
    switch self {
    case .duplicate, .withdrawn, .notificationsDisabled, .conversationMuted, .alreadyRead, .expired,
      .activeConversation, .replayStopped, .replayLimit:
      false
    case .analysisLimit, .quietHours, .noDevice, .relevant, .simpleRules, .notifyAll: true
    }
  }
}
