import Foundation
import NudgeSchema
import ServiceKit
import Synchronization

/// Says in the log and in `/readyz` that pushes do not leave: when that begins, each minute while it lasts, and when it ends.
///
/// The service stays ready: no other instance would do better, and it must go on trying.
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
      self?.look(now: SystemClock.milliseconds(), steady: SystemClock.steadyMilliseconds())
    }
  }

  func stop() { timer.stop() }

  /// - Parameters:
  ///   - now: The wall clock.
  ///   - steady: The steady clock.
  func look(now: Milliseconds, steady: Milliseconds) {
    let total = lanes.total
    let answers = deliveries.lastAnswers
    let standing = DeliveryStanding(
      waiting: total.waiting, oldestAge: total.waiting == 0 ? nil : total.oldestSince.map { max(0, now - $0) },
      sinceJudged: answers.judgedAt.map { max(0, now - $0) })
    watch.withLock { watch in
      let change = watch.look(standing, now: steady)
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
