/// A kind of notification with its buttons. An app turns it into a `UNNotificationCategory`.
public struct NotificationCategory: Sendable, Equatable {
  /// What the push names in `aps.category`.
  public let identifier: String
  /// The buttons, in the order in which they are shown.
  public let actions: [NotificationAction]

  /// For messages that smart analysis found relevant (`type` `smart_notification`).
  public static let smartNotification = NotificationCategory(
    identifier: "SMART_NOTIFICATION_CATEGORY", actions: NotificationAction.all)
  /// For messages that a fallback let through (`type` `new_message`).
  public static let message = NotificationCategory(identifier: "MESSAGE", actions: NotificationAction.all)
  /// What an app registers at launch.
  public static let all = [smartNotification, message]
}

extension PushPayload.Message.Origin {
  /// The category of such a push.
  public var category: NotificationCategory {
    switch self {
    case .smart: .smartNotification
    case .fallback: .message
    }
  }
}

/// A button of a notification. An app turns it into a `UNNotificationAction`, or a `UNTextInputNotificationAction` where
/// there is a text input.
public struct NotificationAction: Sendable, Equatable {
  /// The buttons' identifiers.
  public enum Identifier: String, Sendable, CaseIterable {
    /// Write an answer.
    case reply = "REPLY_ACTION"
    /// Mark the conversation read up to this message.
    case markRead = "MARK_READ_ACTION"
    /// The notification was worth it.
    case helpful = "HELPFUL_ACTION"
    /// The notification was not worth it.
    case notHelpful = "NOT_HELPFUL_ACTION"
  }

  /// A field to write in.
  public struct TextInput: Sendable, Equatable {
    /// The button that sends.
    public let buttonTitle: String
    /// What stands in the empty field.
    public let placeholder: String
  }

  /// Which button it is.
  public let identifier: Identifier
  /// What is written on it.
  public let title: String
  /// The field it opens, for a reply.
  public let textInput: TextInput?

  /// All buttons, in the order in which they are shown.
  public static let all = [
    NotificationAction(
      identifier: .reply, title: "Reply", textInput: TextInput(buttonTitle: "Send", placeholder: "Type a message…")),
    NotificationAction(identifier: .markRead, title: "Mark Read", textInput: nil),
    NotificationAction(identifier: .helpful, title: "👍 Helpful", textInput: nil),
    NotificationAction(identifier: .notHelpful, title: "👎 Not Helpful", textInput: nil),
  ]
}
