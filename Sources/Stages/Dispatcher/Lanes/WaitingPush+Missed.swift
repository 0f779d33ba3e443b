import NudgeSchema

extension WaitingPush {
  /// What the person's catch-up must know of a push that ended so; nil: it is not in one, because a request may have brought it, because it
  /// was not wanted any more, or because it shows nothing of a message.
  func missed(_ result: OutcomeResult) -> PushMissed? {
    guard let cause = missedBecause(result), push.kind == .message, push.presentation != .badge, replayId == nil,
      push.escalation == nil, let conversationId = push.conversationId, let messageId = push.messageId
    else { return nil }
    // An edit has a reason where it took the place of a message that was not sent. Another one replaces what is shown.
    let isEdit = push.replaces == true
    guard !isEdit || push.reason != nil else { return nil }
    return PushMissed(
      userId: push.userId, pushId: push.pushId, device: Int(origin.index ?? 0), devices: devices ?? 1,
      conversationId: conversationId, messageId: messageId, cause: cause, presentation: push.presentation,
      priority: push.priority, sentAt: sentAt, expiresAt: push.expiresAt,
      senderName: push.conversation?.senderName ?? push.title ?? "",
      groupName: push.conversation?.kind == .group ? push.conversation?.name : nil, text: push.body ?? "",
      edited: isEdit ? true : nil, senderId: push.senderId, avatarUrl: push.avatarUrl)
  }

  private func missedBecause(_ result: OutcomeResult) -> PushMissed.Cause? {
    switch result {
    case .expired: .expired
    case .gaveUp where errorCode == Self.laneFull: .laneFull
    case .cancelled where errorCode == Self.inQuietHours && withdrawn == nil: .quietHours
    case .sent, .invalidToken, .quarantined, .rejected, .gaveUp, .cancelled: nil
    }
  }

  /// The error code of the oldest push of a full lane.
  static let laneFull = "lane_full"
  /// The error code of a push that waited until quiet hours began.
  static let inQuietHours = "quiet_hours"
}
