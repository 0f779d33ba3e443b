/// Units that a producer may have written where milliseconds since the epoch belong. Each number of this century fits one of them alone.
public enum TimeUnit: String, CaseIterable, Sendable {
  /// Seconds.
  case seconds
  /// Microseconds.
  case microseconds
  /// Nanoseconds.
  case nanoseconds

  /// Whether a number is a time from 2001 to 2100 in this unit.
  public func fits(_ value: Int64) -> Bool {
    let century: ClosedRange<Int64> = 978_307_200...4_102_444_800
    return switch self {
    case .seconds: century.contains(value)
    case .microseconds: century.contains(value / 1_000_000)
    case .nanoseconds: century.contains(value / 1_000_000_000)
    }
  }
}
