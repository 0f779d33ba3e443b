import HTTPServer
import ServiceKit
import Synchronization

/// Counts what the API answers.
final class APIMetrics: Sendable {
  private let registry: MetricsRegistry
  private let time: Histogram
  private let accepted: Counter
  /// Counters by label, asked for once.
  private let requests = Mutex<[String: Counter]>([:])
  private let rejected = Mutex<[String: Counter]>([:])

  init(_ registry: MetricsRegistry) {
    self.registry = registry
    time = registry.histogram(
      "nudge_http_publish_seconds", help: "From a request's last byte to Kafka's acknowledgement, in seconds.")
    accepted = registry.counter(
      "nudge_http_events_total", help: "Events that came over HTTP, by what became of them.",
      labels: ["result": "accepted"])
  }

  /// Counts an answer, whoever gave it.
  func count(_ answer: HTTPServerResponse) {
    let status = String(answer.status)
    let reason = answer.reason ?? "ok"
    let counter = requests.withLock { known in
      let key = "\(status) \(reason)"
      if let counter = known[key] { return counter }
      let counter = registry.counter(
        "nudge_http_requests_total", help: "Answers of the HTTP API, by status and reason.",
        labels: ["status": status, "reason": reason])
      known[key] = counter
      return counter
    }
    counter.increment()
  }

  /// Counts the events of a request that was published.
  func count(_ result: BatchResult, after time: Duration) {
    self.time.observe(time)
    count(result)
  }

  /// Counts the events of a request.
  func count(_ result: BatchResult) {
    accepted.increment(by: result.accepted)
    guard result.accepted < result.statuses.count else { return }
    for status in result.statuses {
      switch status {
      case .accepted: break
      case .unknown: counter(of: "unknown").increment()
      case .rejected(let code, _): counter(of: code).increment()
      }
    }
  }

  private func counter(of result: String) -> Counter {
    rejected.withLock { known in
      if let counter = known[result] { return counter }
      let counter = registry.counter(
        "nudge_http_events_total", help: "Events that came over HTTP, by what became of them.",
        labels: ["result": result])
      known[result] = counter
      return counter
    }
  }
}
