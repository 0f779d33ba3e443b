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
  private static let since = TimeSpan.since("Records", default: .seconds(600))
  private static let until = TimeSpan.until("Records")
  private static let partition = Setting<[Int]>(
    "partition", environment: .none, default: [], help: "Only these partitions.",
    check: { numbers in numbers.allSatisfy { (0...Int(Int32.max)).contains($0) } ? nil : "numbers of partitions" })
  private static let limit = Setting<Int>(
    "limit", environment: .none, default: 1_000, in: 1...1_000_000, help: "The most records to print, the latest ones.")
  private static let follow = Setting<Bool>(
    "follow", environment: .none, default: false, help: "Continue with new records until Ctrl-C.")
  private static let texts = Redaction.texts
  private static let json = Setting<Bool>(
    "json", environment: .none, default: false, help: "Print one line of JSON a record.")

  /// The values of the fields that `--reason` matches.
  private static let reasons =
    DecisionReason.allCases.map(\.rawValue) + OutcomeResult.allCases.map(\.rawValue)
    + DeadLetterCode.allCases.map(\.rawValue) + MessageWithdrawn.Cause.allCases.map(\.rawValue)
    + DeviceLost.Cause.allCases.map(\.rawValue) + PushMissed.Cause.allCases.map(\.rawValue)

  private static let topic = PositionalArgument(
    "topic",
    help: "One of \(Topic.allCases.map(\.rawValue).joined(separator: ", ")). 'nudge.' may be left out.")

  static let command = Command(
    "tail",
    abstract: "Prints a topic's records, decoded and filtered, by time.",
    settings: ClusterSettings.all + [
      user, conversation, reason, type, since, until, partition, limit, follow, texts, json,
    ],
    arguments: [topic],
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
    let filter = TailFilter(
      user: input[user], conversation: input[conversation], reason: input[reason], type: input[type])
    let redaction = Redaction(showsTexts: input[texts])
    let asJSON = input[json]
    let glance = TailGlance(filter, of: topic, coder: browser.coder)
    let partitions = try partitions(input, topic, browser)
    return try browser.show(
      try browser.ranges(of: topic, partitions: partitions, from: span.from, until: span.to), of: topic,
      latest: Latest<TailLine>(input[limit]) {
        ($0.timestamp, $0.position.partition, $0.position.offset)
          < ($1.timestamp, $1.position.partition, $1.position.offset)
      }, noun: "record", follows: input[follow]
    ) { record in
      glance.mayShow(record) ? TailLine(record, of: topic, filter: filter, redaction: redaction) : nil
    } print: { line in
      try CommandOutput.print(line, asJSON: asJSON, text: line.text)
    }
  }

  /// The partitions to read: those that were requested, or the person's if the topic's keys are people.
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

/// Selects records by person, conversation, reason and type.
struct TailFilter: Sendable {
  /// By key, `userId`, `senderId`, or a recipient.
  var user: String?
  /// By key or `conversationId`.
  var conversation: String?
  /// A decision's reason, an outcome's result, or a dead letter's code.
  var reason: String?
  var type: String?

  /// `value` is nil if it is not JSON.
  func matches(key: String?, value: JSONValue?, deadLetterCode: String?) -> Bool {
    if let user, !names(user, key, value) { return false }
    if let conversation, key != conversation, value?["conversationId"]?.string != conversation { return false }
    if let type, value?["type"]?.string != type { return false }
    if let reason {
      let found = [deadLetterCode, value?["reason"]?.string, value?["result"]?.string, value?["cause"]?.string]
      if !found.contains(reason) { return false }
    }
    return true
  }

  private func names(_ user: String, _ key: String?, _ value: JSONValue?) -> Bool {
    if key == user { return true }
    guard let value else { return false }
    if value["userId"]?.string == user || value["senderId"]?.string == user { return true }
    if value["device"]?["userId"]?.string == user || value["sender"]?["userId"]?.string == user { return true }
    return (value["recipients"]?.elements ?? []).contains { $0["userId"]?.string == user }
      || (value["userIds"]?.elements ?? []).contains { $0.string == user }
      || (value["members"]?.elements ?? []).contains { $0["userId"]?.string == user }
  }
}

/// Searches a record's bytes before it is decoded, which costs many times as much.
struct TailGlance {
  /// Ids in the forms of a key and of JSON.
  private let ids: [(key: [UInt8], needle: [UInt8])]
  /// Strings that a matching value must contain.
  private let words: [[UInt8]]
  /// Producers may write any character as an escape.
  private static let escape = [UInt8(ascii: "\\")]

  init(_ filter: TailFilter, of topic: Topic, coder: RecordCoder) {
    ids = [filter.user, filter.conversation].compactMap { id in id.map { (Array($0.utf8), coder.needle($0)) } }
    // A dead letter's reason is in its headers.
    words = topic == .deadLetters ? [] : [filter.type, filter.reason].compactMap { $0.map { coder.needle($0) } }
  }

  /// Returns false if the filter does not match.
  func mayShow(_ record: ConsumerRecord) -> Bool {
    ids.allSatisfy { record.hasKey($0.key) || record.valueContains($0.needle) || record.valueContains(Self.escape) }
      && words.allSatisfy { record.valueContains($0) || record.valueContains(Self.escape) }
  }
}

/// A line of `nudge tail`.
struct TailLine: Encodable {
  var position: RecordPosition
  /// Milliseconds since the epoch.
  var timestamp: Milliseconds
  var key: String?
  var traceparent: String?
  var replayId: String?
  /// The redacted value; nil for a tombstone, or if it is not JSON.
  var record: JSONValue?
  /// A dead letter's headers. Its value is not shown.
  var deadLetter: DeadLetterFacts?
  /// The size of the value in bytes.
  var size: Int

  /// Nil if the filter does not match.
  init?(_ record: ConsumerRecord, of topic: Topic, filter: TailFilter, redaction: Redaction) {
    // A dead letter's value is a producer's record, which may contain a token anywhere.
    let letter = topic == .deadLetters ? DeadLetterFacts(record) : nil
    let value = letter == nil ? record.value.flatMap { try? JSONValue($0) } : nil
    let key = record.key.map { String(decoding: $0, as: UTF8.self) }
    guard filter.matches(key: key, value: value, deadLetterCode: letter?.code) else { return nil }
    position = RecordPosition(topic: record.topic, partition: record.partition, offset: record.offset)
    timestamp = record.timestamp
    self.key = key.map { $0.replacing("\u{0}", with: "/") }
    traceparent = record.header(RecordHeader.traceparent).map { String(decoding: $0, as: UTF8.self) }
    replayId = record.header(RecordHeader.replayId).map { String(decoding: $0, as: UTF8.self) }
    self.record = value.map { redaction.apply(to: $0, of: topic) }
    deadLetter = letter
    size = record.value?.count ?? 0
  }

  /// The most important fields, in the order in which they are shown.
  private static let told = [
    "userId", "deviceId", "conversationId", "messageId", "senderId", "outcome", "reason", "presentation", "priority",
    "kind", "pushId", "result", "errorCode", "attempts", "state", "cause", "code", "limit", "tokenHash", "replayId",
    "text", "title", "body", "preview",
  ]

  /// One line for a person.
  var text: String {
    var parts = ["\(RFC3339.text(timestamp))  \(position.topic)-\(position.partition)@\(position.offset)"]
    if let letter = deadLetter {
      let origin = letter.origin.map { "\($0.topic)-\($0.partition)@\($0.offset)" } ?? "?"
      parts.append("\(letter.code)  \(letter.stage)  from \(origin)  key=\(key ?? "none")  \(letter.message)")
    } else if let record {
      parts.append(record["type"]?.string ?? "key=\(key ?? "none")")
      var told = Self.told.compactMap { name in record[name].map { "\(name)=\($0.shown)" } }
      if let recipients = record["recipients"] { told.append("recipients=\(recipients.elements.count)") }
      if let targets = record["targets"] {
        told.append("devices=\(targets.elements.compactMap { $0["deviceId"]?.string }.joined(separator: ","))")
      }
      parts.append(told.joined(separator: " "))
    } else {
      parts.append("key=\(key ?? "none")  \(size == 0 ? "removed" : "\(size.counted("byte")), no JSON")")
    }
    return parts.joined(separator: "  ")
  }
}
