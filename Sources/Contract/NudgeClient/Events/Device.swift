/// An installation of the app on a device, as the services know it.
///
/// ```swift
/// let device = Device(deviceId: storedInstallationId, platform: .ios, appVersion: "3.1", locale: "de-CH")
/// ```
public struct Device: Sendable, Equatable {
  /// The system of a device.
  public enum Platform: String, Codable, Sendable {
    /// iOS. FCM delivers through APNs.
    case ios
    /// Android.
    case android
    /// A browser, reached by FCM or by Web Push directly.
    case web
    /// An app on a desktop, reached by Web Push or UnifiedPush.
    case desktop
  }

  /// How the services reach a device.
  public enum Address: Sendable, Equatable {
    /// FCM's registration token. With keys, texts are encrypted for them. Never log the token.
    case token(String, sealing: SealingKeys? = nil)
    /// A subscription of Web Push or UnifiedPush. Never log it.
    case webPush(WebPushSubscription)
  }

  /// A subscription of Web Push, as a browser or a distributor of UnifiedPush gives it.
  public struct WebPushSubscription: Codable, Sendable, Equatable {
    /// The URL that pushes are posted to.
    public let endpoint: String
    /// The device's public key in base64url.
    public let p256dh: String
    /// The secret that device and services share, in base64url.
    public let auth: String

    /// A subscription.
    public init(endpoint: String, p256dh: String, auth: String) {
      self.endpoint = endpoint
      self.p256dh = p256dh
      self.auth = auth
    }
  }

  /// Keys of a device with a token. Texts are encrypted for them. See ``PayloadKeys``.
  public struct SealingKeys: Codable, Sendable, Equatable {
    /// The device's public key in base64url.
    public let p256dh: String
    /// The secret that device and services share, in base64url.
    public let auth: String

    /// Keys.
    public init(p256dh: String, auth: String) {
      self.p256dh = p256dh
      self.auth = auth
    }
  }

  /// The installation's id. The app creates it at its first launch and keeps it.
  public let deviceId: String
  /// The device's system.
  public let platform: Platform
  /// The app's version.
  public let appVersion: String?
  /// The device's language as a BCP 47 tag.
  public let locale: String?
  /// The Firebase project of its token, if the services send to several projects.
  public let projectId: String?
  /// Whether an Android app draws its notifications itself. It then receives only data messages, in the background too.
  public let renders: Bool

  /// An installation.
  public init(
    deviceId: String, platform: Platform, appVersion: String? = nil, locale: String? = nil, projectId: String? = nil,
    renders: Bool = false
  ) {
    self.deviceId = deviceId
    self.platform = platform
    self.appVersion = appVersion
    self.locale = locale
    self.projectId = projectId
    self.renders = renders
  }
}
