import NudgeSchema
import StreamRuntime
import Wording

extension AnalyzerStage {
  /// `message.withdrawn`, for each affected person.
  mutating func withdraw(_ withdrawn: MessageWithdrawn, because cause: Cause, in step: Step<AnalyzerStage>) throws {
    if withdrawn.cause == .conversationDeleted {
      try forget(conversation: withdrawn.conversationId, because: cause, in: step)
    }
    for (number, userId) in withdrawn.userIds.enumerated() {
      try change(userId, number: number, because: cause, in: step) { try $0.withdraw(withdrawn, zones: &$1) }
    }
  }
}

extension PersonContext {
  /// `message.withdrawn` (D13): replaces or removes the notification, cancels waiting pushes, and takes a deleted
  /// message off the badge.
  mutating func withdraw(_ withdrawn: MessageWithdrawn, zones: inout TimeZones) throws {
    let before = try conversation(withdrawn.conversationId)
    var conversation = before
    guard conversation.advance(to: cause.origin) else { return }
    if withdrawn.cause == .conversationDeleted {
      return try erase(withdrawn.conversationId, &conversation, before)
    }
    guard let messageId = withdrawn.messageId else { return try leave(withdrawn.conversationId, &conversation, before) }
    if withdrawn.cause == .edited {
      let isLast = conversation.edit(
        MessageKey(messageId), by: cause.stamp, text: withdrawn.body.map { MessageEdit.short($0) })
      if isLast { conversation.edit(MessageKey(messageId)) }
      try keep(conversation, was: before, for: withdrawn.conversationId)
      if isLast { try edit(messageId, withdrawn, in: conversation) }
      return
    }
    let keys = before.keys(of: messageId)
    var isOlder = false
    for key in keys {
      if before.message(key) == nil {
        if let older = conversation.removeOlder(key) {
          isOlder = isOlder || older.isShown
        } else if let older = try removeFromPages(key, &conversation, withdrawn.conversationId) {
          isOlder = isOlder || older.isShown
        }
        // The message may arrive later, or a replay may ask for it. Its sender's clock may be ahead of the clock of the
        // person who deleted it.
        conversation.delete(key, writtenBy: cause.happenedAt + rules.clockTolerance)
      }
      conversation.mark(key) {
        $0.remove(.unread)
        $0.remove(.shown)
        $0.insert(.withdrawn)
      }
      conversation.holds.removeAll { $0.key == key }
    }
    try keep(conversation, was: before, for: withdrawn.conversationId)
    try showWithdrawn(messageId, in: withdrawn.conversationId)
    for key in keys {
      try dropMissed(key, in: withdrawn.conversationId)
      try endEscalations(of: key, in: withdrawn.conversationId)
    }
    // A message that is too old to be known individually may still wait for its next attempt.
    if keys.contains(where: { before.message($0)?.marks.contains(.notified) ?? true }) {
      try emit(
        .cancelled(PushCancelled(userId: userId, messageId: messageId, conversationId: withdrawn.conversationId)))
    }
    // A message that the person has read left their screens at that time, but a catch-up may still show it in a line.
    if isOlder || keys.contains(where: { before.isShown($0) || before.isTold($0) }) {
      try pushDeleted(messageId, in: withdrawn.conversationId)
    } else if conversation.unread < before.unread {
      try pushBadge()
    }
  }

  /// The person is no longer in the conversation, so nothing of it counts or waits.
  private mutating func leave(
    _ conversationId: String, _ conversation: inout PersonConversationRow, _ before: PersonConversationRow
  ) throws {
    conversation.withdrawAll(at: cause.happenedAt)
    try keep(conversation, was: before, for: conversationId)
    try endEscalations(of: nil, in: conversationId)
    try emit(.cancelled(PushCancelled(userId: userId, conversationId: conversationId)))
    // As after a read, the app removes what it still shows of the conversation.
    if conversation.unread < before.unread {
      try pushRead(conversationId, upTo: nil, at: cause.happenedAt, except: [])
    }
    var preferences = try preferences()
    if let levels = preferences.conversationLevels?.value, !levels.isEmpty {
      preferences.forgetLevel(of: conversationId)
      try step.set(.preferences(preferences), for: AnalyzerRow.preferencesKey(userId))
    }
  }
}

extension PersonContext {
  /// Waiting pushes are not sent after their message was read (D7). This covers `last` and all earlier messages; for
  /// nil, everything up to the time of the read. Cancels only if a push may still wait.
  mutating func cancelRead(
    _ after: PersonConversationRow, was before: PersonConversationRow, for conversationId: String,
    last messageId: String?
  ) throws {
    guard let readUpTo = after.readUpTo, before.readUpTo != readUpTo || after.unread < before.unread,
      try mayWait(in: before, upTo: readUpTo)
    else { return }
    try emit(
      .cancelled(
        PushCancelled(
          userId: userId, messageId: messageId, conversationId: conversationId, sentUpTo: readUpTo.at,
          badge: try badge())))
  }

  /// Applies changed preferences to waiting pushes. Unwanted pushes are cancelled. The others lose texts that may no
  /// longer be shown, or wait for the current quiet hours.
  mutating func cancelUnwanted(_ after: PreferencesRow, was before: PreferencesRow) throws {
    if after.enabled?.value == false, before.enabled?.value != false {
      for deviceId in user.devices {
        try emit(.cancelled(PushCancelled(userId: userId, deviceId: deviceId, kind: .message)))
        // Anybody may have a catch-up of late pushes.
        try emit(.cancelled(PushCancelled(userId: userId, deviceId: deviceId, kind: .digest)))
      }
      return
    }
    if after.showPreviews?.value == false, before.showPreviews?.value != false {
      try emit(.cancelled(PushCancelled(userId: userId, showPreviews: false)))
    }
    if let hours = after.quietHours, hours.value != before.quietHours?.value ?? nil {
      // Equal times mean no quiet hours.
      let none = QuietHours(start: "00:00", end: "00:00", timeZone: nil)
      try emit(.cancelled(PushCancelled(userId: userId, quietHours: hours.value ?? none)))
    }
    let known = before.muted?.value ?? []
    for mute in after.muted?.value ?? [] where !known.contains(mute) && mute.until.map({ step.now < $0 }) ?? true {
      let muted = try conversation(mute.conversationId)
      guard try mayWait(in: muted, upTo: nil) else { continue }
      try emit(
        .cancelled(
          PushCancelled(
            userId: userId, conversationId: mute.conversationId, kind: .message,
            exceptMentions: mute.exceptMentions == true ? true : nil)))
    }
  }

  /// Cancels waiting pushes that the person's changes of muted senders and levels no longer allow. The ids come from
  /// the change, because the row has only their keys.
  mutating func cancelUnwanted(
    by patch: PreferencesPatch, _ after: PreferencesRow, was before: PreferencesRow
  ) throws {
    guard after.enabled?.value != false else { return }
    let (muted, formerlyMuted) = (after.mutedSenders?.value ?? [], before.mutedSenders?.value ?? [])
    for sender in (patch.mutedSenders ?? []) + (patch.changes.mutedSenders?.add ?? []) {
      let key = MessageKey(sender)
      guard muted.contains(key), !formerlyMuted.contains(key) else { continue }
      try emit(.cancelled(PushCancelled(userId: userId, kind: .message, senderId: sender)))
    }
    let levels = after.conversationLevels?.value ?? []
    let formerLevels = before.conversationLevels?.value ?? []
    let change = patch.changes.conversationLevels
    for conversationId in ((patch.conversationLevels ?? []) + (change?.add ?? [])).map(\.conversationId) {
      let key = MessageKey(conversationId)
      guard let entry = levels.first(where: { $0.conversation == key }), entry.level.showsLess,
        !formerLevels.contains(entry)
      else { continue }
      try cancelUnwanted(in: conversationId, entry.level)
    }
    let defaults = EffectivePreferences(after, rules: rules)
    for conversationId in change?.remove ?? [] {
      // From here on the default applies.
      let key = MessageKey(conversationId)
      guard let former = formerLevels.first(where: { $0.conversation == key }),
        !levels.contains(where: { $0.conversation == key })
      else { continue }
      for (kind, level) in [
        (ConversationKind.direct, defaults.directLevel.level), (.group, defaults.groupLevel.level),
      ] where level.showsLess && level != former.level {
        try cancelUnwanted(in: conversationId, level, ofKind: kind)
      }
    }
    for (kind, level, former) in [
      (ConversationKind.direct, after.directLevel?.value, before.directLevel?.value),
      (.group, after.groupLevel?.value, before.groupLevel?.value),
    ] where level != former && level?.showsLess ?? false {
      try emit(
        .cancelled(
          PushCancelled(
            userId: userId, kind: .message, conversationKind: kind,
            exceptConversations: levels.isEmpty
              ? nil : levels.map { Digest.key(UInt64(bitPattern: $0.conversation.value)) },
            exceptAddressed: level == .mentions ? true : nil)))
    }
  }

  /// Cancels the pushes of a conversation that its level no longer shows.
  private mutating func cancelUnwanted(
    in conversationId: String, _ level: NotificationLevel, ofKind kind: ConversationKind? = nil
  ) throws {
    try emit(
      .cancelled(
        PushCancelled(
          userId: userId, conversationId: conversationId, kind: .message, conversationKind: kind,
          exceptAddressed: level == .mentions ? true : nil)))
  }

  /// Whether a push of an unread message may still wait: it was made, possibly more than once, and neither its
  /// freshness nor the age that a replay allowed has passed.
  private func mayWait(in conversation: PersonConversationRow, upTo place: MessagePlace?) throws -> Bool {
    let longest = rules.policy.freshness + rules.policy.escalationSpan
    if conversation.mayWait(upTo: place, since: step.now - longest) { return true }
    return try conversation.mayWait(upTo: place, since: step.now - Resend.longestAge)
      && Resend.wasMade(for: userId, now: step.now, in: step)
  }

  /// The person's badge, without a raise that still waits.
  private func badge() throws -> Int { user.loweredBadge(try effectivePreferences().badgeMode) }
}

extension NotificationLevel {
  /// Whether the level suppresses messages that are not addressed to the person.
  fileprivate var showsLess: Bool { self == .none || self == .mentions }
}

extension PersonConversationRow {
  /// Whether an unread message from after `time` has a push.
  fileprivate func mayWait(upTo place: MessagePlace?, since time: Milliseconds) -> Bool {
    recent.contains { message in
      message.marks.isSuperset(of: [.unread, .notified]) && message.place.at >= time
        && (place.map { message.place <= $0 } ?? true)
    }
  }
}

extension PersonContext {
  /// The message was edited (D13): a push replaces what is shown of it, without a sound. It stays on the badge.
  ///
  /// Nothing is replaced that a new message would not show by day: nothing of a muted sender, in a muted conversation or
  /// at level `none`, in a catch-up neither, and nothing on a device whose reports say that the notification is gone.
  /// A silent replacement disturbs nobody, so it is also sent in quiet hours and no old text stays on a lock screen.
  /// Without a sender the title is the group's name, because ingest no longer knows who wrote the message.
  mutating func edit(
    _ messageId: String, _ edited: MessageWithdrawn, in conversation: PersonConversationRow
  ) throws {
    if let body = edited.body { try showEdited(messageId, in: edited.conversationId, body: body) }
    if let body = edited.body, !conversation.holds.isEmpty || rules.policy.escalates {
      try editHeld(MessageKey(messageId), in: edited.conversationId, edited, body: body)
    }
    if let body = edited.body,
      try editMissed(MessageKey(messageId), in: edited.conversationId, body: body, from: edited.sender)
    {
      return
    }
    let preferences = try effectivePreferences()
    guard !preferences.isMuted(edited.conversationId, at: cause.happenedAt),
      !preferences.showsNothing(of: edited.conversationId, from: edited.sender?.userId)
    else { return }
    let isShown = try isShown(MessageKey(messageId), conversation, edited.conversationId)
    if let body = edited.body, !isShown,
      conversation.late?.told.contains(MessageKey(messageId)) ?? false,
      try editShownCatchUp(MessageKey(messageId), text: body)
    {
      return
    }
    guard isShown, let body = edited.body, let title = edited.title,
      step.now <= cause.happenedAt + rules.policy.freshness, preferences.enabled, preferences.showPreviews
    else { return }
    let summary = conversation.summary(of: MessageKey(messageId))
    let ahead = try devicesAhead(MessageKey(messageId), conversation, edited.conversationId)
    let reachable = try targets()
    let targets = try reachable.filter { target in
      try (summary != .ofLater || !target.showsSummaries)
        && ahead.map { $0.contains { sameId($0, target.deviceId) } } ?? true
        && !isGone(messageId, conversation, edited.conversationId, on: target)
    }
    guard !targets.isEmpty else { return }
    let badge = user.loweredBadge(preferences.badgeMode)
    user.toldBadge = targets.count == reachable.count || user.toldBadge == badge ? badge : nil
    let words = try words(preferences)
    let group = edited.sender.flatMap { title.group(behind: $0) }
    let isGroup = title != edited.sender?.displayName
    try emit(
      .push(
        Push(
          pushId: rules.pushId(userId: userId, kind: .message, cause: .record(cause.position)), kind: .message,
          userId: userId, targets: targets,
          title: edited.sender.map { words.title(translating: title, sender: $0) } ?? title,
          body: body.isVisible
            ? body.cut(toCharacters: rules.policy.bodyCharacters)
            : words.newMessage(from: edited.sender?.displayName ?? title),
          avatarUrl: PictureAddress.usable(edited.sender?.avatarUrl), priority: .medium, presentation: .silent,
          replaces: true,
          sentAt: conversation.message(MessageKey(messageId))?.place.at ?? conversation.forgottenUpTo?.at,
          reason: preferences.reason(in: edited.conversationId, isGroup: isGroup), badge: badge,
          conversationId: edited.conversationId, messageId: messageId, senderId: edited.sender?.userId,
          conversation: edited.sender.map {
            PushConversation(
              senderName: $0.displayName, kind: isGroup ? .group : .direct, name: group)
          }, unread: summary == .ofIt ? max(1, conversation.unread) : nil, language: words.tag,
          ttlSeconds: rules.ttlSeconds, expiresAt: cause.happenedAt + rules.policy.freshness,
          decidedAt: step.now)))
  }
}

extension PersonContext {
  /// The devices that have a message which still waits on the others (D17); nil if it does not wait. The others get it with its last text:
  /// an edit before it would show it there too soon, and take its sound.
  private func devicesAhead(
    _ key: MessageKey, _ conversation: PersonConversationRow, _ conversationId: String
  ) throws -> [String]? {
    guard conversation.holds.contains(where: { $0.key == key && $0.kind != .badge }) else { return nil }
    return try heldMessage(key, in: conversationId)?.pushedTo
  }
}

extension EffectivePreferences {
  /// The person's mute of a conversation at a time.
  func mute(of conversationId: String, at time: Milliseconds) -> MutedConversation? {
    muted.first { sameId($0.conversationId, conversationId) && ($0.until.map { time < $0 } ?? true) }
  }

  /// Whether a conversation is muted at a time for a message that does or does not mention or answer the person.
  func isMuted(_ conversationId: String, at time: Milliseconds, for context: RecipientContext? = nil) -> Bool {
    mute(of: conversationId, at: time).map { !($0.exceptMentions == true && context?.isMeant ?? false) } ?? false
  }

  /// Whether the person muted a conversation without an end.
  func isMutedForGood(_ conversationId: String) -> Bool {
    muted.contains { sameId($0.conversationId, conversationId) && $0.until == nil }
  }

  /// Whether the person has chosen to see nothing of the conversation or of the sender. An edit does not say which kind
  /// of conversation it belongs to, nor does a catch-up if there is no name of a group.
  func showsNothing(of conversationId: String, from senderId: String? = nil, isGroup: Bool? = nil) -> Bool {
    if let senderId, mutedSenders.contains(MessageKey(senderId)) { return true }
    let key = MessageKey(conversationId)
    if let entry = conversationLevels.first(where: { $0.conversation == key }) { return entry.level == .none }
    return groupLevel.level == .none && (isGroup == true || directLevel.level == .none)
  }
}

extension PersonConversationRow {
  /// What the notification for a conversation's silent messages shows of a message.
  fileprivate enum Summary { case none, ofIt, ofLater }

  /// That notification has the text of the last silent message, so an edit of an older one does not change it.
  fileprivate func summary(of key: MessageKey) -> Summary {
    guard message(key)?.isSilent ?? false else { return .none }
    return recent.last { $0.isSilent && !$0.marks.contains(.withdrawn) }?.key == key ? .ofIt : .ofLater
  }
}

extension PushTarget {
  /// Whether the system shows one notification for all silent messages of a conversation, instead of the app showing
  /// each.
  fileprivate var showsSummaries: Bool { platform == .android && renders != true }
}
