import NudgeSchema
import StreamRuntime

/// The checks of `requirements.md`, section D, in their order, for one recipient of one message.
///
/// Inputs of checks are ids, times in milliseconds, numbers and switches: never a text or a token (T4).
struct Deliberation {
  let message: CandidateMessage
  let context: RecipientContext
  let preferences: EffectivePreferences
  /// The conversation before this message.
  let conversation: ConversationRow
  let place: MessagePlace
  /// Decided again, by a replay.
  let again: Bool
  let rules: AnalyzerRules
  let now: Milliseconds

  var checks = CheckList()
  /// The person is to be told that the hourly analyses are used up.
  var limitNotice: Notice?

  /// Goes through the checks until one suppresses. `user` changes only where an analysis is used up.
  mutating func run(_ person: inout PersonStep, zones: inout TimeZones) throws -> (Verdict, [PushTarget]) {
    if let verdict = duplicate() ?? withdrawn() ?? disabled() ?? muted() ?? alreadyRead() ?? expired()
      ?? activeConversation(person.user)
    {
      return (verdict, [])
    }
    let (suppressed, notifying) = priority(&person.user, userId: person.userId)
    if let verdict = suppressed ?? quietHours(&zones) { return (verdict, []) }
    let targets = try person.targets()
    if let verdict = checks.check(
      .noDevice, ["devices": String(targets.count)], suppresses: targets.isEmpty, "no registered device")
    {
      return (verdict, [])
    }
    return (notifying, targets)
  }

  // MARK: 1 to 6: whether the person is to hear of it at all

  private mutating func duplicate() -> Verdict? {
    let known = conversation.message(message.key)
    if !again {
      return checks.check(
        .duplicate, ["seenBefore": String(known != nil)], suppresses: known != nil,
        "the message was decided for this person before")
    }
    if known == nil, let forgotten = conversation.forgottenUpTo, message.sentAt <= forgotten.at {
      // Nobody knows any more whether it was notified: a replay must never notify twice.
      return checks.check(
        .duplicate, ["notifiedBefore": "unknown", "knownSince": String(forgotten.at)], suppresses: true,
        "whether the person was notified of the message before is no longer known")
    }
    let notified = known?.marks.contains(.notified) ?? false
    return checks.check(
      .duplicate, ["notifiedBefore": String(notified)], suppresses: notified,
      "the person was notified of the message before")
  }

  /// Only where a message is decided again: the first time, nothing can have been withdrawn before.
  private mutating func withdrawn() -> Verdict? {
    guard again else { return nil }
    let marked = conversation.message(message.key)?.marks.contains(.withdrawn) ?? false
    let all = conversation.withdrawnUpTo.map { message.sentAt <= $0 } ?? false
    return checks.check(
      .withdrawn, ["withdrawn": String(marked || all)], suppresses: marked || all,
      "the message was taken back, or the person left the conversation")
  }

  private mutating func disabled() -> Verdict? {
    checks.check(
      .notificationsDisabled, ["enabled": String(preferences.enabled)], suppresses: !preferences.enabled,
      "the person turned notifications off")
  }

  private mutating func muted() -> Verdict? {
    let mute = preferences.muted.first {
      sameId($0.conversationId, message.candidate.conversationId)
        && ($0.until.map { message.sentAt < $0 } ?? true)
    }
    guard let mute else {
      return checks.check(.conversationMuted, ["muted": "false"], suppresses: false, "")
    }
    let exceptMentions = mute.exceptMentions ?? false
    var inputs = [
      "muted": "true", "exceptMentions": String(exceptMentions), "mentioned": String(context.mentioned),
    ]
    inputs["until"] = mute.until.map { String($0) }
    return checks.check(
      .conversationMuted, inputs, suppresses: !(exceptMentions && context.mentioned),
      mute.until.map { "the conversation is muted until \(RFC3339.text($0))" } ?? "the conversation is muted")
  }

  private mutating func alreadyRead() -> Verdict? {
    var inputs = ["sentAt": String(message.sentAt)]
    inputs["readUpTo"] = conversation.readUpTo.map { String($0.at) }
    return checks.check(
      .alreadyRead, inputs, suppresses: conversation.readUpTo.map { place <= $0 } ?? false,
      "the person has read the message already")
  }

  private mutating func expired() -> Verdict? {
    let expiresAt = message.sentAt + rules.freshness
    if message.candidate.possibleRepeat == true {
      return checks.check(
        .expired, ["sentAt": String(message.sentAt), "possibleRepeat": "true"], suppresses: true,
        "the event is older than what is remembered of events: it may be a repeat")
    }
    return checks.check(
      .expired, ["sentAt": String(message.sentAt), "expiresAt": String(expiresAt), "now": String(now)],
      suppresses: now > expiresAt, "the message is too old: its freshness ended at \(RFC3339.text(expiresAt))")
  }

  private mutating func activeConversation(_ user: UserRow) -> Verdict? {
    let conversationId = message.candidate.conversationId
    var inputs = ["sentAt": String(message.sentAt), "horizon": String(rules.activityHorizon)]
    let open = user.activity(showing: conversationId, at: message.sentAt, horizon: rules.activityHorizon)
    let wroteAt = user.writing(in: conversationId, at: message.sentAt, horizon: rules.activityHorizon)
    if let open {
      inputs["deviceId"] = open.deviceId
      inputs["reportedAt"] = String(open.stamp.occurredAt)
    }
    inputs["wroteAt"] = wroteAt.map { String($0) }
    return checks.check(
      .activeConversation, inputs, suppresses: open != nil || wroteAt != nil,
      open != nil ? "the person has the conversation open" : "the person has just written in the conversation")
  }

  // MARK: 7: how much it matters

  /// What suppresses, if the limit's fallback does; else what notifies, unless a later check suppresses.
  private mutating func priority(_ user: inout UserRow, userId: String) -> (suppressed: Verdict?, notifying: Verdict) {
    let limit = preferences.maxAnalysesPerHour
    let allowed = AnalysisWindow.take(&user.window, at: message.sentAt, limit: limit)
    let fallback = allowed ? nil : preferences.fallback
    let used = user.window?.used ?? 0
    let startedAt = user.window?.startedAt
    checks.analysis = AnalysisUse(used: used, limit: limit, windowStartedAt: startedAt, fallback: fallback)
    var inputs = ["used": String(used), "limit": String(limit)]
    inputs["windowStartedAt"] = startedAt.map { String($0) }
    inputs["fallback"] = fallback?.rawValue
    let limitText = "the limit of \(limit) smart analyses an hour is reached"
    if let verdict = checks.check(
      .analysisLimit, inputs, suppresses: fallback == .suppressAll, "\(limitText), and all else is suppressed")
    {
      noticeLimit(&user, userId: userId, fallback: .suppressAll)
      return (verdict, verdict)
    }
    switch fallback {
    case nil:
      let assessment = rules.assess(traits)
      checks.note(assessment, method: "analysis")
      return (nil, Verdict(reason: .relevant, text: text(assessment, "smart analysis")))
    case .simpleRules:
      noticeLimit(&user, userId: userId, fallback: .simpleRules)
      let assessment = rules.assessSimply(traits)
      checks.note(assessment, method: "simple_rules")
      return (nil, Verdict(reason: .simpleRules, text: "\(limitText): \(text(assessment, "simple rules"))"))
    case .notifyAll, .suppressAll:
      noticeLimit(&user, userId: userId, fallback: .notifyAll)
      let assessment = Assessment(score: rules.mediumFrom, priority: .medium, signals: [])
      checks.note(assessment, method: "notify_all")
      return (nil, Verdict(reason: .notifyAll, text: "\(limitText): the person is notified of everything"))
    }
  }

  private var traits: MessageTraits {
    let candidate = message.candidate
    return MessageTraits(
      isDirect: candidate.conversation.kind == .direct, context: context, sentAt: message.sentAt,
      isStarredSender: preferences.starredSenders.contains { sameId($0, candidate.sender.userId) },
      hasKeyword: message.text.containsAny(of: preferences.keywords), isUrgent: message.text.isUrgent,
      isQuestion: message.text.isQuestion)
  }

  private func text(_ assessment: Assessment, _ method: String) -> String {
    let names = assessment.signals.map(\.name).joined(separator: ", ")
    return "\(method) found \(assessment.priority.rawValue) priority"
      + (names.isEmpty ? "" : " (\(names))")
  }

  /// Once a window (D4).
  private mutating func noticeLimit(_ user: inout UserRow, userId: String, fallback: AnalysisFallback) {
    guard let window = user.window, user.noticedWindow != window.startedAt else { return }
    user.noticedWindow = window.startedAt
    let limit = preferences.maxAnalysesPerHour
    limitNotice = Notice(
      userId: userId, code: .analysisLimit, limit: limit, fallback: fallback,
      text: fallback.noticeText(limit: limit))
  }

  // MARK: 8

  /// By the wall clock: a person sleeps when it is night, not when the message was written.
  private mutating func quietHours(_ zones: inout TimeZones) -> Verdict? {
    guard let hours = preferences.quietHours, let span = QuietSpan(hours) else {
      return checks.check(.quietHours, ["quietHours": "none"], suppresses: false, "")
    }
    let minute = QuietSpan.minuteOfDay(now, in: zones.zone(named: hours.timeZone) ?? TimeZones.utc)
    let priority = checks.assessment?.priority ?? .low
    let zone = hours.timeZone ?? "UTC"
    return checks.check(
      .quietHours,
      [
        "start": hours.start, "end": hours.end, "timeZone": zone, "localTime": QuietSpan.text(minute),
        "priority": priority.rawValue,
      ],
      suppresses: span.contains(minute) && priority != .high,
      "quiet hours from \(hours.start) to \(hours.end) (\(zone)), where it was \(QuietSpan.text(minute))")
  }
}

extension AnalysisFallback {
  /// What a person is told when their limit is reached (D4).
  func noticeText(limit: Int) -> String {
    let consequence =
      switch self {
      case .simpleRules: "Using simple rules."
      case .notifyAll: "You are notified of every message until the hour is over."
      case .suppressAll: "Notifications are paused until the hour is over."
      }
    return "⚠️ Smart notification limit reached (\(limit)/hour). \(consequence)"
  }
}
