import NudgeSchema
import StreamRuntime
import Wording

extension PersonContext {
  /// The push of a message. One that only changes the badge has the kind `badge`.
  func push(
    _ message: CandidateMessage, _ reason: DecisionReason, _ priority: Priority, _ presentation: Presentation,
    to targets: [PushTarget], at place: MessagePlace,
    _ preferences: EffectivePreferences, _ context: RecipientContext, words: Wording, badge: Int,
    anew: PushCause.Anew?, expiresAt: Milliseconds
  ) -> Push {
    let candidate = message.candidate
    let shown = presentation != .badge
    let showText = preferences.showPreviews
    let kind: Push.Kind = shown ? .message : .badge
    return Push(
      pushId: rules.pushId(
        userId: userId, kind: kind,
        cause: .message(
          conversationId: candidate.conversationId, messageId: candidate.messageId,
          senderId: message.apartFrom, anew: anew)),
      kind: kind, userId: userId, targets: targets.map { marked($0) },
      title: shown ? message.title(showText: showText, words, for: userId) : nil,
      body: shown ? message.body(showText: showText, words) : nil,
      imageUrl: shown && showText ? PictureAddress.usable(candidate.picture) : nil,
      avatarUrl: shown ? PictureAddress.usable(candidate.sender.avatarUrl) : nil,
      priority: priority, presentation: presentation, mentioned: context.mentioned ? true : nil,
      answered: context.answered ? true : nil,
      quietHours: message.isUrgent ? nil : preferences.quietHours,
      // Reads are compared with its place, not with the clock of who wrote it.
      sentAt: place.at == cause.envelope.occurredAt ? nil : place.at, reason: reason, badge: badge,
      conversationId: candidate.conversationId, messageId: candidate.messageId,
      senderId: candidate.sender.userId, conversation: shown ? candidate.names : nil,
      language: shown ? words.tag : nil, ttlSeconds: rules.ttlSeconds,
      expiresAt: expiresAt,
      decidedAt: step.now)
  }

  /// The banner of a message (D9).
  func banner(_ message: CandidateMessage, showText: Bool, words: Wording) -> Banner {
    let candidate = message.candidate
    return Banner(
      userId: userId, conversationId: candidate.conversationId, messageId: candidate.messageId,
      senderId: candidate.sender.userId, senderName: candidate.sender.displayName,
      avatarUrl: PictureAddress.usable(candidate.sender.avatarUrl),
      preview: message.preview(showText: showText, words),
      groupName: candidate.conversation.kind == .group ? candidate.conversation.name : nil)
  }
}

extension Wording {
  /// The language as a push names it.
  var tag: String? { language == Wording.english.language ? nil : language }
}

extension MessageCandidate {
  /// The picture that came with the message.
  fileprivate var picture: String? { attachment?.kind == .image ? attachment?.url : nil }

  /// The names of sender and group.
  fileprivate var names: PushConversation {
    PushConversation(
      senderName: sender.displayName, kind: conversation.kind,
      name: conversation.kind == .group ? conversation.name : nil)
  }
}
