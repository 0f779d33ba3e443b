import Analyzer
import Dispatcher
import Ingest
import NudgeSchema
import ServiceKit

enum LagCommand {
  private static let partitions = Setting<Bool>(
    "partitions", environment: .none, default: false, help: "List the partitions that are behind.")
  private static let maxAge = Setting<Duration?>(
    "max-age", environment: .none, default: nil,
    help: "Exit with 1 if the oldest unprocessed record, or push without an outcome, is older than this.")
  private static let json = CommandOutput.json

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
    return try Watching.run(input, asJSON: input[json]) {
      let report = try LagReading(browser: browser, cluster: cluster).report(
        of: [IngestStage.definition, AnalyzerStage.definition, DispatcherStage.definition],
        now: SystemClock.milliseconds(), readsPushes: true)
      try CommandOutput.print(report, asJSON: input[json], text: report.text(byPartition: input[partitions]))
      guard let limit = input[maxAge], report.age > limit.milliseconds else { return ExitCode.success }
      return ExitCode.failure
    }
  }
}

struct LagReport: Encodable, Equatable {
  /// An input of a stage.
  struct Input: Encodable, Equatable {
    /// A partition with unprocessed records.
    struct Partition: Encodable, Equatable {
      var partition: Int32
      /// The group's committed offset; nil if there is none.
      var committed: Int64?
      /// The end offset.
      var end: Int64
      /// The number of offsets between the two: records and transaction markers.
      var records: Int64
      /// The oldest unprocessed record's timestamp, in milliseconds since the epoch.
      var oldest: Milliseconds
      var age: Milliseconds
    }
    var stage: String
    var topic: String
    /// Partitions of the topic.
    var partitions: Int
    /// Partitions with lag, the oldest first.
    var behind: [Partition]

    /// Unprocessed offsets of all partitions.
    var records: Int64 { behind.reduce(0) { $0 + $1.records } }
    /// The oldest unprocessed record's age, in milliseconds; 0 without one.
    var age: Milliseconds { behind.map(\.age).max() ?? 0 }

    func encode(to encoder: any Encoder) throws {
      try encoder.encode(fields: [
        "stage": stage, "topic": topic, "partitions": partitions, "behind": behind, "records": records, "age": age,
      ])
    }
  }

  /// The pushes that were processed but have no outcome, because they wait in the dispatcher for any reason.
  struct Pushes: Encodable, Equatable {
    /// The number, counted per device.
    var waiting: Int
    /// The age of the oldest one since it was decided, in milliseconds; 0 if none waits.
    var age: Milliseconds
    /// Milliseconds since the destination last accepted a push or refused one for good. Nil if it did neither in the time that was read.
    var sinceJudged: Milliseconds?
    /// Whether pushes are stuck, because some have waited longer than usual.
    var isStanding: Bool
    /// Whether older pushes were not read, so that the number is a lower bound.
    var isPartial: Bool

    init(_ standing: DeliveryStanding, isPartial: Bool) {
      waiting = standing.waiting
      age = standing.oldestAge ?? 0
      sinceJudged = standing.sinceJudged
      isStanding = standing.isStanding
      self.isPartial = isPartial
    }

    /// `359 pushes without an outcome, the oldest decided 2m ago; FCM took none for 2m`.
    var text: String {
      guard waiting > 0 else { return "every push has its outcome" }
      let least = isPartial ? "at least " : ""
      let judged =
        sinceJudged.map { "the last was taken or refused \(LagReport.shown($0)) ago" } ?? "none was taken or refused"
      return "\(least)\(waiting.counted("push", "pushes")) without an outcome, the oldest decided "
        + "\(LagReport.shown(age)) ago\(isStanding ? "; \(judged)" : "")"
    }
  }

  /// Messages that the analyzer holds: their decision is deferred, and no final one is recorded.
  struct Held: Encodable, Equatable {
    var waiting: Int
    /// How long the most overdue of them has been due, in milliseconds; 0 if none is late.
    var late: Milliseconds

    /// The tolerance for late timers and clock differences.
    fileprivate static let tolerance: Milliseconds = 30_000

    var isStanding: Bool { late > Self.tolerance }

    var text: String {
      let count = "\(waiting.counted("message is", "messages are")) held"
      return isStanding
        ? "\(count), the first should have been decided \(LagReport.shown(late)) ago" : "\(count), none is late"
    }
  }

  /// People whose messages wait for a catch-up (D18).
  struct CatchUps: Encodable, Equatable {
    var waiting: Int
    /// When the next is due; nil if none is due later.
    var next: Milliseconds?
    /// How long the first overdue one has been due, in milliseconds; 0 if none is late.
    var late: Milliseconds
    /// Whether older decisions were not read, so that the number is a lower bound.
    var isPartial: Bool

    /// As for held messages.
    var isStanding: Bool { late > Held.tolerance }

    var text: String {
      let count = "\(isPartial ? "at least " : "")\(waiting.counted("person waits", "people wait")) for a catch-up"
      if isStanding { return "\(count), the first was due \(LagReport.shown(late)) ago" }
      return count + (next.map { ", the next is due at \(RFC3339.text($0))" } ?? "")
    }
  }

  var inputs: [Input]
  /// Pushes without an outcome; nil if they were not read.
  var pushes: Pushes?
  /// Held messages; nil if they were not read.
  var held: Held?
  /// Waiting catch-ups; nil if they were not read.
  var catchUps: CatchUps?

  /// The greatest delay in milliseconds: the age of the oldest unprocessed record or of the oldest push without an outcome, or the lateness
  /// of a held message or catch-up. 0 without any.
  var age: Milliseconds {
    max(inputs.map(\.age).max() ?? 0, pushes?.age ?? 0, held?.late ?? 0, catchUps?.late ?? 0)
  }

  /// One line per input and one for the waiting pushes; with `byPartition` also one for each partition with lag.
  func text(byPartition: Bool) -> String {
    let stages = inputs.map(\.stage.count).max() ?? 0
    let topics = max(inputs.map(\.topic.count).max() ?? 0, Self.delivery.count)
    var waiting: [String] = []
    if let held, held.waiting > 0 {
      waiting.append("\("analyzer".padded(to: stages))  \(Self.holding.padded(to: topics))  \(held.text)")
    }
    if let catchUps, catchUps.waiting > 0 {
      waiting.append("\("analyzer".padded(to: stages))  \(Self.catchingUp.padded(to: topics))  \(catchUps.text)")
    }
    if let pushes {
      waiting.append("\("dispatcher".padded(to: stages))  \(Self.delivery.padded(to: topics))  \(pushes.text)")
    }
    return
      (inputs.flatMap { input -> [String] in
        let head = "\(input.stage.padded(to: stages))  \(input.topic.padded(to: topics))"
        guard let worst = input.behind.first else { return ["\(head)  nothing unprocessed"] }
        let line =
          "\(head)  \(input.records) unprocessed in \(input.behind.count) of \(input.partitions.counted("partition")), the oldest "
          + "\(Self.shown(worst.age)) old (\(RFC3339.text(worst.oldest)), partition \(worst.partition))"
        guard byPartition else { return [line] }
        return [line]
          + input.behind.sorted { $0.partition < $1.partition }.map {
            "    \($0.partition)  committed \($0.committed.map { String($0) } ?? "none"), end \($0.end), "
              + "\($0.records) unprocessed, the oldest \(Self.shown($0.age)) old"
          }
      } + waiting).joined(separator: "\n")
  }

  /// Used in place of a topic.
  private static let delivery = "(delivery)"
  private static let holding = "(held)"
  private static let catchingUp = "(catch-ups)"

  /// The duration in seconds, or in the two largest units.
  static func shown(_ milliseconds: Milliseconds) -> String {
    guard milliseconds >= 1_000 else { return "less than 1s" }
    return Duration.seconds(milliseconds / 1_000).settingText
  }
}
