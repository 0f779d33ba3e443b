/// A kind of notification with its buttons. An app turns it into a `UNNotificationCategory`.
///
/// ```swift
/// let categories = NotificationCategory.all().map { category in
///   UNNotificationCategory(
///     identifier: category.identifier,
///     actions: category.actions.map { action in
///       let options: UNNotificationActionOptions = action.isDestructive ? .destructive : []
///       return action.textInput.map {
///         UNTextInputNotificationAction(
///           identifier: action.identifier.rawValue, title: action.title, options: options,
///           textInputButtonTitle: $0.buttonTitle, textInputPlaceholder: $0.placeholder)
///       } ?? UNNotificationAction(identifier: action.identifier.rawValue, title: action.title, options: options)
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
  public static func smartNotification(_ words: Words = .device) -> NotificationCategory {
    NotificationCategory(identifier: "SMART_NOTIFICATION_CATEGORY", actions: NotificationAction.all(words))
  }

  /// The category of pushes of `type` `new_message`.
  public static func message(_ words: Words = .device) -> NotificationCategory {
    NotificationCategory(identifier: "MESSAGE", actions: NotificationAction.all(words))
  }

  /// The categories that an app registers at launch, and again when the device's language changes.
  public static func all(_ words: Words = .device) -> [NotificationCategory] {
    [smartNotification(words), message(words)]
  }
}

extension PushPayload.Message.Origin {
  /// The category of a push of this origin.
  public func category(_ words: Words = .device) -> NotificationCategory {
    switch self {
    case .smart: .smartNotification(words)
    case .fallback: .message(words)
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
  /// Whether the system marks the button as one that takes something away: `UNNotificationActionOptions.destructive`.
  public var isDestructive: Bool { identifier == .notHelpful }

  /// All buttons, in the order in which they appear.
  public static func all(_ words: Words = .device) -> [NotificationAction] {
    [
      NotificationAction(
        identifier: .reply, title: words.reply,
        textInput: TextInput(buttonTitle: words.send, placeholder: words.replyPlaceholder)),
      NotificationAction(identifier: .markRead, title: words.markRead, textInput: nil),
      NotificationAction(identifier: .helpful, title: words.helpful, textInput: nil),
      NotificationAction(identifier: .notHelpful, title: words.notHelpful, textInput: nil),
    ]
  }
}
