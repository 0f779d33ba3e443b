import Foundation
import Glibc
import NudgeSchema
import ServiceKit
import Synchronization

/// The fail-points of a process. It counts visits and performs the planned actions. Any thread may use it.
///
/// Fail-points exist in debug builds only. A release build reports that it ignores the variable. They are wrappers around I/O, stores and
/// effects, so production code has none.
final class FailPoints: Sendable {
  /// The environment variable with the plan.
  static let variable = "NUDGE_FAIL_POINTS"

  #if DEBUG
    private struct State {
      var reached: [FailPoint: Int] = [:]
      /// Whether replies to effects have come since the last transaction began.
      var hasAnswers = false
    }

    private let plan: FailPointPlan
    private let logger: Logger
    private let state = Mutex(State())

    init(_ plan: FailPointPlan, logger: Logger) {
      self.plan = plan
      self.logger = logger
    }

    /// The fail-points that the environment variable names. Absent if the variable is not set.
    /// - Throws: a failure that names the unknown fail-point or action.
    static func fromEnvironment(
      _ environment: [String: String] = ProcessInfo.processInfo.environment, logger: Logger
    ) throws(FailPointPlan.Failure) -> FailPoints? {
      guard let text = environment[variable], !text.isEmpty else { return nil }
      let plan = try FailPointPlan(text)
      logger.warning("this process was told to fail", ["points": .string(text)])
      return FailPoints(plan, logger: logger)
    }

    /// Performs the action planned for this visit of a fail-point. Returns whether the call must fail.
    func reach(_ point: FailPoint) -> Bool {
      let count = state.withLock { state in
        state.reached[point, default: 0] += 1
        return state.reached[point, default: 0]
      }
      guard let entry = plan.entries.first(where: { $0.point == point && $0.occurrence == count }) else { return false }
      logger.warning(
        "fail-point reached",
        ["point": .string(point.rawValue), "count": .int(count), "action": .string("\(entry.action)")])
      switch entry.action {
      case .fail: return true
      case .stall(let milliseconds):
        // The stall itself is the fault.
        Thread.sleep(forTimeInterval: Double(milliseconds) / 1000)
        return false
      case .die:
        kill(getpid(), SIGKILL)
        // Not reached: the kernel ends the process before `kill` returns.
        return true
      }
    }

    /// Records that a reply to an effect has come and is not committed.
    func noteAnswer() { state.withLock { $0.hasAnswers = true } }

    /// Whether replies have come since the last call.
    func takeAnswers() -> Bool {
      state.withLock { state in
        defer { state.hasAnswers = false }
        return state.hasAnswers
      }
    }
  #else
    /// Reports that a release build ignores the environment variable.
    static func refuse(
      _ environment: [String: String] = ProcessInfo.processInfo.environment, logger: Logger
    ) {
      guard let text = environment[variable], !text.isEmpty else { return }
      logger.warning("\(variable) is ignored: only debug builds have fail-points")
    }
  #endif
}
