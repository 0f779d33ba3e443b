/// Latencies in whole milliseconds, counted: exact percentiles up to two minutes, in a fixed amount of memory.
struct LatencyHistogram: Sendable, Equatable {
  /// What is longer counts as this long.
  static let longest = 120_000

  private var counts: [Int] = []
  /// How many there are.
  private(set) var count = 0

  /// None yet.
  init() {}

  /// Counts one; a clock that was set back makes it 0.
  mutating func add(milliseconds: Int64) {
    let value = Int(min(max(milliseconds, 0), Int64(Self.longest)))
    if counts.count <= value { counts.append(contentsOf: repeatElement(0, count: value + 1 - counts.count)) }
    counts[value] += 1
    count += 1
  }

  /// The smallest latency that at least this part (0 to 1) of all do not exceed; nil where there are none.
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

  /// The longest; nil where there are none.
  var maximum: Int? { count > 0 ? counts.count - 1 : nil }
}
