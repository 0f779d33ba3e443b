/// The installation of the app on a device, as the services know it.
public struct Device: Sendable, Equatable {
  /// What a device runs.
  public enum Platform: String, Codable, Sendable {
    /// iOS, through APNs.
    case ios
    /// Android.
    case android
    /// A browser, through Web Push.
    case web
  }

  /// The id of the installation: made once when the app is first launched, and kept.
  public let deviceId: String
  /// What it runs.
  public let platform: Platform
  /// The app's version.
  public let appVersion: String?
  /// The device's language, as BCP 47.
  public let locale: String?
  /// The Firebase project of its token, where the services send for several.
  public let projectId: String?

  /// An installation.
  public init(
    deviceId: String, platform: Platform, appVersion: String? = nil, locale: String? = nil, projectId: String? = nil
  ) {
    self.deviceId = deviceId
    self.platform = platform
    self.appVersion = appVersion
    self.locale = locale
    self.projectId = projectId
  }
}
