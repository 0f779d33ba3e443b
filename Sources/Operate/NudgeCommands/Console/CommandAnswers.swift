import Analyzer
import Foundation
import NudgeConsole
import NudgeSchema
import ServiceKit

/// Answers the console's questions with the code of the commands.
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

  /// Reads for a job: the reading reports its progress to the job, and ends when the job ends.
  func reading<Result>(for job: ConsoleJob, _ body: (TopicBrowser) throws -> Result) throws -> Result {
    let progress = ReadingProgress(isTerminal: true) { text in
      job.report(text.trimmingCharacters(in: .controlCharacters).replacing("[K", with: ""))
    }
    let browser = try TopicBrowser(cluster, progress: progress, isCancelled: { job.isCancelled })
    return try body(browser)
  }

  /// A time in a question; nil if the question has none.
  static func time(_ text: String?, now: Milliseconds) throws -> Milliseconds? {
    guard let text else { return nil }
    do {
      return try PointInTime.parse(text).milliseconds(now: now)
    } catch {
      throw CommandError("\(text) is no time: use \(error.allowed)")
    }
  }

  /// A whole number in a question, within its range.
  static func number(_ text: String?, _ range: ClosedRange<Int>, default standard: Int) -> Int {
    min(max(text.flatMap { Int($0) } ?? standard, range.lowerBound), range.upperBound)
  }
}

/// The pages Person and Message: the output of `nudge explain --json`, with words.
extension CommandAnswers {
  /// The most decisions that are shown as they are found. The complete answer follows.
  private static let mostPreviews = 200

  func person(_ question: ConsoleQuestion, _ job: ConsoleJob) throws {
    guard let userId = question["user"] else { throw CommandError("name a person") }
    let now = SystemClock.milliseconds()
    let since = try Self.time(question["since"], now: now)
    let asked = ExplainSearch.Question(
      userId: userId, messageId: question["message"], conversationId: question["conversation"],
      since: since ?? (question["message"] == nil ? now - 3_600_000 : nil),
      limit: Self.number(question["limit"], 1...1_000, default: 100), showsTexts: options.showsTexts, readsState: true,
      now: now)
    try reading(for: job) { browser in
      var search = ExplainSearch(asked, browser: browser, cluster: cluster)
      var previews = 0
      search.found = { decision in
        previews += 1
        guard previews <= Self.mostPreviews else { return }
        try job.write(fields: ["row": "decision", "decision": decision, "words": StoryWords.Decision(decision.record)])
      }
      let answer = try search.answer()
      try job.write(fields: [
        "row": "answer", "answer": answer, "words": ["stories": answer.stories.map { StoryWords($0) }] as JSONObject,
      ])
    }
  }

  func message(_ question: ConsoleQuestion, _ job: ConsoleJob) throws {
    guard let messageId = question["message"] else { throw CommandError("name a message") }
    let asked = MessageSearch.Question(
      messageId: messageId, conversationId: question["conversation"], showsTexts: options.showsTexts,
      peopleShown: Self.number(question["limit"], 1...1_000, default: 200), now: SystemClock.milliseconds())
    try reading(for: job) { browser in
      let search = MessageSearch(asked, browser: browser)
      let answer = try search.answer { try job.write(fields: ["row": "message", "answer": $0]) }
      try job.write(fields: ["row": "message", "answer": answer])
    }
  }
}

/// The page Funnel: the output of `nudge funnel --json`.
extension CommandAnswers {
  func funnel(_ question: ConsoleQuestion, _ job: ConsoleJob) throws {
    let now = SystemClock.milliseconds()
    let since = try Self.time(question["since"], now: now) ?? now - 3_600_000
    let until = try Self.time(question["until"], now: now) ?? now
    guard since < until else { throw CommandError("the beginning must be before the end") }
    try reading(for: job) { browser in
      let table = try FunnelReading(browser: browser, since: since, until: until).table()
      try job.write(fields: ["row": "funnel", "answer": table])
    }
  }
}

/// The page Policy: the output of `nudge policy` and `nudge simulate`.
extension CommandAnswers {
  /// The current policy, or a changed one from the question.
  func policy(_ question: ConsoleQuestion, _ job: ConsoleJob) throws {
    let today = try options.rules().policy
    let policy = try question["policy"].map { try Self.policy($0) } ?? today
    let answer: JSONObject = [
      "version": PolicyCommand.version(policy), "policy": try JSONValue(policy.json(pretty: false)),
      "differences": try PolicyDifferences(of: policy).differences,
      "changes": try PolicyDifferences(of: policy, from: today).differences,
    ]
    try job.write(fields: ["row": "policy", "answer": answer])
  }

  func simulate(_ question: ConsoleQuestion, _ job: ConsoleJob) throws {
    var rules = try options.rules()
    if let text = question["policy"] { rules.policy = try Self.policy(text) }
    let selection = try selection(question, nil, now: SystemClock.milliseconds())
    let examples = Self.number(question["examples"], 0...1_000, default: 10)
    try reading(for: job) { browser in
      let result = try Simulation(selection: selection, rules: rules, examples: examples, browser: browser).result()
      try job.write(fields: ["row": "simulation", "answer": result])
    }
  }

  private static func policy(_ text: String) throws -> NotificationPolicy {
    do {
      return try NotificationPolicy(json: Array(text.utf8))
    } catch {
      throw CommandError("\(error)")
    }
  }
}

extension ConsoleJob {
  /// Adds a row with these fields. `row` names the kind of row for the page; `answer` is the output of a command's `--json`.
  func write(fields: JSONObject) throws { try write(fields) }
}
