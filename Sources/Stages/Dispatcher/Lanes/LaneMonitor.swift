public import NudgeSchema
public import ServiceKit
import Synchronization

/// The state of a task's lanes.
public struct LaneStatistics: Sendable, Equatable {
  /// Pushes in flight or waiting, counted per device.
  public var waiting = 0
  /// Approximate bytes of these pushes.
  public var bytes = 0
  /// The number of devices with such pushes.
  public var lanes = 0
  /// Requests in flight.
  public var inFlight = 0
  /// When the first push of the oldest lane was decided; nil without lanes. Updated every few seconds.
  public var oldestSince: Milliseconds?
  /// Open breakers of projects and platforms, by reason.
  public var openBreakers: [String: Int] = [:]
  /// Open breakers of the webhook, which refuses requests and is probed from time to time.
  public var webhookPauses = 0
  /// Open breakers of Web Push services.
  public var webPushPauses = 0
  /// Breakers that are open because of invalid tokens, whatever their present reason.
  public var tokenTrials = 0
  /// Whether the lanes of a thread are full, so that it reads no more pushes.
  public var isFull = false
  /// How often the rows of a lane were read since the task began.
  public var laneReads = 0

  public init() {}

  /// Counts the contents of lanes.
  init(of schedule: LaneSchedule, inFlight: Int, laneReads: Int) {
    (waiting, bytes, lanes) = (schedule.pushes, schedule.bytes, schedule.count)
    (self.inFlight, self.laneReads) = (inFlight, laneReads)
  }

  /// The sum; for times the earlier one.
  public static func + (a: LaneStatistics, b: LaneStatistics) -> LaneStatistics {
    var sum = a
    sum.waiting += b.waiting
    sum.bytes += b.bytes
    sum.lanes += b.lanes
    sum.inFlight += b.inFlight
    sum.oldestSince = [a.oldestSince, b.oldestSince].compactMap { $0 }.min()
    sum.openBreakers.merge(b.openBreakers, uniquingKeysWith: +)
    sum.tokenTrials += b.tokenTrials
    sum.webhookPauses += b.webhookPauses
    sum.webPushPauses += b.webPushPauses
    sum.laneReads += b.laneReads
    sum.isFull = a.isFull || b.isFull
    return sum
  }
}

/// Reports the state of the lanes of all threads, in metrics and in readiness.
public final class LaneMonitor: Sendable {
  /// Its part of readiness.
  public static let part = "lanes"
  private struct State {
    var threads: [Int: LaneStatistics] = [:]

    var total: LaneStatistics { threads.values.reduce(LaneStatistics(), +) }
    var fullThreads: Set<Int> { Set(threads.filter { $0.value.isFull }.keys) }
  }

  private let readiness: HealthChecks
  /// A thread's limit in words.
  private let limit: String
  private let state = Mutex(State())

  /// A monitor that registers gauges and sets its part of readiness.
  ///
  /// - Parameters:
  ///   - threads: The number of stream threads.
  ///   - now: The wall clock.
  public init(
    metrics: MetricsRegistry, readiness: HealthChecks, rules: DispatcherRules = DispatcherRules(), threads: Int = 1,
    now: @escaping @Sendable () -> Milliseconds
  ) {
    self.readiness = readiness
    limit = "\(rules.maxWaiting) pushes or \(rules.maxWaitingBytes) bytes of a stream thread"
    readiness.set(Self.part, .ready)
    func gauge(
      _ name: String, _ help: String, labels: [String: String] = [:],
      _ read: @escaping @Sendable (LaneStatistics) -> Double
    ) {
      metrics.gauge(name, help: help, labels: labels) { [weak self] in self.map { read($0.total) } ?? 0 }
    }
    gauge("nudge_lane_pushes", "Pushes in flight or waiting, counted for each device.") {
      Double($0.waiting)
    }
    gauge("nudge_lane_pushes_limit", "Pushes at which all threads have stopped reading; 0: they never do.") { _ in
      Double(rules.maxWaiting * threads)
    }
    gauge("nudge_lane_bytes", "Approximate bytes of these pushes.") { Double($0.bytes) }
    gauge("nudge_lane_devices", "Devices of these pushes.") { Double($0.lanes) }
    gauge(
      "nudge_lane_oldest_seconds",
      "Age of the oldest lane that still holds pushes, in seconds."
    ) { $0.oldestSince.map { Double(max(0, now() - $0)) / 1000 } ?? 0 }
    for reason in CircuitBreaker.Reason.allCases.map(\.label) {
      gauge(
        "nudge_fcm_pauses", "Projects and platforms that are not sent to, summed over tasks.",
        labels: ["reason": reason]
      ) {
        Double($0.openBreakers[reason] ?? 0)
      }
    }
    gauge("nudge_webhook_pauses", "Tasks that do not send to the escalation webhook, because it refuses.") {
      Double($0.webhookPauses)
    }
    gauge("nudge_web_push_pauses", "Web Push services that are not sent to, because they refuse; summed over tasks.") {
      Double($0.webPushPauses)
    }
    gauge("nudge_fcm_token_breakers_open", "Open circuit breakers over invalid tokens, summed over tasks.") {
      Double($0.tokenTrials)
    }
  }

  public var total: LaneStatistics { state.withLock { $0.total } }

  /// The state of a thread's lanes, once a turn.
  func report(_ statistics: LaneStatistics, thread: Int) {
    // Within the lock, so that readiness receives the changes in their order.
    state.withLock { state in
      let before = state.fullThreads
      state.threads[thread] = statistics
      let full = state.fullThreads
      guard full != before else { return }
      guard !full.isEmpty else { return readiness.set(Self.part, .ready) }
      let total = state.total
      let pauses = total.openBreakers.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
      readiness.set(
        Self.part,
        .notReady(
          "the lanes are full (\(limit)): \(total.waiting) pushes wait, and no more are read until a tenth of the room is free; "
            + (pauses.isEmpty ? "nothing is paused" : "paused: \(pauses)")))
    }
  }
}
