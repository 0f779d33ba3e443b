import Analyzer
import ServiceKit

/// `nudge simulate`, and under its former name `nudge replay simulate`.
enum SimulateCommand {
  /// The exit code where a decision differs and `--expect-same` is given.
  static let differs: Int32 = 3

  private static let expectSame = Setting<Bool>(
    "expect-same", environment: .none, default: false, help: "Exits with 3 where any decision differs.")
  private static let examples = Setting<Int>(
    "examples", environment: .none, default: 5, in: 0...1_000, help: "Decisions that differ to print.")

  static let command = command(path: "nudge simulate")
  /// The same under the name it had before.
  static let replayCommand = command(path: "nudge replay simulate")

  private static func command(path: String) -> Command {
    Command(
      "simulate",
      abstract: "Compares past decisions with this version's, by a policy.",
      discussion:
        "Decides again what the timeline holds. Shows how messages would appear, and how many alerts people would get. "
        + "Writes nothing.",
      settings: ClusterSettings.all + ReplayCommand.selecting + ReplayCommand.deciding
        + [examples, expectSame, ReplayCommand.json],
      examples: [
        "\(path) --since 1d --policy policy.json --bootstrap-servers kafka:9092",
        "\(path) --since 2h --user ann --examples 20 --bootstrap-servers kafka:9092",
        "\(path) --since 1h --expect-same --bootstrap-servers kafka:9092",
      ]
    ) { input in
      let browser = try TopicBrowser(ClusterSettings(input), queueBytes: 16 << 20)
      defer { browser.close() }
      let result = try Simulation(
        selection: ReplayCommand.selection(input), rules: try AnalyzerSettings.rules(from: input.values),
        examples: input[examples], browser: browser
      ).result()
      if input[ReplayCommand.json] {
        try CommandOutput.print(json: result)
      } else {
        print(result.text)
      }
      return result.compared > result.same && input[expectSame] ? differs : ExitCode.success
    }
  }
}
