import Foundation

/// The fixed words that the app shows, in one language. A language is a file in this folder and an entry in `all`.
///
/// `Schemas/app/words.json` has the same words for apps in other languages.
///
/// ```swift
/// let words = Words(locale: "de-CH")
/// words.reply  // "Antworten"
/// ```
public struct Words: Sendable, Equatable, Codable {
  /// The language, as the first part of a BCP 47 tag: `de`.
  public let language: String

  // MARK: Buttons of a notification

  /// The button that opens the text field.
  public let reply: String
  /// The button that sends a reply.
  public let send: String
  /// The placeholder in the empty text field.
  public let replyPlaceholder: String
  /// The button that marks a conversation as read.
  public let markRead: String
  /// The button for a helpful notification.
  public let helpful: String
  /// The button for a notification that was not helpful.
  public let notHelpful: String

  // MARK: Results

  /// A reply was sent.
  public let messageSent: String
  /// A reply could not be sent.
  public let messageNotSent: String
  /// A conversation could not be marked as read.
  public let notMarkedRead: String
  /// Feedback could not be sent.
  public let feedbackNotSent: String
  /// Nobody is signed in.
  public let signInFirst: String
  /// The notification is for another account.
  public let otherAccount: String
  /// The reply is empty.
  public let emptyReply: String

  // MARK: Permission

  /// Leads a user without notifications to the settings.
  public let enableNotifications: String
  /// The button for it.
  public let openSettings: String
  /// The name of Android's channel `messages`.
  public let messagesChannel: String
  /// The name of Android's channel `messages_silent`.
  public let silentMessagesChannel: String

  // MARK: Conversations

  /// The conversation is gone.
  public let conversationGone: String
  /// The conversation was not loaded in time.
  public let conversationNotLoaded: String
  /// The message was not loaded in time.
  public let messageNotLoaded: String
  /// The user in their own notifications.
  public let you: String
  /// The group under a sender's name; `{group}` is its name.
  let inGroup: String
  /// How many more messages a catch-up has than lines; `{count}` is the number.
  let more: String

  /// All languages; English is for those of no other.
  public static let all: [Words] = [.english, .german, .spanish, .french, .japanese]

  /// The words in the language of the device.
  public static var device: Words { Words(locale: Locale.preferredLanguages.first) }

  /// The words for a locale such as `de-CH` or `pt_BR`, by its language; English for a language without words.
  public init(locale: String?) {
    let language = locale?.split { $0 == "-" || $0 == "_" }.first?.lowercased()
    self = Self.all.first { $0.language == language } ?? .english
  }

  /// The group under a sender's name: "in Team".
  public func inGroup(named name: String) -> String { filled(inGroup, "{group}", name) }

  /// How many more messages a catch-up has than lines: "and 3 more".
  public func more(count: Int) -> String { filled(more, "{count}", String(count)) }

  private func filled(_ text: String, _ place: String, _ value: String) -> String {
    guard let range = text.range(of: place) else { return text }
    return text.replacingCharacters(in: range, with: value)
  }
}

extension Words {
  init(
    language: String, reply: String, send: String, replyPlaceholder: String, markRead: String, helpful: String,
    notHelpful: String, messageSent: String, messageNotSent: String, notMarkedRead: String, feedbackNotSent: String,
    signInFirst: String, otherAccount: String, emptyReply: String, enableNotifications: String, openSettings: String,
    messagesChannel: String, silentMessagesChannel: String, conversationGone: String, conversationNotLoaded: String,
    messageNotLoaded: String, you: String, inGroup: String, more: String
  ) {
    self.language = language
    self.reply = reply
    self.send = send
    self.replyPlaceholder = replyPlaceholder
    self.markRead = markRead
    self.helpful = helpful
    self.notHelpful = notHelpful
    self.messageSent = messageSent
    self.messageNotSent = messageNotSent
    self.notMarkedRead = notMarkedRead
    self.feedbackNotSent = feedbackNotSent
    self.signInFirst = signInFirst
    self.otherAccount = otherAccount
    self.emptyReply = emptyReply
    self.enableNotifications = enableNotifications
    self.openSettings = openSettings
    self.messagesChannel = messagesChannel
    self.silentMessagesChannel = silentMessagesChannel
    self.conversationGone = conversationGone
    self.conversationNotLoaded = conversationNotLoaded
    self.messageNotLoaded = messageNotLoaded
    self.you = you
    self.inGroup = inGroup
    self.more = more
  }
}
