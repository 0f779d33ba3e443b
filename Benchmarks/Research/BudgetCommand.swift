import Foundation
import NudgeCommands
import NudgeLab
import ServiceKit

/// `nudge-research budget FILE…`.
enum BudgetCommand {
  private static let alerts = Setting<[String]>(
    "alerts", environment: .none, default: ["3", "5", "10"], placeholder: "ALERTS,…",
    help: "Budgets of so many alerts a day.",
    check: {
      $0.allSatisfy { Int($0).map { (1...1_000).contains($0) } ?? false } ? nil : "numbers from 1 to 1000"
    })

  static let command = Command(
    "budget",
    abstract: "Compares budgets of alerts with the best choice of somebody who knows the day beforehand.",
    settings: [alerts, AnnotatedLogs.split, ResearchSettings.seed, ResearchSettings.json],
    arguments: [AnnotatedLogs.files],
    examples: ["nudge-research budget chat.jsonl.gz --split held-out --alerts 3,5,10"]
  ) { input in
    var measure = BudgetMeasure()
    try AnnotatedLogs.forEach(input) { measure.add($0) }
    let summaries = input[alerts].compactMap { Int($0) }.map {
      BudgetSummary(dailyAlerts: $0, measure.sums(dailyAlerts: $0), seed: input.seed)
    }
    if input[ResearchSettings.json] {
      try CommandOutput.print(json: summaries)
      return ExitCode.success
    }
    print("\(measure.logs.count) logs; intervals: 95 of 100 draws of whole logs")
    for summary in summaries {
      print(
        "\(summary.dailyAlerts) alerts a day: \(summary.valueReached.percent) of the value of the clairvoyant choice, "
          + "\(summary.valueReachedOnBusyDays.percent) on the \(summary.busyDays) of \(summary.personDays) days of a person "
          + "that have more")
      print(
        "    of \(summary.meant) messages meant for the person that would alert \(summary.meantAlerting) do, "
          + "\(summary.bestMeantAlerting) by the clairvoyant choice: \(summary.meantReached.percent)")
    }
    return ExitCode.success
  }
}
