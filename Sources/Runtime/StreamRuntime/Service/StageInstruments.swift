import ServiceKit
import Synchronization

/// The instruments of a stage's metrics, made when a metric first occurs. Any thread may count.
final class StageInstruments: Sendable {
  private enum Instrument {
    case counter(Counter)
    case observation(Histogram, Double)
  }

  private struct State {
    var instruments: [AnyHashable: Instrument] = [:]
    var labels = OpenLabels()
  }

  private let metrics: MetricsRegistry
  private let state = Mutex(State())

  init(_ metrics: MetricsRegistry, expected: [any StageMetric]) {
    self.metrics = metrics
    for metric in expected { add(0, of: metric) }
  }

  /// Adds `count` occurrences of a metric.
  func add(_ count: Int, of metric: any StageMetric) {
    switch state.withLock({ instrument(of: metric, &$0) }) {
    case .counter(let counter): counter.increment(by: count)
    case .observation(let histogram, let value): for _ in 0..<count { histogram.observe(value) }
    }
  }

  private func instrument(of metric: some StageMetric, _ state: inout State) -> Instrument {
    var metric = metric
    if let label = metric.openLabel { metric = metric.labeled(state.labels.value(of: label)) }
    let key = AnyHashable(metric)
    if let known = state.instruments[key] { return known }
    let made = make(metric.series)
    state.instruments[key] = made
    return made
  }

  private func make(_ series: StageSeries) -> Instrument {
    guard let observation = series.observation else {
      return .counter(metrics.counter(series.metric, help: series.help, labels: series.labels))
    }
    return .observation(
      metrics.histogram(series.metric, help: series.help, labels: series.labels, buckets: observation.bounds),
      observation.value)
  }
}

/// The values of open labels that have their own series in a process: the first that the process sees, and only a few of one source.
struct OpenLabels {
  static let limit = 32
  static let ofASource = 2
  /// The value that stands for all others.
  static let other = "other"

  private var known: Set<String> = []
  /// How many values each source was the first to show.
  private var firstSeen: [String: Int] = [:]

  /// The value under which a label is counted.
  mutating func value(of label: StageOpenLabel) -> String {
    if known.contains(label.value) { return label.value }
    guard known.count < Self.limit, firstSeen[label.source, default: 0] < Self.ofASource else { return Self.other }
    firstSeen[label.source, default: 0] += 1
    known.insert(label.value)
    return label.value
  }
}
