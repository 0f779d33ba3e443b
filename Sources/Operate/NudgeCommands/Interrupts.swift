import Dispatch
import Foundation
import Glibc
import NudgeSchema
import ServiceKit
import Synchronization

/// While it exists, counts SIGINT, SIGTERM and further signals instead of letting them end the process.
package final class Interrupts: Sendable {
  private final class Count: Sendable {
    let value = Atomic<Int>(0)
    let signals = DispatchSemaphore(value: 0)
  }

  private let seen = Count()
  /// Only retained. They are set up before another thread can see them.
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

  private let signals: [Int32]

  /// Starts counting SIGINT, SIGTERM and `others`.
  package init(and others: [Int32] = []) {
    signals = [SIGINT, SIGTERM] + others

    // A closed pipe then makes a write fail instead of ending the process.
    signal(SIGPIPE, SIG_IGN)
    let queue = DispatchQueue(label: "nudge.interrupts")
    let seen = seen
    sources = signals.map { number in
      // The signal is ignored first, because its default action would end the process before the queue receives it.
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler {
        seen.value.add(1, ordering: .relaxed)
        seen.signals.signal()
      }
      source.resume()
      return source
    }
  }

  deinit {
    for source in sources { source.cancel() }
    for number in signals { signal(number, SIG_DFL) }
  }

  /// Waits for a signal that no earlier call has waited for.
  package func wait() { seen.signals.wait() }

  /// Signals received so far.
  package var count: Int { seen.value.load(ordering: .relaxed) }
}

/// The flag `--watch` of commands that print a state.
enum Watching {
  static let every = Setting<Duration?>(
    "watch", environment: .none, default: nil,
    help: "Print it again after each such pause, at least 1s, until Ctrl-C.", check: allowed)

  @Sendable static func allowed(_ pause: Duration?) -> String? {
    pause.map { $0 < .seconds(1) } ?? false ? "at least 1s" : nil
  }

  /// Prints once, or with `--watch` repeatedly, each time below a line with the time.
  /// - Parameter asJSON: Prints no such line, because each answer is JSON.
  /// - Returns: The exit code of the last time.
  static func run(_ input: CommandInput, asJSON: Bool, _ print: () throws -> Int32) throws -> Int32 {
    guard let pause = input[every] else { return try print() }
    return try `repeat`(every: pause) {
      if !asJSON { Swift.print(RFC3339.text(SystemClock.milliseconds())) }
      return try print()
    }
  }

  /// Repeats `once` until Ctrl-C, or until nobody reads the output. Returns the result of the last call.
  static func `repeat`(every pause: Duration, _ once: () throws -> Int32) throws -> Int32 {
    let interrupts = Interrupts()
    var code = ExitCode.success
    while interrupts.count == 0 {
      code = try once()
      try CommandOutput.flush()
      let end = ContinuousClock.now + pause
      while interrupts.count == 0, ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.1) }
    }
    return code
  }
}
