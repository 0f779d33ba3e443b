import Foundation
import Kafka
import NudgeSchema
import ServiceKit

/// `nudge dead-letters list | show | replay | edit | discard`.
enum DeadLettersCommand {
  private static let reason = Setting<String?>(
    "reason", environment: .none, default: nil, placeholder: "CODE",
    help: "Only with this code, such as schema_violation.",
    check: { Choices.missing($0, among: DeadLetterCode.allCases.map(\.rawValue)) })
  private static let stage = Setting<String?>(
    "stage", environment: .none, default: nil, placeholder: "STAGE", help: "Only those this stage rejected.",
    check: { Choices.missing($0, among: StageName.choices) })
  private static let topic = Setting<String?>(
    "topic", environment: .none, default: nil, placeholder: "TOPIC", help: "Only those from this topic.")
  private static let key = Setting<String?>(
    "key", environment: .none, default: nil, placeholder: "KEY",
    help: "Only with this key: a conversation on chat.events, a person on user.events.")
  private static let producer = Setting<String?>(
    "producer", environment: .none, default: nil, placeholder: "NAME",
    help: "Only of this producer, by the name of its API key.")
  private static let since = TimeSpan.since("Only those written", default: .seconds(7 * 86_400))
  private static let until = TimeSpan.until("Only those written")
  private static let handled = Setting<Bool>(
    "handled", environment: .none, default: false, help: "Include replayed and discarded ones.")
  private static let limit = Setting<Int>(
    "limit", environment: .none, default: 10, in: 1...10_000, help: "The most dead letters to print.")
  private static let texts = Setting<Bool>(
    "texts", environment: .none, default: false,
    help: "Print JSON values with message texts. Tokens are never printed.")
  static let json = CommandOutput.json
  static let rate = Setting<Double>(
    "rate", environment: .none, default: 100, in: 1...10_000, placeholder: "N", help: "The most records a second.")

  static let selection: [any AnySetting] = [reason, stage, topic, key, producer, since, until]

  static let command = Command(
    "dead-letters", abstract: "Inspect, replay, correct or discard rejected records.",
    subcommands: [list, show, replay, edit, discard])

  private static let list = Command(
    "list",
    abstract: "Counts dead letters by reason.",
    discussion:
      "Leaves out those that were replayed or discarded. Exits with 1 if there are any.",
    settings: ClusterSettings.all + selection + [handled, Watching.every, json],
    examples: [
      "nudge dead-letters list --bootstrap-servers kafka:9092",
      "nudge dead-letters list --reason unknown_conversation --since 1h --bootstrap-servers kafka:9092",
    ]
  ) { input in
    let browser = try TopicBrowser(ClusterSettings(input))
    return try Watching.run(input, asJSON: input[json]) {
      var groups = DeadLetterGroups()
      try selected(input, includesHandled: input[handled]).read(browser) { letter, _ in
        groups.add(letter)
        return true
      }
      try CommandOutput.print(groups, asJSON: input[json], text: groups.text)
      return groups.groups.isEmpty ? ExitCode.success : ExitCode.failure
    }
  }

  private struct Shown: Encodable {
    var letter: DeadLetterFacts
    var value: JSONValue?
  }

  private static let show = Command(
    "show", abstract: "Print single dead letters.",
    settings: ClusterSettings.all + selection + [handled, limit, texts, json],
    arguments: [optionalPlace],
    examples: [
      "nudge dead-letters show 2@17 --texts --bootstrap-servers kafka:9092",
      "nudge dead-letters show --reason key_mismatch --limit 3 --bootstrap-servers kafka:9092",
    ]
  ) { input in
    let browser = try TopicBrowser(ClusterSettings(input))
    // Texts are shown on request, but tokens never.
    let redaction = Redaction(showsTexts: true)
    var count = 0
    try selected(input, includesHandled: input[handled] || input.argument("place") != nil).read(browser) {
      letter, record in
      count += 1
      let value = input[texts] ? record.value.flatMap { try? JSONValue($0) } : nil
      try printOne(
        Shown(letter: letter, value: value.map { redaction.apply(to: $0, of: .deadLetters) }), asJSON: input[json],
        wantsValue: input[texts])
      return count < input[limit]
    }
    if count == 0 {
      CommandOutput.report(
        "no dead letter was found: nudge dead-letters list shows which there are; --handled finds replayed and discarded "
          + "ones, --since older ones")
    }
    return count == 0 ? ExitCode.failure : ExitCode.success
  }

  static let optionalPlace = PositionalArgument(
    "place", help: "PARTITION@OFFSET of a dead letter, as 'list' prints it. Default: those the flags select.",
    count: .optional)

  private static func printOne(_ shown: Shown, asJSON: Bool, wantsValue: Bool) throws {
    guard !asJSON else { return try CommandOutput.print(json: shown) }
    let letter = shown.letter
    let origin = letter.origin.map { "\($0.topic)-\($0.partition)@\($0.offset)" } ?? "?"
    var lines = [
      "\(letter.position.partition)@\(letter.position.offset)  \(RFC3339.text(letter.timestamp))  \(letter.code): \(letter.message)",
      "    rejected by \(letter.stage), from \(origin)"
        + (letter.originTimestamp.map { " of \(RFC3339.text($0))" } ?? "")
        + ", key \(letter.key.map { TokenText.masked($0) } ?? "none"), \(letter.size.counted("byte"))",
    ]
    if let replay = letter.replayId { lines.append("    came from replay \(replay)") }
    if let value = shown.value {
      lines.append("    " + String(decoding: try CommandOutput.encoder.encode(value), as: UTF8.self))
    } else if wantsValue {
      // The bytes may contain a token.
      lines.append("    the value is not JSON and is not shown")
    }
    print(lines.joined(separator: "\n"))
  }

  private static let replay = Command(
    "replay",
    abstract: "Republishes dead letters of producers' topics.",
    discussion:
      "They are republished as they were. Ingest treats each as a new event: one it has processed has no "
      + "second effect, and one past its freshness notifies nobody. Without --yes, the command only prints "
      + "what it would do.",
    settings: ClusterSettings.all + selection + [rate] + Writing.all + [json], arguments: [optionalPlace],
    examples: [
      "nudge dead-letters replay --reason unknown_conversation --since 2h --bootstrap-servers kafka:9092",
      "nudge dead-letters replay --reason unknown_conversation --since 2h --yes --why 'conversation came late' "
        + "--bootstrap-servers kafka:9092",
    ]
  ) { try handle($0, .replayed) }

  private static let discard = Command(
    "discard",
    abstract: "Hides dead letters from the list.",
    discussion:
      "They stay on the topic for its retention. Without --yes, the command only prints what it would do.",
    settings: ClusterSettings.all + selection + Writing.all + [json], arguments: [optionalPlace],
    examples: [
      "nudge dead-letters discard --reason invalid_json --yes --why 'test of producer X' --bootstrap-servers kafka:9092"
    ]
  ) { try handle($0, .discarded) }

  private static func handle(_ input: CommandInput, _ action: DeadLettersHandled.Action) throws -> Int32 {
    let cluster = ClusterSettings(input)
    let writes = try Writing.isAsked(input)
    let browser = try TopicBrowser(cluster)
    let planned = try plan(selected(input, includesHandled: false), action, topics: cluster.topics, browser)
    var summary = planned.summary
    if writes, !planned.chosen.isEmpty {
      summary.replayId = try carryOut(
        planned.chosen, action, why: input[Writing.why], pace: action == .replayed ? input[rate] : .infinity, cluster,
        browser)
    }
    try CommandOutput.print(summary, asJSON: input[json], text: text(summary, action))
    return ExitCode.success
  }

  private static func text(_ summary: DeadLetterReplay.Summary, _ action: DeadLettersHandled.Action) -> String {
    let total = summary.written.values.reduce(0, +)
    let verb = action == .replayed ? "written again" : "discarded"
    var lines = [
      summary.replayId.map { "\(total.counted("dead letter was", "dead letters were")) \(verb), audited as \($0)." }
        ?? "\(total.counted("dead letter")) would be \(verb)."
    ]
    lines += summary.written.sorted { $0.key < $1.key }.map { "    \($0.value)  \($0.key)" }
    if summary.likelyRefusedAgain > 0 {
      lines.append(
        "\(summary.likelyRefusedAgain) of them \(summary.likelyRefusedAgain == 1 ? "has" : "have") a code about the record itself: unless the services have changed, they will be "
          + "rejected again. Correct such a record with 'nudge dead-letters edit'.")
    }
    lines += summary.left.sorted { $0.key < $1.key }.map {
      "\($0.value) \($0.value == 1 ? "is" : "are") skipped: \($0.key)"
    }
    if summary.replayId == nil, total > 0 { lines.append("Nothing was written. Add --yes --why TEXT to do it.") }
    return lines.joined(separator: "\n")
  }

  static func selected(_ input: CommandInput, includesHandled: Bool) throws -> DeadLetterSelection {
    var places: [DeadLetterSelection.Place] = []
    for text in input.arguments("place") {
      guard let place = DeadLetterSelection.Place(text) else {
        throw SettingsError("\(text) is not a place: use PARTITION@OFFSET, such as 2@17")
      }
      places.append(place)
    }
    let span = try TimeSpan.of(since: input[since], until: input[until], now: SystemClock.milliseconds())
    return DeadLetterSelection(
      places: places, reason: input[reason], stage: input[stage],
      topic: try input[topic].map { ClusterSettings(input).topics(try Topic(commandLine: $0)) }, key: input[key],
      producer: input[producer], since: span.from, until: span.to,
      includesHandled: includesHandled)
  }
}

/// Replaying and discarding, for the command and the console.
extension DeadLettersCommand {
  /// The most dead letters in a transaction, because its audit record names each of them.
  static let batchSize = 200

  /// The selected dead letters, and what would happen to them.
  /// - Parameter only: The dead letters to read; nil for all.
  static func plan(
    _ selection: DeadLetterSelection, _ action: DeadLettersHandled.Action, topics: TopicNames,
    only: Set<DeadLetterSelection.Place>? = nil, _ browser: TopicBrowser
  ) throws -> (summary: DeadLetterReplay.Summary, chosen: [DeadLetterSelection.Place]) {
    let plan = DeadLetterReplay(topics: topics)
    var summary = DeadLetterReplay.Summary()
    var chosen: [DeadLetterSelection.Place] = []
    try selection.read(browser) { letter, _ in
      let place = DeadLetterSelection.Place(partition: letter.position.partition, offset: letter.position.offset)
      if let only, !only.contains(place) { return true }
      if action == .replayed {
        if case .left(let why) = plan.fate(of: letter) {
          summary.left[why, default: 0] += 1
          return true
        }
        if DeadLetterReplay.isLikelyRefusedAgain(letter) { summary.likelyRefusedAgain += 1 }
      }
      chosen.append(place)
      summary.written[letter.code, default: 0] += 1
      return true
    }
    return (summary, chosen)
  }

  /// Replays or discards them. Returns the id in the audit.
  static func carryOut(
    _ chosen: [DeadLetterSelection.Place], _ action: DeadLettersHandled.Action, why: String, pace: Double,
    _ cluster: ClusterSettings, _ browser: TopicBrowser
  ) throws -> String {
    var random = SystemRandomNumberGenerator()
    let id = ReplayID.make(now: SystemClock.milliseconds(), using: &random)
    let writer = try AuditedWriter(
      cluster, replayId: id, auditPartitions: try browser.partitionCount(of: .audit), now: SystemClock.milliseconds())
    defer { writer.close() }
    try write(chosen, action, why: why, pace: pace, DeadLetterReplay(topics: cluster.topics), browser, writer)
    return id
  }

  /// Writes dead letters with an audit record for each batch.
  static func write(
    _ chosen: [DeadLetterSelection.Place], _ action: DeadLettersHandled.Action, why: String, pace: Double,
    _ plan: DeadLetterReplay, _ browser: TopicBrowser, _ writer: AuditedWriter
  ) throws {
    let start = ContinuousClock.now
    let size = min(batchSize, pace.isFinite ? max(1, Int(pace)) : batchSize)
    for first in stride(from: 0, to: chosen.count, by: size) {
      let batch = Array(chosen[first..<min(first + size, chosen.count)])
      var records: [OutgoingRecord] = []
      if action == .replayed {
        try DeadLetterSelection(places: batch, includesHandled: true).read(browser) { letter, record in
          guard case .written(let topic) = plan.fate(of: letter) else { return true }
          records.append(
            DeadLetterReplay.record(
              record, to: topic, partitions: try browser.partitionCount(of: topic), replayId: writer.replayId))
          return true
        }
      }
      let letters = Dictionary(grouping: batch, by: \.partition).sorted { $0.key < $1.key }.map {
        DeadLettersHandled.Letters(partition: $0.key, offsets: $0.value.map(\.offset))
      }
      try writer.commit(
        records,
        audit: .deadLettersHandled(
          DeadLettersHandled(
            replayId: writer.replayId, action: action, who: ReplayID.whoRuns(), why: why, letters: letters)),
        now: SystemClock.milliseconds())
      guard pace.isFinite else { continue }
      let due = start + .seconds(Double(first + batch.count) / pace)
      let wait = ContinuousClock.now.duration(to: due).seconds
      if wait > 0, first + size < chosen.count { Thread.sleep(forTimeInterval: wait) }
    }
  }
}

/// Republishes dead letters unchanged to the producers' topics from which they came.
///
/// Ingest treats each as any other event. It refuses an invalid one again, an event that was processed before has no second effect, and a
/// message past its freshness notifies nobody. Dead letters of other topics are not republished, because they would be out of order with
/// records that were processed since.
struct DeadLetterReplay {
  /// The result for one dead letter.
  enum Fate: Equatable {
    /// Republished to this topic.
    case written(Topic)
    /// Not republished, for this reason.
    case left(String)
  }

  struct Summary: Encodable, Equatable {
    /// nil in a dry run.
    var replayId: String?
    /// The number of republished dead letters, by code.
    var written: [String: Int] = [:]
    /// The number of the others, by reason.
    var left: [String: Int] = [:]
    /// The number of republished ones whose code is about the record itself. Ingest refuses them again unless the services have changed.
    var likelyRefusedAgain = 0
  }

  /// Codes that depend only on the record, which does not change.
  private static let aboutTheRecord: Set<DeadLetterCode> = [
    .invalidJSON, .invalidUTF8, .schemaViolation, .unsupportedVersion, .unknownType, .tooLarge, .missingKey,
    .keyMismatch, .tooOld,
  ]

  let topics: TopicNames

  func fate(of letter: DeadLetterFacts) -> Fate {
    guard let origin = letter.origin, let topic = topics.topic(named: origin.topic) else {
      return .left("its headers name no origin")
    }
    guard topic == .chatEvents || topic == .userEvents else {
      return .left("it came from \(origin.topic): only producers' events are republished")
    }
    // Checked before the key, which may be the missing part.
    guard !letter.isCut else { return .left("it was too large and is truncated") }
    guard letter.key != nil else { return .left("it has no key: 'nudge dead-letters edit' gives it that of its event") }
    return .written(topic)
  }

  static func isLikelyRefusedAgain(_ letter: DeadLetterFacts) -> Bool {
    DeadLetterCode(rawValue: letter.code).map { aboutTheRecord.contains($0) } ?? false
  }

  /// The record to publish, with the value, key and producer's headers unchanged, on the key's partition.
  static func record(
    _ letter: ConsumerRecord, to topic: Topic, partitions: Int32, replayId: String
  ) -> OutgoingRecord {
    let key = letter.keyBytes() ?? []
    return OutgoingRecord(
      topic: topic, partition: Murmur2.partition(of: key, count: partitions), key: key, value: letter.valueBytes(),
      headers: producersHeaders(of: letter) + [(RecordHeader.replayId, Array(replayId.utf8))])
  }

  /// A dead letter's headers without those about its rejection.
  static func producersHeaders(of letter: ConsumerRecord) -> [Header] {
    letter.headers().filter { $0.name != RecordHeader.replayId && !RecordHeader.ofDeadLetters.contains($0.name) }
  }
}
