public import Foundation

/// A push from Nudge, decoded from FCM's `data` and validated.
///
/// ```swift
/// let push = try PushPayload(userInfo: notification.request.content.userInfo)  // iOS
/// let push = try PushPayload(data: message.data, title: title, body: body)      // Android, web
/// if case .message(let message) = push.content { print(message.conversationId, message.presentation) }
/// ```
public struct PushPayload: Sendable, Equatable {
  /// How much a message matters to this person. It does not say how the device presents it: see ``Presentation``.
  public enum Priority: String, Sendable, Codable {
    /// The message matters much.
    case high
    /// The message matters somewhat.
    case medium
    /// The message matters little.
    case low
  }

  /// How the device presents a message. The person's levels and the message's priority decide it.
  public enum Presentation: String, Sendable, Codable {
    /// A banner and a sound.
    case alert
    /// An entry in the notification list, without a sound.
    case silent
    /// Only the number on the app's icon changes.
    case badge
  }

  /// A message to present.
  public struct Message: Sendable, Equatable {
    /// Which rule let the message through.
    public enum Origin: String, Sendable {
      /// Smart analysis.
      case smart = "smart_notification"
      /// The user's level without an analysis (`all`, `mentions`), or the fallback past the hourly limit.
      case fallback = "new_message"
    }

    /// Which rule let the message through.
    public let origin: Origin
    /// The conversation of the message.
    public let conversationId: String
    /// The message's id.
    public let messageId: String
    /// The user id of the sender. Nil only in the edit of an old group message, whose notification already names the
    /// sender.
    public let senderId: String?
    /// How much the message matters.
    public let priority: Priority
    /// How the device presents the message.
    public let presentation: Presentation
    /// True if the message was edited. This push then replaces what the device shows of the message.
    public let replaces: Bool
  }

  /// The push's request to the app.
  public enum Content: Sendable, Equatable {
    /// Present a message.
    case message(Message)
    /// Set the app's badge.
    case badge(Int)
    /// Another device has read a conversation: remove the notifications that the mark covers, and set the badge.
    case read(ReadMark, badge: Int)
    /// The sender has deleted a message: remove its notification, and set the badge.
    case deleted(conversationId: String, messageId: String, badge: Int)
    /// Show the messages that were held back.
    case catchUp(CatchUp)
    /// All messages of a catch-up are read: remove its notification, and set the badge.
    case catchUpEnded(badge: Int)
  }

  /// The names that a push has besides its title.
  struct Names: Sendable, Equatable {
    var sender: String
    var group: String?
    var isGroup: Bool
    var avatarURL: URL?
  }

  /// The push's id, the same on every attempt to deliver it.
  public let pushId: String
  /// The user the push is for. Drop the push if somebody else is signed in, for example after a change of account.
  public let recipientId: String
  /// The push's request to the app.
  public let content: Content
  /// The conversation the push concerns, if it names one. A badge push names that of its message.
  public let conversationId: String?
  /// The message the push concerns, if it names one.
  public let messageId: String?
  /// The number for the app's badge, if the push has one; 0 or more.
  public let badge: Int?
  /// When the message was sent, to the second.
  public let timestamp: Date?
  /// The title of the notification beside the data, if it has one.
  public let title: String?
  /// The text of the notification beside the data, if it has one.
  public let body: String?
  /// Names of sender and group, for ``ConversationNotification``.
  let names: Names?

  /// Decodes FCM's `data`, as Android and web apps receive it.
  ///
  /// - Parameters:
  ///   - data: The fields of the push, strings by name.
  ///   - title: The title of the notification beside the data, if the app was given one (`RemoteMessage.notification`).
  ///   - body: Its text.
  /// - Throws: `PushPayloadError` for data that Nudge did not send, or of a type this module does not know.
  public init(data: [String: String], title: String? = nil, body: String? = nil) throws(PushPayloadError) {
    // For an app that draws notifications itself, the data contains the texts.
    try self.init(title: title ?? data["title"], body: body ?? data["body"]) {
      data[$0].map { .string($0) } ?? .missing
    }
  }

  /// Decodes a notification's `userInfo`, as iOS apps receive it: FCM's `data` beside `aps`, which has title and body.
  /// - Throws: `PushPayloadError` for data that Nudge did not send, or of a type this module does not know.
  public init(userInfo: [AnyHashable: Any]) throws(PushPayloadError) {
    let alert = (userInfo["aps"] as? [AnyHashable: Any])?["alert"]
    let texts = alert as? [AnyHashable: Any]
    try self.init(title: texts?["title"] as? String, body: texts?["body"] as? String ?? alert as? String) { key in
      guard let value = userInfo[key] else { return .missing }
      return (value as? String).map { .string($0) } ?? .notAString
    }
  }

  private enum Field {
    case string(String)
    case notAString
    case missing
  }

  private init(title: String?, body: String?, field: (String) -> Field) throws(PushPayloadError) {
    func optional(_ key: String) throws(PushPayloadError) -> String? {
      switch field(key) {
      case .string(let value): return value
      case .notAString: throw .notAString(key: key)
      case .missing: return nil
      }
    }
    func required(_ key: String) throws(PushPayloadError) -> String {
      guard let value = try optional(key) else { throw .missing(key: key) }
      guard !value.isEmpty else { throw .invalid(key: key, expected: "not empty") }
      return value
    }
    func count(_ key: String) throws(PushPayloadError) -> Int? {
      guard let text = try optional(key) else { return nil }
      guard let value = Int(text), value >= 0 else { throw .invalid(key: key, expected: "a whole number, 0 or more") }
      return value
    }
    func presentation(_ name: String) throws(PushPayloadError) -> Presentation {
      guard let presentation = Presentation(rawValue: name) else {
        throw .invalid(key: "presentation", expected: "alert, silent or badge")
      }
      return presentation
    }
    func requiredCount(_ key: String) throws(PushPayloadError) -> Int {
      guard let value = try count(key) else { throw .missing(key: key) }
      return value
    }

    timestamp = try count("timestamp").map { Date(timeIntervalSince1970: TimeInterval($0)) }
    messageId = try optional("messageId")
    let type = try required("type")
    switch type {
    case "badge":
      content = .badge(try requiredCount("badge"))
    case "read":
      content = .read(
        ReadMark(conversationId: try required("conversationId"), messageId: messageId, time: timestamp),
        badge: try requiredCount("badge"))
    case "deleted":
      content = .deleted(
        conversationId: try required("conversationId"), messageId: try required("messageId"),
        badge: try requiredCount("badge"))
    case "digest":
      if try required("messages") == "0", try required("presentation") == "badge" {
        content = .catchUpEnded(badge: try requiredCount("badge"))
        break
      }
      guard let messages = Int(try required("messages")), let conversations = Int(try required("conversations")),
        messages > 0, conversations > 0
      else { throw .invalid(key: "messages, conversations", expected: "whole numbers, 1 or more") }
      guard let lines = CatchUp.lines(try required("lines")) else {
        throw .invalid(key: "lines", expected: "a JSON array of conversationId, messageId, title and text")
      }
      content = .catchUp(
        CatchUp(
          messages: messages, conversations: conversations, lines: lines,
          presentation: try presentation(try required("presentation"))))
    default:
      guard let origin = Message.Origin(rawValue: type) else {
        throw .invalid(key: "type", expected: "smart_notification, new_message, badge, read, deleted or digest")
      }
      guard let priority = Priority(rawValue: try required("priority")) else {
        throw .invalid(key: "priority", expected: "high, medium or low")
      }
      let shown = try optional("presentation").map(presentation) ?? priority.presentation
      let replaces = try optional("replaces") == "true"
      content = .message(
        Message(
          origin: origin, conversationId: try required("conversationId"), messageId: try required("messageId"),
          senderId: replaces ? try optional("senderId") : try required("senderId"), priority: priority,
          presentation: shown, replaces: replaces))
    }
    pushId = try required("pushId")
    recipientId = try required("recipientId")
    conversationId = try optional("conversationId")
    badge = try count("badge")
    let avatar = try optional("avatarUrl").flatMap(URL.init(string:))
    let group = try optional("conversationTitle")
    let isGroup = try optional("isGroup") == "true"
    names = try optional("senderName").flatMap {
      $0.isEmpty ? nil : Names(sender: $0, group: group, isGroup: isGroup, avatarURL: avatar)
    }
    self.title = title
    self.body = body
  }
}

extension PushPayload.Priority {
  /// The presentation of a push that names none, as from services without levels.
  var presentation: PushPayload.Presentation {
    switch self {
    case .high: .alert
    case .medium: .silent
    case .low: .badge
    }
  }
}

/// Why a push cannot be decoded: Nudge did not send it, or its type is not known to this module.
public enum PushPayloadError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The data lacks a key.
  case missing(key: String)
  /// The value is not a string; FCM's `data` has only strings.
  case notAString(key: String)
  /// The value is not one of those expected.
  case invalid(key: String, expected: String)

  /// One sentence, without the value.
  public var description: String {
    switch self {
    case .missing(let key): "the push has no \"\(key)\""
    case .notAString(let key): "\"\(key)\" of the push is not a string"
    case .invalid(let key, let expected): "\"\(key)\" of the push must be \(expected)"
    }
  }
}
