/// A metric with its values at one moment.
public struct MetricFamily: Sendable {
  /// The behaviour of a number over time.
  public enum Kind: Sendable {
    /// It only rises while the process lives.
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

  /// A value of its labels.
  public struct Point: Sendable {
    /// By name.
    public let labels: [(name: String, value: String)]
    public let value: Value
  }

  public let name: String
  public let help: String
  public let kind: Kind
  public let points: [Point]
}

extension MetricsRegistry {
  /// Everything at this moment, by name and labels.
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
