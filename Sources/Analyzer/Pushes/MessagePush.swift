import NudgeSchema
import StreamRuntime

extension Presentation {
  /// How a message of that priority appears (D3).
  init(_ priority: Priority) {
    self =
      switch priority {
      case .high: .alert
      case .medium: .silent
      case .low: .badge
      }
  }
}

extension PersonStep {
  /// The push of a message, made by force for a replay where one is named. One of low priority has the kind `badge`: nothing of it is shown.
  func push(
    _ message: CandidateMessage, _ verdict: Verdict, priority: Priority, to targets: [PushTarget], showText: Bool,
    badge: Int, forcedBy replayId: String?
  ) -> Push {
    let candidate = message.candidate
    let shown = priority != .low
    let kind: Push.Kind = shown ? .message : .badge
    return Push(
      pushId: rules.pushId(
        userId: userId, kind: kind,
        cause: .message(
          conversationId: candidate.conversationId, messageId: candidate.messageId, forcedBy: replayId)),
      kind: kind, userId: userId, targets: targets,
      title: shown ? (showText ? candidate.title : message.titleWithoutText) : nil,
      body: shown ? (showText ? message.body : message.bodyWithoutText) : nil,
      imageUrl: shown ? candidate.sender.avatarUrl : nil, priority: priority, presentation: Presentation(priority),
      reason: verdict.reason, badge: badge, conversationId: candidate.conversationId, messageId: candidate.messageId,
      senderId: candidate.sender.userId, ttlSeconds: rules.ttlSeconds, expiresAt: message.sentAt + rules.freshness,
      decidedAt: step.now)
  }

  /// The banner of a message (D9).
  func banner(_ message: CandidateMessage, showText: Bool) -> Banner {
    let candidate = message.candidate
    return Banner(
      userId: userId, conversationId: candidate.conversationId, messageId: candidate.messageId,
      senderId: candidate.sender.userId, senderName: candidate.sender.displayName,
      avatarUrl: candidate.sender.avatarUrl,
      preview: showText ? message.preview : message.bodyWithoutText.cut(to: Banner.previewLength),
      groupName: candidate.conversation.kind == .group ? candidate.conversation.name : nil)
  }
}
