public import NudgeSchema
import ServiceKit
import Synchronization

/// Metrics that are common to all push services: the time to deliver, and when a service last judged a push.
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

  /// Counts a reply. `messageAt` is when the push's message was written; nil for a push without a message.
  func count(_ reply: SendReply, of messageAt: Milliseconds?, _ priority: Priority) {
    if let messageAt, case .sent = reply.answer.verdict {
      endToEnd[priority]?.observe(Double(max(0, reply.finishedAt - messageAt)) / 1000)
    }
    remember(reply)
  }

  /// When a push was last judged, and the failure since then.
  struct LastAnswers {
    /// The time on the wall clock; nil until the first judgement.
    var judgedAt: Milliseconds?
    /// Error code and status; nil if the last answer was a judgement.
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

/// The state of the pushes without an outcome. It is the only rule for reporting that pushes are stuck, used by the dispatcher's log,
/// `/readyz`, `nudge doctor`, `nudge lag` and the console. Times are in milliseconds.
public struct DeliveryStanding: Sendable, Equatable {
  /// The number of pushes without an outcome, counted per device.
  public var waiting: Int
  /// The age of the oldest of them since it was decided; nil if there are none.
  public var oldestAge: Milliseconds?
  /// Milliseconds since the destination last accepted a push or refused one for good. Nil if it did neither while it was observed.
  public var sinceJudged: Milliseconds?

  /// How long a push may wait while no push is judged. FCM's slow answers and the first retries end earlier.
  public static let patience: Milliseconds = 10_000
  /// How long a push may wait while others are judged, because it is behind others of its device or waits for a quota.
  public static let longestWait: Milliseconds = 60_000

  /// - Parameters:
  ///   - waiting: The number of pushes without an outcome.
  ///   - oldestAge: The age of the oldest one.
  ///   - sinceJudged: The time since the destination last judged one.
  public init(waiting: Int, oldestAge: Milliseconds?, sinceJudged: Milliseconds?) {
    self.waiting = waiting
    self.oldestAge = oldestAge
    self.sinceJudged = sinceJudged
  }

  /// Whether pushes are stuck, because some have waited longer than usual.
  public var isStanding: Bool {
    guard waiting > 0, let oldestAge else { return false }
    if oldestAge >= Self.longestWait { return true }
    return oldestAge >= Self.patience && (sinceJudged ?? .max) >= Self.patience
  }
}

/// Reports when pushes become stuck, that they still are, and when they move again. It is a value that receives the current state.
struct DeliveryWatch {
  enum Change: Equatable {
    case began
    /// Another minute has passed.
    case goesOn
    /// `lasted`: in milliseconds.
    case ended(lasted: Milliseconds)
  }

  private static let interval: Milliseconds = 60_000

  /// Since when pushes have been stuck; nil if they are not.
  private(set) var since: Milliseconds?
  private var reportedAt: Milliseconds = 0

  /// - Parameter now: The time on the steady clock.
  mutating func check(_ standing: DeliveryStanding, now: Milliseconds) -> Change? {
    guard standing.isStanding else {
      guard let since else { return nil }
      self.since = nil
      return .ended(lasted: now - since)
    }
    guard since != nil else {
      since = now
      reportedAt = now
      return .began
    }
    guard now - reportedAt >= Self.interval else { return nil }
    reportedAt = now
    return .goesOn
  }
}

/// Reports stuck pushes in the log and in `/readyz`: when they become stuck, each minute while it lasts, and when it ends.
///
/// The service stays ready, because no other instance would do better and it must continue to try.
final class DeliveryReporter: Service {
  /// Its part of readiness.
  static let part = "delivery"

  let name = "delivery report"
  private let lanes: LaneMonitor
  private let deliveries: DeliveryMonitor
  private let readiness: HealthChecks
  private let log: Logger
  private let watch = Mutex(DeliveryWatch())
  private let timer = RepeatingTimer("delivery-report", every: .seconds(1))

  init(lanes: LaneMonitor, deliveries: DeliveryMonitor, readiness: HealthChecks, log: Logger, metrics: MetricsRegistry)
  {
    self.lanes = lanes
    self.deliveries = deliveries
    self.readiness = readiness
    self.log = log
    metrics.gauge(
      "nudge_delivery_standing", help: "1: pushes do not leave, some have waited for longer than is usual; 0: they do."
    ) { [weak self] in self?.watch.withLock { $0.since != nil } == true ? 1 : 0 }
  }

  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) {
    timer.start { [weak self] in
      self?.check(now: SystemClock.milliseconds(), steady: SystemClock.steadyMilliseconds())
    }
  }

  func stop() { timer.stop() }

  /// - Parameters:
  ///   - now: The wall clock.
  ///   - steady: The steady clock.
  func check(now: Milliseconds, steady: Milliseconds) {
    let total = lanes.total
    let answers = deliveries.lastAnswers
    let standing = DeliveryStanding(
      waiting: total.waiting, oldestAge: total.waiting == 0 ? nil : total.oldestSince.map { max(0, now - $0) },
      sinceJudged: answers.judgedAt.map { max(0, now - $0) })
    watch.withLock { watch in
      let change = watch.check(standing, now: steady)
      let text = Self.text(standing, answers.failure, total)
      readiness.setRemark(Self.part, watch.since == nil ? nil : text)
      var facts: [String: LogValue] = [
        "waiting": .int(standing.waiting), "oldestSeconds": .int(Int((standing.oldestAge ?? 0) / 1_000)),
        "lastAnswer": .string(answers.failure ?? "none"),
      ]
      let pauses = Self.pauses(total)
      if !pauses.isEmpty { facts["paused"] = .string(pauses) }
      switch change {
      case .began: log.warning("pushes do not leave", facts)
      case .goesOn: log.warning("pushes still do not leave", facts)
      case .ended(let lasted):
        log.notice(
          "pushes leave again", ["lastedSeconds": .int(Int(lasted / 1_000)), "waiting": .int(standing.waiting)])
      case nil: break
      }
    }
  }

  private static func text(_ standing: DeliveryStanding, _ failure: String?, _ total: LaneStatistics) -> String {
    let pauses = pauses(total)
    return "\(standing.waiting) pushes are without an outcome, the oldest for \((standing.oldestAge ?? 0) / 1_000) s; "
      + "the last answer: \(failure ?? "none")" + (pauses.isEmpty ? "" : "; paused: \(pauses)")
  }

  private static func pauses(_ total: LaneStatistics) -> String {
    total.openBreakers.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
      .joined(separator: ", ")
  }
}
