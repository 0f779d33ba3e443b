import HTTPServer
import ServiceKit
import Synchronization

/// Counts the API's answers.
final class APIMetrics: Sendable {
  private let registry: MetricsRegistry
  private let time: Histogram
  private let accepted: Counter
  /// Counters by label.
  private let requests = Mutex<[String: Counter]>([:])
  private let rejected = Mutex<[String: Counter]>([:])
  private let byProducer = Mutex<[Series: Counter]>([:])
  private let refusedLater = Mutex<[Series: Counter]>([:])

  private struct Series: Hashable {
    var producer: String
    var result: String
  }

  /// The number of producers with their own series. All others share the label `other`.
  static let countedProducers = 64

  init(_ registry: MetricsRegistry) {
    self.registry = registry
    time = registry.histogram(
      "nudge_http_publish_seconds", help: "From a request's last byte to Kafka's acknowledgement, in seconds.")
    accepted = registry.counter(
      "nudge_http_events_total", help: "Events that came over HTTP, by what became of them.",
      labels: ["result": "accepted"])
  }

  /// Counts an answer of the endpoint or of the server itself.
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

  /// Counts the events of a request by sender and result. The sender is the name of an API key, or `users` for all users together. The
  /// result is `published` or the code of the refusal.
  func count(_ result: BatchResult, from caller: Caller) {
    let producer: String
    switch caller {
    case .backend(let name): producer = name
    case .user: producer = "users"
    }
    var counts: [String: Int] = [:]
    for status in result.statuses {
      if case .rejected(let code, _) = status {
        counts[code, default: 0] += 1
      } else {
        counts["published", default: 0] += 1
      }
    }
    for (result, count) in counts { counter(of: producer, result).increment(by: count) }
  }

  /// Counts an event that was accepted and later refused. Every instance with the API counts all of them.
  func count(_ rejection: ProducerRejection) {
    Self.counter(rejection.producer, rejection.code, in: refusedLater) { [registry] series in
      registry.counter(
        "nudge_producer_rejections_total",
        help: "Events that came over HTTP and were refused later, by API key and code.",
        labels: ["producer": series.producer, "code": series.result])
    }.increment()
  }

  private func counter(of producer: String, _ result: String) -> Counter {
    Self.counter(producer, result, in: byProducer) { [registry] series in
      registry.counter(
        "nudge_http_producer_events_total", help: "Events that came over HTTP, by API key and verdict at the door.",
        labels: ["producer": series.producer, "result": series.result])
    }
  }

  /// The counter of a producer. Producers beyond `countedProducers` share one.
  private static func counter(
    _ producer: String, _ result: String, in counters: borrowing Mutex<[Series: Counter]>, make: (Series) -> Counter
  ) -> Counter {
    counters.withLock { known in
      if let counter = known[Series(producer: producer, result: result)] { return counter }
      let producers = Set(known.keys.map(\.producer))
      let isCounted = producers.contains(producer) || producers.count < Self.countedProducers
      let series = Series(producer: isCounted ? producer : "other", result: result)
      if let counter = known[series] { return counter }
      let counter = make(series)
      known[series] = counter
      return counter
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
