import Foundation
import NudgeCommands
import NudgeLab
import ServiceKit

/// `nudge-research learning FILE…`.
enum LearningCommand {
  private static let taste = Setting<TasteChoice>(
    "taste", environment: .none, default: .different,
    help:
      "average: people want what the log says; different: also all messages of one in four senders, and none of another "
      + "one in four.")

  private static let signals = Setting<Int>(
    "signals", environment: .none, default: 20, in: 1...10_000, help: "Verdicts each of these people gives.")

  static let command = Command(
    "learning",
    abstract: "What it changes that people say of messages whether they helped.",
    settings: [taste, signals, AnnotatedLogs.split, ResearchSettings.seed, ResearchSettings.json],
    arguments: [AnnotatedLogs.files],
    examples: ["nudge-research learning chat.jsonl.gz --split held-out --taste different --signals 20"]
  ) { input in
    let measure = RelevanceMeasure()
    let people: LearningMeasure.People =
      switch input[taste] {
      case .average: .average
      case .different: .different(seed: input.seed)
      }
    var trial = LearningMeasure(people, signals: input[signals], scoring: measure.scoring)
    try AnnotatedLogs.forEach(input) { log in try measure.judge(log) { trial.add($0) } }
    let count = trial.count
    if input[ResearchSettings.json] {
      try CommandOutput.print(json: count)
      return ExitCode.success
    }
    func percent(_ part: Double) -> String { String(format: "%.1f %%", part * 100) }
    print(
      "\(count.people) people gave all of their signals; after that \(count.with.pairs) messages, "
        + "\(count.with.positive) of them wanted:")
    for (name, part) in [("without what they taught", count.without), ("with it", count.with)] {
      print("\(name): precision \(percent(part.precision)), recall \(percent(part.recall)), F1 \(percent(part.f1))")
    }
    return ExitCode.success
  }
}

/// The wishes of simulated people, as a setting.
enum TasteChoice: String, CaseIterable, SettingValue {
  case average
  case different
}
