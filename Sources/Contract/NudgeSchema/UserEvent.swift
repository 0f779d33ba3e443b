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
  /// A device can be reached by a token.
  case deviceRegistered(DeviceRegistered)
  /// The person signed out on a device.
  case deviceUnregistered(DeviceUnregistered)
  /// The person said whether a notification helped.
  case feedback(FeedbackSubmitted)
  /// A device received a notification.
  case notificationReceived(NotificationReport)
  /// The person opened a notification.
  case notificationOpened(NotificationReport)
  /// The person dismissed a notification.
  case notificationDismissed(NotificationReport)
  /// The person's account is gone, and what is kept of them is erased.
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

/// `user.deleted`: erases what is kept of a person, on every topic that reaches their rows (D16). Later events of theirs are refused as
/// `user_deleted` until a later `device.registered` registers them again.
public struct UserDeleted: Codable, Sendable, Equatable {
  /// The person.
  public var userId: String

  /// The event's fields.
  public init(userId: String) { self.userId = userId }
}

/// `user.activity`: what one device shows (D1). It replaces that device's former report only.
public struct Activity: Codable, Sendable, Equatable {
  /// Whether the app is in front of the person.
  public enum State: String, NamedValue {
    /// The app is open.
    case foreground
    /// The app is not open; ends the device's activity.
    case background
    /// The app is open, and nobody is at it; ends the device's activity.
    case idle
  }
  /// The person.
  public var userId: String
  /// The device that reports.
  public var deviceId: String
  /// Foreground, background or idle.
  public var state: State
  /// The conversation that is open; nil: none.
  public var conversationId: String?
  /// When the person last touched the device, in milliseconds since the epoch; nil: the app does not say so.
  public var lastInputAt: Milliseconds?
  /// Which of several windows or tabs with one device id reports; nil: the device has one. A stream has an id of its own here.
  public var tabId: String?
  /// Whether a stream of the device is open whose client answers the banners that it shows; nil: the report is no stream's. It says nothing
  /// else then.
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

/// `message.read`: up to and including a message; never moves backwards (D7).
public struct MessageRead: Codable, Sendable, Equatable {
  /// The person.
  public var userId: String
  /// The conversation.
  public var conversationId: String
  /// The last message read; absent: all.
  public var messageId: String?
  /// The device it was read on.
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
  /// The fields that change; others stay as they are.
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
  // New cases go last: rows of state hold a platform by its place.
  /// An app on a desktop.
  case desktop
}

/// `device.registered`.
public struct DeviceRegistered: Codable, Sendable, Equatable, PushAddressed {
  /// The person signed in on the device.
  public var userId: String
  /// The device.
  public var deviceId: String
  /// FCM's registration token; nil: the device has a subscription. Never logged (T4).
  public var token: String?
  /// The subscription in place of a token.
  public var webPush: WebPushSubscription?
  /// Keys beside a token: texts go sealed.
  public var sealing: SealingKeys?
  /// The system it runs.
  public var platform: Platform
  /// The app's version.
  public var appVersion: String?
  /// The device's language, as BCP 47.
  public var locale: String?
  /// The FCM project the token belongs to; absent: the dispatcher's own.
  public var projectId: String?
  /// true: the app draws notifications itself, from data alone; counts on Android.
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

/// `device.unregistered`: sign-out.
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
    /// Right to notify.
    case helpful
    /// Wrong to notify.
    case notHelpful = "not_helpful"
  }
  /// The person.
  public var userId: String
  /// The conversation.
  public var conversationId: String
  /// The message they were notified of.
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
  /// The conversation it was about.
  public var conversationId: String?
  /// The message it was about.
  public var messageId: String?
  /// When the message was written, from `timestamp` of the push's data; in milliseconds since the epoch.
  public var sentAt: Milliseconds?
  /// true: the app has shown the message as a banner. Its push, where it still waits for this device, is not sent.
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
