/// A kind of notification with its buttons. An app turns it into a `UNNotificationCategory`.
///
/// ```swift
/// let categories = NotificationCategory.all.map { category in
///   UNNotificationCategory(
///     identifier: category.identifier,
///     actions: category.actions.map { action in
///       action.textInput.map {
///         UNTextInputNotificationAction(
///           identifier: action.identifier.rawValue, title: action.title,
///           textInputButtonTitle: $0.buttonTitle, textInputPlaceholder: $0.placeholder)
///       } ?? UNNotificationAction(identifier: action.identifier.rawValue, title: action.title)
///     }, intentIdentifiers: [], options: .customDismissAction)
/// }
/// UNUserNotificationCenter.current().setNotificationCategories(Set(categories))
/// ```
public struct NotificationCategory: Sendable, Equatable {
  /// The identifier that the push has in `aps.category`.
  public let identifier: String
  /// The buttons, in the order in which they appear.
  public let actions: [NotificationAction]

  /// The category of pushes of `type` `smart_notification`.
  public static let smartNotification = NotificationCategory(
    identifier: "SMART_NOTIFICATION_CATEGORY", actions: NotificationAction.all)
  /// The category of pushes of `type` `new_message`.
  public static let message = NotificationCategory(identifier: "MESSAGE", actions: NotificationAction.all)
  /// The categories that an app registers at launch.
  public static let all = [smartNotification, message]
}

extension PushPayload.Message.Origin {
  /// The category of a push of this origin.
  public var category: NotificationCategory {
    switch self {
    case .smart: .smartNotification
    case .fallback: .message
    }
  }
}

/// A button of a notification. An app turns it into a `UNNotificationAction`, or into a `UNTextInputNotificationAction` if it
/// has a text input.
public struct NotificationAction: Sendable, Equatable {
  /// The identifiers of the buttons.
  public enum Identifier: String, Sendable, CaseIterable {
    /// Writes a reply.
    case reply = "REPLY_ACTION"
    /// Marks the conversation read up to this message.
    case markRead = "MARK_READ_ACTION"
    /// Says that the notification was helpful.
    case helpful = "HELPFUL_ACTION"
    /// Says that the notification was not helpful.
    case notHelpful = "NOT_HELPFUL_ACTION"
  }

  /// The text field that a button opens.
  public struct TextInput: Sendable, Equatable {
    /// The title of the button that sends.
    public let buttonTitle: String
    /// The placeholder in the empty field.
    public let placeholder: String
  }

  /// The button's identifier.
  public let identifier: Identifier
  /// The button's title.
  public let title: String
  /// The text field it opens; nil for buttons other than Reply.
  public let textInput: TextInput?

  /// All buttons, in the order in which they appear.
  public static let all = [
    NotificationAction(
      identifier: .reply, title: "Reply", textInput: TextInput(buttonTitle: "Send", placeholder: "Type a message…")),
    NotificationAction(identifier: .markRead, title: "Mark Read", textInput: nil),
    NotificationAction(identifier: .helpful, title: "👍 Helpful", textInput: nil),
    NotificationAction(identifier: .notHelpful, title: "👎 Not Helpful", textInput: nil),
  ]
}
