import Foundation
import NudgeCommands
import NudgeLab
import NudgeSchema
import ServiceKit

/// `nudge-research attention FILE…`.
enum AttentionCommand {
  private static let level = Setting<AttentionLevel>(
    "level", environment: .none, default: .all, help: "The level of the replayed groups.")

  private static let plot = Setting<String?>(
    "plot", environment: .none, default: nil, placeholder: "FILE", help: "A file the result is drawn to, as SVG.")

  static let command = Command(
    "attention",
    abstract: "What waiting, a catch-up and 10 alerts a day change in interruptions, and in when messages are seen.",
    discussion: "Replays the logs with two devices a person.",
    settings: [level, plot, AnnotatedLogs.split, ResearchSettings.seed, ResearchSettings.json],
    arguments: [AnnotatedLogs.files],
    examples: ["nudge-research attention chat.jsonl.gz --split held-out --level all --plot attention.svg"]
  ) { input in
    let chosen = input[level]
    var measure = AttentionMeasure(level: chosen.level, seed: input.seed)
    try AnnotatedLogs.forEach(input) { try measure.add($0) }
    let summaries = AttentionSummary.all(measure)
    let count = measure.logs[.off]?.count ?? 0
    if let path = input[plot] {
      let plot = AttentionPlot(title: "Level \(chosen.rawValue), \(count) logs", summaries: summaries)
      do {
        try Data(plot.svg.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
      } catch {
        throw CommandError("--plot: \(path) cannot be written")
      }
    }
    if input[ResearchSettings.json] {
      try CommandOutput.print(json: summaries)
      return ExitCode.success
    }
    print("\(count) logs at level \(chosen.rawValue); intervals: 95 of 100 draws of whole logs")
    for summary in summaries {
      let alerts = summary.alertsPerDay
      print(
        "\(summary.setting.rawValue): "
          + "\(alerts.rounded) (\(ResampledFigure.rounded(alerts.low)) to \(ResampledFigure.rounded(alerts.high)))"
          + " interruptions a person and active day, \(summary.fewerAlerts.percent) fewer; \(summary.personDays) people and "
          + "days")
      print(
        "    of \(summary.meant) messages meant for somebody \(summary.heardSoon.percent) sound within 10 s, "
          + "\(summary.seenSoon.percent) are shown or read within 10 s, \(summary.seenThatDay.percent) later and by the day's "
          + "catch-up (\(summary.caughtUp.percent) in one), \(summary.late.percent) later or never (\(summary.lateMessages))"
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
