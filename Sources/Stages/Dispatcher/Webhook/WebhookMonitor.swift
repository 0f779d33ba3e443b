import ServiceKit

/// Counts the webhook's answers.
final class WebhookMonitor: Sendable {
  private let answers: [String: Counter]
  private let seconds: Histogram

  init(metrics: MetricsRegistry) {
    answers = Dictionary(
      uniqueKeysWithValues: PushAnswer.verdictNames.map {
        (
          $0,
          metrics.counter(
            "nudge_webhook_answers_total", help: "Answers of the escalation webhook, by verdict.",
            labels: ["verdict": $0])
        )
      })
    seconds = metrics.histogram(
      "nudge_webhook_request_seconds", help: "From a request to the escalation webhook to its answer, in seconds.")
  }

  func note(_ reply: SendReply) {
    answers[reply.answer.verdictName]?.increment()
    if reply.requests > 0 { seconds.observe(Double(reply.finishedAt - reply.startedAt) / 1000) }
  }
}
