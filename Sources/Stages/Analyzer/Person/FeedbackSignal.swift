import NudgeSchema

/// A person's reaction to a message they were notified of.
enum FeedbackSignal: Sendable {
  /// They said that it helped, or that it did not.
  case helpful, notHelpful
  /// They answered within minutes.
  case replied
  /// They opened the notification.
  case opened
  /// They read the conversation within minutes.
  case read
  /// They dismissed the notification.
  case dismissed
  /// They did nothing about it, and many messages came since.
  case ignored

  /// Whether it says that the message mattered.
  var isPositive: Bool {
    switch self {
    case .helpful, .replied, .opened, .read: true
    case .notHelpful, .dismissed, .ignored: false
    }
  }

  /// The step for a sender where the opposite was certain, in thousandths of log-odds.
  var step: Int {
    switch self {
    case .helpful, .notHelpful: 1_200
    case .replied: 600
    case .opened, .dismissed: 400
    case .read: 200
    case .ignored: 100
    }
  }
}

/// A person's last word on whether being told of a conversation's messages helps: a verdict, or that they wrote there afterwards.
struct LastWord: Codable, Equatable {
  /// When they gave it, in milliseconds since 1970.
  var at: Milliseconds
  /// Whether it did not help.
  var isUnhelpful: Bool
}
