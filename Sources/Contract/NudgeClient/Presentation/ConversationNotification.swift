public import Foundation

/// A message as a phone shows a conversation: who wrote it, where, and with which picture. Phones rank and group notifications
/// that say so as conversations.
///
/// On iOS a notification service extension turns it into an intent:
///
/// ```swift
/// guard let shown = ConversationNotification(push) else { return contentHandler(content) }
/// let sender = INPerson(
///   personHandle: INPersonHandle(value: shown.sender.key, type: .unknown), nameComponents: nil,
///   displayName: shown.sender.name, image: avatar, contactIdentifier: nil, customIdentifier: shown.sender.key)
/// let intent = INSendMessageIntent(
///   recipients: nil, outgoingMessageType: .outgoingMessageText, content: shown.text,
///   speakableGroupName: shown.groupName.map(INSpeakableString.init(spokenPhrase:)),
///   conversationIdentifier: shown.conversationId, serviceName: nil, sender: sender, attachments: nil)
/// let interaction = INInteraction(intent: intent, response: nil)
/// interaction.direction = .incoming
/// try? await interaction.donate()
/// contentHandler((try? content.updating(from: intent)) ?? content)
/// ```
///
/// On Android an app that shows the notification itself uses `NotificationCompat.MessagingStyle`; ``style(with:)`` has its parts.
public struct ConversationNotification: Sendable, Equatable {
  /// The person who wrote a message.
  public struct Person: Sendable, Equatable {
    /// The user id: `INPerson.customIdentifier`, `Person.Builder.setKey`.
    public let key: String
    /// The name.
    public let name: String
    /// The address of the picture, if there is one.
    public let avatarURL: URL?
  }

  /// The conversation: `conversationIdentifier` on iOS, the shortcut's id on Android.
  public let conversationId: String
  /// The message's id.
  public let messageId: String
  /// The sender.
  public let sender: Person
  /// Whether more than two people can take part.
  public let isGroup: Bool
  /// The group's name; nil: the conversation is direct, or the group has no name.
  public let groupName: String?
  /// The text; nil where it was not given: on Android the app passes it to `PushPayload(data:title:body:)`.
  public let text: String?
  /// When the message was written, to the second.
  public let sentAt: Date?
  /// How much the message matters.
  public let priority: PushPayload.Priority
  /// Where a tap leads.
  public var route: Route { Route(conversationId: conversationId, messageId: messageId) }

  /// The message of a push; nil: the push shows no message, or does not name its sender, as those of older services and
  /// the edit of an old message. Show such a push as it came.
  public init?(_ push: PushPayload) {
    guard case .message(let message) = push.content, message.presentation != .badge, let names = push.names,
      let senderId = message.senderId
    else { return nil }
    conversationId = message.conversationId
    messageId = message.messageId
    sender = Person(key: senderId, name: names.sender, avatarURL: names.avatarURL)
    isGroup = names.isGroup
    groupName = names.isGroup ? names.group : nil
    text = push.body
    sentAt = push.timestamp
    priority = message.priority
  }
}

extension ConversationNotification {
  /// The parts of Android's `NotificationCompat.MessagingStyle`, of one conversation with its latest messages.
  ///
  /// | part | goes to |
  /// |---|---|
  /// | `shortcutId` | `ShortcutInfoCompat.Builder(context, shortcutId).setLongLived(true)`, `NotificationCompat.Builder.setShortcutId` |
  /// | `conversationTitle`, `isGroupConversation` | the setters of these names; the title is nil in a direct conversation, as Android asks |
  /// | `messages` | `addMessage(text, time, Person.Builder().setKey(key).setName(name).build())` |
  /// | `tag` | `NotificationManagerCompat.notify(tag, 0, notification)`: one notification a conversation |
  public struct MessagingStyle: Sendable, Equatable {
    /// A message of the conversation.
    public struct Message: Sendable, Equatable {
      /// The sender.
      public let sender: Person
      /// The text; empty where the push brought none.
      public let text: String
      /// When it was written, in milliseconds since the epoch.
      public let time: Int64
    }

    /// The id of the conversation's shortcut.
    public let shortcutId: String
    /// The group's name; nil: the conversation is direct.
    public let conversationTitle: String?
    /// Whether more than two people can take part.
    public let isGroupConversation: Bool
    /// The messages, the oldest first.
    public let messages: [Message]
    /// The notification's tag.
    public var tag: String { shortcutId }
  }

  /// The most messages that Android shows of a conversation.
  public static let mostMessages = 25

  /// The conversation with this message and the messages that its notification shows already. Those of other conversations are
  /// left out, and a message that is among them is taken once, with this text.
  public func style(with earlier: [ConversationNotification] = []) -> MessagingStyle {
    let others = earlier.filter { $0.conversationId == conversationId && $0.messageId != messageId }
    let messages = (others + [self]).enumerated().sorted {
      ($0.element.sentAt ?? .distantPast, $0.offset) < ($1.element.sentAt ?? .distantPast, $1.offset)
    }.suffix(Self.mostMessages).map { _, shown in
      MessagingStyle.Message(
        sender: shown.sender, text: shown.text ?? "",
        time: shown.sentAt.map { Int64($0.timeIntervalSince1970 * 1_000) } ?? 0)
    }
    return MessagingStyle(
      shortcutId: conversationId, conversationTitle: isGroup ? groupName ?? "" : nil, isGroupConversation: isGroup,
      messages: messages)
  }
}
