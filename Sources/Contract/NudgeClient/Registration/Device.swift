/// An installation of the app on a device, as the services know it.
///
/// ```swift
/// let device = Device(deviceId: storedInstallationId, platform: .ios, appVersion: "3.1", locale: "de-CH")
/// ```
public struct Device: Sendable, Equatable {
  /// The system of a device.
  public enum Platform: String, Codable, Sendable {
    /// iOS; FCM delivers by APNs.
    case ios
    /// Android.
    case android
    /// A browser; FCM delivers by Web Push.
    case web
  }

  /// The installation's id. The app makes it at its first launch and keeps it.
  public let deviceId: String
  /// The device's system.
  public let platform: Platform
  /// The app's version.
  public let appVersion: String?
  /// The device's language as a BCP 47 tag.
  public let locale: String?
  /// The Firebase project of its token, if the services send for several.
  public let projectId: String?
  /// Whether the app draws its notifications itself, on Android: it then gets messages of data alone, in the background too.
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
