import NudgeSchema

extension UserRow {
  /// Brings the counters in line with a conversation whose unread messages changed.
  mutating func count(unreadBefore before: Int, after: Int) {
    unreadMessages += after - before
    if before == 0 && after > 0 { unreadConversations += 1 }
    if before > 0 && after == 0 { unreadConversations -= 1 }
  }

  /// The number that the badge shows (D6).
  func badge(_ mode: BadgeMode) -> Int {
    switch mode {
    case .conversations: unreadConversations
    case .messages: unreadMessages
    }
  }
}
