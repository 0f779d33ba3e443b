import NudgeConsole
import NudgeSchema
import ServiceKit

/// The pages Person and Message: what `nudge explain --json` says, with its words.
extension CommandAnswers {
  private struct DecisionRow: Encodable {
    var row = "decision"
    var decision: PlacedRecord
    var words: StoryWords.Decision
  }

  private struct PersonRow: Encodable {
    struct Words: Encodable { var stories: [StoryWords] }
    var row = "answer"
    var answer: ExplainAnswer
    var words: Words
  }

  /// Decisions as they are found, up to this many; the whole answer follows.
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
        try job.write(DecisionRow(decision: decision, words: StoryWords.Decision(decision.record)))
      }
      let answer = try search.answer()
      try job.write(PersonRow(answer: answer, words: .init(stories: answer.stories.map { StoryWords($0) })))
    }
  }

  func message(_ question: ConsoleQuestion, _ job: ConsoleJob) throws {
    guard let messageId = question["message"] else { throw CommandError("name a message") }
    let asked = MessageSearch.Question(
      messageId: messageId, conversationId: question["conversation"], showsTexts: options.showsTexts,
      peopleShown: Self.number(question["limit"], 1...1_000, default: 200), now: SystemClock.milliseconds())
    try reading(for: job) { browser in
      let search = MessageSearch(asked, browser: browser)
      let answer = try search.answer { try job.write(AnswerRow("message", $0)) }
      try job.write(AnswerRow("message", answer))
    }
  }
}
