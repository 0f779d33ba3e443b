import NudgeSchema
import StreamRuntime

/// Counts outcomes, by result, platform and whether the push shows something.
enum OutcomeTally {
  private static let kinds = ["message", "silent"]

  static let all: [StageTally] = OutcomeResult.allCases.flatMap { result in
    Platform.allCases.flatMap { platform in
      kinds.map { kind in
        StageTally(
          "nudge_push_outcomes_total",
          help: "Outcomes, one a push and device, by result, platform and kind; silent: badges, reads, deletions.",
          labels: ["result": result.rawValue, "platform": platform.rawValue, "kind": kind])
      }
    }
  }

  /// Where an outcome is counted.
  static func place(_ result: OutcomeResult, _ platform: Platform, _ kind: Push.Kind) -> Int {
    let result = OutcomeResult.allCases.firstIndex(of: result) ?? 0
    let platform = Platform.allCases.firstIndex(of: platform) ?? 0
    return (result * Platform.allCases.count + platform) * kinds.count + (kind == .message || kind == .digest ? 0 : 1)
  }
}
