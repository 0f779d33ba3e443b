public import NudgeSchema
public import StreamRuntime

/// The dispatcher's metrics.
public enum DispatcherMetric: StageMetric {
  /// The outcome of a push for a device.
  case outcome(OutcomeResult, Platform, isSilent: Bool)
  /// The outcome of an escalation to the webhook.
  case escalation(OutcomeResult)

  /// The metric of an outcome, by the kind of its push.
  init(_ result: OutcomeResult, _ platform: Platform, _ kind: Push.Kind) {
    self =
      kind == .escalation
      ? .escalation(result) : .outcome(result, platform, isSilent: kind != .message && kind != .digest)
  }

  public static let expected =
    OutcomeResult.allCases.flatMap { result in
      Platform.allCases.flatMap { platform in
        [false, true].map { Self.outcome(result, platform, isSilent: $0) }
      }
    } + OutcomeResult.allCases.map(Self.escalation)

  public var series: StageSeries {
    switch self {
    case .outcome(let result, let platform, let isSilent):
      StageSeries(
        "nudge_push_outcomes_total",
        help: "Outcomes, one a push and device, by result, platform and kind; silent: badges, reads, deletions.",
        labels: [
          "result": result.rawValue, "platform": platform.rawValue, "kind": isSilent ? "silent" : "message",
        ])
    case .escalation(let result):
      StageSeries(
        "nudge_escalation_outcomes_total", help: "Outcomes of escalations to the webhook, by result.",
        labels: ["result": result.rawValue])
    }
  }
}
