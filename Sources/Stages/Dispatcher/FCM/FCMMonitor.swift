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
  private let last = Mutex(LastAnswers())
  private let answers: [String: Counter]
  private let unknown: Counter
  private let requests: Counter
  private let seconds: Histogram
  private let endToEnd: [Priority: Histogram]

  /// A monitor that registers its metrics and sets its part of readiness, which is ready until FCM refuses a project.
  public init(metrics: MetricsRegistry, readiness: HealthChecks) {
    self.readiness = readiness
    answers = Dictionary(
      uniqueKeysWithValues: FCMAnswer.verdictNames.map {
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
    endToEnd = Dictionary(
      uniqueKeysWithValues: Priority.allCases.map {
        (
          $0,
          metrics.histogram(
            "nudge_end_to_end_seconds",
            help:
              "From a message's own time until the push service took its push, in seconds, by priority, without replays.",
            labels: ["priority": $0.rawValue], buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600])
        )
      })
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
    count(delivery: reply, of: messageAt, priority)
    guard let project else { return }
    switch reply.answer.verdict {
    case .projectRefused: setRefusal(of: project, reply.answer)
    // These say nothing about a refusal: FCM or the network may be down as well.
    case .serverFailed, .unreachable, .quotaExceeded, .notSent: break
    default: setRefusal(of: project, nil)
    }
  }

  /// Counts what is counted of every service that takes pushes: the way to it, and when it judged one.
  func count(delivery reply: SendReply, of messageAt: Milliseconds?, _ priority: Priority) {
    if let messageAt, case .sent = reply.answer.verdict {
      endToEnd[priority]?.observe(Double(max(0, reply.finishedAt - messageAt)) / 1000)
    }
    remember(reply)
  }

  /// When a push was judged last, and what came in place of a judgement since.
  struct LastAnswers {
    /// The wall clock; nil: none was yet.
    var judgedAt: Milliseconds?
    /// Code and status; nil: the last answer was a judgement.
    var failure: String?
  }

  var lastAnswers: LastAnswers { last.withLock { $0 } }

  private func remember(_ reply: SendReply) {
    let isJudged =
      switch reply.answer.verdict {
      case .sent, .invalidToken, .senderMismatch, .rejected: true
      default: false
      }
    if reply.answer.verdict == .notSent { return }
    last.withLock { last in
      if isJudged {
        last = LastAnswers(judgedAt: reply.finishedAt)
      } else {
        last.failure =
          "\(reply.answer.errorCode ?? reply.answer.verdictName)"
          + (reply.answer.httpStatus.map { " (HTTP \($0))" } ?? "")
      }
    }
  }

  /// Passes changes on to readiness, in their order.
  private func setRefusal(of project: String, _ answer: FCMAnswer?) {
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

extension FCMAnswer {
  /// Every value of `verdictName`.
  static let verdictNames = [
    "sent", "invalid_token", "sender_mismatch", "subscription_refused", "rejected", "project_refused",
    "platform_refused", "quota_device",
    "quota_project", "server_failed", "unreachable", "not_sent",
  ]

  /// The verdict as a label of metrics.
  var verdictName: String {
    switch verdict {
    case .sent: "sent"
    case .invalidToken: "invalid_token"
    case .senderMismatch: "sender_mismatch"
    case .subscriptionRefused: "subscription_refused"
    case .rejected: "rejected"
    case .projectRefused: "project_refused"
    case .platformRefused: "platform_refused"
    case .quotaExceeded(.device): "quota_device"
    case .quotaExceeded(.project): "quota_project"
    case .serverFailed: "server_failed"
    case .unreachable: "unreachable"
    case .notSent: "not_sent"
    }
  }
}
