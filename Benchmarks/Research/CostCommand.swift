import Foundation
import NudgeCommands
import NudgeLab
import ServiceKit

/// `nudge-research cost FILE…`.
enum CostCommand {
  static let command = Command(
    "cost",
    abstract: "What the policies all, smart, smart with visible small groups, and mentions cost people.",
    discussion:
      "Decides all messages by each policy: alerts a person and day, and what of the messages meant for somebody is shown.",
    settings: [AnnotatedLogs.split, ResearchSettings.seed, ResearchSettings.json], arguments: [AnnotatedLogs.files],
    examples: ["nudge-research cost chat.jsonl.gz --split held-out"]
  ) { input in
    var measure = CostMeasure()
    try AnnotatedLogs.forEach(input) { try measure.add($0) }
    let summaries = CostMeasure.Policy.allCases.map {
      CostSummary($0, measure.logs[$0] ?? [], measure.counts[$0] ?? [], seed: input.seed)
    }
    if input[ResearchSettings.json] {
      try CommandOutput.print(json: summaries)
      return ExitCode.success
    }
    func text(_ figure: ResampledFigure, _ unit: Double = 100) -> String {
      let digits = unit == 1 ? "%.1f (%.1f to %.1f)" : "%.0f %% (%.0f to %.0f)"
      return String(format: digits, figure.value * unit, figure.low * unit, figure.high * unit)
    }
    print("\(measure.logs[.all]?.count ?? 0) logs; intervals: 95 of 100 draws of whole logs")
    for summary in summaries {
      print(
        "\(summary.policy.rawValue): \(text(summary.alertsPerDay, 1)) alerts a person and active day, median "
          + "\(text(summary.medianAlerts, 1)), 90 in 100 at most \(text(summary.p90Alerts, 1)); "
          + "\(summary.personDays) people and days")
      print(
        "    of \(summary.meant) messages meant for somebody \(text(summary.meantAlerting)) alert, "
          + "\(text(summary.meantVisible)) are at least visible, \(text(summary.meantNothing)) show nothing; "
          + "\(text(summary.alertsNotMeant)) of alerts are for somebody else")
    }
    return ExitCode.success
  }
}
