import NudgeSchema
import Relevance
import StreamRuntime
import Wording

/// The checks of `requirements.md`, section D, in their order, for one recipient of one message.
///
/// Inputs of checks are ids, times in milliseconds, numbers and switches: never a text or a token (T4).
struct DecisionChecks {
  let message: CandidateMessage
  let context: RecipientContext
  let preferences: EffectivePreferences
  /// The conversation before this message.
  let conversation: PersonConversationRow
  let place: MessagePlace
  /// Whether the person has read the message already.
  let isRead: Bool
  /// The replay that asks for the decision; nil: the message is decided for the first time.
  let replay: ReplayBudget?
  /// The failed push that the decision is to make again.
  let resend: Resend?
  /// A catch-up has the message in place of its push, or told of it.
  var isLeftToCatchUp = false
  /// Until when the message waits, because a read that came before it may have reached it; nil: it does not.
  var waitsForRead: Milliseconds?
  /// The person, or the conversation, was deleted after the message was written.
  var isErased = false
  /// The facts noted when the message was deferred; nil: this is not its final decision, or it was not deferred.
  let held: Held?
  /// The shifts that the person's feedback has made.
  let learned: LearnedPreferences
  let rules: AnalyzerRules
  let now: Milliseconds

  /// The facts that a final decision takes over from the deferred one.
  struct Held {
    /// When the message was deferred, by the wall clock.
    var at: Milliseconds
    /// The hourly limit as it was then.
    var analysis: AnalysisUse?
  }

  var checks = CheckList()
  /// The notice that the hourly analyses are used up; its text is put into the person's language at the end.
  var limitNotice: Notice?

  /// Makes the checks until one suppresses. `user` changes only where an analysis is used.
  mutating func run(_ person: inout PersonContext, zones: inout TimeZones) throws -> (Verdict, [PushTarget]) {
    if let verdict = stopped() ?? duplicate() ?? withdrawn() ?? disabled() ?? muted() ?? alreadyRead() ?? expired()
      ?? activeConversation(person.user) ?? level()
    {
      return (verdict, [])
    }
    let (suppressed, notifying) = priority(&person.user, userId: person.userId)
    if let verdict = suppressed ?? quietHours(&zones) { return (verdict, []) }
    var targets = try person.targets()
    if let devices = resend?.push.devices {
      targets.removeAll { target in !devices.contains { sameId($0, target.deviceId) } }
    }
    if targets.isEmpty, let verdict = checks.suppress(.noDevice, .noDevice) { return (verdict, []) }
    _ = checks.pass(.noDevice, ["devices": .number(Int64(targets.count))])
    if let verdict = try replayLimit(person) { return (verdict, []) }
    return (notifying, targets)
  }

  // MARK: A replay's own limits

  /// First of all: a stopped replay decides nothing more.
  private mutating func stopped() -> Verdict? {
    guard let replay else { return nil }
    return replay.isStopped ? checks.suppress(.replayStopped, .replayStopped) : checks.pass(.replayStopped)
  }

  /// Last of all: only decisions that would notify count.
  private mutating func replayLimit(_ person: PersonContext) throws -> Verdict? {
    guard let replay else { return nil }
    let before = try person.notifications(byReplay: replay.replayId)
    let inputs: CheckInputs = [
      "notifiedBefore": .number(Int64(before)), "limit": .number(Int64(rules.replayPerPerson)),
    ]
    if before >= rules.replayPerPerson {
      return checks.suppress(.replayLimit, inputs, Explanation(.replayLimit))
    }
    if replay.isForced, replay.forcedBefore >= rules.replayForced {
      return checks.suppress(
        .replayLimit,
        ["forcedBefore": .number(Int64(replay.forcedBefore)), "limit": .number(Int64(rules.replayForced))],
        Explanation(.replayForcedLimit))
    }
    return checks.pass(.replayLimit, inputs)
  }

  // MARK: 1 to 6: state of the person and the conversation

  private mutating func duplicate() -> Verdict? {
    let known = conversation.message(message.key)
    if held != nil {
      // A replay may have notified by force meanwhile.
      return known?.marks.contains(.notified) == true
        ? checks.suppress(.duplicate, .notifiedBefore) : checks.pass(.duplicate)
    }
    guard let replay else {
      return known == nil
        ? checks.pass(.duplicate)
        : checks.suppress(.duplicate, .duplicate)
    }
    if replay.isForced { return checks.pass(.duplicate, ["forced": true]) }
    if let hold = conversation.holds.first(where: { $0.key == message.key && $0.kind != .badge }) {
      return checks.suppress(.duplicate, ["heldUntil": .number(hold.due)], Explanation(.duplicate))
    }
    if let resend {
      var inputs: CheckInputs = ["failedPush": .text(resend.push.pushId)]
      let isLeft = isLeftToCatchUp && [Presentation.alert, .silent].contains { $0 == resend.push.presentation }
      if isLeft { inputs["catchUp"] = true }
      return resend.isTaken || isLeft
        ? checks.suppress(.duplicate, inputs, Explanation(.notifiedBefore)) : checks.pass(.duplicate, inputs)
    }
    if known == nil, let forgotten = conversation.forgottenUpTo, message.sentAt <= forgotten.at {
      // Whether it was notified is no longer known: a replay must never notify twice.
      return checks.suppress(
        .duplicate, ["knownSince": .number(forgotten.at)], Explanation(.notifiedUnknown))
    }
    if replay.isRederived, known != nil { return checks.suppress(.duplicate, .duplicate) }
    if isLeftToCatchUp { return checks.suppress(.duplicate, ["catchUp": true], Explanation(.notifiedBefore)) }
    return known?.marks.contains(.notified) != true
      ? checks.pass(.duplicate)
      : checks.suppress(.duplicate, .notifiedBefore)
  }

  /// Where a message is decided again, whatever may have been withdrawn is; the first time, what was withdrawn before it came.
  private mutating func withdrawn() -> Verdict? {
    if isErased { return checks.suppress(.withdrawn, .withdrawn) }
    guard replay != nil else {
      return held == nil && conversation.isDeleted(message.key) ? checks.suppress(.withdrawn, .withdrawn) : nil
    }
    return conversation.mayBeWithdrawn(message.key, sentAt: message.sentAt)
      ? checks.suppress(.withdrawn, .withdrawn) : checks.pass(.withdrawn)
  }

  private mutating func disabled() -> Verdict? {
    preferences.enabled
      ? checks.pass(.notificationsDisabled)
      : checks.suppress(.notificationsDisabled, .disabled)
  }

  private mutating func muted() -> Verdict? {
    guard let mute = preferences.mute(of: message.candidate.conversationId, at: message.sentAt) else {
      return checks.pass(.conversationMuted)
    }
    var inputs = CheckInputs()
    inputs["until"] = mute.until.map { .number($0) }
    if mute.exceptMentions == true {
      inputs["exceptMentions"] = true
      inputs["mentioned"] = .flag(context.mentioned)
      if context.mentioned { return checks.pass(.conversationMuted, inputs) }
    }
    return checks.suppress(
      .conversationMuted, inputs,
      mute.until.map { Explanation(.mutedUntil, time: $0) } ?? Explanation(.muted))
  }

  private mutating func alreadyRead() -> Verdict? {
    if let waitsForRead {
      return checks.suppress(.alreadyRead, ["waitsUntil": .number(waitsForRead)], Explanation(.alreadyRead))
    }
    guard let readUpTo = conversation.readUpTo else { return checks.pass(.alreadyRead) }
    let inputs: CheckInputs = ["readUpTo": .number(readUpTo.at)]
    return !isRead
      ? checks.pass(.alreadyRead, inputs)
      : checks.suppress(.alreadyRead, inputs, Explanation(.alreadyRead))
  }

  /// Why the message has another push; nil: it is its first.
  var anew: PushCause.Anew? {
    if let resend { return .failed(pushId: resend.push.pushId) }
    return replay.flatMap { $0.isForced ? .forced(replayId: $0.replayId) : nil }
  }

  /// When the message is too old to notify.
  var expiresAt: Milliseconds { message.sentAt + max(rules.policy.freshness, replay?.maxAge ?? 0) }

  private mutating func expired() -> Verdict? {
    if message.candidate.possibleRepeat == true {
      return checks.suppress(
        .expired, ["possibleRepeat": true], Explanation(.possibleRepeat))
    }
    return now <= expiresAt
      ? checks.pass(.expired)
      : checks.suppress(
        .expired, ["expiresAt": .number(expiresAt)], Explanation(.expired, time: expiresAt))
  }

  private mutating func activeConversation(_ user: UserRow) -> Verdict? {
    if let held { return checks.pass(.activeConversation, ["heldSince": .number(held.at)]) }
    let conversationId = message.candidate.conversationId
    let open = user.activity(showing: conversationId, at: message.sentAt, horizon: rules.activityHorizon)
    guard let open else { return checks.pass(.activeConversation) }
    if replay == nil, conversation.isFull {
      return checks.pass(.activeConversation, ["held": .number(Int64(conversation.holds.count))])
    }
    return checks.suppress(
      .activeConversation,
      ["deviceId": .text(open.deviceId), "reportedAt": .number(open.stamp.occurredAt)],
      Explanation(.activeConversation))
  }

  // MARK: 7: the level, and how much the message matters

  /// The sender and score that later signals use; nil: the message was not judged.
  var judged: RecentMessage.Judged? {
    checks.assessment.map {
      RecentMessage.Judged(sender: message.sender.value, score: Int16(($0.score * 1000).rounded()))
    }
  }

  private var isGroup: Bool { message.candidate.conversation.kind == .group }

  /// The person's level for the conversation (D14).
  mutating func level() -> Verdict? {
    let applied = preferences.level(of: message)
    checks.level = applied
    var inputs: CheckInputs = ["from": .text(applied.source.rawValue)]
    switch applied.level {
    case .all, .smart: return checks.pass(.level, inputs)
    case .none: break
    case .mentions:
      let addressed = addressed()
      inputs["mentioned"] = .flag(context.mentioned)
      inputs["answered"] = .flag(context.answered)
      inputs["keyword"] = .flag(addressed.contains(.keyword))
      if !addressed.isEmpty { return checks.pass(.level, inputs) }
    }
    return checks.suppress(.level, inputs, levelExplanation(applied))
  }

  /// The reasons that let a message pass the level `mentions`.
  private func addressed() -> [ReasonCode] {
    var reasons: [ReasonCode] = []
    if context.mentioned { reasons.append(.mentioned) }
    if context.answered { reasons.append(.answered) }
    if !preferences.keywords.isEmpty, message.text.containsAny(of: preferences.keywords) { reasons.append(.keyword) }
    return reasons
  }

  private func levelExplanation(_ applied: AppliedLevel) -> Explanation {
    Explanation(
      [applied.reason(isGroup: isGroup) ?? .allInAll], sender: message.candidate.sender.displayName)
  }

  /// How a message of this priority appears (D3), before bursts.
  func presentation(_ priority: Priority) -> Presentation {
    guard checks.level?.level == .smart else { return .alert }
    if preferences.isStarred(message.candidate.sender.userId) { return .alert }
    switch priority {
    case .high: return .alert
    case .medium: return .silent
    case .low: return isInSmallGroup ? .silent : .badge
    }
  }

  /// Whether a burst never silences the message: it is meant for the person, or comes from a starred sender.
  var isPersonal: Bool {
    context.mentioned || context.answered || context.named || preferences.isStarred(message.candidate.sender.userId)
  }

  /// For how long an alert of this conversation stands for what comes after it.
  var burstLength: Milliseconds {
    isGroup && checks.level?.level != .all
      ? preferences.groupBurst : Milliseconds(rules.policy.directBurstSeconds) * 1_000
  }

  private var isInSmallGroup: Bool {
    isGroup && message.candidate.conversation.memberCount <= rules.policy.smallGroupMembers
  }

  /// The fallback's verdict where it suppresses; else the verdict that notifies, unless a later check suppresses.
  private mutating func priority(_ user: inout UserRow, userId: String) -> (suppressed: Verdict?, notifying: Verdict) {
    if let applied = checks.level, applied.level != .smart { return (nil, judgedByRules(applied)) }
    let limit = preferences.maxAnalysesPerHour
    // A replay looks at the window and does not use it: the analyses are for new messages.
    var window = user.window
    // A message that was deferred has used its analysis, or the fallback, when it came.
    let analysis: AnalysisUse
    if let known = held?.analysis {
      analysis = known
    } else {
      let allowed = AnalysisWindow.take(&window, at: message.sentAt, limit: limit)
      if replay == nil { user.window = window }
      analysis = AnalysisUse(
        used: window?.used ?? 0, limit: limit, windowStartedAt: window?.startedAt,
        fallback: allowed ? nil : preferences.fallback)
    }
    let fallback = analysis.fallback
    checks.analysis = analysis
    // Its inputs are the decision's `analysis`.
    if fallback == .suppressAll,
      let verdict = checks.suppress(.analysisLimit, [:], Explanation(.limitSuppressesAll, limit: limit))
    {
      noticeLimit(&user, userId: userId, fallback: .suppressAll)
      return (verdict, verdict)
    }
    _ = checks.pass(.analysisLimit)
    switch fallback {
    case nil:
      // In a group the features that ingest wrote count, and the text is not read.
      var assessment = rules.assess(traits(lookingAtWords: message.candidate.conversation.kind == .direct))
      rules.shift(
        &assessment,
        by: learned.shifts(
          sender: message.sender.value, conversation: MessageKey(message.candidate.conversationId).value,
          at: message.sentAt))
      checks.note(assessment)
      checks.model = rules.model.version
      return (nil, Verdict(reason: .relevant, explanation: explanation(of: assessment)))
    case .simpleRules:
      noticeLimit(&user, userId: userId, fallback: .simpleRules)
      let simpleRules = rules.policy.simpleRules
      let assessment = simpleRules.assess(traits(lookingAtWords: true))
      checks.note(assessment)
      checks.rules = simpleRules.version
      return (
        nil, Verdict(reason: .simpleRules, explanation: explanation(of: assessment).pastLimit(of: limit))
      )
    case .notifyAll, .suppressAll:
      noticeLimit(&user, userId: userId, fallback: .notifyAll)
      let assessment = Assessment(score: rules.policy.mediumFrom, priority: .medium, signals: [])
      checks.note(assessment)
      return (nil, Verdict(reason: .notifyAll, explanation: Explanation(.limitNotifiesAll, limit: limit)))
    }
  }

  /// At levels other than `smart` no analysis is needed: the level decides how the message appears, and the simple rules
  /// whether it passes quiet hours.
  private mutating func judgedByRules(_ applied: AppliedLevel) -> Verdict {
    let simpleRules = rules.policy.simpleRules
    checks.note(simpleRules.assess(traits(lookingAtWords: true)))
    checks.rules = simpleRules.version
    if applied.level == .all { return Verdict(reason: .notifyAll, explanation: levelExplanation(applied)) }
    return Verdict(
      reason: .simpleRules, explanation: Explanation(addressed(), sender: message.candidate.sender.displayName))
  }

  func traits(lookingAtWords: Bool) -> MessageTraits {
    MessageTraits(message, context: context, preferences: preferences, looksAtWords: lookingAtWords)
  }

  /// The signals that mattered most, and what else makes the message appear as it does.
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

  /// Once a window (D4).
  private mutating func noticeLimit(_ user: inout UserRow, userId: String, fallback: AnalysisFallback) {
    // A limit of 0 is a wish, and nothing that was reached.
    let limit = preferences.maxAnalysesPerHour
    guard replay == nil, limit > 0, let window = user.window, user.noticedWindow != window.startedAt else { return }
    user.noticedWindow = window.startedAt
    limitNotice = Notice(
      userId: userId, code: .analysisLimit, limit: limit, fallback: fallback,
      text: Wording.english.limitNotice(fallback, limit: limit))
  }

  // MARK: 8

  /// By the wall clock: a person sleeps when it is night, not when the message was written.
  private mutating func quietHours(_ zones: inout TimeZones) -> Verdict? {
    guard let hours = preferences.quietHours, let span = QuietSpan(hours) else { return checks.pass(.quietHours) }
    let minute = QuietSpan.minuteOfDay(now, in: zones.zone(named: hours.timeZone) ?? TimeZones.utc)
    let priority = checks.assessment?.priority ?? .low
    let zone = hours.timeZone ?? "UTC"
    let localTime = QuietSpan.text(minute)
    let inputs: CheckInputs = [
      "start": .text(hours.start), "end": .text(hours.end), "timeZone": .text(zone), "localTime": .text(localTime),
    ]
    return !span.contains(minute) || priority == .high
      ? checks.pass(.quietHours, inputs)
      : checks.suppress(
        .quietHours, inputs,
        Explanation(.quietHours, start: hours.start, end: hours.end, zone: zone, localTime: localTime))
  }
}

extension Explanation {
  fileprivate init(_ reason: ReasonCode, time: Milliseconds) {
    var values = ReasonValues()
    values.time = RFC3339.text(time)
    self.init(reason, values)
  }

  fileprivate init(_ reason: ReasonCode, limit: Int) {
    var values = ReasonValues()
    values.limit = String(limit)
    self.init(reason, values)
  }

  fileprivate init(_ reason: ReasonCode, start: String, end: String, zone: String, localTime: String) {
    var values = ReasonValues()
    (values.start, values.end, values.zone, values.time) = (start, end, zone, localTime)
    self.init(reason, values)
  }
}
