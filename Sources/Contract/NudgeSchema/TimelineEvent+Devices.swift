/// `device.registered` on the timeline: the claim was granted.
public struct DeviceGained: Codable, Sendable, Equatable, PushAddressed {
  /// The person.
  public var userId: String
  /// The device.
  public var deviceId: String
  /// FCM's registration token; nil: the device has a subscription. Never logged (T4).
  public var token: String?
  /// The subscription in place of a token.
  public var webPush: WebPushSubscription?
  /// Keys beside a token: texts go sealed.
  public var sealing: SealingKeys?
  /// Rises with each registration of the token or endpoint; a prune applies to an equal version only (T3).
  public var version: Int64
  /// The system it runs.
  public var platform: Platform
  /// The app's version.
  public var appVersion: String?
  /// The device's language.
  public var locale: String?
  /// The FCM project of the token.
  public var projectId: String?
  /// true: the app draws notifications itself, from data alone; counts on Android.
  public var renders: Bool?

  /// The event's fields.
  public init(
    userId: String, deviceId: String, token: String? = nil, webPush: WebPushSubscription? = nil,
    sealing: SealingKeys? = nil, version: Int64, platform: Platform, appVersion: String? = nil, locale: String? = nil,
    projectId: String? = nil, renders: Bool? = nil
  ) {
    self.userId = userId
    self.deviceId = deviceId
    self.token = token
    self.webPush = webPush
    self.sealing = sealing
    self.version = version
    self.platform = platform
    self.appVersion = appVersion
    self.locale = locale
    self.projectId = projectId
    self.renders = renders
  }
}

/// `device.unregistered` on the timeline.
public struct DeviceLost: Codable, Sendable, Equatable {
  /// Why.
  public enum Cause: String, NamedValue {
    /// The person signed out.
    case signedOut = "signed_out"
    /// The token now belongs to somebody else.
    case claimedElsewhere = "claimed_elsewhere"
    /// The device has a newer token.
    case tokenReplaced = "token_replaced"
    /// The token was not registered for the token lifetime (T5).
    case expired
  }
  /// The person who loses it.
  public var userId: String
  /// The device, as this person's registration named it.
  public var deviceId: String
  /// The hash of the token that is lost; only a device row with that token is removed.
  public var tokenHash: String
  /// The claim's version.
  public var version: Int64
  /// Why.
  public var cause: Cause

  /// The event's fields.
  public init(userId: String, deviceId: String, tokenHash: String, version: Int64, cause: Cause) {
    self.userId = userId
    self.deviceId = deviceId
    self.tokenHash = tokenHash
    self.version = version
    self.cause = cause
  }
}

/// `device.invalidated`: from the dispatcher, when the push service says a token or subscription is gone.
public struct DeviceInvalidated: Codable, Sendable, Equatable {
  /// The person.
  public var userId: String
  /// The device.
  public var deviceId: String
  /// The token's hash.
  public var tokenHash: String
  /// The version the push carried: another version now means it was registered again since (T3).
  public var version: Int64
  /// FCM's error code, e.g. `UNREGISTERED`.
  public var code: String

  /// The event's fields.
  public init(userId: String, deviceId: String, tokenHash: String, version: Int64, code: String) {
    self.userId = userId
    self.deviceId = deviceId
    self.tokenHash = tokenHash
    self.version = version
    self.code = code
  }
}

/// `push.missed`: from the dispatcher, when Nudge's own lateness kept a message from a device. No request was made for it, or its lane
/// was full. Where all devices of the push miss it, it waits for the person's catch-up.
public struct PushMissed: Codable, Sendable, Equatable {
  /// Why the push was not sent.
  public enum Cause: String, NamedValue {
    /// Its freshness ended while it waited.
    case expired
    /// More pushes waited for the device than its lane takes.
    case laneFull = "lane_full"
    /// It waited until quiet hours began.
    case quietHours = "quiet_hours"
  }

  /// The person.
  public var userId: String
  /// The push.
  public var pushId: String
  /// The device's place among the push's targets, from 0.
  public var device: Int
  /// How many targets the push had.
  public var devices: Int
  /// The message's conversation.
  public var conversationId: String
  /// The message.
  public var messageId: String
  /// Why.
  public var cause: Cause
  /// How it would have appeared.
  public var presentation: Presentation
  /// How much it matters.
  public var priority: Priority
  /// When the message was written.
  public var sentAt: Milliseconds
  /// When the push ends on every device.
  public var expiresAt: Milliseconds
  /// The sender's name.
  public var senderName: String
  /// The group's name; nil: the conversation is direct, or the group has none.
  public var groupName: String?
  /// The content of the push.
  public var text: String
  /// The text is that of an edit.
  public var edited: Bool?
  /// The sender; absent in records of releases that did not write it.
  public var senderId: String?
  /// Where the sender's picture is.
  public var avatarUrl: String?

  /// The event's fields.
  public init(
    userId: String, pushId: String, device: Int, devices: Int, conversationId: String, messageId: String, cause: Cause,
    presentation: Presentation, priority: Priority, sentAt: Milliseconds, expiresAt: Milliseconds, senderName: String,
    groupName: String? = nil, text: String, edited: Bool? = nil, senderId: String? = nil, avatarUrl: String? = nil
  ) {
    self.userId = userId
    self.pushId = pushId
    self.device = device
    self.devices = devices
    self.conversationId = conversationId
    self.messageId = messageId
    self.cause = cause
    self.presentation = presentation
    self.priority = priority
    self.sentAt = sentAt
    self.expiresAt = expiresAt
    self.senderName = senderName
    self.groupName = groupName
    self.text = text
    self.edited = edited
    self.senderId = senderId
    self.avatarUrl = avatarUrl
  }
}
