import StreamRuntime

/// Counts what became of messages whose time to be said again came.
enum EscalationTally {
  enum Result: String, CaseIterable {
    /// The push or the escalation was made.
    case made
    /// The person had read it.
    case read
    /// A device had reported one of its pushes.
    case arrived
    /// It was deleted, or the person left.
    case withdrawn
    /// Notifications are off, the conversation is muted, or the policy no longer asks for it.
    case unwanted
    /// No device could be reached: the webhook is told all the same.
    case noDevice = "no_device"
    /// Too many of the person's messages wait: it is not said again.
    case full
  }

  static let all: [StageTally] = EscalationsRow.Step.allCases.flatMap { step in
    Result.allCases.map { result in
      StageTally(
        "nudge_escalations_total",
        help: "Messages whose time came to be pushed again, or to be told to the webhook, by step and result.",
        labels: ["step": step == .again ? "again" : "webhook", "result": result.rawValue])
    }
  }

  static func place(_ step: EscalationsRow.Step, _ result: Result) -> Int {
    ReceiptTally.escalationBase + step.rawValue * Result.allCases.count + (Result.allCases.firstIndex(of: result) ?? 0)
  }
}
