import Dispatch
import Glibc
import Synchronization

public enum SystemClock {
  /// Milliseconds of a clock that never goes back and, unlike `CLOCK_MONOTONIC`, runs while the machine sleeps.
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
  /// Whole milliseconds, cut towards zero.
  public var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds.multipliedReportingOverflow(by: 1_000).overflow
      ? (seconds < 0 ? .min : .max) : seconds * 1_000 + attoseconds / 1_000_000_000_000_000
  }

  /// Seconds, with their fraction.
  public var seconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) / 1e18
  }
}

/// Runs something again and again, on a queue of its own, from `start` to `stop`. A run that takes longer than the pause delays the next one.
public final class RepeatingTimer: Sendable {
  private let label: String
  private let pause: DispatchTimeInterval
  private let source = Mutex<(any DispatchSourceTimer)?>(nil)

  /// - Parameters:
  ///   - label: The name of the queue, as debuggers show it.
  ///   - pause: From `start` to the first run, and from each run to the next.
  public init(_ label: String, every pause: Duration) {
    self.label = label
    self.pause = .milliseconds(Int(pause.milliseconds))
  }

  /// Takes the place of what ran before.
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
