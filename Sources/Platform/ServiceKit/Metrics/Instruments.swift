import Synchronization

/// A number that only rises: events since the start of the process. An increment is one atomic addition.
public final class Counter: Sendable {
  private let count = Atomic<Int>(0)

  /// Adds an amount. Negative amounts are ignored: Prometheus takes a falling counter for a restart.
  public func increment(by amount: Int = 1) {
    guard amount > 0 else { return }
    count.wrappingAdd(amount, ordering: .relaxed)
  }

  public var value: Int { count.load(ordering: .relaxed) }
}

/// A number that rises and falls.
public final class Gauge: Sendable {
  private let bits = Atomic<UInt64>(0)

  public func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

  /// Sets it to a whole number.
  public func set(_ value: Int) { set(Double(value)) }

  /// Adds to it; a negative amount lowers it.
  public func add(_ amount: Double) {
    var old = bits.load(ordering: .relaxed)
    while true {
      let new = (Double(bitPattern: old) + amount).bitPattern
      let (exchanged, found) = bits.weakCompareExchange(expected: old, desired: new, ordering: .relaxed)
      if exchanged { return }
      old = found
    }
  }

  public var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }
}

/// Counts observations in buckets with fixed upper bounds.
public final class Histogram: Sendable {
  /// Bounds in seconds, from 0.5 ms to 10 s.
  public static let seconds: [Double] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]

  struct State {
    /// One count per bucket, not cumulative; the last bucket is for values above all bounds.
    var counts: [Int]
    var sum = 0.0
  }

  let bounds: [Double]
  private let state: Mutex<State>

  init(bounds: [Double]) {
    self.bounds = bounds
    state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
  }

  /// Counts a value into the first bucket whose bound it does not exceed. NaN is ignored.
  public func observe(_ value: Double) {
    guard !value.isNaN else { return }
    let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
    state.withLock {
      $0.counts[bucket] += 1
      $0.sum += value
    }
  }

  /// Counts a time, in seconds.
  public func observe(_ time: Duration) { observe(time.seconds) }

  var snapshot: State { state.withLock { $0 } }

  public var count: Int { snapshot.counts.reduce(0, +) }
}
