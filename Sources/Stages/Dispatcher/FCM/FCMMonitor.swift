public import HTTPTransport
import NudgeSchema
public import ServiceKit
import Synchronization

/// Counts FCM's answers, and makes the service not ready while FCM refuses one of its projects (P6).
public final class FCMMonitor: Sendable {
  /// Its part of readiness.
  public static let part = "fcm"

  private let readiness: HealthChecks
  /// Projects that FCM refuses, with code and status.
  private let refusals = Mutex<[String: String]>([:])
  private let deliveries: DeliveryMonitor
  private let answers: [String: Counter]
  private let unknown: Counter
  private let requests: Counter
  private let seconds: Histogram

  /// A monitor that registers its metrics and sets its part of readiness, which is ready until FCM refuses a project.
  public convenience init(metrics: MetricsRegistry, readiness: HealthChecks) {
    self.init(metrics: metrics, readiness: readiness, deliveries: DeliveryMonitor(metrics: metrics))
  }

  /// - Parameter deliveries: counts what is counted of every service.
  init(metrics: MetricsRegistry, readiness: HealthChecks, deliveries: DeliveryMonitor) {
    self.readiness = readiness
    self.deliveries = deliveries
    answers = Dictionary(
      uniqueKeysWithValues: PushAnswer.verdictNames.map {
        (
          $0,
          metrics.counter("nudge_fcm_answers_total", help: "Answers to requests, by verdict.", labels: ["verdict": $0])
        )
      })
    unknown = metrics.counter(
      "nudge_fcm_unknown_answers_total",
      help: "Answers that FCM's documentation does not have, treated by their HTTP class.")
    requests = metrics.counter("nudge_fcm_requests_total", help: "Requests made to FCM.")
    seconds = metrics.histogram(
      "nudge_fcm_request_seconds", help: "From a request to its answer, in seconds, time in queues included.")
    readiness.set(Self.part, .ready)
  }

  /// Registers gauges of a client's connections and requests.
  public static func watch(_ http: HTTPClientGroup, metrics: MetricsRegistry) {
    metrics.gauge("nudge_fcm_connections", help: "Connections open to FCM and its token server.") {
      Double(http.statistics.openConnections)
    }
    metrics.gauge("nudge_fcm_requests_in_flight", help: "Requests on the wire.") { Double(http.statistics.inFlight) }
    metrics.gauge("nudge_fcm_requests_queued", help: "Requests waiting for a free stream.") {
      Double(http.statistics.queued)
    }
  }

  /// Counts a reply.
  ///
  /// - Parameters:
  ///   - messageAt: when the push's message was written; nil: it is of no message.
  ///   - priority: how much the push matters.
  ///   - project: the project, which readiness is about; nil: it has no account of its own.
  func note(
    _ reply: SendReply, of messageAt: Milliseconds? = nil, _ priority: Priority = .high, project: String?
  ) {
    answers[reply.answer.verdictName]?.increment()
    requests.increment(by: reply.requests)
    if reply.answer.isUnknown { unknown.increment() }
    if reply.requests > 0 { seconds.observe(Double(reply.finishedAt - reply.startedAt) / 1000) }
    deliveries.count(reply, of: messageAt, priority)
    guard let project else { return }
    switch reply.answer.verdict {
    case .projectRefused: setRefusal(of: project, reply.answer)
    // These say nothing about a refusal: FCM or the network may be down as well.
    case .serverFailed, .unreachable, .quotaExceeded, .notSent: break
    default: setRefusal(of: project, nil)
    }
  }

  /// Passes changes on to readiness, in their order.
  private func setRefusal(of project: String, _ answer: PushAnswer?) {
    refusals.withLock { refusals in
      guard (refusals[project] != nil) != (answer != nil) else { return }
      refusals[project] = answer.map { answer in
        "\(answer.errorCode ?? "unknown")" + (answer.httpStatus.map { " (HTTP \($0))" } ?? "")
      }
      let list = refusals.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
      readiness.set(
        Self.part,
        refusals.isEmpty
          ? .ready
          : .notReady(
            "FCM refuses the project \(list); its pushes wait. Check --fcm-credentials, the project and --fcm-url"))
    }
  }
}
