public import Foundation

/// An event that an app publishes by `POST /v1/events` or through its own backend: an envelope (`schemaVersion` 1, `type`,
/// `eventId`, `occurredAt` in milliseconds since the epoch) and the fields of its type.
///
/// ```swift
/// let event = ClientEvent.received(push, deviceId: deviceId, eventId: UUID().uuidString, at: Date())
/// var request = URLRequest(url: URL(string: "https://nudge.example/v1/events")!)
/// request.httpMethod = "POST"
/// request.setValue("Bearer \(jwt)", forHTTPHeaderField: "Authorization")
/// request.setValue("application/json", forHTTPHeaderField: "Content-Type")
/// request.httpBody = try JSONEncoder().encode(event)
/// ```
public struct ClientEvent: Sendable, Equatable {
  /// The event's id, 1 to 128 characters: the same on a retry, and unique among the user's events.
  public let eventId: String
  /// When the event happened, in milliseconds since the epoch.
  public let occurredAt: Int64
  /// The event's type and fields.
  public let body: Body

  /// An event with its id and time.
  public init(eventId: String, occurredAt: Date, _ body: Body) {
    self.eventId = eventId
    self.occurredAt = Int64((occurredAt.timeIntervalSince1970 * 1_000).rounded())
    self.body = body
  }

  /// A type of event with its fields.
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

  /// The user wrote a message.
  public struct MessageCreated: Codable, Sendable, Equatable {
    /// The conversation.
    public let conversationId: String
    /// The new message's id, which the app chooses.
    public let messageId: String
    /// The signed-in user.
    public let senderId: String
    /// The text.
    public let text: String
    /// The message it replies to; nil if it is not a reply.
    public let replyTo: String?

    /// A message of the signed-in user.
    public init(conversationId: String, messageId: String, senderId: String, text: String, replyTo: String? = nil) {
      self.conversationId = conversationId
      self.messageId = messageId
      self.senderId = senderId
      self.text = text
      self.replyTo = replyTo
    }
  }

  /// The user read a conversation.
  public struct MessageRead: Codable, Sendable, Equatable {
    /// The user.
    public let userId: String
    /// The conversation.
    public let conversationId: String
    /// The last message read; nil for the whole conversation at the event's time.
    public let messageId: String?
    /// The device on which the user read. The services push the new badge to the other devices only.
    public let deviceId: String?

    /// A conversation read up to and including `messageId`, or the whole conversation if that is nil.
    public init(userId: String, conversationId: String, messageId: String? = nil, deviceId: String?) {
      self.userId = userId
      self.conversationId = conversationId
      self.messageId = messageId
      self.deviceId = deviceId
    }
  }

  /// The user's judgement of a notification.
  public enum Feedback: String, Codable, Sendable {
    /// The notification was helpful.
    case helpful
    /// The notification was not helpful.
    case notHelpful = "not_helpful"
  }

  /// The user judged a notification.
  public struct FeedbackSubmitted: Codable, Sendable, Equatable {
    /// The user.
    public let userId: String
    /// The message's conversation.
    public let conversationId: String
    /// The message of the notification.
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

  /// A change in the life of a notification.
  public enum NotificationChange: String, Sendable {
    /// The push reached the device.
    case received = "notification.received"
    /// The user tapped the notification.
    case opened = "notification.opened"
    /// The user dismissed the notification.
    case dismissed = "notification.dismissed"
  }

  /// The notification that changed.
  public struct Notification: Codable, Sendable, Equatable {
    /// The user.
    public let userId: String
    /// The device that showed it.
    public let deviceId: String
    /// The push that brought it.
    public let pushId: String
    /// The conversation of its message; nil if the push shows no message.
    public let conversationId: String?
    /// Its message; nil if the push shows no message.
    public let messageId: String?
    /// When the message was sent, to the second, in milliseconds since the epoch; nil if the push has no time.
    public let sentAt: Int64?
    /// true if the app has shown the message as a banner; nil if the push brought it.
    public let banner: Bool?

    /// A banner that the app has shown; nil if its message has no push.
    init?(_ shown: InAppBanner, deviceId: String) {
      guard let pushId = shown.pushId else { return nil }
      userId = shown.userId
      self.deviceId = deviceId
      self.pushId = pushId
      conversationId = shown.conversationId
      messageId = shown.messageId
      sentAt = shown.occurredAt
      banner = true
    }

    /// A notification of this push, without conversation and message if the push shows no message.
    init(_ push: PushPayload, _ message: PushPayload.Message?, userId: String, deviceId: String) {
      self.userId = userId
      self.deviceId = deviceId
      pushId = push.pushId
      conversationId = message?.conversationId
      messageId = message?.messageId
      sentAt = push.timestamp.map { Int64($0.timeIntervalSince1970 * 1_000) }
      banner = nil
    }
  }

  /// The event `notification.received` for a push that reached this device. `ReceiptQueue` creates and publishes it,
  /// several in one request.
  public static func received(_ push: PushPayload, deviceId: String, eventId: String, at now: Date) -> ClientEvent {
    let message: PushPayload.Message? = if case .message(let message) = push.content { message } else { nil }
    return ClientEvent(
      eventId: eventId, occurredAt: now,
      .notification(.received, Notification(push, message, userId: push.recipientId, deviceId: deviceId)))
  }
}

extension ClientEvent: Codable {
  private enum Key: String, CodingKey {
    case schemaVersion, type, eventId, occurredAt
  }

  /// Encodes envelope and fields into one object.
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

  /// Decodes what `encode(to:)` wrote, such as an event that the app kept while it was offline.
  /// - Throws: `DecodingError` for a `schemaVersion` or type that this module does not know.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    let version = try container.decode(Int.self, forKey: .schemaVersion)
    guard version == 1 else {
      throw DecodingError.dataCorruptedError(
        forKey: .schemaVersion, in: container, debugDescription: "schemaVersion \(version) is not supported; 1 is")
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

extension ClientEvent {
  /// Whether the app is in the foreground.
  public enum ActivityState: String, Codable, Sendable {
    /// The app is in the foreground.
    case foreground
    /// The app is in the background. Such a report ends the device's activity.
    case background
    /// The app is open, but nobody uses the device.
    case idle
  }

  /// A report of what this device shows. It replaces the device's former report and is valid for 2 minutes.
  public struct UserActivity: Codable, Sendable, Equatable {
    /// The user.
    public let userId: String
    /// The reporting device.
    public let deviceId: String
    /// Foreground, background or idle.
    public let state: ActivityState
    /// The conversation on the screen; nil if none is.
    public let conversationId: String?
    /// When the user last touched the device, in milliseconds since the epoch; nil if the app does not know.
    public let lastInputAt: Int64?

    /// A report.
    public init(
      userId: String, deviceId: String, state: ActivityState, conversationId: String?, lastInputAt: Date? = nil
    ) {
      self.userId = userId
      self.deviceId = deviceId
      self.state = state
      self.conversationId = conversationId
      self.lastInputAt = lastInputAt.map { Int64(($0.timeIntervalSince1970 * 1_000).rounded()) }
    }

    private enum Key: String, CodingKey {
      case userId, deviceId, state, conversationId, lastInputAt
    }

    /// Encodes the report. A conversation that is nil is encoded as null.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(userId, forKey: .userId)
      try container.encode(deviceId, forKey: .deviceId)
      try container.encode(state, forKey: .state)
      try container.encode(conversationId, forKey: .conversationId)
      try container.encodeIfPresent(lastInputAt, forKey: .lastInputAt)
    }
  }

  /// From now on the device belongs to this user, and this token or subscription reaches it.
  public struct DeviceRegistered: Codable, Sendable, Equatable {
    /// The signed-in user.
    public let userId: String
    /// The device.
    public let deviceId: String
    /// FCM's registration token; nil for a device with a subscription. Never log it.
    public let token: String?
    /// The device's subscription; nil for a device with a token. Never log it.
    public let webPush: Device.WebPushSubscription?
    /// Keys of a device with a token. Texts are encrypted for them.
    public let sealing: Device.SealingKeys?
    /// The device's system.
    public let platform: Device.Platform
    /// The app's version.
    public let appVersion: String?
    /// The device's language as a BCP 47 tag.
    public let locale: String?
    /// The Firebase project of the token, if the services send to several projects.
    public let projectId: String?
    /// True if an Android app draws its notifications itself; nil otherwise.
    public let renders: Bool?

    /// A registration of a device and its token.
    public init(userId: String, device: Device, token: String) {
      self.init(userId: userId, device: device, address: .token(token))
    }

    /// A registration of a device and of how it is reached.
    public init(userId: String, device: Device, address: Device.Address) {
      self.userId = userId
      self.deviceId = device.deviceId
      switch address {
      case .token(let token, let sealing):
        (self.token, self.sealing, webPush) = (token, sealing, nil)
        self.projectId = device.projectId
      case .webPush(let subscription):
        (token, sealing, webPush) = (nil, nil, subscription)
        self.projectId = nil
      }
      self.platform = device.platform
      self.appVersion = device.appVersion
      self.locale = device.locale
      self.renders = device.renders ? true : nil
    }
  }

  /// The user signed out on the device, or denied notifications there.
  public struct DeviceUnregistered: Codable, Sendable, Equatable {
    /// The user who was signed in.
    public let userId: String
    /// The device.
    public let deviceId: String

    /// The end of a registration.
    public init(userId: String, deviceId: String) {
      self.userId = userId
      self.deviceId = deviceId
    }
  }

  /// The user changed their notification preferences.
  public struct PreferencesUpdated: Codable, Sendable, Equatable {
    /// The user.
    public let userId: String
    /// The fields that changed; others stay as they are.
    public let preferences: PreferencesChange

    /// A change of preferences.
    public init(userId: String, preferences: PreferencesChange) {
      self.userId = userId
      self.preferences = preferences
    }
  }
}
