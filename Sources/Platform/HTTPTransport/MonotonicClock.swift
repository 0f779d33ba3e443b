#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Nanoseconds on a clock that only goes forward.
enum MonotonicClock {
  static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

extension Duration {
  /// Milliseconds, rounded up, so that a short wait never becomes none; at least 0.
  var wholeMilliseconds: Int {
    let (seconds, attoseconds) = components
    if seconds < 0 || attoseconds < 0 { return 0 }
    // Thirty years are as good as for ever, and do not overflow as nanoseconds.
    if seconds > 1_000_000_000 { return 1_000_000_000_000 }
    return Int(seconds) * 1_000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }

  /// Nanoseconds, at least 0.
  var wholeNanoseconds: UInt64 { UInt64(wholeMilliseconds) * 1_000_000 }
}
