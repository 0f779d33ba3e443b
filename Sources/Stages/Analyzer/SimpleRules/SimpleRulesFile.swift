import Dispatch
import ServiceKit
import Synchronization

/// The simple rules in force: those of a file, which is read again when it changes and on SIGHUP.
///
/// A file that cannot be used is logged, and the rules of before stay in force: half a file must not decide. Instances read it
/// at times of their own, so for seconds they may decide by different versions; each decision names its own.
final class SimpleRulesFile: ReloadingService {
  let name = "simple-rules"

  private struct State {
    var file: WatchedFile
    var rules: SimpleRules
  }
  private let state: Mutex<State>
  private let timer = Mutex<(any DispatchSourceTimer)?>(nil)
  private let logger: Logger

  /// How often the file is looked at.
  private static let interval: Duration = .seconds(1)

  /// Reads the file.
  /// - Throws: `SettingsError` that says what is wrong with it.
  init(path: String, logger: Logger) throws(SettingsError) {
    self.logger = logger
    var file = WatchedFile(path: path)
    do {
      let rules = try SimpleRules(json: try file.changed(force: true) ?? [])
      state = Mutex(State(file: file, rules: rules))
    } catch {
      throw SettingsError("--simple-rules \(path): \(error)")
    }
  }

  /// The rules in force.
  var rules: SimpleRules { state.withLock { $0.rules } }

  /// What `--check` looks at.
  var check: ServiceCheck {
    ServiceCheck("simple rules") { [self] in "version \(rules.version), \(rules.count) rules" }
  }

  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) {
    timer.withLock { timer in
      let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "nudge.simple-rules"))
      let pause = DispatchTimeInterval.milliseconds(Int(Self.interval.milliseconds))
      source.schedule(deadline: .now() + pause, repeating: pause)
      source.setEventHandler { [weak self] in self?.read(force: false) }
      source.activate()
      timer = source
    }
  }

  func stop() { timer.withLock { $0.take()?.cancel() } }

  func reload() { read(force: true) }

  private func read(force: Bool) {
    state.withLock { state in
      do {
        guard let bytes = try state.file.changed(force: force) else { return }
        let rules = try SimpleRules(json: bytes)
        if rules != state.rules || force {
          logger.notice(
            "simple rules were read again",
            ["version": .string(rules.version), "former": .string(state.rules.version), "rules": .int(rules.count)])
        }
        state.rules = rules
      } catch {
        logger.error(
          "the simple rules cannot be read again; those of before stay in force",
          ["version": .string(state.rules.version), "reason": "\(error)"])
      }
    }
  }
}
