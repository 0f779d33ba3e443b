import NudgeSchema
import ServiceKit

/// The clocks of a process.
struct Clocks: Sendable {
  /// Milliseconds since the epoch.
  var wall: @Sendable () -> Milliseconds = { SystemClock.milliseconds() }
  /// Milliseconds of a clock that never jumps and runs while the machine sleeps.
  var steady: @Sendable () -> Milliseconds = { SystemClock.steadyMilliseconds() }
}
