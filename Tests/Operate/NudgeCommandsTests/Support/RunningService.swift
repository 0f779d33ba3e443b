import Foundation
import ServiceKit
import Synchronization
import TestSupport

/// A service's program on a thread of this process, stopped as SIGTERM would.
final class RunningService: Sendable {
  let log = LogCapture()
  private let group = Mutex<ServiceGroup?>(nil)
  private let exit = Mutex<Int32?>(nil)

  /// Starts it; `arguments` without brokers and state directory.
  init(_ service: ServiceAssembly, brokers: String, stateDirectory: String, _ arguments: [String] = []) {
    let all = ["--bootstrap-servers", brokers, "--state-dir", stateDirectory, "--instance", "test-0"] + arguments
    let thread = Thread { [self] in
      let program = service.program(
        sink: log.sink, signals: false, started: { [self] started in group.withLock { $0 = started } })
      let exitCode = program.main(all, environment: [:], output: { _ in }, errors: { _ in })
      exit.withLock { $0 = exitCode }
    }
    thread.start()
  }

  /// The exit code of the program; nil while it runs.
  var exitCode: Int32? { exit.withLock { $0 } }

  /// Whether it logged that it is ready.
  var isReady: Bool { log.entries.contains { $0.message == "ready" } }

  /// The place of the first line with this message in the log.
  func line(_ message: String) -> Int? { log.entries.firstIndex { $0.message == message } }

  /// Ends it; returns at once.
  func stop() { group.withLock { $0 }?.stop(reason: "test") }
}
