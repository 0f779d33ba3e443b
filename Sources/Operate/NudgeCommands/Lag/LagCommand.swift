import Analyzer
import Dispatcher
import Ingest
import ServiceKit

enum LagCommand {
  private static let partitions = Setting<Bool>(
    "partitions", environment: .none, default: false, help: "List the partitions that are behind.")
  private static let maxAge = Setting<Duration?>(
    "max-age", environment: .none, default: nil,
    help: "Exit with 1 if the oldest unprocessed record, or push without an outcome, is older than this.")
  private static let json = Setting<Bool>(
    "json", environment: .none, default: false, help: "Print JSON.")

  static let command = Command(
    "lag",
    abstract: "Shows how far each stage is behind, and which pushes wait.",
    discussion:
      "The last line counts the pushes of the last two hours that have no outcome yet: they wait for a push service, whatever keeps them "
      + "from it.",
    settings: ClusterSettings.all + [partitions, maxAge, Watching.every, json],
    examples: [
      "nudge lag --bootstrap-servers kafka:9092",
      "nudge lag --watch 10s --bootstrap-servers kafka:9092",
      "nudge lag --max-age 60s --json --bootstrap-servers kafka:9092",
    ]
  ) { input in
    let cluster = ClusterSettings(input)
    let browser = try TopicBrowser(cluster)
    defer { browser.close() }
    return try Watching.run(input, asJSON: input[json]) {
      let report = try LagReading(browser: browser, cluster: cluster).report(
        of: [IngestStage.definition, AnalyzerStage.definition, DispatcherStage.definition],
        now: SystemClock.milliseconds(), readsPushes: true)
      if input[json] {
        try CommandOutput.print(json: report)
      } else {
        print(report.text(byPartition: input[partitions]))
      }
      guard let limit = input[maxAge], report.age > limit.milliseconds else { return ExitCode.success }
      return ExitCode.failure
    }
  }
}
