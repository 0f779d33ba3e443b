import NudgeSchema
import Relevance
import Wording

/// The person's level, and how much the message matters.
extension Judge {
  private var isGroup: Bool { message.candidate.conversation.kind == .group }

  /// The person's level for the conversation (D14).
  mutating func level() -> Verdict? {
    let applied = preferences.level(of: message)
    trail.level = applied
    var inputs: CheckInputs = ["from": .text(applied.source.rawValue)]
    switch applied.level {
    case .all, .smart: return trail.pass(.level, inputs)
    case .none: break
    case .mentions:
      let addressed = addressed(at: .mentions)
      inputs["mentioned"] = .flag(context.mentioned)
      inputs["answered"] = .flag(context.answered)
      inputs["keyword"] = .flag(addressed.contains(.keyword))
      if !addressed.isEmpty { return trail.pass(.level, inputs) }
    }
    return trail.suppress(.level, inputs, levelExplanation(applied))
  }

  /// The rules by which a message addresses the person, without an analysis. At level `mentions` they let it pass.
  private func addressed(at level: NotificationLevel) -> [ReasonCode] {
    var reasons: [ReasonCode] = []
    if context.mentioned { reasons.append(.mentioned) }
    if context.answered { reasons.append(.answered) }
    if level == .smart, context.named { reasons.append(.named) }
    if !preferences.keywords.isEmpty, message.text.containsAny(of: preferences.keywords) { reasons.append(.keyword) }
    guard level == .smart else { return reasons }
    if preferences.isStarred(message.candidate.sender.userId) { reasons.append(.starredSender) }
    if message.isUrgent { reasons.append(.urgentWords) }
    return reasons
  }

  private func levelExplanation(_ applied: AppliedLevel) -> Explanation {
    Explanation(
      [applied.reason(isGroup: isGroup) ?? .allInAll], sender: message.candidate.sender.displayName)
  }

  /// How a message of this priority appears (D3), before bursts are applied.
  func presentation(_ priority: Priority) -> Presentation {
    guard trail.level?.level == .smart else { return isFoundUnhelpful ? .silent : .alert }
    if preferences.isStarred(message.candidate.sender.userId) { return .alert }
    switch priority {
    case .high: return .alert
    case .medium: return .silent
    case .low: return isInSmallGroup ? .silent : .badge
    }
  }

  /// Whether a burst never silences the message, because it is meant for the person or comes from a starred sender.
  var isPersonal: Bool {
    context.mentioned || context.answered || context.named || preferences.isStarred(message.candidate.sender.userId)
  }

  /// How long an alert of this conversation silences later messages.
  var burstLength: Milliseconds {
    isGroup && trail.level?.level != .all
      ? preferences.groupBurst : Milliseconds(rules.policy.directBurstSeconds) * 1_000
  }

  /// Whether the person's last feedback on a direct conversation is 👎. It does not count if they themselves chose that
  /// each message alerts, or for urgent messages.
  private var isFoundUnhelpful: Bool {
    guard let word = conversation.lastWord, word.isUnhelpful, word.at > preferences.learnSince ?? .min else {
      return false
    }
    return !isGroup && !message.isUrgent && trail.level?.source == .policy
      && !preferences.isStarred(message.candidate.sender.userId)
  }

  private var isInSmallGroup: Bool {
    isGroup && message.candidate.conversation.memberCount <= rules.policy.smallGroupMembers
  }

  /// The verdict of a fallback that suppresses; and the verdict that notifies, unless a later check suppresses.
  mutating func priority() -> (suppressed: Verdict?, notifying: Verdict) {
    if let applied = trail.level, applied.level != .smart { return (nil, judgedByRules(applied)) }
    // An analysis could not change how it appears: it addresses the person, comes from a sender that matters, or is
    // urgent.
    let reasons = addressed(at: .smart)
    if !reasons.isEmpty { return (nil, judgedAddressed(reasons)) }
    let limit = preferences.maxAnalysesPerHour
    var window = facts.person.user.window
    // A deferred message used its analysis, or the fallback, when it arrived.
    let analysis: AnalysisUse
    if let known = held?.analysis {
      analysis = known
    } else {
      let allowed = AnalysisWindow.take(&window, at: message.sentAt, limit: limit)
      // A replay spends nothing, because the analyses are for new messages.
      spend?.window = window
      analysis = AnalysisUse(
        used: window?.used ?? 0, limit: limit, windowStartedAt: window?.startedAt,
        fallback: allowed ? nil : preferences.fallback)
    }
    let fallback = analysis.fallback
    trail.analysis = analysis
    // The inputs of this check are in the decision's `analysis`.
    if fallback == .suppressAll,
      let verdict = trail.suppress(.analysisLimit, [:], Explanation(.limitSuppressesAll, limit: limit))
    {
      noticeLimit(fallback: .suppressAll)
      return (verdict, verdict)
    }
    _ = trail.pass(.analysisLimit)
    switch fallback {
    case nil:
      // In a group, the features from ingest count and the text is not read.
      var assessment = rules.assess(traits(readingText: message.candidate.conversation.kind == .direct))
      rules.shift(&assessment, by: shifts)
      trail.record(assessment)
      trail.model = rules.model.version
      return (nil, Verdict(reason: .relevant, explanation: explanation(of: assessment)))
    case .simpleRules:
      noticeLimit(fallback: .simpleRules)
      let simpleRules = rules.policy.simpleRules
      let assessment = simpleRules.assess(traits(readingText: true))
      trail.record(assessment)
      trail.rules = simpleRules.version
      return (
        nil, Verdict(reason: .simpleRules, explanation: explanation(of: assessment).pastLimit(of: limit))
      )
    case .notifyAll, .suppressAll:
      noticeLimit(fallback: .notifyAll)
      let assessment = Assessment(score: rules.policy.mediumFrom, priority: .medium, signals: [])
      trail.record(assessment)
      return (nil, Verdict(reason: .notifyAll, explanation: Explanation(.limitNotifiesAll, limit: limit)))
    }
  }

  /// Levels other than `smart` need no analysis: the level decides how the message appears, and the simple rules how
  /// much it matters.
  private mutating func judgedByRules(_ applied: AppliedLevel) -> Verdict {
    let simpleRules = rules.policy.simpleRules
    var assessment = simpleRules.assess(traits(readingText: true))
    let isLowered = isFoundUnhelpful
    if isLowered { rules.shift(&assessment, by: shifts, toAtMost: .medium) }
    trail.record(raised(assessment))
    trail.rules = simpleRules.version
    if isLowered {
      return Verdict(
        reason: .notifyAll,
        explanation: Explanation([.senderRarelyMatters], sender: message.candidate.sender.displayName))
    }
    if applied.level == .all { return Verdict(reason: .notifyAll, explanation: levelExplanation(applied)) }
    return Verdict(
      reason: .simpleRules,
      explanation: Explanation(addressed(at: .mentions), sender: message.candidate.sender.displayName))
  }

  /// A message at level `smart` that needs no analysis. The person's feedback shifts it like any other.
  private mutating func judgedAddressed(_ reasons: [ReasonCode]) -> Verdict {
    var assessment = rules.assessAddressed(traits(readingText: true))
    assessment.reasons = reasons
    rules.shift(&assessment, by: shifts)
    assessment = raised(assessment)
    trail.record(assessment)
    // It spends nothing. Its reason says whether an analysis would have been available, because devices distinguish the
    // two.
    var window = facts.person.user.window
    let isLeft = AnalysisWindow.take(&window, at: message.sentAt, limit: preferences.maxAnalysesPerHour)
    return Verdict(
      reason: isLeft ? .relevant : .simpleRules,
      explanation: Explanation(assessment, sender: message.candidate.sender.displayName))
  }

  private var shifts: [(name: String, shift: Int)] {
    facts.person.learned.shifts(
      sender: message.sender.value, conversation: message.conversationKey.value, at: message.sentAt
    )
  }

  /// An urgent message has high priority, regardless of everything else.
  private func raised(_ assessment: Assessment) -> Assessment {
    guard message.isUrgent, assessment.priority != .high else { return assessment }
    return rules.assessUrgent(assessment)
  }

  func traits(readingText: Bool) -> MessageTraits {
    MessageTraits(message, context: context, preferences: preferences, readsText: readingText)
  }

  /// The strongest signals, and the other reasons for how the message appears.
  private func explanation(of assessment: Assessment) -> Explanation {
    var explanation = Explanation(assessment, sender: message.candidate.sender.displayName)
    let isStarred = preferences.isStarred(message.candidate.sender.userId)
    if assessment.priority != .high, isStarred {
      explanation = explanation.framed(by: .alertOfStarred)
    } else if assessment.priority == .low, isInSmallGroup {
      explanation = explanation.framed(by: .shownInSmallGroup)
    }
    return explanation
  }

  /// Creates the notice, once a window (D4).
  private mutating func noticeLimit(fallback: AnalysisFallback) {
    // A limit of 0 is the person's wish, so it is not reported as reached.
    let limit = preferences.maxAnalysesPerHour
    let user = facts.person.user
    guard spend != nil, limit > 0, let window = spend?.window ?? user.window, user.noticedWindow != window.startedAt
    else { return }
    spend?.noticedWindow = window.startedAt
    notice = Notice(
      userId: facts.person.userId, code: .analysisLimit, limit: limit, fallback: fallback,
      text: Wording.english.limitNotice(fallback, limit: limit))
  }
}
