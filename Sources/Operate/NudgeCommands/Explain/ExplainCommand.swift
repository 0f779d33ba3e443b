import Analyzer
import NudgeSchema
import ServiceKit

enum ExplainCommand {
  private static let user = Setting<String?>(
    "user", environment: .none, default: nil, placeholder: "USER", help: "The person, by userId.")
  private static let message = Setting<String?>(
    "message", environment: .none, default: nil, placeholder: "MESSAGE",
    help:
      "One message, by messageId, of any age; without a decision, it is followed from its event on. Without --user: "
      + "everybody it was for, grouped by what they got and why.")
  private static let conversation = Setting<String?>(
    "conversation", environment: .none, default: nil, placeholder: "CONVERSATION",
    help: "Only this conversation; with --message it shortens the search.")
  private static let since = Setting<PointInTime?>(
    "since", environment: .none, default: nil,
    help: "Decisions since then: a duration (1h) or a time (2026-11-22T10:30:00Z). Default: 1h; with --message: all.")
  private static let until = TimeSpan.until("Decisions")
  private static let limit = Setting<Int>(
    "limit", environment: .none, default: 20, in: 1...1_000,
    help: "The most messages to show, the latest ones; without --user, the most people to name in a group.")
  private static let texts = Redaction.texts
  private static let devices = Setting<Bool>(
    "devices", environment: .none, default: true,
    help: "Also read the person's state: devices, badge, waiting pushes. Slower for a task with a large state.")
  private static let tokenHash = Setting<String?>(
    "token-hash", environment: .none, default: nil, placeholder: "HASH",
    help: "Instead of --user: the present and past owners of the token with this hash (12 to 32 digits).",
    check: { $0.map(TokenAnswer.isHash) ?? true ? nil : "12 to 32 hexadecimal digits in lower case" })
  private static let json = CommandOutput.json

  static let command = Command(
    "explain",
    abstract: "Says why a person was or was not notified.",
    discussion:
      "Shows event, candidate, every check with its inputs, push, attempts, outcome, and what the person's "
      + "devices show now. Exits with 1 if nothing was found.",
    settings: ClusterSettings.all + [
      user, message, conversation, since, until, limit, texts, devices, tokenHash, json,
    ],
    examples: [
      "nudge explain --user ann --bootstrap-servers kafka:9092",
      "nudge explain --user ann --message m-17 --bootstrap-servers kafka:9092",
      "nudge explain --message m-17 --bootstrap-servers kafka:9092",
      "nudge explain --user ann --since 2026-11-22T08:00:00Z --limit 100 --json --bootstrap-servers kafka:9092",
      "nudge explain --token-hash 9f86d081884c7d659a2feaa0c55ad015 --bootstrap-servers kafka:9092",
    ]
  ) { input in
    let cluster = ClusterSettings(input)
    if let hash = input[tokenHash] {
      guard input[user] == nil else { throw SettingsError("give either --user or --token-hash") }
      return try explain(tokenHash: hash, cluster, asJSON: input[json])
    }
    let now = SystemClock.milliseconds()
    let span = try TimeSpan.of(since: input[since], until: input[until], now: now)
    if span.from == nil, let to = span.to, input[message] == nil {
      throw SettingsError("--until \(RFC3339.text(to)) needs --since, or --message")
    }
    guard let userId = input[user], !userId.isEmpty else {
      guard let messageId = input[message], !messageId.isEmpty else {
        throw SettingsError("--user is missing: give --user, --message or --token-hash")
      }
      let question = MessageSearch.Question(
        messageId: messageId, conversationId: input[conversation], showsTexts: input[texts], peopleShown: input[limit],
        now: now)
      return try explain(question, cluster, asJSON: input[json])
    }
    let question = ExplainSearch.Question(
      userId: userId, messageId: input[message], conversationId: input[conversation],
      since: span.from ?? (input[message] == nil ? now - 3_600_000 : nil), until: span.to,
      limit: input[limit], showsTexts: input[texts], readsState: input[devices], now: now)
    let browser = try TopicBrowser(cluster)
    let answer = try ExplainSearch(question, browser: browser, cluster: cluster).answer()
    try CommandOutput.print(answer, asJSON: input[json], text: ExplainReport(answer).text)
    return answer.stories.isEmpty ? ExitCode.failure : ExitCode.success
  }

  private static func explain(
    _ question: MessageSearch.Question, _ cluster: ClusterSettings, asJSON: Bool
  ) throws -> Int32 {
    let browser = try TopicBrowser(cluster)
    let answer = try MessageSearch(question, browser: browser).answer()
    try CommandOutput.print(answer, asJSON: asJSON, text: answer.text)
    return answer.groups.isEmpty ? ExitCode.failure : ExitCode.success
  }

  private static func explain(tokenHash: String, _ cluster: ClusterSettings, asJSON: Bool) throws -> Int32 {
    let browser = try TopicBrowser(cluster)
    let answer = try TokenAnswer(tokenHash, browser: browser)
    try CommandOutput.print(answer, asJSON: asJSON, text: answer.text)
    return answer.isKnown || !answer.claims.isEmpty ? ExitCode.success : ExitCode.failure
  }
}

/// The answer to "why did, or didn't, this person get a notification?"
struct ExplainAnswer: Encodable {
  var userId: String
  /// Decisions since this time; nil for all in the topics.
  var since: Milliseconds?
  /// The stories in the order of their first decisions.
  var stories: [MessageStory] = []
  /// The number of older decisions that are not shown.
  var older = 0
  /// Why the message in question has no decision.
  var missing: MissingDecision?
  /// The current badge; nil if the state was not read.
  var badge: Int?
  /// The current devices; nil if the state was not read.
  var devices: [PersonView.Device]?
  /// The preferences that were ever set, each with the event that set it; nil if the state was not read.
  var preferences: JSONValue?
  /// Devices that get no pushes, because FCM assigns their tokens to another sender.
  var quarantined: [String] = []
}

/// How far a message without a decision got.
struct MissingDecision: Encodable {
  enum Cause: String, Encodable {
    /// The topics contain no event with this message.
    case noEvent = "no_event"
    /// The event was rejected.
    case deadLettered = "dead_lettered"
    /// Ingest has not processed the event yet.
    case notIngested = "not_ingested"
    /// The person sent it.
    case sender
    /// The person was not a member of the conversation at that time.
    case noRecipient = "no_recipient"
    /// The analyzer has not processed the candidate yet.
    case notDecided = "not_decided"
    /// The analyzer has processed the candidate, but made no decision.
    case repeated
    /// Several conversations have a message with this id.
    case severalConversations = "several_conversations"
  }
  var cause: Cause
  /// The cause in words, with the next step.
  var text: String
  var event: PlacedRecord?
  var candidate: PlacedRecord?
  var deadLetter: DeadLetterFacts?
}
