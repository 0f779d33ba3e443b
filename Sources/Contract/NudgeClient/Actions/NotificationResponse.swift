/// What a person did with a notification.
public enum NotificationResponse: Sendable, Equatable {
  /// Wrote an answer.
  case reply(String)
  /// Pressed "Mark Read".
  case markRead
  /// Pressed "👍 Helpful".
  case helpful
  /// Pressed "👎 Not Helpful".
  case notHelpful
  /// Tapped the notification itself.
  case open
  /// Swiped it away.
  case dismiss

  /// From a `UNNotificationResponse`: its `actionIdentifier` and, for a text input, its `userText`. Nil for an
  /// identifier that is neither Nudge's nor the system's.
  public init?(actionIdentifier: String, userText: String? = nil) {
    switch actionIdentifier {
    // UNNotificationDefaultActionIdentifier and UNNotificationDismissActionIdentifier, whose module is Apple's only.
    case "com.apple.UNNotificationDefaultActionIdentifier": self = .open
    case "com.apple.UNNotificationDismissActionIdentifier": self = .dismiss
    default:
      switch NotificationAction.Identifier(rawValue: actionIdentifier) {
      case .reply: self = .reply(userText ?? "")
      case .markRead: self = .markRead
      case .helpful: self = .helpful
      case .notHelpful: self = .notHelpful
      case nil: return nil
      }
    }
  }
}
