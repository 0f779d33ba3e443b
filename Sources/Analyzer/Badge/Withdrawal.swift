import NudgeSchema

extension PersonStep {
  /// `message.withdrawn` (D13): the message, or all of the conversation, is taken out of the badge; what still waits is
  /// cancelled.
  ///
  /// An edited message keeps its place on the badge, and a push that still waits goes out with the text it was decided
  /// with: the app shows the new text as soon as it is opened.
  mutating func withdraw(_ withdrawn: MessageWithdrawn) throws {
    let before = try conversation(withdrawn.conversationId)
    var conversation = before
    guard conversation.advance(to: cause.origin) else { return }
    if withdrawn.cause == .edited {
      return try keep(conversation, was: before, for: withdrawn.conversationId)
    }
    if let messageId = withdrawn.messageId {
      let key = MessageKey(messageId)
      conversation.mark(key) {
        $0.remove(.unread)
        $0.insert(.withdrawn)
      }
      try keep(conversation, was: before, for: withdrawn.conversationId)
      // A message too old to be known one by one may still wait for its next attempt.
      if before.message(key)?.marks.contains(.notified) ?? true {
        try emit(
          .cancelled(
            PushCancelled(userId: userId, messageId: messageId, conversationId: withdrawn.conversationId)))
      }
      if conversation.unread < before.unread { try pushBadge() }
    } else {
      conversation.withdrawAll(at: cause.occurredAt)
      try keep(conversation, was: before, for: withdrawn.conversationId)
      try emit(.cancelled(PushCancelled(userId: userId, conversationId: withdrawn.conversationId)))
      // As after reading: the app removes what it still shows of the conversation.
      if conversation.unread < before.unread { try pushRead(withdrawn.conversationId, except: []) }
    }
  }
}
