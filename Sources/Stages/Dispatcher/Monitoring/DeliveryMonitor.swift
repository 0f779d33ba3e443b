import NudgeSchema
import ServiceKit
import Synchronization

/// Counts what is counted of every service that takes pushes: the way to it, and when it judged one.
final class DeliveryMonitor: Sendable {
  private let last = Mutex(LastAnswers())
  private let endToEnd: [Priority: Histogram]

  init(metrics: MetricsRegistry) {
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
  }

  /// Counts a reply; `messageAt`: when the push's message was written; nil: it is of no message.
  func count(_ reply: SendReply, of messageAt: Milliseconds?, _ priority: Priority) {
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
}
