import Dispatch
import Glibc
import Synchronization

public enum SystemClock {
  /// Milliseconds of a clock that never goes back. Unlike `CLOCK_MONOTONIC`, it continues while the machine sleeps.
  public static func steadyMilliseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// Nanoseconds since the epoch.
  public static func nanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Milliseconds since the epoch.
  public static func milliseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}

extension Duration {
  /// Whole milliseconds, rounded towards zero.
  public var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds.multipliedReportingOverflow(by: 1_000).overflow
      ? (seconds < 0 ? .min : .max) : seconds * 1_000 + attoseconds / 1_000_000_000_000_000
  }

  /// Seconds with their fraction.
  public var seconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) / 1e18
  }
}

/// Repeats an action on a queue of its own, from `start` to `stop`. An action that takes longer than the pause delays
/// the next one.
public final class RepeatingTimer: Sendable {
  private let label: String
  private let pause: DispatchTimeInterval
  private let source = Mutex<(any DispatchSourceTimer)?>(nil)

  /// - Parameters:
  ///   - label: The queue's name in debuggers.
  ///   - pause: The time from `start` to the first run, and from each run to the next.
  public init(_ label: String, every pause: Duration) {
    self.label = label
    self.pause = .milliseconds(Int(pause.milliseconds))
  }

  /// Starts the action, which replaces the former one.
  public func start(_ run: @escaping @Sendable () -> Void) {
    source.withLock { source in
      source?.cancel()
      let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: label))
      timer.schedule(deadline: .now() + pause, repeating: pause)
      timer.setEventHandler(handler: run)
      timer.activate()
      source = timer
    }
  }

  public func stop() { source.withLock { $0.take()?.cancel() } }
}
