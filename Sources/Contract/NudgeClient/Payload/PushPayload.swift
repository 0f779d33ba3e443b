public import Foundation

/// What a device gets in a push: the strings that Nudge's dispatcher puts into FCM's `data`, decoded and checked.
public struct PushPayload: Sendable, Equatable {
  /// How important a message is for this person, and with that how loudly it is shown.
  public enum Priority: String, Sendable, Codable {
    /// Alert and sound.
    case high
    /// Silent, in the notification list.
    case medium
    /// Only the badge changes.
    case low
  }

  /// A message to be shown.
  public struct Message: Sendable, Equatable {
    /// How it was decided that the message is worth a notification.
    public enum Origin: String, Sendable {
      /// By smart analysis.
      case smart = "smart_notification"
      /// By one of the fallbacks: simple rules, or all.
      case fallback = "new_message"
    }

    /// How it was decided.
    public let origin: Origin
    /// The conversation the message is in.
    public let conversationId: String
    /// The message.
    public let messageId: String
    /// Who wrote it.
    public let senderId: String
    /// How loudly it is shown.
    public let priority: Priority
    /// The message was edited: what is shown of it is replaced.
    public let replaces: Bool
  }

  /// What the push is about.
  public enum Content: Sendable, Equatable {
    /// A message to be shown.
    case message(Message)
    /// Only the app's badge is to be set.
    case badge(Int)
    /// The conversation was read on another device: its notifications go, the badge is set.
    case read(conversationId: String, badge: Int)
    /// The message was taken back: its notification goes, the badge is set.
    case deleted(conversationId: String, messageId: String, badge: Int)
  }

  /// The push; the same on every try to deliver it.
  public let pushId: String
  /// Whom it is for. After a change of account on the device that may be somebody else than who is signed in.
  public let recipientId: String
  /// What it is about.
  public let content: Content
  /// The conversation it has to do with, if it names one: also where only the badge is to be set, for a message that is not
  /// shown.
  public let conversationId: String?
  /// The message it has to do with, if it names one.
  public let messageId: String?
  /// What the app's badge is to show, if the push says so.
  public let badge: Int?
  /// When the message was sent, to the second.
  public let timestamp: Date?
  /// The title of the notification that came with the data, if there was one.
  public let title: String?
  /// The text of the notification that came with the data, if there was one.
  public let body: String?

  /// From FCM's `data`, as Android and web apps get it.
  public init(data: [String: String]) throws(PushPayloadError) {
    try self.init(title: nil, body: nil) { data[$0].map { .string($0) } ?? .missing }
  }

  /// From a notification's `userInfo`, as iOS apps get it: FCM's `data` beside `aps`, where title and body are.
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
    func requiredCount(_ key: String) throws(PushPayloadError) -> Int {
      guard let value = try count(key) else { throw .missing(key: key) }
      return value
    }

    let type = try required("type")
    switch type {
    case "badge":
      content = .badge(try requiredCount("badge"))
    case "read":
      content = .read(conversationId: try required("conversationId"), badge: try requiredCount("badge"))
    case "deleted":
      content = .deleted(
        conversationId: try required("conversationId"), messageId: try required("messageId"),
        badge: try requiredCount("badge"))
    default:
      guard let origin = Message.Origin(rawValue: type) else {
        throw .invalid(key: "type", expected: "smart_notification, new_message, badge, read or deleted")
      }
      guard let priority = Priority(rawValue: try required("priority")) else {
        throw .invalid(key: "priority", expected: "high, medium or low")
      }
      content = .message(
        Message(
          origin: origin, conversationId: try required("conversationId"), messageId: try required("messageId"),
          senderId: try required("senderId"), priority: priority, replaces: try optional("replaces") == "true"))
    }
    pushId = try required("pushId")
    recipientId = try required("recipientId")
    conversationId = try optional("conversationId")
    messageId = try optional("messageId")
    badge = try count("badge")
    timestamp = try count("timestamp").map { Date(timeIntervalSince1970: TimeInterval($0)) }
    self.title = title
    self.body = body
  }
}
