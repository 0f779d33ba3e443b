import NudgeConsole
import NudgeSchema
import ServiceKit

/// The page Funnel: what `nudge funnel --json` says.
extension CommandAnswers {
  func funnel(_ question: ConsoleQuestion, _ job: ConsoleJob) throws {
    let now = SystemClock.milliseconds()
    let since = try Self.time(question["since"], now: now) ?? now - 3_600_000
    let until = try Self.time(question["until"], now: now) ?? now
    guard since < until else { throw CommandError("the beginning must be before the end") }
    try reading(for: job) { browser in
      let table = try FunnelReading(browser: browser, since: since, until: until).table()
      try job.write(AnswerRow("funnel", table))
    }
  }
}
