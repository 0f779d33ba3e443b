import Foundation
import NudgeConsole
import NudgeSchema
import ServiceKit

/// Answers the console's questions by what the commands answer theirs.
struct CommandAnswers: ConsoleAnswers {
  let cluster: ClusterSettings
  let options: RunningConsole.Options
  /// One for all pages.
  let overview: OverviewReading
  let counted = CountedPlans()

  init(cluster: ClusterSettings, options: RunningConsole.Options) {
    self.cluster = cluster
    self.options = options
    overview = OverviewReading(cluster: cluster, services: options.services)
  }

  var facts: ConsoleFacts {
    ConsoleFacts(
      version: NudgeVersion.current, bootstrapServers: cluster.bootstrapServers, topicPrefix: cluster.topics.prefix,
      allowsActions: options.allowsActions, showsTexts: options.showsTexts, phones: options.phones)
  }

  func isAction(_ question: ConsoleQuestion) -> Bool {
    question.ask.hasSuffix("-write") || question.ask == "replay-run" || question.ask == "replay-stop"
  }

  func answer(_ question: ConsoleQuestion, to job: ConsoleJob) throws {
    switch question.ask {
    case "person": try person(question, job)
    case "message": try message(question, job)
    case "funnel": try funnel(question, job)
    case "overview": try showOverview(job)
    case "live": try live(question, job)
    case "dead-letters": try deadLetters(question, job)
    case "dead-letter-list": try deadLetterList(question, job)
    case "dead-letter": try deadLetter(question, job)
    case "dead-letter-replay": try handleDeadLetters(question, .replayed, writes: false, job)
    case "dead-letter-replay-write": try handleDeadLetters(question, .replayed, writes: true, job)
    case "dead-letter-discard": try handleDeadLetters(question, .discarded, writes: false, job)
    case "dead-letter-discard-write": try handleDeadLetters(question, .discarded, writes: true, job)
    case "dead-letter-edit": try editDeadLetter(question, writes: false, job)
    case "dead-letter-edit-write": try editDeadLetter(question, writes: true, job)
    case "replays": try replays(job)
    case "replay": try replayTrail(question, job)
    case "replay-plan": try replay(question, writes: false, job)
    case "replay-run": try replay(question, writes: true, job)
    case "replay-stop": try stopReplay(question, job)
    case "policy", "policy-check": try policy(question, job)
    case "simulate": try simulate(question, job)
    default: throw CommandError("the console does not know the question \(question.ask)")
    }
  }

  /// A row of a page: the output of a command's `--json`.
  struct AnswerRow<Answer: Encodable>: Encodable {
    /// Tells the page what it is.
    var row: String
    var answer: Answer

    init(_ row: String, _ answer: Answer) {
      self.row = row
      self.answer = answer
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
