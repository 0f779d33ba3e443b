import NudgeSchema
import StreamRuntime

/// Counts outcomes, by result, platform and whether the push shows something.
enum OutcomeTally {
  private static let kinds = ["message", "silent"]

  private static let pushes: [StageTally] = OutcomeResult.allCases.flatMap { result in
    Platform.allCases.flatMap { platform in
      kinds.map { kind in
        StageTally(
          "nudge_push_outcomes_total",
          help: "Outcomes, one a push and device, by result, platform and kind; silent: badges, reads, deletions.",
          labels: ["result": result.rawValue, "platform": platform.rawValue, "kind": kind])
      }
    }
  }

  private static let escalations: [StageTally] = OutcomeResult.allCases.map {
    StageTally(
      "nudge_escalation_outcomes_total", help: "Outcomes of escalations to the webhook, by result.",
      labels: ["result": $0.rawValue])
  }

  static let all = pushes + escalations

  /// Where an outcome is counted.
  static func place(_ result: OutcomeResult, _ platform: Platform, _ kind: Push.Kind) -> Int {
    let result = OutcomeResult.allCases.firstIndex(of: result) ?? 0
    if kind == .escalation { return pushes.count + result }
    let platform = Platform.allCases.firstIndex(of: platform) ?? 0
    return (result * Platform.allCases.count + platform) * kinds.count + (kind == .message || kind == .digest ? 0 : 1)
  }
}
