import NudgeSchema

extension UserRow {
  /// Brings the counters in line with a conversation whose unread messages changed.
  mutating func count(unreadBefore before: Int, after: Int) {
    unreadMessages += after - before
    if before == 0 && after > 0 { unreadConversations += 1 }
    if before > 0 && after == 0 { unreadConversations -= 1 }
  }

  /// What the badge shows (D6).
  func badge(_ mode: BadgeMode) -> Int {
    switch mode {
    case .conversations: unreadConversations
    case .messages: unreadMessages
    }
  }
}

extension DecisionReason {
  /// Whether a message with this decision counts on the badge: what was suppressed does, too (D6). Not so what the person
  /// has read or has before their eyes, what was counted before, and what is no longer there.
  var countsAsUnread: Bool {
    switch self {
    case .duplicate, .alreadyRead, .activeConversation, .withdrawn: false
    case .notificationsDisabled, .conversationMuted, .expired, .analysisLimit, .quietHours, .noDevice, .relevant,
      .simpleRules, .notifyAll:
      true
    }
  }
}
