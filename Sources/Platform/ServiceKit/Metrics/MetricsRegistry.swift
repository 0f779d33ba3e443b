import Synchronization

/// The metrics of a process. Get an instrument once, by name and labels, and keep it; getting it again returns the same one.
///
/// Names, help texts and label names are constants of the program. One that breaks a rule or contradicts an earlier registration is a programming error and traps.
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
    /// By the labels as they are written, so that the order of the output is stable.
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

  /// A gauge that is evaluated for each scrape. `read` runs on the thread that writes the answer, must not block or call this registry, and replaces an earlier one.
  public func gauge(
    _ name: String, help: String, labels: [String: String] = [:], read: @escaping @Sendable () -> Double
  ) {
    register(name, .gauge, help, labels) { _ in ((), .reading(read)) }
  }

  /// A counter that is evaluated for each scrape, of something that is counted elsewhere. As the gauge.
  public func counter(
    _ name: String, help: String, labels: [String: String] = [:], read: @escaping @Sendable () -> Double
  ) {
    register(name, .counter, help, labels) { _ in ((), .reading(read)) }
  }

  /// The histogram of this name and these labels, with ascending upper bounds of its buckets; a bucket for all larger values is added.
  public func histogram(
    _ name: String, help: String, labels: [String: String] = [:], buckets: [Double] = Histogram.seconds
  ) -> Histogram {
    register(name, .histogram, help, labels, bounds: buckets) {
      if case .histogram(let histogram)? = $0 { return (histogram, .histogram(histogram)) }
      let histogram = Histogram(bounds: buckets)
      return (histogram, .histogram(histogram))
    }
  }

  /// All families now, by name.
  var current: [String: Family] { families.withLock { $0 } }

  /// Everything in Prometheus' text format, version 0.0.4: families by name, children by labels.
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
