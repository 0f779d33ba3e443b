public import Foundation

/// An event that an app publishes, by `POST /v1/events` or its own backend: the envelope of Nudge's catalogue
/// (`schemaVersion` 1, `type`, `eventId`, `occurredAt` in milliseconds since the epoch) and the fields of its type.
public struct ClientEvent: Sendable, Equatable {
  /// The event's id: the same on a retry, never the same for two events.
  public let eventId: String
  /// When it happened, in milliseconds since the epoch.
  public let occurredAt: Int64
  /// Type and fields.
  public let body: Body

  /// An event that happened at this time.
  public init(eventId: String, occurredAt: Date, _ body: Body) {
    self.eventId = eventId
    self.occurredAt = Int64((occurredAt.timeIntervalSince1970 * 1_000).rounded())
    self.body = body
  }

  /// What happened.
  public enum Body: Sendable, Equatable {
    /// `message.created`
    case messageCreated(MessageCreated)
    /// `message.read`
    case messageRead(MessageRead)
    /// `feedback.submitted`
    case feedbackSubmitted(FeedbackSubmitted)
    /// `notification.received`, `notification.opened`, `notification.dismissed`
    case notification(NotificationChange, Notification)
    /// `user.activity`
    case userActivity(UserActivity)
    /// `device.registered`
    case deviceRegistered(DeviceRegistered)
    /// `device.unregistered`
    case deviceUnregistered(DeviceUnregistered)
    /// `preferences.updated`
    case preferencesUpdated(PreferencesUpdated)

    /// The event's `type`.
    public var type: String {
      switch self {
      case .messageCreated: "message.created"
      case .messageRead: "message.read"
      case .feedbackSubmitted: "feedback.submitted"
      case .notification(let change, _): change.rawValue
      case .userActivity: "user.activity"
      case .deviceRegistered: "device.registered"
      case .deviceUnregistered: "device.unregistered"
      case .preferencesUpdated: "preferences.updated"
      }
    }
  }

  /// A message the user wrote.
  public struct MessageCreated: Codable, Sendable, Equatable {
    /// The conversation it is in.
    public let conversationId: String
    /// Its own id.
    public let messageId: String
    /// The user.
    public let senderId: String
    /// What was written.
    public let text: String
    /// The message it answers.
    public let replyTo: String?

    /// A message of the user's.
    public init(conversationId: String, messageId: String, senderId: String, text: String, replyTo: String? = nil) {
      self.conversationId = conversationId
      self.messageId = messageId
      self.senderId = senderId
      self.text = text
      self.replyTo = replyTo
    }
  }

  /// The user has read a conversation.
  public struct MessageRead: Codable, Sendable, Equatable {
    /// The user.
    public let userId: String
    /// The conversation.
    public let conversationId: String
    /// Up to and including this message; nil: all of it.
    public let messageId: String?
    /// Where it was read, so that the user's other devices are told.
    public let deviceId: String?

    /// Up to and including `messageId`; nil: all of the conversation.
    public init(userId: String, conversationId: String, messageId: String? = nil, deviceId: String?) {
      self.userId = userId
      self.conversationId = conversationId
      self.messageId = messageId
      self.deviceId = deviceId
    }
  }

  /// Whether a notification was worth it.
  public enum Feedback: String, Codable, Sendable {
    /// It was.
    case helpful
    /// It was not.
    case notHelpful = "not_helpful"
  }

  /// The user has judged a notification.
  public struct FeedbackSubmitted: Codable, Sendable, Equatable {
    /// The user.
    public let userId: String
    /// The message's conversation.
    public let conversationId: String
    /// The message that the notification was about.
    public let messageId: String
    /// The judgement.
    public let feedback: Feedback

    /// A judgement of the notification of a message.
    public init(userId: String, conversationId: String, messageId: String, feedback: Feedback) {
      self.userId = userId
      self.conversationId = conversationId
      self.messageId = messageId
      self.feedback = feedback
    }
  }

  /// What became of a notification.
  public enum NotificationChange: String, Sendable {
    /// It has reached the device.
    case received = "notification.received"
    /// It was tapped.
    case opened = "notification.opened"
    /// It was swiped away.
    case dismissed = "notification.dismissed"
  }

  /// The notification that something became of.
  public struct Notification: Codable, Sendable, Equatable {
    /// The user.
    public let userId: String
    /// The device it was on.
    public let deviceId: String
    /// The push it came by.
    public let pushId: String
    /// The message's conversation.
    public let conversationId: String?
    /// The message.
    public let messageId: String?
  }

  /// `notification.received` for a push that has arrived on this device.
  public static func received(_ push: PushPayload, deviceId: String, eventId: String, at now: Date) -> ClientEvent {
    let message: PushPayload.Message? = if case .message(let message) = push.content { message } else { nil }
    let notification = Notification(
      userId: push.recipientId, deviceId: deviceId, pushId: push.pushId, conversationId: message?.conversationId,
      messageId: message?.messageId)
    return ClientEvent(eventId: eventId, occurredAt: now, .notification(.received, notification))
  }
}

extension ClientEvent: Codable {
  private enum Key: String, CodingKey {
    case schemaVersion, type, eventId, occurredAt
  }

  /// Envelope and fields in one object.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(1, forKey: .schemaVersion)
    try container.encode(body.type, forKey: .type)
    try container.encode(eventId, forKey: .eventId)
    try container.encode(occurredAt, forKey: .occurredAt)
    switch body {
    case .messageCreated(let fields): try fields.encode(to: encoder)
    case .messageRead(let fields): try fields.encode(to: encoder)
    case .feedbackSubmitted(let fields): try fields.encode(to: encoder)
    case .notification(_, let fields): try fields.encode(to: encoder)
    case .userActivity(let fields): try fields.encode(to: encoder)
    case .deviceRegistered(let fields): try fields.encode(to: encoder)
    case .deviceUnregistered(let fields): try fields.encode(to: encoder)
    case .preferencesUpdated(let fields): try fields.encode(to: encoder)
    }
  }

  /// From what `encode` has written, such as an event that an app kept while it was offline.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    let version = try container.decode(Int.self, forKey: .schemaVersion)
    guard version == 1 else {
      throw DecodingError.dataCorruptedError(
        forKey: .schemaVersion, in: container, debugDescription: "schemaVersion \(version) is not known; 1 is")
    }
    eventId = try container.decode(String.self, forKey: .eventId)
    occurredAt = try container.decode(Int64.self, forKey: .occurredAt)
    let type = try container.decode(String.self, forKey: .type)
    switch type {
    case "message.created": body = .messageCreated(try MessageCreated(from: decoder))
    case "message.read": body = .messageRead(try MessageRead(from: decoder))
    case "feedback.submitted": body = .feedbackSubmitted(try FeedbackSubmitted(from: decoder))
    case "user.activity": body = .userActivity(try UserActivity(from: decoder))
    case "device.registered": body = .deviceRegistered(try DeviceRegistered(from: decoder))
    case "device.unregistered": body = .deviceUnregistered(try DeviceUnregistered(from: decoder))
    case "preferences.updated": body = .preferencesUpdated(try PreferencesUpdated(from: decoder))
    default:
      guard let change = NotificationChange(rawValue: type) else {
        throw DecodingError.dataCorruptedError(
          forKey: .type, in: container, debugDescription: "an app publishes no event of the type \"\(type)\"")
      }
      body = .notification(change, try Notification(from: decoder))
    }
  }
}
