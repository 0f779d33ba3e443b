import NudgeSchema
import StreamRuntime

extension PersonContext {
  /// The conversation was deleted (D16): nothing of it counts, waits or is kept.
  mutating func erase(
    _ conversationId: String, _ conversation: inout PersonConversationRow, _ before: PersonConversationRow
  ) throws {
    conversation.withdrawAll(at: cause.happenedAt)
    try keep(conversation, was: before, for: conversationId)
    try emit(.cancelled(PushCancelled(userId: userId, conversationId: conversationId)))
    if conversation.unread < before.unread { try pushRead(conversationId, upTo: nil, at: cause.happenedAt, except: []) }
    user.count(unreadBefore: conversation.unread, after: 0)
    if let due = conversation.holdTimerAt {
      step.cancelTimer(PersonTimer.hold(conversationId: conversationId).name(of: userId), due: due)
    }
    user.activities.removeAll { $0.conversationId.map { sameId($0, conversationId) } ?? false }
    if let known = user.conversations, known > 0 { user.conversations = known - 1 }
    try forgetMissed(in: conversationId)
    try endEscalations(of: nil, in: conversationId)
    try removePages(nil, was: conversation, of: conversationId)
    try step.remove(AnalyzerRow.conversationKey(userId, conversationId))
  }
}
