import NudgeSchema
import StreamRuntime

extension AnalyzerStage {
  /// `message.withdrawn`, for each person whom it concerns.
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
  /// `message.withdrawn` (D13): replaces or removes the notification, cancels pushes that wait, and takes a deleted message off the
  /// badge.
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
        // It may come later, or a replay may ask for it. Its sender's clock may be ahead of that of who deleted it.
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
    // A message too old to be known one by one may still wait for its next attempt.
    if keys.contains(where: { before.message($0)?.marks.contains(.notified) ?? true }) {
      try emit(
        .cancelled(PushCancelled(userId: userId, messageId: messageId, conversationId: withdrawn.conversationId)))
    }
    // A message that the person has read left their screens at that time. A catch-up may show it as one of its lines.
    if isOlder || keys.contains(where: { before.isShown($0) || before.isTold($0) }) {
      try pushDeleted(messageId, in: withdrawn.conversationId)
    } else if conversation.unread < before.unread {
      try pushBadge()
    }
  }

  /// The person is no longer in the conversation: nothing of it counts or waits.
  private mutating func leave(
    _ conversationId: String, _ conversation: inout PersonConversationRow, _ before: PersonConversationRow
  ) throws {
    conversation.withdrawAll(at: cause.happenedAt)
    try keep(conversation, was: before, for: conversationId)
    try endEscalations(of: nil, in: conversationId)
    try emit(.cancelled(PushCancelled(userId: userId, conversationId: conversationId)))
    // As after reading: the app removes what it still shows of the conversation.
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
