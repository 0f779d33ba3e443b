import NudgeSchema
import Wording

/// The checks of `requirements.md`, section D, in their order.
///
/// Inputs of checks are ids, times in milliseconds, numbers and booleans, never a text or a token (T4).
extension Judge {
  /// Runs the checks until one suppresses.
  mutating func check(_ zones: inout TimeZones) throws -> Verdict {
    if let verdict = stopped() ?? duplicate() ?? withdrawn() ?? history() ?? disabled() ?? muted() { return verdict }
    if let verdict = mutedSender() ?? alreadyRead() ?? expired() ?? activeConversation() ?? level() { return verdict }
    let (suppressed, notifying) = priority()
    if let verdict = suppressed ?? quietHours(&zones) { return verdict }
    if let verdict = try device() { return verdict }
    return try replayLimit() ?? notifying
  }

  // MARK: A replay's own limits

  /// The first check: a stopped replay decides nothing more.
  private mutating func stopped() -> Verdict? {
    guard let replay else { return nil }
    return replay.isStopped ? trail.suppress(.replayStopped, .replayStopped) : trail.pass(.replayStopped)
  }

  /// The last check: only decisions that would notify count.
  private mutating func replayLimit() throws -> Verdict? {
    guard let replay else { return nil }
    let before = try facts.person.rows.notifications(byReplay: replay.replayId)
    let inputs: CheckInputs = [
      "notifiedBefore": .number(Int64(before)), "limit": .number(Int64(rules.replayPerPerson)),
    ]
    if before >= rules.replayPerPerson {
      return trail.suppress(.replayLimit, inputs, Explanation(.replayLimit))
    }
    if replay.isForced, replay.forcedBefore >= rules.replayForced {
      return trail.suppress(
        .replayLimit,
        ["forcedBefore": .number(Int64(replay.forcedBefore)), "limit": .number(Int64(rules.replayForced))],
        Explanation(.replayForcedLimit))
    }
    return trail.pass(.replayLimit, inputs)
  }

  // MARK: 1 to 6: state of the person and the conversation

  private mutating func duplicate() -> Verdict? {
    let known = conversation.message(message.key)
    if held != nil {
      // A replay may have notified by force meanwhile.
      return known?.marks.contains(.notified) == true && held?.pushedTo.isEmpty == true
        ? trail.suppress(.duplicate, .notifiedBefore) : trail.pass(.duplicate)
    }
    guard let replay else {
      // A held message may no longer be among the last messages.
      return known == nil && !conversation.holds.contains { $0.key == message.key }
        ? trail.pass(.duplicate)
        : trail.suppress(.duplicate, .duplicate)
    }
    if replay.isForced { return trail.pass(.duplicate, ["forced": true]) }
    if let hold = conversation.holds.first(where: { $0.key == message.key && $0.kind != .badge }) {
      return trail.suppress(.duplicate, ["heldUntil": .number(hold.due)], Explanation(.duplicate))
    }
    if let resend {
      var inputs: CheckInputs = ["failedPush": .text(resend.push.pushId)]
      let isLeft = facts.isLeftToCatchUp && [Presentation.alert, .silent].contains { $0 == resend.push.presentation }
      if isLeft { inputs["catchUp"] = true }
      return resend.isTaken || isLeft
        ? trail.suppress(.duplicate, inputs, Explanation(.notifiedBefore)) : trail.pass(.duplicate, inputs)
    }
    if known == nil, let forgotten = conversation.forgottenUpTo, message.sentAt <= forgotten.at {
      // It is no longer known whether the message notified. A replay must never notify twice.
      return trail.suppress(
        .duplicate, ["knownSince": .number(forgotten.at)], Explanation(.notifiedUnknown))
    }
    if replay.isRederived, known != nil { return trail.suppress(.duplicate, .duplicate) }
    if facts.isLeftToCatchUp { return trail.suppress(.duplicate, ["catchUp": true], Explanation(.notifiedBefore)) }
    return known?.marks.contains(.notified) != true
      ? trail.pass(.duplicate)
      : trail.suppress(.duplicate, .notifiedBefore)
  }

  /// A message that is decided again is withdrawn if it may have been deleted. A new message is withdrawn only if it
  /// was deleted before it arrived.
  private mutating func withdrawn() -> Verdict? {
    if facts.isErased { return trail.suppress(.withdrawn, .withdrawn) }
    guard replay != nil else {
      return held == nil && conversation.isDeleted(message.key) ? trail.suppress(.withdrawn, .withdrawn) : nil
    }
    if conversation.isFormerText(message.candidate.body, of: message.key) {
      return trail.suppress(.withdrawn, ["edited": true], Explanation(.withdrawn))
    }
    return conversation.mayBeWithdrawn(message.key, sentAt: message.sentAt)
      ? trail.suppress(.withdrawn, .withdrawn) : trail.pass(.withdrawn)
  }

  /// A message that was written long before it arrived is not news: it comes from an import, or from a phone that was
  /// offline for days.
  private mutating func history() -> Verdict? {
    guard case .arrival = facts.occasion, facts.arrivedAt - message.sentAt > rules.policy.historyAfter else {
      return nil
    }
    return trail.suppress(
      .history, ["sentAt": .number(message.sentAt), "arrivedAt": .number(facts.arrivedAt)],
      Explanation(.history, time: message.sentAt))
  }

  private mutating func disabled() -> Verdict? {
    preferences.enabled
      ? trail.pass(.notificationsDisabled)
      : trail.suppress(.notificationsDisabled, .disabled)
  }

  private mutating func muted() -> Verdict? {
    guard let mute = preferences.mute(of: message.candidate.conversationId, at: message.sentAt) else {
      return trail.pass(.conversationMuted)
    }
    var inputs = CheckInputs()
    inputs["until"] = mute.until.map { .number($0) }
    if mute.exceptMentions == true {
      inputs["exceptMentions"] = true
      inputs["mentioned"] = .flag(context.mentioned)
      if context.answered { inputs["answered"] = true }
      if context.isMeant { return trail.pass(.conversationMuted, inputs) }
    }
    return trail.suppress(
      .conversationMuted, inputs,
      mute.until.map { Explanation(.mutedUntil, time: $0) } ?? Explanation(.muted))
  }

  private mutating func mutedSender() -> Verdict? {
    guard preferences.mutedSenders.contains(message.sender) else { return nil }
    return trail.suppress(
      .mutedSender, [:], Explanation([.mutedSender], sender: message.candidate.sender.displayName))
  }

  private mutating func alreadyRead() -> Verdict? {
    if let waitsForRead = facts.waitsForRead {
      return trail.suppress(.alreadyRead, ["waitsUntil": .number(waitsForRead)], Explanation(.alreadyRead))
    }
    guard let readUpTo = conversation.readUpTo else { return trail.pass(.alreadyRead) }
    let inputs: CheckInputs = ["readUpTo": .number(readUpTo.at)]
    return !facts.isRead
      ? trail.pass(.alreadyRead, inputs)
      : trail.suppress(.alreadyRead, inputs, Explanation(.alreadyRead))
  }

  private mutating func expired() -> Verdict? {
    if message.candidate.possibleRepeat == true {
      return trail.suppress(
        .expired, ["possibleRepeat": true], Explanation(.possibleRepeat))
    }
    return now <= facts.expiresAt
      ? trail.pass(.expired)
      : trail.suppress(
        .expired, ["expiresAt": .number(facts.expiresAt)], Explanation(.expired, time: facts.expiresAt))
  }

  private mutating func activeConversation() -> Verdict? {
    if let held { return trail.pass(.activeConversation, ["heldSince": .number(held.at)]) }
    guard let open = facts.claim else { return trail.pass(.activeConversation) }
    if replay == nil, conversation.isFull {
      let count = conversation.holds.count
      return trail.pass(.activeConversation, ["held": .number(Int64(count))])
    }
    return trail.suppress(
      .activeConversation,
      ["deviceId": .text(open.deviceId), "reportedAt": .number(open.stamp.occurredAt)],
      Explanation(.activeConversation))
  }

  // MARK: 8

  /// By the wall clock, because quiet hours depend on the current time, not on when the message was written. Only
  /// urgent messages pass (D2).
  private mutating func quietHours(_ zones: inout TimeZones) -> Verdict? {
    guard let hours = preferences.quietHours, let span = QuietSpan(hours) else { return trail.pass(.quietHours) }
    let minute = QuietSpan.minuteOfDay(now, in: zones.zone(named: hours.timeZone) ?? TimeZones.utc)
    let zone = hours.timeZone ?? "UTC"
    let localTime = QuietSpan.text(minute)
    let inputs: CheckInputs = [
      "start": .text(hours.start), "end": .text(hours.end), "timeZone": .text(zone), "localTime": .text(localTime),
    ]
    return !span.contains(minute) || message.isUrgent
      ? trail.pass(.quietHours, inputs)
      : trail.suppress(
        .quietHours, inputs,
        Explanation(.quietHours, start: hours.start, end: hours.end, zone: zone, localTime: localTime))
  }

  // MARK: 9

  private mutating func device() throws -> Verdict? {
    let reachable = try facts.person.rows.reachable(facts.person.user.devices, at: now, rules)
    hasExpiredDevices = reachable.hasExpired
    // Devices that have expired are dropped.
    if !reachable.hasExpired { deviceLocale = .some(reachable.locale) }
    targets = reachable.targets
    if let devices = resend?.push.devices {
      targets.removeAll { target in !devices.contains { sameId($0, target.deviceId) } }
    }
    let pushedTo = held?.pushedTo ?? []
    if !pushedTo.isEmpty { targets.removeAll { target in pushedTo.contains { sameId($0, target.deviceId) } } }
    return targets.isEmpty && pushedTo.isEmpty
      ? trail.suppress(.noDevice, .noDevice) : trail.pass(.noDevice, ["devices": .number(Int64(targets.count))])
  }
}

extension Explanation {
  convenience init(_ reason: ReasonCode, time: Milliseconds) {
    var values = ReasonValues()
    values.time = RFC3339.text(time)
    self.init(reason, values)
  }

  convenience init(_ reason: ReasonCode, limit: Int) {
    var values = ReasonValues()
    values.limit = String(limit)
    self.init(reason, values)
  }

  convenience init(_ reason: ReasonCode, start: String, end: String, zone: String, localTime: String) {
    var values = ReasonValues()
    (values.start, values.end, values.zone, values.time) = (start, end, zone, localTime)
    self.init(reason, values)
  }
}
