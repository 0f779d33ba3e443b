import Foundation
import Kafka
import NudgeSchema
import ServiceKit

/// `nudge dead-letters edit`.
extension DeadLettersCommand {
  private static let set = Setting<[String: String]>(
    "set", environment: .none, default: [:],
    help: "Sets a field, such as senderId=bob or preferences.enabled=true: a value is JSON, or else a text.")
  private static let remove = Setting<[String]>(
    "remove", environment: .none, default: [], placeholder: "FIELD,…", help: "Removes these fields.")

  static let edit = Command(
    "edit",
    abstract: "Corrects dead letters of producers' topics, and publishes them.",
    discussion:
      "With --set and --remove for all that the place, --reason or --key select; otherwise one of them in $EDITOR. Each is "
      + "checked as ingest does before anything is written, and its key is that of the corrected event. The audit names "
      + "the changed fields and never their values. A record that is not valid is skipped, with the reason.",
    settings: ClusterSettings.all + selection + [set, remove, rate] + Writing.all + [json], arguments: [optionalPlace],
    examples: [
      "nudge dead-letters edit 2@17 --yes --why 'sender was a display name' --bootstrap-servers kafka:9092",
      "nudge dead-letters edit --reason unsupported_version --since 2h --set schemaVersion=1 "
        + "--yes --why 'wrong version of producer X' --bootstrap-servers kafka:9092",
    ]
  ) { input in
    let cluster = ClusterSettings(input)
    let writes = try Writing.isAsked(input)
    let edit = DeadLetterEdit(set: input[set], remove: input[remove])
    let selection = try selected(input, includesHandled: input.argument("place") != nil)
    let browser = try TopicBrowser(cluster)
    defer { browser.close() }
    let now = SystemClock.milliseconds()
    var summary = DeadLetterEdits(topics: cluster.topics, now: now)
    if edit.isEmpty {
      guard selection.places.count == 1 else {
        throw SettingsError("give --set or --remove, or the place of the one to open in $EDITOR")
      }
      guard writes else {
        throw SettingsError("--yes --why TEXT are missing: of an edit in $EDITOR nothing is kept without them")
      }
      guard let editor = TextEditor() else { throw SettingsError("EDITOR is not set: set it, or give --set") }
      let interrupts = TextEditor.interrupts()
      try selection.read(browser) { letter, record in
        try summary.add(letter, record) { try interactively($0, letter, editor, interrupts, now: now, cluster.topics) }
        return true
      }
    } else {
      guard !selection.places.isEmpty || selection.reason != nil || selection.key != nil else {
        throw SettingsError("give a place, --reason or --key: a correction never applies to all dead letters")
      }
      try selection.read(browser) { letter, record in
        try summary.add(letter, record) { bytes in
          guard let before = try? JSONValue(bytes) else { throw EditedEvent.Refusal(reason: "its value is not JSON") }
          return try edit.apply(to: before)
        }
        return true
      }
    }
    if writes, !summary.events.isEmpty {
      try write(summary.events, why: input[Writing.why], pace: input[rate], cluster, browser) { summary.replayId = $0 }
    }
    if input[json] {
      try CommandOutput.print(json: summary)
    } else {
      print(summary.text)
    }
    return summary.events.isEmpty ? ExitCode.failure : ExitCode.success
  }

  /// Opens the editor until the event is valid, or the person gives up.
  private static func interactively(
    _ bytes: [UInt8], _ letter: DeadLetterFacts, _ editor: TextEditor, _ interrupts: Interrupts, now: Milliseconds,
    _ topics: TopicNames
  ) throws -> JSONValue {
    let before = try? JSONValue(bytes)
    var text = try before.map { try pretty($0) } ?? bytes
    while true {
      text = try editor.edit(text, interrupts)
      let reason: String
      do {
        let value = try JSONValue(text)
        let topic = letter.origin.flatMap { topics.topic(named: $0.topic) } ?? .chatEvents
        _ = try EditedEvent(value, was: before, keyWas: letter.key.map { Array($0.utf8) }, topic: topic, now: now)
        return value
      } catch let refusal as EditedEvent.Refusal {
        reason = refusal.reason
      } catch {
        reason = "it is not JSON: \(error)"
      }
      FileHandle.standardError.write(Data("\(reason). Edit again? [y/N] ".utf8))
      guard readLine()?.lowercased().hasPrefix("y") == true else { throw EditedEvent.Refusal(reason: reason) }
    }
  }

  private static func pretty(_ value: JSONValue) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(value)) + [UInt8(ascii: "\n")]
  }

  /// Publishes corrected events, with an audit record for each batch. `began` gets the id that the audit has.
  static func write(
    _ events: [DeadLetterEdits.Edited], why: String, pace: Double, _ cluster: ClusterSettings, _ browser: TopicBrowser,
    _ began: (String) -> Void
  ) throws {
    var random = SystemRandomNumberGenerator()
    let id = ReplayID.make(now: SystemClock.milliseconds(), using: &random)
    began(id)
    let writer = try AuditedWriter(
      cluster, replayId: id, auditPartitions: try browser.partitionCount(of: .audit), now: SystemClock.milliseconds())
    defer { writer.close() }
    let start = ContinuousClock.now
    let size = min(batchSize, max(1, Int(pace)))
    for first in stride(from: 0, to: events.count, by: size) {
      let batch = events[first..<min(first + size, events.count)]
      let letters = Dictionary(grouping: batch, by: \.place.partition).sorted { $0.key < $1.key }.map {
        DeadLettersHandled.Letters(partition: $0.key, offsets: $0.value.map(\.place.offset))
      }
      try writer.commit(
        try batch.map {
          OutgoingRecord(
            topic: $0.event.topic,
            partition: Murmur2.partition(of: $0.event.key, count: try browser.partitionCount(of: $0.event.topic)),
            key: $0.event.key, value: $0.event.value,
            headers: $0.headers + [(RecordHeader.replayId, Array(id.utf8))])
        },
        audit: .deadLettersHandled(
          DeadLettersHandled(
            replayId: id, action: .edited, who: ReplayID.whoRuns(), why: why, letters: letters,
            changed: Set(batch.flatMap(\.event.changed)).sorted())),
        now: SystemClock.milliseconds())
      let wait = ContinuousClock.now.duration(to: start + .seconds(Double(first + batch.count) / pace)).seconds
      if wait > 0, first + size < events.count { Thread.sleep(forTimeInterval: wait) }
    }
  }
}

/// What `dead-letters edit` found and changed.
struct DeadLetterEdits: Encodable {
  /// A dead letter with its correction.
  struct Edited {
    var place: DeadLetterSelection.Place
    var event: EditedEvent
    /// The producer's own headers.
    var headers: [Header]
  }

  let topics: TopicNames
  let now: Milliseconds
  /// nil: nothing was written.
  var replayId: String?
  private(set) var events: [Edited] = []
  /// The others by reason.
  private(set) var left: [String: Int] = [:]
  /// The most that are held.
  private static let max = 100_000

  init(topics: TopicNames, now: Milliseconds) {
    self.topics = topics
    self.now = now
  }

  /// Takes a dead letter in, corrected by `edit`.
  mutating func add(_ letter: DeadLetterFacts, _ record: ConsumerRecord, edit: ([UInt8]) throws -> JSONValue) throws {
    guard events.count < Self.max else {
      throw CommandError("more than \(Self.max) are selected: narrow the selection")
    }
    do {
      let topic = try Self.topic(of: letter, topics)
      let bytes = record.valueBytes() ?? []
      let event = try EditedEvent(
        try edit(bytes), was: try? JSONValue(bytes), keyWas: record.keyBytes(), topic: topic, now: now)
      events.append(
        Edited(
          place: .init(partition: letter.position.partition, offset: letter.position.offset), event: event,
          headers: DeadLetterReplay.producersHeaders(of: record)))
    } catch let refusal as EditedEvent.Refusal {
      left[refusal.reason, default: 0] += 1
    }
  }

  /// The topic that a corrected dead letter goes to. Throws where there is none.
  static func topic(of letter: DeadLetterFacts, _ topics: TopicNames) throws -> Topic {
    guard let origin = letter.origin, let topic = topics.topic(named: origin.topic) else {
      throw EditedEvent.Refusal(reason: "its headers name no origin")
    }
    guard topic == .chatEvents || topic == .userEvents else {
      throw EditedEvent.Refusal(reason: "it came from \(origin.topic): only producers' events are published")
    }
    guard !letter.isCut else { throw EditedEvent.Refusal(reason: "it was too large and is truncated") }
    return topic
  }

  /// How often each field changes.
  var changed: [String: Int] {
    events.reduce(into: [:]) { counts, it in for field in it.event.changed { counts[field, default: 0] += 1 } }
  }

  private enum CodingKeys: String, CodingKey { case replayId, edited, changed, left }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encodeIfPresent(replayId, forKey: .replayId)
    try fields.encode(events.count, forKey: .edited)
    try fields.encode(changed, forKey: .changed)
    try fields.encode(left, forKey: .left)
  }

  var text: String {
    var lines = [
      replayId.map {
        "\(events.count.counted("dead letter was", "dead letters were")) corrected and published, audited as \($0)."
      } ?? "\(events.count.counted("dead letter")) would be corrected and published."
    ]
    lines += changed.sorted { $0.key < $1.key }.map { "    \($0.value)  \($0.key)" }
    lines += left.sorted { $0.key < $1.key }.map { "\($0.value) are skipped: \($0.key)" }
    if replayId == nil, !events.isEmpty { lines.append("Nothing was written. Add --yes --why TEXT to do it.") }
    return lines.joined(separator: "\n")
  }
}
