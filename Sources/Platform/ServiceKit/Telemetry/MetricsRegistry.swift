import Synchronization

/// The metrics of a process. Get an instrument once by name and labels, and keep it. Getting it again returns the same
/// one.
///
/// Names, help texts and label names are constants of the program. A name that breaks a rule or contradicts an earlier
/// registration is a programming error and traps.
public final class MetricsRegistry: Sendable {
  enum Kind: String {
    case counter
    case gauge
    case histogram
  }

  enum Instrument {
    case counter(Counter)
    case gauge(Gauge)
    case reading(@Sendable () -> Double)
    case histogram(Histogram)
  }

  struct Family {
    let kind: Kind
    let help: String
    let labelNames: [String]
    let bounds: [Double]
    /// By the written form of the labels, so that the output's order is stable.
    var children: [String: Instrument] = [:]
    /// The labels of each child, by its key.
    var labels: [String: [String: String]] = [:]
  }

  private let families = Mutex<[String: Family]>([:])

  public init() {}

  /// The counter of this name and these labels. The name ends in `_total`.
  public func counter(_ name: String, help: String, labels: [String: String] = [:]) -> Counter {
    register(name, .counter, help, labels) {
      if case .counter(let counter)? = $0 { return (counter, .counter(counter)) }
      let counter = Counter()
      return (counter, .counter(counter))
    }
  }

  /// The gauge of this name and these labels. Units are in the name: `_seconds`, `_bytes`, `_ratio`.
  public func gauge(_ name: String, help: String, labels: [String: String] = [:]) -> Gauge {
    register(name, .gauge, help, labels) {
      if case .gauge(let gauge)? = $0 { return (gauge, .gauge(gauge)) }
      let gauge = Gauge()
      return (gauge, .gauge(gauge))
    }
  }

  /// A gauge that is evaluated for each scrape. `read` runs on the thread that writes the answer. It must not block or
  /// call this registry. It replaces a former `read`.
  public func gauge(
    _ name: String, help: String, labels: [String: String] = [:], read: @escaping @Sendable () -> Double
  ) {
    register(name, .gauge, help, labels) { _ in ((), .reading(read)) }
  }

  /// A counter that is evaluated for each scrape, for something that is counted elsewhere. The rules for `read` are
  /// those of the gauge.
  public func counter(
    _ name: String, help: String, labels: [String: String] = [:], read: @escaping @Sendable () -> Double
  ) {
    register(name, .counter, help, labels) { _ in ((), .reading(read)) }
  }

  /// The histogram of this name and these labels, with ascending upper bounds of its buckets. A bucket for all larger
  /// values is added.
  public func histogram(
    _ name: String, help: String, labels: [String: String] = [:], buckets: [Double] = Histogram.seconds
  ) -> Histogram {
    register(name, .histogram, help, labels, bounds: buckets) {
      if case .histogram(let histogram)? = $0 { return (histogram, .histogram(histogram)) }
      let histogram = Histogram(bounds: buckets)
      return (histogram, .histogram(histogram))
    }
  }

  /// The current families by name.
  var current: [String: Family] { families.withLock { $0 } }

  /// All metrics in Prometheus' text format, version 0.0.4: families by name, children by labels.
  public func exposition() -> String {
    PrometheusText.exposition(of: current)
  }

  private func register<Result: Sendable>(
    _ name: String, _ kind: Kind, _ help: String, _ labels: [String: String], bounds: [Double] = [],
    child: @Sendable (Instrument?) -> (Result, Instrument)
  ) -> Result {
    let labelNames = labels.keys.sorted()
    if let problem = MetricName.problem(name: name, kind: kind, labelNames: labelNames, bounds: bounds) {
      preconditionFailure(problem)
    }
    let key = PrometheusText.labels(labels)
    return families.withLock { families in
      var family =
        families[name] ?? Family(kind: kind, help: help, labelNames: labelNames, bounds: bounds)
      if let problem = MetricName.conflict(
        name: name, family, kind: kind, help: help, labelNames: labelNames, bounds: bounds)
      {
        preconditionFailure(problem)
      }
      let (result, instrument) = child(family.children[key])
      family.children[key] = instrument
      family.labels[key] = labels
      families[name] = family
      return result
    }
  }
}

/// A number that only rises, such as events since the start of the process. An increment is one atomic addition.
public final class Counter: Sendable {
  private let count = Atomic<Int>(0)

  /// Adds an amount. Negative amounts are ignored, because Prometheus treats a falling counter as a restart.
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

  public var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }
}

/// Counts observations in buckets with fixed upper bounds.
public final class Histogram: Sendable {
  /// Bounds in seconds, from 0.5 ms to 10 s.
  public static let seconds: [Double] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]

  struct State {
    /// One count per bucket, not cumulative. The last bucket is for values above all bounds.
    var counts: [Int]
    var sum = 0.0
  }

  let bounds: [Double]
  private let state: Mutex<State>

  init(bounds: [Double]) {
    self.bounds = bounds
    state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
  }

  /// Counts a value in the first bucket whose bound it does not exceed. NaN is ignored.
  public func observe(_ value: Double) {
    guard !value.isNaN else { return }
    let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
    state.withLock {
      $0.counts[bucket] += 1
      $0.sum += value
    }
  }

  /// Counts a duration in seconds.
  public func observe(_ time: Duration) { observe(time.seconds) }

  var snapshot: State { state.withLock { $0 } }

  public var count: Int { snapshot.counts.reduce(0, +) }
}

/// A metric and its values at one moment.
public struct MetricFamily: Sendable {
  /// How the value behaves over time.
  public enum Kind: Sendable {
    /// It only rises during the life of the process.
    case counter
    case gauge
    case histogram
  }

  public enum Value: Sendable, Equatable {
    case count(Int)
    case number(Double)
    /// One count for each bucket, and a last one for values above all bounds.
    case distribution(bounds: [Double], counts: [Int], sum: Double)
  }

  /// The value for one combination of labels.
  public struct Point: Sendable {
    /// The labels by name.
    public let labels: [(name: String, value: String)]
    public let value: Value
  }

  public let name: String
  public let help: String
  public let kind: Kind
  public let points: [Point]
}

extension MetricsRegistry {
  /// All metrics at this moment, by name and labels.
  public func snapshot() -> [MetricFamily] {
    let families = current
    return families.sorted { $0.key < $1.key }.map { name, family in
      MetricFamily(
        name: name, help: family.help, kind: MetricFamily.Kind(family.kind),
        points: family.children.sorted { $0.key < $1.key }.map { key, instrument in
          MetricFamily.Point(
            labels: (family.labels[key] ?? [:]).sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) },
            value: MetricFamily.Value(instrument))
        })
    }
  }
}

extension MetricFamily.Kind {
  fileprivate init(_ kind: MetricsRegistry.Kind) {
    switch kind {
    case .counter: self = .counter
    case .gauge: self = .gauge
    case .histogram: self = .histogram
    }
  }
}

extension MetricFamily.Value {
  fileprivate init(_ instrument: MetricsRegistry.Instrument) {
    switch instrument {
    case .counter(let counter): self = .count(counter.value)
    case .gauge(let gauge): self = .number(gauge.value)
    case .reading(let read): self = .number(read())
    case .histogram(let histogram):
      let state = histogram.snapshot
      self = .distribution(bounds: histogram.bounds, counts: state.counts, sum: state.sum)
    }
  }
}

/// The rules of Prometheus and of this project for metric names.
enum MetricName {
  /// The rule that a registration breaks; nil if it breaks none.
  static func problem(
    name: String, kind: MetricsRegistry.Kind, labelNames: [String], bounds: [Double]
  ) -> String? {
    guard isName(name, colons: true) else {
      return "metric name '\(name)': use letters, digits, '_' and ':', with no digit first"
    }
    if kind == .counter, !name.hasSuffix("_total") { return "counter '\(name)': the name of a counter ends in _total" }
    if kind != .counter, name.hasSuffix("_total") { return "metric '\(name)': only a counter's name ends in _total" }
    for label in labelNames {
      guard isName(label, colons: false), !label.hasPrefix("__") else {
        return "label '\(label)' of '\(name)': use letters, digits and '_', with neither a digit nor '__' first"
      }
      if kind == .histogram, label == "le" { return "label 'le' of '\(name)' belongs to the histogram's buckets" }
    }
    if kind == .histogram {
      let ascending = zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }
      guard !bounds.isEmpty, ascending, bounds.allSatisfy(\.isFinite) else {
        return "histogram '\(name)': bucket bounds must be finite and ascending"
      }
    }
    return nil
  }

  /// How a registration contradicts an earlier one with the same name; nil if it does not.
  static func conflict(
    name: String, _ family: MetricsRegistry.Family, kind: MetricsRegistry.Kind, help: String, labelNames: [String],
    bounds: [Double]
  ) -> String? {
    if family.kind != kind { return "metric '\(name)' is a \(family.kind.rawValue), not a \(kind.rawValue)" }
    if family.help != help { return "metric '\(name)' was registered with another help text: '\(family.help)'" }
    if family.labelNames != labelNames { return "metric '\(name)' has the labels \(family.labelNames)" }
    if family.bounds != bounds { return "histogram '\(name)' has the buckets \(family.bounds)" }
    return nil
  }

  private static func isName(_ name: String, colons: Bool) -> Bool {
    guard let first = name.utf8.first, !(48...57).contains(first) else { return false }
    return name.utf8.allSatisfy { byte in
      switch byte {
      case 48...57, 65...90, 97...122, 95: true
      case 58: colons
      default: false
      }
    }
  }
}
