import ServiceKit
import WebPush

/// The settings of ingest beside those of every service.
enum IngestSettings {
  static let tokenLifetime = Setting<Duration>(
    "token-lifetime", default: .seconds(270 * 86_400), in: .seconds(86_400)...(.seconds(3_650 * 86_400)),
    help: "A token not registered for this long is dropped, as FCM does. Give the analyzer the same value.")

  /// In the order of the help.
  static let all: [any AnySetting] = [tokenLifetime] + WebPushSettings.all + APISettings.all
}
