import HTTPTransport
import ServiceKit
import StreamRuntime
import Synchronization

/// Counts what becomes of requests on their way to FCM and back, and says in readiness when FCM refuses the dispatcher's
/// credentials or project (P6).
///
/// Other projects, which devices name when they register, are counted only: what a device says must not take the service
/// out of work.
final class ObservedSends<Performer: EffectPerformer<SendRequest, SendReply>>: EffectPerformer {
  private let performer: Performer
  private let projectId: String
  private let metrics: MetricsRegistry
  private let readiness: HealthChecks
  private let sendTime: Histogram
  private let refusedProjects: Gauge
  private let refused = Mutex<Set<String>>([])

  /// Projects remembered as refused, at most: their names come from devices.
  private static var mostProjects: Int { 1_000 }

  /// The part of readiness.
  static var part: String { "fcm" }

  init(_ performer: Performer, projectId: String, metrics: MetricsRegistry, readiness: HealthChecks) {
    self.performer = performer
    self.projectId = projectId
    self.metrics = metrics
    self.readiness = readiness
    sendTime = metrics.histogram(
      "nudge_fcm_send_seconds", help: "From asking for a request to FCM to its answer, in seconds.")
    refusedProjects = metrics.gauge(
      "nudge_fcm_refused_projects", help: "Projects whose last answer said that credentials or project are wrong.")
  }

  func perform(_ effect: SendRequest, reply: @escaping @Sendable (SendReply) -> Void) {
    let projectId = effect.projectId ?? projectId
    performer.perform(effect) { answer in
      self.observe(answer, projectId: projectId)
      reply(answer)
    }
  }

  func stop() { performer.stop() }

  /// Shows a client's connections and requests as gauges.
  func watch(_ http: HTTPClient) {
    metrics.gauge("nudge_fcm_connections", help: "Connections open to FCM and its token server.") {
      Double(http.statistics.openConnections)
    }
    metrics.gauge("nudge_fcm_requests_in_flight", help: "Requests on the wire.") {
      Double(http.statistics.inFlight)
    }
    metrics.gauge("nudge_fcm_requests_queued", help: "Requests waiting for a free stream.") {
      Double(http.statistics.queued)
    }
  }

  private func observe(_ reply: SendReply, projectId: String) {
    let answer = reply.answer
    metrics.counter(
      "nudge_fcm_answers_total", help: "Answers of FCM by what they mean, and requests that had none.",
      labels: ["result": answer.verdict.label]
    ).increment()
    if answer.isUnknown {
      metrics.counter("nudge_fcm_unknown_answers_total", help: "Answers FCM's documentation does not have.").increment()
    }
    sendTime.observe(Double(reply.finishedAt - reply.startedAt) / 1_000)
    switch answer.verdict {
    case .projectRefused: set(projectId, refusedWith: answer.errorCode ?? "HTTP \(answer.httpStatus ?? 0)")
    // No answer says nothing of credentials.
    case .unreachable, .serverFailed: break
    default: set(projectId, refusedWith: nil)
    }
  }

  private func set(_ project: String, refusedWith code: String?) {
    refused.withLock { refused in
      guard refused.count < Self.mostProjects || project == projectId || code == nil else { return }
      let changed = code == nil ? refused.remove(project) != nil : refused.insert(project).inserted
      guard changed else { return }
      refusedProjects.set(refused.count)
      guard project == projectId else { return }
      readiness.set(
        Self.part,
        code.map {
          .notReady("FCM refuses the credentials or the project \(project) (\($0)); pushes wait. See --fcm-credentials")
        } ?? .ready)
    }
  }
}

extension FCMAnswer.Verdict {
  /// The value of the label in metrics.
  var label: String {
    switch self {
    case .sent: "sent"
    case .invalidToken: "invalid_token"
    case .senderMismatch: "sender_mismatch"
    case .rejected: "rejected"
    case .projectRefused: "project_refused"
    case .platformRefused: "platform_refused"
    case .quotaExceeded(.device): "device_quota"
    case .quotaExceeded(.project): "project_quota"
    case .serverFailed: "server_failed"
    case .unreachable: "unreachable"
    }
  }
}
