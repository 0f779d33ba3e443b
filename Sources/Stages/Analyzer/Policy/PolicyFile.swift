import ServiceKit
import Synchronization

/// The policy in force: the one of a file, which is read again when it changes and on SIGHUP.
///
/// A file that cannot be used is logged, and the former policy stays in force. Instances read the file independently, so
/// for about a second they may decide by different versions; each decision names its own.
final class PolicyFile: ReloadingService {
  let name = "policy"

  /// The content of the file.
  enum Content: Sendable {
    /// A whole policy, `--policy`.
    case policy
    /// Simple rules alone, `--simple-rules`.
    case simpleRules
  }

  private struct State {
    var file: WatchedFile
    var current: PolicyVersion
  }
  private let state: Mutex<State>
  private let timer = RepeatingTimer("nudge.policy", every: PolicyFile.interval)
  private let content: Content
  /// The values of fields that the file does not name.
  private let defaults: NotificationPolicy
  private let hash: @Sendable ([UInt8]) -> [UInt8]
  private let logger: Logger

  /// How often the file is looked at.
  private static let interval: Duration = .seconds(1)

  /// Reads the file.
  /// - Throws: `SettingsError` that says what is wrong with it.
  init(
    path: String, _ content: Content, defaults: NotificationPolicy, hash: @escaping @Sendable ([UInt8]) -> [UInt8],
    logger: Logger
  ) throws(SettingsError) {
    self.content = content
    self.defaults = defaults
    self.hash = hash
    self.logger = logger
    var file = WatchedFile(path: path)
    do {
      let policy = try content.policy(try file.changed(force: true) ?? [], defaults)
      state = Mutex(State(file: file, current: PolicyVersion(policy, hash: hash)))
    } catch {
      throw SettingsError("\(content.flag) \(path): \(error)")
    }
  }

  /// The policy in force.
  var current: PolicyVersion { state.withLock { $0.current } }

  /// What `--check` looks at.
  var check: ServiceCheck {
    ServiceCheck("policy") { [self] in "version \(current.version), \(current.policy.simpleRules.count) simple rules" }
  }

  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) {
    timer.start { [weak self] in self?.read(force: false) }
  }

  func stop() { timer.stop() }

  func reload() { read(force: true) }

  private func read(force: Bool) {
    state.withLock { state in
      do {
        guard let bytes = try state.file.changed(force: force) else { return }
        let read = PolicyVersion(try content.policy(bytes, defaults), hash: hash)
        if read.version != state.current.version || force {
          logger.notice(
            "the policy was read again",
            ["version": .string(read.version), "former": .string(state.current.version)])
        }
        if read.version != state.current.version { state.current = read }
      } catch {
        logger.error(
          "the policy cannot be read again; the former one stays in force",
          ["version": .string(state.current.version), "reason": "\(error)"])
      }
    }
  }
}

extension PolicyFile.Content {
  /// The setting that names the file.
  var flag: String {
    switch self {
    case .policy: "--policy"
    case .simpleRules: "--simple-rules"
    }
  }

  /// Reads a file's content.
  func policy(_ bytes: [UInt8], _ defaults: NotificationPolicy) throws(PolicyError) -> NotificationPolicy {
    switch self {
    case .policy: return try NotificationPolicy(json: bytes, defaults: defaults)
    case .simpleRules:
      var policy = defaults
      policy.simpleRules = try SimpleRules(json: bytes)
      return policy
    }
  }
}
