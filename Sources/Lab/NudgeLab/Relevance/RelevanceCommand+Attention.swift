import Foundation
import NudgeCommands
import NudgeSchema
import ServiceKit

extension RelevanceCommand {
  static let attention = Setting<AttentionLevel?>(
    "attention", environment: .none, default: nil,
    help:
      "Replays the logs with two devices a person at this level: what waiting, a catch-up and 10 alerts a day change in "
      + "interruptions, and in when messages meant for somebody are seen.")

  static let plot = Setting<String?>(
    "plot", environment: .none, default: nil, placeholder: "FILE",
    help: "With --attention: a file the result is drawn to, as SVG.")

  static func showAttention(_ level: AttentionLevel, _ input: CommandInput) throws -> Int32 {
    var measure = AttentionMeasure(level: level.level, seed: UInt64(bitPattern: Int64(input[seed])))
    try forEachChosenLog(input) { try measure.add($0) }
    let summaries = AttentionSummary.all(measure)
    let count = measure.logs[.off]?.count ?? 0
    if let path = input[plot] {
      let plot = AttentionPlot(title: "Level \(level.rawValue), \(count) logs", summaries: summaries)
      do {
        try Data(plot.svg.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
      } catch {
        throw CommandError("--plot: \(path) cannot be written")
      }
    }
    if input[json] {
      try CommandOutput.print(json: summaries)
      return ExitCode.success
    }
    func share(_ figure: ResampledFigure) -> String {
      String(format: "%.1f %% (%.1f to %.1f)", figure.value * 100, figure.low * 100, figure.high * 100)
    }
    print("\(count) logs at level \(level.rawValue); intervals: 95 of 100 draws of whole logs")
    for summary in summaries {
      let alerts = summary.alertsPerDay
      print(
        "\(summary.setting.rawValue): "
          + "\(alerts.rounded) (\(ResampledFigure.rounded(alerts.low)) to \(ResampledFigure.rounded(alerts.high)))"
          + " interruptions a person and active day, \(share(summary.fewerAlerts)) fewer; \(summary.personDays) people and "
          + "days")
      print(
        "    of \(summary.meant) messages meant for somebody \(share(summary.heardSoon)) sound within 10 s, "
          + "\(share(summary.seenSoon)) are shown or read within 10 s, \(share(summary.seenThatDay)) later and by the day's "
          + "catch-up (\(share(summary.caughtUp)) in one), \(share(summary.late)) later or never (\(summary.lateMessages))"
      )
    }
    return ExitCode.success
  }
}

/// The level of the replayed groups, as a setting.
enum AttentionLevel: String, CaseIterable, SettingValue {
  case all
  case smart

  var level: NotificationLevel {
    switch self {
    case .all: .all
    case .smart: .smart
    }
  }
}
