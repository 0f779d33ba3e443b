import NudgeSchema
import ServiceKit

enum FunnelCommand {
  private static let since = Setting<PointInTime>(
    "since", environment: .none, default: .ago(.seconds(3_600)),
    help: "Decisions since then: a duration (1h) or a time (2026-11-22T10:30:00Z).")
  private static let until = TimeSpan.until("Decisions")
  private static let json = Setting<Bool>("json", environment: .none, default: false, help: "Print JSON.")

  static let command = Command(
    "funnel",
    abstract: "Counts how far messages got, from the decision to the tap.",
    discussion:
      "By reason, priority, platform and hour. Decisions count a person and message, all else a push and device. Reads "
      + "nudge.decisions, nudge.pushes and nudge.outcomes, in several passes if there is much.",
    settings: ClusterSettings.all + [since, until, Watching.every, json],
    examples: [
      "nudge funnel --since 1h --bootstrap-servers kafka:9092",
      "nudge funnel --since 2026-11-22T08:00:00Z --until 2026-11-22T09:00:00Z --json --bootstrap-servers kafka:9092",
    ]
  ) { input in
    func span() throws(SettingsError) -> (from: Milliseconds, to: Milliseconds) {
      let now = SystemClock.milliseconds()
      let span = try TimeSpan.of(since: input[since], until: input[until], now: now)
      return (span.from ?? 0, span.to ?? now)
    }
    _ = try span()
    let browser = try TopicBrowser(ClusterSettings(input))
    defer { browser.close() }
    return try Watching.run(input, asJSON: input[json]) {
      let (from, to) = try span()
      let table = try FunnelReading(browser: browser, since: from, until: to).table()
      if input[json] {
        try CommandOutput.print(json: table)
      } else {
        print(FunnelReport(table).text)
      }
      return ExitCode.success
    }
  }
}
