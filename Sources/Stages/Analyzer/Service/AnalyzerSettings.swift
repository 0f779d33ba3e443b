public import ServiceKit

/// What the analyzer can be told beside what every service is. All instances of a deployment must be told the same.
public enum AnalyzerSettings {
  /// How long FCM keeps a push (P2).
  static let pushLifetime = Setting<Duration>(
    "push-ttl", default: .seconds(28 * 86_400), in: .zero...(.seconds(28 * 86_400)),
    help: "How long FCM keeps a push for a device that is off; whole seconds.")

  /// When a token is dropped (T5).
  static let tokenLifetime = Setting<Duration>(
    "token-lifetime", default: .seconds(270 * 86_400), in: .seconds(86_400)...(.seconds(3_650 * 86_400)),
    help: "A device that did not register for so long is dropped, as FCM does.")

  /// The limit of who set none (D4).
  static let analysesPerHour = Setting<Int>(
    "analyses-per-hour", default: 10, in: 0...1_000,
    help: "Smart analyses in an hour for a person who set no limit.")

  /// The rules past the limit (D5).
  static let simpleRules = Setting<String?>(
    "simple-rules", default: nil, placeholder: "FILE",
    help:
      "JSON file with the rules for messages past a person's hourly limit, read again when it changes and on SIGHUP. "
      + "Default: the standard rules.")

  /// All of them, in the order of the help.
  public static let all: [any AnySetting] = [pushLifetime, tokenLifetime, analysesPerHour, simpleRules]

  /// The rules that the settings make.
  public static func rules(from values: SettingsValues) -> AnalyzerRules {
    var rules = AnalyzerRules(hash: { SHA256Digest.of($0) })
    rules.freshness = values[ServiceSettings.freshness].milliseconds
    rules.ttlSeconds = Int(values[pushLifetime].milliseconds / 1_000)
    rules.tokenLifetime = values[tokenLifetime].milliseconds
    rules.analysesPerHour = values[analysesPerHour]
    return rules
  }
}
