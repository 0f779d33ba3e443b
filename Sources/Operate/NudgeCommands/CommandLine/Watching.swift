import Foundation
import NudgeSchema
import ServiceKit

/// The flag `--watch` of commands that print how things stand.
enum Watching {
  static let every = Setting<Duration?>(
    "watch", environment: .none, default: nil,
    help: "Print it again after each such pause, at least 1s, until Ctrl-C.", check: allowed)

  @Sendable static func allowed(_ pause: Duration?) -> String? {
    pause.map { $0 < .seconds(1) } ?? false ? "at least 1s" : nil
  }

  /// Prints once, or with `--watch` again and again, each time under a line with the time.
  /// - Parameter asJSON: Prints no such line: each answer is JSON.
  /// - Returns: The exit code of the last time.
  static func run(_ input: CommandInput, asJSON: Bool, _ print: () throws -> Int32) throws -> Int32 {
    guard let pause = input[every] else { return try print() }
    return try `repeat`(every: pause) {
      if !asJSON { Swift.print(RFC3339.text(SystemClock.milliseconds())) }
      return try print()
    }
  }

  /// Calls `once` again and again until Ctrl-C, or until nobody reads what it prints. Returns what the last call did.
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
