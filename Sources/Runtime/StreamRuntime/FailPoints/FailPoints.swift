import Foundation
import Glibc
import NudgeSchema
import ServiceKit
import Synchronization

/// The fail-points of a process: counts how often each is reached, and does there what the environment tells. Any thread
/// may come by.
///
/// In debug builds only: in a release build there is nothing but the word that the variable is ignored. What runs in
/// production has no line of it; the wrappers of this folder stand around its I/O, its stores and its effects.
final class FailPoints: Sendable {
  /// The environment's variable.
  static let variable = "NUDGE_FAIL_POINTS"

  #if DEBUG
    private struct State {
      var reached: [FailPoint: Int] = [:]
      /// Answers to effects have come since the last transaction began.
      var hasAnswers = false
    }

    private let plan: FailPointPlan
    private let logger: Logger
    private let state = Mutex(State())

    init(_ plan: FailPointPlan, logger: Logger) {
      self.plan = plan
      self.logger = logger
    }

    /// Those the environment asks for; nil: none. Throws where it asks for something there is not.
    static func fromEnvironment(
      _ environment: [String: String] = ProcessInfo.processInfo.environment, logger: Logger
    ) throws(FailPointPlan.Failure) -> FailPoints? {
      guard let text = environment[variable], !text.isEmpty else { return nil }
      let plan = try FailPointPlan(text)
      logger.warning("this process was told to fail", ["points": .string(text)])
      return FailPoints(plan, logger: logger)
    }

    /// The work has come to a point: does what was told, and returns true where the call is to fail.
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
        // The thread's standing still is the fault itself: there is nothing to wait for.
        Thread.sleep(forTimeInterval: Double(milliseconds) / 1000)
        return false
      case .die:
        kill(getpid(), SIGKILL)
        // Not reached: the kernel ends a process that has killed itself before the call returns.
        return true
      }
    }

    /// An answer to an effect has come, and is not committed.
    func noteAnswer() { state.withLock { $0.hasAnswers = true } }

    /// Whether answers have come since this was asked last.
    func takeAnswers() -> Bool {
      state.withLock { state in
        defer { state.hasAnswers = false }
        return state.hasAnswers
      }
    }
  #else
    /// Fail-points are for debug builds: says so to whoever asks a release build for them.
    static func refuse(
      _ environment: [String: String] = ProcessInfo.processInfo.environment, logger: Logger
    ) {
      guard let text = environment[variable], !text.isEmpty else { return }
      logger.warning("\(variable) is ignored: only debug builds have fail-points")
    }
  #endif
}
