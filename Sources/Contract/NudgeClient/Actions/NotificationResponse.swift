/// The user's response to a notification.
///
/// ```swift
/// let text = (response as? UNTextInputNotificationResponse)?.userText
/// let response = NotificationResponse(actionIdentifier: response.actionIdentifier, userText: text)
/// ```
public enum NotificationResponse: Sendable, Equatable {
  /// The user wrote a reply.
  case reply(String)
  /// The user pressed "Mark Read".
  case markRead
  /// The user pressed "👍 Helpful".
  case helpful
  /// The user pressed "👎 Not Helpful".
  case notHelpful
  /// The user tapped the notification itself.
  case open
  /// The user dismissed the notification.
  case dismiss

  /// Translates a `UNNotificationResponse`: its `actionIdentifier` and, for a text input, its `userText`. Nil for an
  /// identifier that belongs neither to Nudge nor to the system.
  public init?(actionIdentifier: String, userText: String? = nil) {
    switch actionIdentifier {
    // UNNotificationDefaultActionIdentifier and UNNotificationDismissActionIdentifier; their module exists on Apple's
    // systems only.
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
