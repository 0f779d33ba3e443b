/// Percentiles of the time from a message's publication to the request for its push, by device, in milliseconds.
struct LatencySummary: Encodable {
  let p50: Int?
  let p90: Int?
  let p99: Int?
  let max: Int?

  init(_ latency: LatencyHistogram) {
    p50 = latency.percentile(0.5)
    p90 = latency.percentile(0.9)
    p99 = latency.percentile(0.99)
    max = latency.maximum
  }

  /// One line for a person.
  var text: String {
    guard let p50, let p90, let p99, let max else { return "no push" }
    return "p50 \(p50) ms, p90 \(p90) ms, p99 \(p99) ms, max \(max) ms"
  }
}
