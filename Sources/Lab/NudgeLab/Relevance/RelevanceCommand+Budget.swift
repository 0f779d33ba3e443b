import Foundation
import NudgeCommands
import ServiceKit

extension RelevanceCommand {
  static let budgets = Setting<[String]?>(
    "budget", environment: .none, default: nil, placeholder: "ALERTS,…",
    help:
      "Compares budgets of so many alerts a day with the best choice of as many messages by somebody who knows the day "
      + "beforehand.",
    check: {
      ($0 ?? []).allSatisfy { Int($0).map { (1...1_000).contains($0) } ?? false } ? nil : "numbers from 1 to 1000"
    })

  /// Prints what budgets reach on logs that were measured.
  static func show(_ measure: BudgetMeasure, _ limits: [Int], seed: UInt64, asJSON: Bool) throws {
    let summaries = limits.map { BudgetSummary(dailyAlerts: $0, measure.sums(dailyAlerts: $0), seed: seed) }
    if asJSON { return try CommandOutput.print(json: summaries) }
    func text(_ figure: ResampledFigure) -> String {
      String(format: "%.1f %% (%.1f to %.1f)", figure.value * 100, figure.low * 100, figure.high * 100)
    }
    print("\(measure.logs.count) logs; intervals: 95 of 100 draws of whole logs")
    for summary in summaries {
      print(
        "\(summary.dailyAlerts) alerts a day: \(text(summary.valueReached)) of the value of the clairvoyant choice, "
          + "\(text(summary.valueReachedOnBusyDays)) on the \(summary.busyDays) of \(summary.personDays) days of a person "
          + "that have more")
      print(
        "    of \(summary.meant) messages meant for the person that would alert \(summary.meantAlerting) do, "
          + "\(summary.bestMeantAlerting) by the clairvoyant choice: \(text(summary.meantReached))")
    }
  }
}
