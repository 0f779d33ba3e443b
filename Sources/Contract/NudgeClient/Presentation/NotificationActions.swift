public import Foundation

/// Turns the user's response to a notification into the event to publish and the app's next step (C2).
///
/// ```swift
/// let actions = NotificationActions(userId: "ann", deviceId: deviceId, makeId: { UUID().uuidString })
/// guard let response = NotificationResponse(actionIdentifier: identifier, userText: text) else { return }
/// switch actions.plan(for: response, to: push, at: Date()) {
/// case .publish(let event):
///   publish(event) { succeeded in
///     perform(NotificationActions.completion(of: event, to: push, succeeded: succeeded))
///   }
/// case .open(let route, let event):
///   publish(event)
///   perform(router.receive(route, at: Date()))
/// case .openCatchUp(let catchUp):
///   show(catchUp)
/// case .none:
///   break
/// case .refuse(let refusal):
///   explain(refusal)
/// }
/// ```
public struct NotificationActions: Sendable {
  /// The way to carry out a response.
  public enum Plan: Sendable, Equatable {
    /// Publish the event, then continue with `completion(of:to:succeeded:)`. Publish it again, unchanged, until it is
    /// accepted: the services ignore a second event with the same id.
    case publish(ClientEvent)
    /// Open the conversation at the message, and publish the event.
    case open(Route, ClientEvent)
    /// The user tapped a catch-up: follow its `route`, or show it as a list if it has none.
    case openCatchUp(CatchUp)
    /// The user dismissed a catch-up: do nothing.
    case none
    /// Do nothing, and tell the user why.
    case refuse(Refusal)
  }

  /// Why a response is not carried out.
  public enum Refusal: Sendable, Equatable {
    /// Nobody is signed in.
    case notSignedIn
    /// The notification is for another account of this device.
    case otherAccount
    /// The reply is empty or blank.
    case emptyReply
    /// The push shows no message that the response could concern.
    case noMessage

    /// The text for the user; nil if there is nothing to show.
    public func text(_ words: Words = .device) -> String? {
      switch self {
      case .notSignedIn: words.signInFirst
      case .otherAccount: words.otherAccount
      case .emptyReply: words.emptyReply
      case .noMessage: nil
      }
    }
  }

  /// The app's next step after an event was published, or publishing it failed.
  public enum Completion: Sendable, Equatable {
    /// Show the user this text.
    case tell(String)
    /// Remove the notifications that the mark covers.
    case removeNotifications(ReadMark)
    /// Nothing.
    case none
    /// Show the user this text and open the conversation, where they can try again.
    case fail(String, open: Route)
  }

  private let userId: String?
  private let deviceId: String
  private let makeId: @Sendable () -> String

  /// Actions of the signed-in user on this device; `userId` is nil if nobody is signed in. `makeId` returns a new id,
  /// such as a UUID, for each event and each message.
  public init(userId: String?, deviceId: String, makeId: @escaping @Sendable () -> String) {
    self.userId = userId
    self.deviceId = deviceId
    self.makeId = makeId
  }

  /// The plan for a response to the notification of a push.
  public func plan(for response: NotificationResponse, to push: PushPayload, at now: Date) -> Plan {
    guard let userId else { return .refuse(.notSignedIn) }
    guard push.recipientId == userId else { return .refuse(.otherAccount) }
    if case .catchUp(let catchUp) = push.content {
      switch response {
      case .open: return .openCatchUp(catchUp)
      case .dismiss: return .none
      case .reply, .markRead, .helpful, .notHelpful: return .refuse(.noMessage)
      }
    }
    guard case .message(let message) = push.content else { return .refuse(.noMessage) }
    func event(_ body: ClientEvent.Body) -> ClientEvent { ClientEvent(eventId: makeId(), occurredAt: now, body) }
    func notification(_ change: ClientEvent.NotificationChange) -> ClientEvent {
      event(.notification(change, .init(push, message, userId: userId, deviceId: deviceId)))
    }
    func feedback(_ feedback: ClientEvent.Feedback) -> ClientEvent {
      event(
        .feedbackSubmitted(
          .init(
            userId: userId, conversationId: message.conversationId, messageId: message.messageId, feedback: feedback)))
    }
    switch response {
    case .reply(let text):
      let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
      guard !text.isEmpty else { return .refuse(.emptyReply) }
      return .publish(
        event(
          .messageCreated(
            .init(
              conversationId: message.conversationId, messageId: makeId(), senderId: userId, text: text,
              replyTo: message.messageId))))
    case .markRead:
      return .publish(
        event(
          .messageRead(
            .init(
              userId: userId, conversationId: message.conversationId, messageId: message.messageId, deviceId: deviceId))
        ))
    case .helpful:
      return .publish(feedback(.helpful))
    case .notHelpful:
      return .publish(feedback(.notHelpful))
    case .open:
      return .open(Route(conversationId: message.conversationId, messageId: message.messageId), notification(.opened))
    case .dismiss:
      return .publish(notification(.dismissed))
    }
  }

  /// The next step after an event of a plan was accepted, or publishing it failed. `push` is the push that the event
  /// answers; nil for an event without one, such as a message written in the app. `words` has the texts in the user's
  /// language.
  public static func completion(
    of event: ClientEvent, to push: PushPayload?, succeeded: Bool, in words: Words = .device
  ) -> Completion {
    switch event.body {
    case .messageCreated(let message):
      let route = Route(conversationId: message.conversationId, messageId: message.replyTo)
      return succeeded ? .tell(words.messageSent) : .fail(words.messageNotSent, open: route)
    case .messageRead(let read):
      let route = Route(conversationId: read.conversationId, messageId: read.messageId)
      return succeeded
        ? .removeNotifications(
          ReadMark(conversationId: read.conversationId, messageId: read.messageId, time: push?.timestamp))
        : .fail(words.notMarkedRead, open: route)
    case .feedbackSubmitted(let feedback):
      let route = Route(conversationId: feedback.conversationId, messageId: feedback.messageId)
      return succeeded ? .none : .fail(words.feedbackNotSent, open: route)
    case .notification, .userActivity, .deviceRegistered, .deviceUnregistered, .preferencesUpdated:
      // The user need not know that the report of a dismissed notification failed. The other events answer no
      // notification.
      return .none
    }
  }
}

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
