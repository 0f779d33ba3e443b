import Glibc

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
