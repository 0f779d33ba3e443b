import OTLP
public import ServiceKit
import StreamRuntime

/// The analyzer process, built from its settings: stream threads and the services around them.
public enum AnalyzerService {
  /// Settings, help, parts and checks.
  public static let assembly = ServiceAssembly(
    name: "analyzer",
    abstract: "Reads each person's timeline and decides, message by message, whether and how they are notified.",
    settings: AnalyzerSettings.all,
    examples: [
      "nudge-analyzer --bootstrap-servers kafka:9092 --state-dir /var/lib/nudge --instance analyzer-0",
      "nudge-analyzer --bootstrap-servers kafka:9092 --check",
    ],
    build: parts)

  private static func parts(_ context: ServiceContext) throws -> ServiceParts {
    let rules = try AnalyzerSettings.rules(from: context.values)
    var file: PolicyFile?
    if let (path, content) = try AnalyzerSettings.policyFile(from: context.values) {
      file = try PolicyFile(
        path: path, content, defaults: AnalyzerSettings.defaults(from: context.values), hash: rules.hash,
        logger: context.logger.with(label: "analyzer.policy"))
    }
    let telemetry = try Telemetry(context)
    let spans = telemetry.spans
    let streams = StreamService(
      .init(settings: context.settings), logger: context.logger, health: context.health, metrics: context.metrics,
      spans: spans, policy: file.map { file in { file.current } },
      makeStage: { AnalyzerStage(rules: rules) })
    return ServiceParts(
      services: telemetry.services + [file, streams], checks: [file?.check, streams.topicCheck])
  }
}

/// The analyzer's settings besides those of every service. All instances of a deployment must have the same values.
public enum AnalyzerSettings {
  /// How long FCM stores a push (P2).
  static let pushLifetime = Setting<Duration>(
    "push-ttl", default: .seconds(28 * 86_400), in: .zero...(.seconds(28 * 86_400)),
    help: "How long FCM keeps a push for a device that is off; whole seconds.")

  /// When a token is dropped (T5).
  static let tokenLifetime = Setting<Duration>(
    "token-lifetime", default: .seconds(270 * 86_400), in: .seconds(86_400)...(.seconds(3_650 * 86_400)),
    help: "A device that is inactive for this long is dropped, as FCM does.")

  /// The hourly limit of people who have not set one (D4).
  static let analysesPerHour = Setting<Int>(
    "analyses-per-hour", default: 10, in: 0...1_000,
    help:
      "Smart analyses an hour for a person who has set no limit. The policy overrides it.")

  /// The operator's policy (D15).
  public static let policy = Setting<String?>(
    "policy", default: nil, placeholder: "FILE",
    help:
      "JSON file with the operator's policy: default levels, thresholds, limits, urgent words, simple rules. It is read again "
      + "when it changes and on SIGHUP. Default: the standard policy (nudge policy show).")

  /// Simple rules without a policy (D5).
  static let simpleRules = Setting<String?>(
    "simple-rules", default: nil, placeholder: "FILE",
    help:
      "JSON file with simple rules only, in place of --policy. Read again when it changes and on SIGHUP.")

  /// All settings, in the order of the help.
  public static let all: [any AnySetting] = [pushLifetime, tokenLifetime, analysesPerHour, policy, simpleRules]

  /// The rules for these settings, with the policy or the simple rules from their file.
  ///
  /// - Throws: `SettingsError` if both files are given, or one cannot be used.
  public static func rules(from values: SettingsValues) throws(SettingsError) -> AnalyzerRules {
    var rules = AnalyzerRules(hash: { SHA256Digest.of($0) })
    rules.ttlSeconds = Int(values[pushLifetime].milliseconds / 1_000)
    rules.tokenLifetime = values[tokenLifetime].milliseconds
    var policy = defaults(from: values)
    if let (path, content) = try policyFile(from: values) {
      do {
        policy = try content.policy(try FileContent.read(path), policy)
      } catch {
        throw SettingsError("\(content.flag) \(path): \(error)")
      }
    }
    rules.policy = policy
    return rules
  }

  /// The policy values that apply unless a file sets others.
  static func defaults(from values: SettingsValues) -> NotificationPolicy {
    var policy = NotificationPolicy()
    policy.freshness = values[ServiceSettings.freshness].milliseconds
    policy.analysesPerHour = values[analysesPerHour]
    return policy
  }

  /// The file that the settings name as the policy.
  static func policyFile(from values: SettingsValues) throws(SettingsError) -> (
    path: String, content: PolicyFile.Content
  )? {
    switch (values[policy], values[simpleRules]) {
    case (let path?, nil): return (path, .policy)
    case (nil, let path?): return (path, .simpleRules)
    case (nil, nil): return nil
    case (_?, _?):
      throw SettingsError("--policy and --simple-rules: give one; a policy has simple rules of its own (simpleRules)")
    }
  }
}
