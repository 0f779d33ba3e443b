import ServiceKit

/// The metric of a stage's tally.
enum TallyInstrument: Sendable {
  case counter(Counter)
  case observation(Histogram, Double)

  init(_ tally: StageTally, in metrics: MetricsRegistry) {
    if let observation = tally.observation {
      self = .observation(
        metrics.histogram(tally.metric, help: tally.help, labels: tally.labels, buckets: observation.bounds),
        observation.value)
    } else {
      self = .counter(metrics.counter(tally.metric, help: tally.help, labels: tally.labels))
    }
  }

  /// Adds `count` occurrences.
  func add(_ count: Int) {
    switch self {
    case .counter(let counter): counter.increment(by: count)
    case .observation(let histogram, let value): for _ in 0..<count { histogram.observe(value) }
    }
  }
}
