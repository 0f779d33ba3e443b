import NudgeSchema
import StreamRuntime
import Wording

extension PersonContext {
  /// The message has another text (D13): a push replaces what is shown of it, without a sound. It stays on the badge.
  ///
  /// Nothing is replaced that a new message would not show by day either: not in a muted conversation, nor at level `none`. Without a sound
  /// it disturbs nobody, so quiet hours leave no old text on a lock screen. Without a sender the title is the group's name: ingest no longer knows who wrote the message.
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
    let isShown = try isShown(MessageKey(messageId), conversation, edited.conversationId)
    if let body = edited.body, !isShown,
      conversation.late?.told.contains(MessageKey(messageId)) ?? false,
      try editTold(MessageKey(messageId), text: body)
    {
      return
    }
    guard isShown, let body = edited.body, let title = edited.title,
      step.now <= cause.happenedAt + rules.policy.freshness
    else { return }
    let preferences = try effectivePreferences()
    guard preferences.enabled, preferences.showPreviews,
      !preferences.isMuted(edited.conversationId, at: cause.happenedAt),
      !preferences.showsNothing(of: edited.conversationId, from: edited.sender?.userId)
    else { return }
    let summary = conversation.summary(of: MessageKey(messageId))
    let targets = try targets().filter { summary != .ofLater || !$0.showsSummaries }
    guard !targets.isEmpty else { return }
    let badge = user.badge(preferences.badgeMode)
    user.toldBadge = badge
    let words = try words(preferences)
    let group = edited.sender.flatMap { title.group(behind: $0) }
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
          sentAt: conversation.message(MessageKey(messageId))?.place.at ?? conversation.forgottenUpTo?.at, badge: badge,
          conversationId: edited.conversationId, messageId: messageId, senderId: edited.sender?.userId,
          conversation: edited.sender.map {
            PushConversation(
              senderName: $0.displayName, kind: title == $0.displayName ? .direct : .group, name: group)
          }, unread: summary == .ofIt ? max(1, conversation.unread) : nil, language: words.tag,
          ttlSeconds: rules.ttlSeconds, expiresAt: cause.happenedAt + rules.policy.freshness,
          decidedAt: step.now)))
  }
}

extension EffectivePreferences {
  /// The person's mute of a conversation, as it stands at a time.
  func mute(of conversationId: String, at time: Milliseconds) -> MutedConversation? {
    muted.first { sameId($0.conversationId, conversationId) && ($0.until.map { time < $0 } ?? true) }
  }

  /// Whether the person muted a conversation, as it stands at a time, for a message that mentions them or not.
  func isMuted(_ conversationId: String, at time: Milliseconds, mentioned: Bool = false) -> Bool {
    mute(of: conversationId, at: time).map { !(mentioned && $0.exceptMentions == true) } ?? false
  }

  /// Whether the person muted a conversation without an end.
  func isMutedForGood(_ conversationId: String) -> Bool {
    muted.contains { sameId($0.conversationId, conversationId) && $0.until == nil }
  }

  /// Whether the person has chosen to see nothing of the conversation or, in groups, of the sender. Which kind of conversation it
  /// is an edit does not say.
  fileprivate func showsNothing(of conversationId: String, from senderId: String?) -> Bool {
    if let senderId, mutedSenders.contains(MessageKey(senderId)) { return true }
    let key = MessageKey(conversationId)
    if let entry = conversationLevels.first(where: { $0.conversation == key }) { return entry.level == .none }
    return directLevel.level == .none && groupLevel.level == .none
  }
}

extension PersonConversationRow {
  /// How the summary of a conversation's silent messages relates to a message.
  fileprivate enum Summary { case none, ofIt, ofLater }

  /// The notification has the text of the last silent message: an older one's edit changes nothing on it.
  fileprivate func summary(of key: MessageKey) -> Summary {
    guard message(key)?.marks.contains(.silent) ?? false else { return .none }
    return recent.last { $0.marks.contains(.silent) && !$0.marks.contains(.withdrawn) }?.key == key ? .ofIt : .ofLater
  }
}

extension PushTarget {
  /// The system shows one notification for all silent messages of a conversation, not the app one for each.
  fileprivate var showsSummaries: Bool { platform == .android && renders != true }
}
