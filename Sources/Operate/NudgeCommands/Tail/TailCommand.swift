import Foundation
import Kafka
import NudgeSchema
import ServiceKit

enum TailCommand {
  private static let user = Setting<String?>(
    "user", environment: .none, default: nil, placeholder: "USER",
    help: "Records of this person: by key, userId, senderId, or among the recipients.")
  private static let conversation = Setting<String?>(
    "conversation", environment: .none, default: nil, placeholder: "CONVERSATION", help: "Records of this conversation."
  )
  private static let reason = Setting<String?>(
    "reason", environment: .none, default: nil, placeholder: "REASON",
    help: "A decision's reason, an outcome's result, or a dead letter's code.",
    check: { Choices.missing($0, among: reasons) })
  private static let type = Setting<String?>(
    "type", environment: .none, default: nil, placeholder: "TYPE",
    help: "Records of this type, such as message.candidate.",
    check: { Choices.missing($0, among: EventType.allCases.map(\.rawValue)) })
  private static let since = Setting<PointInTime>(
    "since", environment: .none, default: .ago(.seconds(600)),
    help: "Records since then: a duration (1h) or a time (2026-11-22T10:30:00Z).")
  private static let until = TimeSpan.until("Records")
  private static let partition = Setting<[Int]>(
    "partition", environment: .none, default: [], help: "Only these partitions.",
    check: { numbers in numbers.allSatisfy { (0...Int(Int32.max)).contains($0) } ? nil : "numbers of partitions" })
  private static let limit = Setting<Int>(
    "limit", environment: .none, default: 1_000, in: 1...1_000_000, help: "The most records to print, the latest ones.")
  private static let follow = Setting<Bool>(
    "follow", environment: .none, default: false, help: "Continue with new records until Ctrl-C.")
  private static let texts = Setting<Bool>(
    "texts", environment: .none, default: false,
    help: "Show message texts instead of their lengths. Tokens are never shown.")
  private static let json = Setting<Bool>(
    "json", environment: .none, default: false, help: "Print one line of JSON a record.")

  /// The values of the fields that `--reason` looks at.
  private static let reasons =
    DecisionReason.allCases.map(\.rawValue) + OutcomeResult.allCases.map(\.rawValue)
    + DeadLetterCode.allCases.map(\.rawValue) + MessageWithdrawn.Cause.allCases.map(\.rawValue)
    + DeviceLost.Cause.allCases.map(\.rawValue) + PushMissed.Cause.allCases.map(\.rawValue)

  static let command = Command(
    "tail",
    abstract: "Prints a topic's records, decoded and filtered, by time.",
    settings: ClusterSettings.all + [
      user, conversation, reason, type, since, until, partition, limit, follow, texts, json,
    ],
    arguments: [PositionalArgument("topic", help: "A topic of the pipeline, with or without 'nudge.': decisions.")],
    examples: [
      "nudge tail decisions --user ann --since 1h --bootstrap-servers kafka:9092",
      "nudge tail outcomes --reason invalid_token --follow --bootstrap-servers kafka:9092",
      "nudge tail chat.events --conversation c-9 --since 2026-11-22T08:00:00Z --json --bootstrap-servers kafka:9092",
    ]
  ) { try run($0) }

  private static func run(_ input: CommandInput) throws -> Int32 {
    let topic = try Topic(commandLine: input.argument("topic") ?? "")
    let span = try TimeSpan.of(since: input[since], until: input[until], now: SystemClock.milliseconds())
    guard !input[follow] || span.to == nil else { throw SettingsError("--follow and --until exclude each other") }
    let cluster = ClusterSettings(input)
    let browser = try TopicBrowser(cluster)
    defer { browser.close() }
    let filter = TailFilter(
      user: input[user], conversation: input[conversation], reason: input[reason], type: input[type])
    let redaction = Redaction(showsTexts: input[texts])
    let asJSON = input[json]
    let glance = TailGlance(filter, of: topic, coder: browser.coder)
    func line(_ record: ConsumerRecord) -> TailLine? {
      guard glance.mayShow(record) else { return nil }
      return TailLine(record, of: topic, filter: filter, redaction: redaction)
    }
    func show(_ line: TailLine) throws {
      if asJSON {
        try CommandOutput.print(json: line)
      } else {
        print(line.text)
      }
    }
    let partitions = try partitions(input, topic, browser)
    let ranges = try browser.ranges(of: topic, partitions: partitions, from: span.from, until: span.to)
    var lines = LatestLines(limit: input[limit])
    try browser.read(ranges, "reading \(browser.names(topic))") { record in
      if let line = line(record) { lines.add(line) }
      return true
    }
    for line in lines.sorted { try show(line) }
    if lines.dropped > 0 {
      FileHandle.standardError.write(
        Data(
          "\(lines.dropped.counted("earlier record is", "earlier records are")) not shown: --limit shows more\n".utf8))
    }
    guard input[follow] else { return ExitCode.success }
    // A pipe is buffered: without this the line would wait for the next one.
    try CommandOutput.flush()
    let interrupts = Interrupts()
    try browser.follow(ranges) { record in
      if let record, let line = line(record) {
        try show(line)
        try CommandOutput.flush()
      }
      return interrupts.count == 0
    }
    return ExitCode.interrupted
  }

  /// The partitions to read: those asked for, or the person's if people are the topic's keys.
  private static func partitions(_ input: CommandInput, _ topic: Topic, _ browser: TopicBrowser) throws -> [Int32]? {
    guard input[partition].isEmpty else { return input[partition].map { Int32($0) } }
    switch topic {
    case .userEvents, .timeline, .decisions, .pushes, .banners, .outcomes:
      return try input[user].map { try browser.partitions(of: $0, on: topic) }
    case .chatEvents:
      return try input[conversation].map { try browser.partitions(of: $0, on: topic) }
    default: return nil
    }
  }
}

/// Keeps the latest of many lines.
struct LatestLines {
  private let limit: Int
  private var lines: [TailLine] = []
  /// Dropped lines.
  private(set) var dropped = 0

  init(limit: Int) { self.limit = limit }

  /// Adds a line; drops early ones beyond the limit.
  mutating func add(_ line: TailLine) {
    lines.append(line)
    // Partitions interleave, so early lines are found by sorting: only now and then.
    if lines.count >= limit + max(limit, 1_000) { cut() }
  }

  private mutating func cut() {
    lines.sort { Self.isEarlier($0, $1) }
    dropped += max(0, lines.count - limit)
    lines.removeFirst(max(0, lines.count - limit))
  }

  /// The kept lines, earliest first.
  var sorted: [TailLine] {
    mutating get {
      cut()
      return lines
    }
  }

  private static func isEarlier(_ a: TailLine, _ b: TailLine) -> Bool {
    (a.timestamp, a.position.partition, a.position.offset) < (b.timestamp, b.position.partition, b.position.offset)
  }
}
