import Glibc

/// The clocks of measurements.
enum Clocks {
  /// Seconds of the monotonic clock.
  static var steady: Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// Seconds of CPU this process has used, all threads together.
  static var processor: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

/// Elapsed time and CPU time.
struct Cost {
  var seconds: Double
  var cpuSeconds: Double

  /// Measures from here to `cost`.
  struct Start {
    private let steady = Clocks.steady
    private let processor = Clocks.processor
    var cost: Cost { Cost(seconds: Clocks.steady - steady, cpuSeconds: Clocks.processor - processor) }
  }
}
