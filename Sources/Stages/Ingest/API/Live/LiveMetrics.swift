import ServiceKit

/// Counts what streams receive.
final class LiveMetrics: Sendable {
  private let registry: MetricsRegistry
  private let events: Counter
  private let delay: Histogram
  private let ring: Gauge
  let streams: Gauge

  init(_ registry: MetricsRegistry) {
    self.registry = registry
    streams = registry.gauge("nudge_live_streams", help: "Open streams of GET /v1/live.")
    ring = registry.gauge("nudge_live_ring_bytes", help: "Bytes kept of nudge.banners for streams that go on.")
    events = registry.counter("nudge_live_events_total", help: "Events written to streams of GET /v1/live.")
    delay = registry.histogram(
      "nudge_live_delay_seconds", help: "From a record's time on nudge.banners to its event on the streams, in seconds."
    )
    for reason in LiveReset.allCases { counter(of: reason).increment(by: 0) }
  }

  /// An event was sent to this many streams.
  func count(_ streams: Int, delay seconds: Double) {
    events.increment(by: streams)
    delay.observe(max(0, seconds))
  }

  /// A stream received a reset.
  func count(_ reason: LiveReset) { counter(of: reason).increment() }

  /// Reports whether the topic is being read. An instance without requests for it has no such series.
  func report(isReading: Bool) {
    registry.gauge(
      "nudge_live_reading", help: "1: nudge.banners is read for streams and answers; 0: they get nothing."
    ).set(isReading ? 1 : 0)
  }

  /// Reports the size of the ring.
  func keep(_ bytes: Int) { ring.set(bytes) }

  private func counter(of reason: LiveReset) -> Counter {
    registry.counter(
      "nudge_live_resets_total", help: "Streams of GET /v1/live that were told to ask anew, by reason.",
      labels: ["reason": reason.rawValue])
  }
}
