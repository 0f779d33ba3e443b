public import NudgeSchema
public import ServiceKit
import Synchronization

/// Shows how the lanes of all tasks stand: metrics, readiness, and the share of the partitions this instance has.
public final class LaneMonitor: Sendable {
  /// The part of readiness it speaks for.
  public static let part = "lanes"
  /// Every reason of a pause, as a label of metrics.
  static let pauseReasons = ["refused", "quota", "invalid_tokens"]

  private struct State {
    var tasks: [Int32: LaneStatistics] = [:]
    var fullStages: Set<ObjectIdentifier> = []
    var partitionCount: Int32 = 1
    var share = 0.0
    var shareChanged: (@Sendable (Double) -> Void)?

    var total: LaneStatistics { tasks.values.reduce(LaneStatistics(), +) }
  }

  private let readiness: HealthChecks
  private let state = Mutex(State())

  /// A monitor that shows gauges in a registry and sets a part of readiness. `now` is the wall clock.
  ///
  /// `limit`: the pushes at which all threads together have stopped reading; 0: they never do.
  public init(
    metrics: MetricsRegistry, readiness: HealthChecks, limit: Int = 0, now: @escaping @Sendable () -> Milliseconds
  ) {
    self.readiness = readiness
    readiness.set(Self.part, .ready)
    func gauge(
      _ name: String, _ help: String, labels: [String: String] = [:],
      _ read: @escaping @Sendable (LaneStatistics) -> Double
    ) {
      metrics.gauge(name, help: help, labels: labels) { [weak self] in self.map { read($0.total) } ?? 0 }
    }
    gauge("nudge_lane_pushes", "Pushes that wait for an answer or another try, each with its device.") {
      Double($0.waiting)
    }
    gauge("nudge_lane_pushes_limit", "Pushes at which all threads have stopped reading; 0: they never do.") { _ in
      Double(limit)
    }
    gauge("nudge_lane_bytes", "About the bytes they take.") { Double($0.bytes) }
    gauge("nudge_lane_devices", "Devices they are for.") { Double($0.lanes) }
    gauge(
      "nudge_lane_oldest_seconds",
      "For how long the lane that was not empty for longest has not been empty, in seconds."
    ) { $0.oldestSince.map { Double(max(0, now() - $0)) / 1000 } ?? 0 }
    for reason in Self.pauseReasons {
      gauge("nudge_fcm_pauses", "Paused projects and platforms, of each task.", labels: ["reason": reason]) {
        Double($0.pauses[reason] ?? 0)
      }
    }
    gauge("nudge_fcm_token_breakers_open", "Open breakers over invalid tokens, of each task.") {
      Double($0.openBreakers)
    }
  }

  /// How all lanes stand.
  public var total: LaneStatistics { state.withLock { $0.total } }

  /// Calls `body` with the part of the partitions this instance has, now and whenever that changes.
  public func onShare(_ body: @escaping @Sendable (Double) -> Void) {
    let share = state.withLock { state in
      state.shareChanged = body
      return state.share
    }
    if share > 0 { body(share) }
  }

  /// A task's lanes, of so many partitions.
  func report(_ statistics: LaneStatistics, task: Int32, of partitionCount: Int32) {
    changeTasks {
      $0.partitionCount = max(partitionCount, 1)
      $0.tasks[task] = statistics
    }
  }

  /// The task belongs to somebody else now.
  func close(task: Int32) { changeTasks { $0.tasks[task] = nil } }

  private func changeTasks(_ change: (inout State) -> Void) {
    let changed = state.withLock { state -> (share: Double, notify: @Sendable (Double) -> Void)? in
      change(&state)
      let share = Double(state.tasks.count) / Double(state.partitionCount)
      // Without a task nothing is sent; the last share stands until there is one.
      guard share > 0, share != state.share else { return nil }
      state.share = share
      return state.shareChanged.map { (share, $0) }
    }
    if let changed { changed.notify(changed.share) }
  }

  /// A stage stopped reading because its lanes are full, or goes on.
  func setFull(_ full: Bool, stage: ObjectIdentifier, limit: String) {
    // Readiness learns of changes in the order they are made.
    state.withLock { state in
      if full { state.fullStages.insert(stage) } else { state.fullStages.remove(stage) }
      guard !state.fullStages.isEmpty else { return readiness.set(Self.part, .ready) }
      let total = state.total
      let pauses = total.pauses.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
      readiness.set(
        Self.part,
        .notReady(
          "the lanes are full (\(limit)): \(total.waiting) pushes wait, and no more are read until there is room; "
            + (pauses.isEmpty ? "nothing is paused" : "paused: \(pauses)")))
    }
  }
}
