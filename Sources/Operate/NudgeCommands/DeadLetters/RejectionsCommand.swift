import Foundation
import Ingest
import Kafka
import NudgeSchema
import ServiceKit

/// `nudge rejections`.
enum RejectionsCommand {
  private static let producer = Setting<String>(
    required: "producer", environment: .none, placeholder: "NAME",
    help: "The name of the producer's API key, as in the file of --api-keys-file.",
    check: { $0.isEmpty ? "the name of an API key" : nil })
  private static let since = Setting<PointInTime>(
    "since", environment: .none, default: .ago(.seconds(3_600)),
    help: "Those refused since then: a duration (1h) or a time (2026-11-22T10:30:00Z).")
  private static let until = TimeSpan.until("Those refused")
  private static let limit = Setting<Int>(
    "limit", environment: .none, default: 100, in: 1...100_000, help: "The most to print, the latest ones.")
  private static let follow = Setting<Bool>(
    "follow", environment: .none, default: false, help: "Continue with new ones until Ctrl-C.")
  private static let json = Setting<Bool>(
    "json", environment: .none, default: false, help: "Print one line of JSON each.")

  static let command = Command(
    "rejections",
    abstract: "Shows events of a producer that were accepted, then refused.",
    discussion: "The producer itself asks with its own key: GET /v1/rejections.",
    settings: ClusterSettings.all + [producer, since, until, limit, follow, json],
    examples: [
      "nudge rejections --producer chat-backend --since 2h --bootstrap-servers kafka:9092",
      "nudge rejections --producer chat-backend --follow --bootstrap-servers kafka:9092",
    ]
  ) { input in
    let span = try TimeSpan.of(since: input[since], until: input[until], now: SystemClock.milliseconds())
    guard !input[follow] || span.to == nil else { throw SettingsError("--follow and --until exclude each other") }
    let wanted = Array(input[producer].utf8)
    let browser = try TopicBrowser(ClusterSettings(input))
    defer { browser.close() }
    func show(_ rejection: ProducerRejection) throws {
      if input[json] {
        try CommandOutput.print(json: rejection)
      } else {
        print(rejection.text)
      }
    }
    let ranges = try browser.ranges(of: .deadLetters, from: span.from, until: span.to)
    var latest = LatestRejections(limit: input[limit])
    try browser.read(ranges, "reading \(browser.names(.deadLetters))") { record in
      if let rejection = ProducerRejection(record, producer: wanted) { latest.add(rejection) }
      return true
    }
    for rejection in latest.sorted { try show(rejection) }
    if latest.dropped > 0 {
      FileHandle.standardError.write(
        Data("\(latest.dropped.counted("earlier one is", "earlier ones are")) not shown: --limit shows more\n".utf8))
    }
    guard input[follow] else { return ExitCode.success }
    // A pipe is buffered. Without this, the line would wait for the next one.
    try CommandOutput.flush()
    let interrupts = Interrupts()
    try browser.follow(ranges) { record in
      if let record, let rejection = ProducerRejection(record, producer: wanted) {
        try show(rejection)
        try CommandOutput.flush()
      }
      return interrupts.count == 0
    }
    return ExitCode.interrupted
  }
}

/// Keeps the latest of many rejections.
struct LatestRejections {
  private let limit: Int
  private var rejections: [ProducerRejection] = []
  /// The number of dropped rejections.
  private(set) var dropped = 0

  init(limit: Int) { self.limit = limit }

  /// Adds a rejection, and drops the earliest beyond the limit.
  mutating func add(_ rejection: ProducerRejection) {
    rejections.append(rejection)
    if rejections.count >= limit * 2 + 1_000 { cut() }
  }

  /// The kept ones, earliest first.
  var sorted: [ProducerRejection] {
    mutating get {
      cut()
      return rejections
    }
  }

  private mutating func cut() {
    rejections.sort { $0.refusedAt < $1.refusedAt }
    dropped += max(0, rejections.count - limit)
    rejections.removeFirst(max(0, rejections.count - limit))
  }
}
