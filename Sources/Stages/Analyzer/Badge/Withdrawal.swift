import NudgeSchema
import StreamRuntime

extension PersonStep {
  /// `message.withdrawn` (D13): what is shown of a message is replaced or removed, what still waits is cancelled, and what
  /// was taken back leaves the badge.
  mutating func withdraw(_ withdrawn: MessageWithdrawn) throws {
    let before = try conversation(withdrawn.conversationId)
    var conversation = before
    guard conversation.advance(to: cause.origin) else { return }
    guard let messageId = withdrawn.messageId else { return try leave(withdrawn.conversationId, &conversation, before) }
    if withdrawn.cause == .edited {
      try keep(conversation, was: before, for: withdrawn.conversationId)
      return try edit(messageId, withdrawn, in: conversation)
    }
    let key = MessageKey(messageId)
    let known = before.message(key)
    conversation.mark(key) {
      $0.remove(.unread)
      $0.remove(.shown)
      $0.insert(.withdrawn)
    }
    try keep(conversation, was: before, for: withdrawn.conversationId)
    // A message too old to be known one by one may still wait for its next attempt.
    if known?.marks.contains(.notified) ?? true {
      try emit(
        .cancelled(PushCancelled(userId: userId, messageId: messageId, conversationId: withdrawn.conversationId)))
    }
    // What the person has read was taken off their screens then.
    if let marks = known?.marks, marks.isSuperset(of: [.shown, .unread]) {
      try pushDeleted(messageId, in: withdrawn.conversationId)
    } else if conversation.unread < before.unread {
      try pushBadge()
    }
  }

  /// The message has another text: a push replaces what is shown, without a sound. It stays on the badge.
  private mutating func edit(_ messageId: String, _ edited: MessageWithdrawn, in conversation: ConversationRow) throws {
    guard let known = conversation.message(MessageKey(messageId)), known.marks.isSuperset(of: [.shown, .unread]),
      !known.marks.contains(.withdrawn), let body = edited.body, let title = edited.title, let sender = edited.sender,
      step.now <= cause.happenedAt + rules.freshness
    else { return }
    let preferences = EffectivePreferences(try preferences(), rules: rules)
    guard preferences.enabled, preferences.showPreviews else { return }
    let targets = try targets()
    guard !targets.isEmpty else { return }
    let badge = user.badge(preferences.badgeMode)
    user.toldBadge = badge
    try emit(
      .push(
        Push(
          pushId: rules.pushId(userId: userId, kind: .message, cause: .record(cause.position)), kind: .message,
          userId: userId, targets: targets, title: title, body: body.cut(to: rules.pushBodyLimit),
          avatarUrl: sender.avatarUrl, priority: .medium, presentation: .silent, replaces: true,
          sentAt: known.place.at, badge: badge, conversationId: edited.conversationId, messageId: messageId,
          senderId: sender.userId, ttlSeconds: rules.ttlSeconds, expiresAt: cause.happenedAt + rules.freshness,
          decidedAt: step.now)))
  }

  /// The person is no longer in the conversation: nothing of it counts or waits.
  private mutating func leave(
    _ conversationId: String, _ conversation: inout ConversationRow, _ before: ConversationRow
  ) throws {
    conversation.withdrawAll(at: cause.happenedAt)
    try keep(conversation, was: before, for: conversationId)
    try emit(.cancelled(PushCancelled(userId: userId, conversationId: conversationId)))
    // As after reading: the app removes what it still shows of the conversation.
    if conversation.unread < before.unread { try pushRead(conversationId, except: []) }
  }
}
