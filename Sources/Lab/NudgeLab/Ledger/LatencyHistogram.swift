/// Counts latencies in whole milliseconds: exact percentiles up to two minutes, in constant memory.
struct LatencyHistogram: Sendable, Equatable {
  /// Longer latencies count as this one.
  static let longest = 120_000

  private var counts: [Int] = []
  private(set) var count = 0

  init() {}

  /// A negative latency, from a clock that was set back, counts as 0.
  mutating func add(milliseconds: Int64) {
    let value = Int(min(max(milliseconds, 0), Int64(Self.longest)))
    if counts.count <= value { counts.append(contentsOf: repeatElement(0, count: value + 1 - counts.count)) }
    counts[value] += 1
    count += 1
  }

  /// The smallest latency that at least this fraction (0 to 1) of all do not exceed; nil if there are none.
  func percentile(_ part: Double) -> Int? {
    guard count > 0 else { return nil }
    let rank = max(1, Int((part * Double(count)).rounded(.up)))
    var seen = 0
    for (value, number) in counts.enumerated() {
      seen += number
      if seen >= rank { return value }
    }
    return counts.count - 1
  }

  /// The longest latency; nil if there are none.
  var maximum: Int? { count > 0 ? counts.count - 1 : nil }
}
