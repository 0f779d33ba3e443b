import NudgeSchema
import ServiceKit

/// Counts the answers of push services, by the names of their hosts.
final class WebPushMonitor: Sendable {
  private struct Host {
    let answers: [String: Counter]
    let requests: Counter
    let seconds: Histogram
  }

  private let hosts: [String: Host]
  /// Has the figures that are of all services.
  private let deliveries: DeliveryMonitor?

  /// - Parameter names: of hosts, without the one for all others.
  init(metrics: MetricsRegistry, names: [String], deliveries: DeliveryMonitor? = nil) {
    self.deliveries = deliveries
    hosts = Dictionary(
      uniqueKeysWithValues: (names + [WebPushServices.other]).map { name in
        let answers = PushAnswer.verdictNames.map { verdict in
          (
            verdict,
            metrics.counter(
              "nudge_web_push_answers_total", help: "Answers of Web Push services, by host and verdict.",
              labels: ["host": name, "verdict": verdict])
          )
        }
        return (
          name,
          Host(
            answers: Dictionary(uniqueKeysWithValues: answers),
            requests: metrics.counter(
              "nudge_web_push_requests_total", help: "Requests made to Web Push services, by host.",
              labels: ["host": name]),
            seconds: metrics.histogram(
              "nudge_web_push_request_seconds",
              help: "From a request to a Web Push service to its answer, in seconds, time in queues included, by host.",
              labels: ["host": name]))
        )
      })
  }

  /// Counts a reply; `messageAt` and `priority` as `FCMMonitor.note` has them.
  func count(_ reply: SendReply, of messageAt: Milliseconds?, _ priority: Priority, host: String) {
    let host = hosts[host] ?? hosts[WebPushServices.other]
    host?.answers[reply.answer.verdictName]?.increment()
    host?.requests.increment(by: reply.requests)
    if reply.requests > 0 { host?.seconds.observe(Double(reply.finishedAt - reply.startedAt) / 1000) }
    deliveries?.count(reply, of: messageAt, priority)
  }
}
