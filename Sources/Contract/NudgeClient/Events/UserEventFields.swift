extension ClientEvent {
  /// Whether the app is in front of the user.
  public enum ActivityState: String, Codable, Sendable {
    /// The app is open.
    case foreground
    /// The app is not open; that ends the device's activity.
    case background
  }

  /// What this device shows. It replaces the device's former report, and counts for 2 minutes.
  public struct UserActivity: Codable, Sendable, Equatable {
    /// The user.
    public let userId: String
    /// The device that reports.
    public let deviceId: String
    /// Foreground or background.
    public let state: ActivityState
    /// The conversation on the screen; nil: none.
    public let conversationId: String?

    /// A report.
    public init(userId: String, deviceId: String, state: ActivityState, conversationId: String?) {
      self.userId = userId
      self.deviceId = deviceId
      self.state = state
      self.conversationId = conversationId
    }

    private enum Key: String, CodingKey {
      case userId, deviceId, state, conversationId
    }

    /// Writes the report; no conversation is written as null, as the catalogue has it.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(userId, forKey: .userId)
      try container.encode(deviceId, forKey: .deviceId)
      try container.encode(state, forKey: .state)
      try container.encode(conversationId, forKey: .conversationId)
    }
  }

  /// The device can be reached by a token, for this user from now on.
  public struct DeviceRegistered: Codable, Sendable, Equatable {
    /// Who is signed in.
    public let userId: String
    /// The device.
    public let deviceId: String
    /// FCM's registration token. A secret: it must not be logged.
    public let token: String
    /// What the device runs.
    public let platform: Device.Platform
    /// The app's version.
    public let appVersion: String?
    /// The device's language, as BCP 47.
    public let locale: String?
    /// The Firebase project of the token, where the services send for several.
    public let projectId: String?

    /// A registration of a device by its token.
    public init(userId: String, device: Device, token: String) {
      self.userId = userId
      self.deviceId = device.deviceId
      self.token = token
      self.platform = device.platform
      self.appVersion = device.appVersion
      self.locale = device.locale
      self.projectId = device.projectId
    }
  }

  /// The user has signed out on the device, or wants no notifications there.
  public struct DeviceUnregistered: Codable, Sendable, Equatable {
    /// Who was signed in.
    public let userId: String
    /// The device.
    public let deviceId: String

    /// The end of a registration.
    public init(userId: String, deviceId: String) {
      self.userId = userId
      self.deviceId = deviceId
    }
  }

  /// The user has changed how they want to be notified.
  public struct PreferencesUpdated: Codable, Sendable, Equatable {
    /// The user.
    public let userId: String
    /// What has changed; what it does not name stays.
    public let preferences: PreferencesChange

    /// A change of preferences.
    public init(userId: String, preferences: PreferencesChange) {
      self.userId = userId
      self.preferences = preferences
    }
  }
}
