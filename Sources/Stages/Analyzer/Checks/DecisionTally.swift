import NudgeSchema
import StreamRuntime

/// Counts decisions, by reason and priority; those of replays as well.
enum DecisionTally {
  private static let priorities: [Priority?] = [nil, .low, .medium, .high]

  static let all: [StageTally] = DecisionReason.allCases.flatMap { reason in
    priorities.map { priority in
      StageTally(
        "nudge_decisions_total", help: "Decisions, one a person and message, by reason and priority.",
        labels: [
          "outcome": (reason.notifies ? DecisionBody.Outcome.notify : .suppress).rawValue, "reason": reason.rawValue,
          "priority": priority?.rawValue ?? "none",
        ])
    }
  }

  private static let places = Dictionary(
    uniqueKeysWithValues: DecisionReason.allCases.enumerated().map { ($1, $0 * priorities.count) })

  /// Where a decision is counted.
  static func place(_ reason: DecisionReason, _ priority: Priority?) -> Int {
    (places[reason] ?? 0) + (priorities.firstIndex(of: priority) ?? 0)
  }
}
