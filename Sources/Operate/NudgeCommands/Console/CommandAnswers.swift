import Foundation
import NudgeConsole
import NudgeSchema
import ServiceKit

/// Answers the console's questions by what the commands answer theirs.
struct CommandAnswers: ConsoleAnswers {
  let cluster: ClusterSettings
  let options: RunningConsole.Options

  var facts: ConsoleFacts {
    ConsoleFacts(
      version: NudgeVersion.current, bootstrapServers: cluster.bootstrapServers, topicPrefix: cluster.topics.prefix,
      allowsActions: options.allowsActions, showsTexts: options.showsTexts, phones: options.phones)
  }

  func isAction(_ question: ConsoleQuestion) -> Bool { false }

  func answer(_ question: ConsoleQuestion, to job: ConsoleJob) throws {
    switch question.ask {
    case "person": try person(question, job)
    case "message": try message(question, job)
    default: throw CommandError("the console does not know the question \(question.ask)")
    }
  }

  /// Reads for a job: its progress is the job's, and its end ends the reading.
  func reading<Result>(for job: ConsoleJob, _ body: (TopicBrowser) throws -> Result) throws -> Result {
    let progress = ReadingProgress(isTerminal: true) { text in
      job.tell(text.trimmingCharacters(in: .controlCharacters).replacing("[K", with: ""))
    }
    let browser = try TopicBrowser(cluster, progress: progress, isCancelled: { job.isCancelled })
    defer { browser.close() }
    return try body(browser)
  }

  /// A time of a question; nil: it names none.
  static func time(_ text: String?, now: Milliseconds) throws -> Milliseconds? {
    guard let text else { return nil }
    do {
      return try PointInTime.parse(text).milliseconds(now: now)
    } catch {
      throw CommandError("\(text) is no time: use \(error.allowed)")
    }
  }

  /// A whole number of a question, within its range.
  static func number(_ text: String?, _ range: ClosedRange<Int>, default standard: Int) -> Int {
    min(max(text.flatMap { Int($0) } ?? standard, range.lowerBound), range.upperBound)
  }
}
