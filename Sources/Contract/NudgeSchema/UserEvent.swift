/// A record of `user.events`.
public typealias UserEvent = Event<UserEventBody>

/// An action of a person or one of their devices.
public enum UserEventBody: EventBody {
  /// A device came to the foreground, went to the background, or opened another conversation.
  case activity(Activity)
  /// The person has read up to a message.
  case read(MessageRead)
  /// The person changed how they want to be notified.
  case preferences(PreferencesUpdated)
  /// A device registered its token or subscription.
  case deviceRegistered(DeviceRegistered)
  /// The person signed out on a device.
  case deviceUnregistered(DeviceUnregistered)
  /// The person judged whether a notification was helpful.
  case feedback(FeedbackSubmitted)
  /// A device received a notification.
  case notificationReceived(NotificationReport)
  /// The person opened a notification.
  case notificationOpened(NotificationReport)
  /// The person dismissed a notification.
  case notificationDismissed(NotificationReport)
  /// The person's account was deleted, and what is kept of them is erased.
  case deleted(UserDeleted)

  /// The types of this body, by their names on the wire.
  public static let types: [EventType] = [
    .userActivity, .messageRead, .preferencesUpdated, .deviceRegistered, .deviceUnregistered,
    .feedbackSubmitted, .notificationReceived, .notificationOpened, .notificationDismissed, .userDeleted,
  ]

  /// The type's name on the wire.
  public var type: EventType {
    switch self {
    case .activity: .userActivity
    case .read: .messageRead
    case .preferences: .preferencesUpdated
    case .deviceRegistered: .deviceRegistered
    case .deviceUnregistered: .deviceUnregistered
    case .feedback: .feedbackSubmitted
    case .notificationReceived: .notificationReceived
    case .notificationOpened: .notificationOpened
    case .notificationDismissed: .notificationDismissed
    case .deleted: .userDeleted
    }
  }

  /// The record's key.
  public var userId: String {
    switch self {
    case .activity(let fields): fields.userId
    case .read(let fields): fields.userId
    case .preferences(let fields): fields.userId
    case .deviceRegistered(let fields): fields.userId
    case .deviceUnregistered(let fields): fields.userId
    case .feedback(let fields): fields.userId
    case .notificationReceived(let fields), .notificationOpened(let fields), .notificationDismissed(let fields):
      fields.userId
    case .deleted(let fields): fields.userId
    }
  }

  /// Reads the fields of `type`. Throws `EventFormatError.unknownType` for one that is not in `types`.
  public init(type: EventType, from decoder: any Decoder) throws {
    switch type {
    case .userActivity: self = .activity(try Activity(from: decoder))
    case .messageRead: self = .read(try MessageRead(from: decoder))
    case .preferencesUpdated: self = .preferences(try PreferencesUpdated(from: decoder))
    case .deviceRegistered: self = .deviceRegistered(try DeviceRegistered(from: decoder))
    case .deviceUnregistered: self = .deviceUnregistered(try DeviceUnregistered(from: decoder))
    case .feedbackSubmitted: self = .feedback(try FeedbackSubmitted(from: decoder))
    case .notificationReceived: self = .notificationReceived(try NotificationReport(from: decoder))
    case .notificationOpened: self = .notificationOpened(try NotificationReport(from: decoder))
    case .notificationDismissed: self = .notificationDismissed(try NotificationReport(from: decoder))
    case .userDeleted: self = .deleted(try UserDeleted(from: decoder))
    default: throw EventFormatError.unknownType(type.rawValue, of: Self.types)
    }
  }

  /// Writes the fields beside the envelope's.
  public func encodeFields(to encoder: any Encoder) throws {
    switch self {
    case .activity(let fields): try fields.encode(to: encoder)
    case .read(let fields): try fields.encode(to: encoder)
    case .preferences(let fields): try fields.encode(to: encoder)
    case .deviceRegistered(let fields): try fields.encode(to: encoder)
    case .deviceUnregistered(let fields): try fields.encode(to: encoder)
    case .feedback(let fields): try fields.encode(to: encoder)
    case .notificationReceived(let fields), .notificationOpened(let fields), .notificationDismissed(let fields):
      try fields.encode(to: encoder)
    case .deleted(let fields): try fields.encode(to: encoder)
    }
  }
}

/// `user.deleted`: erases what is kept of a person, on every topic that reaches their rows (D16). Their later events
/// are refused as `user_deleted` until a later `device.registered`.
public struct UserDeleted: Codable, Sendable, Equatable {
  /// The person.
  public var userId: String

  /// The event's fields.
  public init(userId: String) { self.userId = userId }
}

/// `user.activity`: what one device shows (D1). It replaces only that device's former report.
public struct Activity: Codable, Sendable, Equatable {
  /// Whether the person uses the app.
  public enum State: String, NamedValue {
    /// The app is open.
    case foreground
    /// The app is not open. This ends the device's activity.
    case background
    /// The app is open, but nobody uses it. This ends the device's activity.
    case idle
  }
  /// The person.
  public var userId: String
  /// The reporting device.
  public var deviceId: String
  /// Foreground, background or idle.
  public var state: State
  /// The open conversation; absent if none is.
  public var conversationId: String?
  /// When the person last touched the device, in milliseconds since the epoch. Absent if the app does not report it.
  public var lastInputAt: Milliseconds?
  /// The window or tab that reports, if several have the same device id. Absent for a device with one window. A stream
  /// has its own id here.
  public var tabId: String?
  /// Only of a stream's report, which says nothing else: whether the device has an open stream whose client answers the
  /// banners that it shows.
  public var live: Bool?

  /// The event's fields.
  public init(
    userId: String, deviceId: String, state: State, conversationId: String? = nil, lastInputAt: Milliseconds? = nil,
    tabId: String? = nil, live: Bool? = nil
  ) {
    self.userId = userId
    self.deviceId = deviceId
    self.state = state
    self.conversationId = conversationId
    self.lastInputAt = lastInputAt
    self.tabId = tabId
    self.live = live
  }

  private enum CodingKeys: String, CodingKey { case userId, deviceId, state, conversationId, lastInputAt, tabId, live }

  /// Reads the value; fields it does not know are ignored.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    userId = try fields.decode(String.self, forKey: .userId)
    deviceId = try fields.decode(String.self, forKey: .deviceId)
    state = try fields.decode(State.self, forKey: .state)
    conversationId = try fields.decodeIfPresent(String.self, forKey: .conversationId)
    lastInputAt = try fields.decodeTimeIfPresent(forKey: .lastInputAt)
    tabId = try fields.decodeIfPresent(String.self, forKey: .tabId)
    live = try fields.decodeIfPresent(Bool.self, forKey: .live)
  }
}

/// `message.read`: the person has read up to and including a message. The read position never moves backwards (D7).
public struct MessageRead: Codable, Sendable, Equatable {
  /// The person.
  public var userId: String
  /// The conversation.
  public var conversationId: String
  /// The last message read; absent if the whole conversation was read.
  public var messageId: String?
  /// The device on which it was read.
  public var deviceId: String?

  /// The event's fields.
  public init(userId: String, conversationId: String, messageId: String? = nil, deviceId: String? = nil) {
    self.userId = userId
    self.conversationId = conversationId
    self.messageId = messageId
    self.deviceId = deviceId
  }
}

/// `preferences.updated`.
public struct PreferencesUpdated: Codable, Sendable, Equatable {
  /// The person.
  public var userId: String
  /// The fields that change. The others stay as they are.
  public var preferences: PreferencesPatch

  /// The event's fields.
  public init(userId: String, preferences: PreferencesPatch) {
    self.userId = userId
    self.preferences = preferences
  }
}

/// The system a device runs.
public enum Platform: String, NamedValue {
  /// Apple's phones and tablets, reached through APNs.
  case ios
  /// Android.
  case android
  /// A browser, reached by Web Push.
  case web
  // Add new cases at the end: rows of state store a platform as its index.
  /// An app on a desktop.
  case desktop
}

/// `device.registered`.
public struct DeviceRegistered: Codable, Sendable, Equatable, PushAddressed {
  /// The person who is signed in on the device.
  public var userId: String
  /// The device.
  public var deviceId: String
  /// FCM's registration token; absent for a device with a subscription. Never log it (T4).
  public var token: String?
  /// The device's subscription; absent for a device with a token.
  public var webPush: WebPushSubscription?
  /// Keys of a device with a token. Texts are encrypted for them.
  public var sealing: SealingKeys?
  /// The device's system.
  public var platform: Platform
  /// The app's version.
  public var appVersion: String?
  /// The device's language as a BCP 47 tag.
  public var locale: String?
  /// The FCM project of the token; absent for the dispatcher's own.
  public var projectId: String?
  /// true if the app draws notifications itself, from data messages. Counts only on Android.
  public var renders: Bool?

  /// The event's fields.
  public init(
    userId: String, deviceId: String, token: String? = nil, webPush: WebPushSubscription? = nil,
    sealing: SealingKeys? = nil, platform: Platform, appVersion: String? = nil, locale: String? = nil,
    projectId: String? = nil, renders: Bool? = nil
  ) {
    self.userId = userId
    self.deviceId = deviceId
    self.token = token
    self.webPush = webPush
    self.sealing = sealing
    self.platform = platform
    self.appVersion = appVersion
    self.locale = locale
    self.projectId = projectId
    self.renders = renders
  }
}

extension DeviceRegistered {
  private enum CodingKeys: String, CodingKey {
    case userId, deviceId, token, webPush, sealing, platform, appVersion, locale, projectId, renders
  }

  /// Reads the value; fields it does not know are ignored.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      userId: try fields.decode(String.self, forKey: .userId),
      deviceId: try fields.decode(String.self, forKey: .deviceId),
      token: try fields.decodeIfPresent(String.self, forKey: .token),
      webPush: try fields.decodeIfPresent(WebPushSubscription.self, forKey: .webPush),
      sealing: try fields.decodeIfPresent(SealingKeys.self, forKey: .sealing),
      platform: try fields.decode(Platform.self, forKey: .platform),
      appVersion: try fields.cosmeticText(.appVersion), locale: try fields.cosmeticText(.locale),
      projectId: try fields.decodeIfPresent(String.self, forKey: .projectId),
      renders: try fields.decodeIfPresent(Bool.self, forKey: .renders))
  }
}

/// `device.unregistered`: the person signed out on a device.
public struct DeviceUnregistered: Codable, Sendable, Equatable {
  /// The person.
  public var userId: String
  /// The device.
  public var deviceId: String

  /// The event's fields.
  public init(userId: String, deviceId: String) {
    self.userId = userId
    self.deviceId = deviceId
  }
}

/// `feedback.submitted`.
public struct FeedbackSubmitted: Codable, Sendable, Equatable {
  /// The person's verdict on a notification.
  public enum Verdict: String, NamedValue {
    /// The notification was right.
    case helpful
    /// The notification was wrong.
    case notHelpful = "not_helpful"
  }
  /// The person.
  public var userId: String
  /// The conversation.
  public var conversationId: String
  /// The message of the notification.
  public var messageId: String
  /// The verdict.
  public var feedback: Verdict

  /// The event's fields.
  public init(userId: String, conversationId: String, messageId: String, feedback: Verdict) {
    self.userId = userId
    self.conversationId = conversationId
    self.messageId = messageId
    self.feedback = feedback
  }
}

/// `notification.received`, `notification.opened`, `notification.dismissed`.
public struct NotificationReport: Codable, Sendable, Equatable {
  /// The person.
  public var userId: String
  /// The device.
  public var deviceId: String
  /// The push.
  public var pushId: String
  /// The conversation of its message.
  public var conversationId: String?
  /// The message.
  public var messageId: String?
  /// When the message was written, from `timestamp` of the push's data; in milliseconds since the epoch.
  public var sentAt: Milliseconds?
  /// true if the app has shown the message as a banner. If its push still waits for this device, it is not sent.
  public var banner: Bool?

  /// The event's fields.
  public init(
    userId: String, deviceId: String, pushId: String, conversationId: String? = nil, messageId: String? = nil,
    sentAt: Milliseconds? = nil, banner: Bool? = nil
  ) {
    self.userId = userId
    self.deviceId = deviceId
    self.pushId = pushId
    self.conversationId = conversationId
    self.messageId = messageId
    self.sentAt = sentAt
    self.banner = banner
  }
}
