/// `device.registered` on the timeline: the claim was granted.
public struct DeviceGained: Codable, Sendable, Equatable, PushAddressed {
  /// The person.
  public var userId: String
  /// The device.
  public var deviceId: String
  /// FCM's registration token; absent for a device with a subscription. Never log it (T4).
  public var token: String?
  /// The device's subscription; absent for a device with a token.
  public var webPush: WebPushSubscription?
  /// Keys of a device with a token. Texts are encrypted for them.
  public var sealing: SealingKeys?
  /// Rises with each registration of the token or endpoint. Removing a dead token applies only to an equal version
  /// (T3).
  public var version: Int64
  /// The device's system.
  public var platform: Platform
  /// The app's version.
  public var appVersion: String?
  /// The device's language.
  public var locale: String?
  /// The FCM project of the token; absent for the dispatcher's own.
  public var projectId: String?
  /// true if the app draws notifications itself, from data messages. Only Android devices have it.
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
    /// The device has registered another token.
    case tokenReplaced = "token_replaced"
    /// The token was not registered again within the token lifetime (T5).
    case expired
  }
  /// The person who loses the device.
  public var userId: String
  /// The device, as this person's registration named it.
  public var deviceId: String
  /// The hash of the lost token. Only a device row with that token is removed.
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

/// `device.invalidated`: the dispatcher reports that the push service no longer knows a token or subscription.
public struct DeviceInvalidated: Codable, Sendable, Equatable {
  /// The person.
  public var userId: String
  /// The device.
  public var deviceId: String
  /// The token's hash.
  public var tokenHash: String
  /// The version in the push. If the device has another version now, it has registered again since (T3).
  public var version: Int64
  /// The push service's error code, e.g. `UNREGISTERED`.
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

/// `push.missed`: the dispatcher reports that Nudge's own delay kept a message from a device: no request was made, or
/// the lane was full. If every device of the push misses the message, it waits for the person's catch-up.
public struct PushMissed: Codable, Sendable, Equatable {
  /// Why the push was not sent.
  public enum Cause: String, NamedValue {
    /// Its freshness ended while it waited.
    case expired
    /// The device's lane was full.
    case laneFull = "lane_full"
    /// Quiet hours began while it waited.
    case quietHours = "quiet_hours"
  }

  /// The person.
  public var userId: String
  /// The push.
  public var pushId: String
  /// The device's index among the push's targets, from 0.
  public var device: Int
  /// How many targets the push had.
  public var devices: Int
  /// The message's conversation.
  public var conversationId: String
  /// The message.
  public var messageId: String
  /// Why.
  public var cause: Cause
  /// How the notification would have appeared.
  public var presentation: Presentation
  /// How much the message matters.
  public var priority: Priority
  /// When the message was written.
  public var sentAt: Milliseconds
  /// When the push expires on every device.
  public var expiresAt: Milliseconds
  /// The sender's name.
  public var senderName: String
  /// The group's name; absent for a direct conversation or a group without a name.
  public var groupName: String?
  /// The text of the push.
  public var text: String
  /// true if the text is that of an edit.
  public var edited: Bool?
  /// The sender; absent in records of releases that did not write it.
  public var senderId: String?
  /// The URL of the sender's picture.
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
