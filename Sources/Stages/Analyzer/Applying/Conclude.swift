import NudgeSchema
import StreamRuntime
import Wording

/// The only writer of decisions, pushes of messages and banners.
extension PersonContext {
  /// Writes the decision and, if it notifies, the push.
  ///
  /// - Parameter settled: The conversation after the ruling was applied.
  mutating func conclude(_ facts: Case, _ ruling: Ruling, in settled: PersonConversationRow) throws {
    let message = facts.message
    try expectOneDecision(facts, ruling, in: settled)
    var trail = ruling.trail
    let verdict = ruling.concluded
    let badge = user.badge(facts.person.preferences.badgeMode)
    let priority = trail.assessment?.priority
    let words = try words(facts.person.preferences, deviceLocale: ruling.deviceLocale)
    var push: Push?
    let reason = ruling.verdict.reason
    if reason.notifies, let priority, let presentation = ruling.presentation, !ruling.targets.isEmpty {
      if presentation == .badge, user.toldBadge == badge, facts.resend == nil {
        // The devices already show this number, so another push would change nothing.
        trail.recordUnchanged(badge: badge)
      } else {
        // While a message waits, the other devices get no push.
        if ruling.heldUntil == nil { user.toldBadge = badge }
        push = self.push(
          message, reason, priority, presentation, to: ruling.targets, at: facts.place, facts.person.preferences,
          facts.context, words: words, badge: badge, anew: facts.anew, expiresAt: facts.expiresAt)
        if presentation == .silent { push?.unread = max(1, settled.unread) }
      }
      if ruling.escalates, let due = try awaitArrival(facts, reason) { trail.recordEscalation(due) }
    }
    try emit(
      DecisionBody(
        userId: userId, messageId: message.candidate.messageId, conversationId: facts.conversationId,
        outcome: ruling.heldUntil != nil ? .deferred : verdict.reason.notifies ? .notify : .suppress,
        reason: verdict.reason, text: verdict.explanation.text(in: words),
        presentation: ruling.presentation, level: trail.level?.level, priority: priority,
        score: trail.assessment?.score, signals: trail.assessment?.signals ?? [], checks: trail.checks, badge: badge,
        analysis: trail.analysis, model: trail.model, rules: trail.rules, policy: rules.policyVersion.version,
        pushId: push?.pushId ?? pushIdOfAlert(facts, ruling),
        mode: rules.mode(sentAt: message.sentAt, decidedAt: facts.held?.at ?? step.now),
        decidedAt: step.now, heldUntil: ruling.heldUntil, replayId: message.candidate.replayId))
    step.count(ruling.heldUntil != nil ? .deferred(verdict.reason) : .decision(verdict.reason, priority))
    if let push { try emit(.push(push), hasOwnId: facts.anew == nil) }
    if var notice = ruling.notice {
      notice.text = words.limitNotice(notice.fallback, limit: notice.limit)
      try emit(.notice(notice))
    }
  }

  /// The push that each of the person's devices received when the message came, because its app was open; nil if there
  /// was none.
  private func pushIdOfAlert(_ facts: Case, _ ruling: Ruling) -> String? {
    guard ruling.verdict.reason.notifies, ruling.targets.isEmpty, facts.held?.pushedTo.isEmpty == false else {
      return nil
    }
    return pushId(of: facts)
  }

  /// The id of the message's first push.
  private func pushId(of facts: Case) -> String {
    ownPushId(
      conversationId: facts.conversationId, messageId: facts.message.candidate.messageId,
      senderId: facts.message.apartFrom)
  }

  /// Refuses a record that would give a message a second final decision, so that the whole step has no effect.
  private mutating func expectOneDecision(_ facts: Case, _ ruling: Ruling, in settled: PersonConversationRow) throws {
    guard facts.replay == nil, ruling.verdict.reason != .duplicate else { return }
    let decided = DecidedMessage(conversationId: facts.conversationId, key: facts.message.key)
    if let fault = ruling.fault(of: decided, after: concluded, in: settled) { throw Rejection(.internal, fault) }
    if ruling.heldUntil == nil { concluded.append(decided) }
  }

  /// Shows the message inside the app (D9).
  func showBanner(_ facts: Case, _ ruling: Ruling) throws {
    let preferences = facts.person.preferences
    let words = try words(preferences)
    var banner = banner(facts.message, showText: preferences.showPreviews, words: words)
    if ruling.isShown, !ruling.targets.isEmpty { banner.pushId = pushId(of: facts) }
    try emit(.banner(banner))
  }

  /// The texts in the person's language: that of their preferences, or else of the device seen last.
  ///
  /// - Parameter known: That device's locale if it is known; if absent, the devices' rows are read.
  func words(_ preferences: EffectivePreferences, deviceLocale known: String?? = nil) throws -> Wording {
    if let locale = preferences.locale { return Wording(locale: locale) }
    if let known { return Wording(locale: known) }
    return Wording(locale: try rows.locale(user.devices))
  }
}

extension DecisionReason {
  /// Whether a message with this decision may still appear inside the app. Quiet hours, the hourly limit and a missing
  /// device do not matter to somebody who is looking at the app.
  var allowsBanner: Bool {
    switch self {
    case .duplicate, .withdrawn, .notificationsDisabled, .conversationMuted, .alreadyRead, .expired,
      .activeConversation, .activeElsewhere, .level, .replayStopped, .replayLimit, .history, .mutedSender:
      false
    case .analysisLimit, .quietHours, .noDevice, .relevant, .simpleRules, .notifyAll: true
    }
  }

  /// Whether the conversation stores a message with this decision. A message that a replay could not notify because of
  /// a limit may be decided again.
  var isKept: Bool { ![.duplicate, .withdrawn, .replayStopped, .replayLimit].contains(self) }

  /// Whether a message with this decision counts on the badge without its own push. The devices get the badge a little
  /// later.
  var raisesBadgeLater: Bool {
    switch self {
    case .conversationMuted, .expired, .analysisLimit, .quietHours, .level: true
    case .duplicate, .withdrawn, .notificationsDisabled, .alreadyRead, .activeConversation, .activeElsewhere,
      .replayStopped, .replayLimit, .noDevice, .relevant, .simpleRules, .notifyAll, .history, .mutedSender:
      false
    }
  }
}

extension Ruling {
  /// Checks that a message has one final decision for a person: either the message is held and its row waits for that
  /// decision, or this is the decision. Returns the contradiction; nil if there is none.
  func fault(
    of message: DecidedMessage, after concluded: [DecidedMessage], in settled: PersonConversationRow
  ) -> String? {
    let isHeld = settled.holds.contains { $0.key == message.key && $0.kind != .badge }
    if isHeld, heldUntil == nil { return "a message that is held has a final decision" }
    if !isHeld, heldUntil != nil { return "a message is deferred, and is not held" }
    return heldUntil == nil && concluded.contains(message) ? "a message has a second final decision" : nil
  }
}

extension PersonContext {
  /// The push of a message. One that only changes the badge has the kind `badge`.
  func push(
    _ message: CandidateMessage, _ reason: DecisionReason, _ priority: Priority, _ presentation: Presentation,
    to targets: [PushTarget], at place: MessagePlace,
    _ preferences: EffectivePreferences, _ context: RecipientContext, words: Wording, badge: Int,
    anew: PushCause.Anew?, expiresAt: Milliseconds
  ) -> Push {
    let candidate = message.candidate
    let shown = presentation != .badge
    let isUrgent = message.isUrgent
    let showText = preferences.showPreviews
    let kind: Push.Kind = shown ? .message : .badge
    return Push(
      pushId: rules.pushId(
        userId: userId, kind: kind,
        cause: .message(
          conversationId: candidate.conversationId, messageId: candidate.messageId,
          senderId: message.apartFrom, anew: anew)),
      kind: kind, userId: userId, targets: targets.map { marked($0) },
      title: shown ? message.title(showText: showText, words, for: userId) : nil,
      body: shown ? message.body(showText: showText, words) : nil,
      imageUrl: shown && showText ? PictureAddress.usable(candidate.picture) : nil,
      avatarUrl: shown ? PictureAddress.usable(candidate.sender.avatarUrl) : nil,
      priority: priority, presentation: presentation, mentioned: context.mentioned ? true : nil,
      answered: context.answered ? true : nil, urgent: isUrgent ? true : nil,
      quietHours: isUrgent ? nil : preferences.quietHours,
      // Reads are compared with the message's place, not with the sender's clock.
      sentAt: place.at == cause.envelope.occurredAt ? nil : place.at, reason: reason, badge: badge,
      conversationId: candidate.conversationId, messageId: candidate.messageId,
      senderId: candidate.sender.userId, conversation: shown ? candidate.names : nil,
      language: shown ? words.tag : nil, ttlSeconds: rules.ttlSeconds,
      expiresAt: expiresAt,
      decidedAt: step.now)
  }

  /// The banner of a message (D9).
  func banner(_ message: CandidateMessage, showText: Bool, words: Wording) -> Banner {
    let candidate = message.candidate
    return Banner(
      userId: userId, conversationId: candidate.conversationId, messageId: candidate.messageId,
      senderId: candidate.sender.userId, senderName: candidate.sender.displayName,
      avatarUrl: PictureAddress.usable(candidate.sender.avatarUrl),
      preview: message.preview(showText: showText, words),
      groupName: candidate.conversation.kind == .group ? candidate.conversation.name : nil)
  }
}

extension Wording {
  /// The language in the form that a push has.
  var tag: String? { language == Wording.english.language ? nil : language }
}

extension MessageCandidate {
  /// A picture in the message.
  fileprivate var picture: String? { attachment?.kind == .image ? attachment?.url : nil }

  /// The names of sender and group.
  fileprivate var names: PushConversation {
    PushConversation(
      senderName: sender.displayName, kind: conversation.kind,
      name: conversation.kind == .group ? conversation.name : nil)
  }
}
