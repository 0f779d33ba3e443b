public import Foundation

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
