import ServiceKit
import WebPush

/// The settings of ingest beside those of every service.
enum IngestSettings {
  static let tokenLifetime = Setting<Duration>(
    "token-lifetime", default: .seconds(270 * 86_400), in: .seconds(86_400)...(.seconds(3_650 * 86_400)),
    help: "A token not registered for this long is dropped, as FCM does. Give the analyzer the same value.")

  static let schemaRegistryFrame = Setting<SchemaRegistryFrame>(
    "schema-registry-frame", default: .refuse,
    help:
      "Values that begin with the frame of Confluent's schema registry (0x00 and a schema id): refuse them, or skip the frame and read the JSON behind it."
  )

  /// In the order of the help.
  static let all: [any AnySetting] = [tokenLifetime, schemaRegistryFrame] + WebPushSettings.all + APISettings.all
}
