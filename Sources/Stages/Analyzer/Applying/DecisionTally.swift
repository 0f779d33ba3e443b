import NudgeSchema
import StreamRuntime

/// Counts decisions, by reason and priority; those of replays as well.
enum DecisionTally {
  private static let priorities: [Priority?] = [nil, .low, .medium, .high]
  /// The reasons to defer.
  private static let deferring: [DecisionReason] = [.activeConversation, .activeElsewhere, .alreadyRead]

  static let all: [StageTally] =
    DecisionReason.allCases.flatMap { reason in
      priorities.map { series(reason.notifies ? .notify : .suppress, reason, $0) }
    } + deferring.map { series(.deferred, $0, nil) }

  private static func series(
    _ outcome: DecisionBody.Outcome, _ reason: DecisionReason, _ priority: Priority?
  ) -> StageTally {
    StageTally(
      "nudge_decisions_total",
      help:
        "Decisions by outcome, reason and priority: a final one a person and message, before it perhaps a deferred one.",
      labels: [
        "outcome": outcome.rawValue, "reason": reason.rawValue, "priority": priority?.rawValue ?? "none",
      ])
  }

  private static let places = Dictionary(
    uniqueKeysWithValues: DecisionReason.allCases.enumerated().map { ($1, $0 * priorities.count) })

  /// Where a decision is counted.
  static func place(_ reason: DecisionReason, _ priority: Priority?) -> Int {
    (places[reason] ?? 0) + (priorities.firstIndex(of: priority) ?? 0)
  }

  /// Where a decision is counted that a final one follows.
  static func place(deferredBy reason: DecisionReason) -> Int {
    DecisionReason.allCases.count * priorities.count + (deferring.firstIndex(of: reason) ?? 0)
  }
}
