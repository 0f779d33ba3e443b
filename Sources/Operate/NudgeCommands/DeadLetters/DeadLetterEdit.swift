import Dispatch
import Foundation
import Ingest
import Kafka
import NudgeSchema
import ServiceKit
import StreamRuntime
import WebPush

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
    try CommandOutput.print(summary, asJSON: input[json], text: summary.text)
    return summary.events.isEmpty ? ExitCode.failure : ExitCode.success
  }

  /// Opens the editor until the event is valid or the person gives up.
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
    Array(try CommandOutput.prettyEncoder.encode(value)) + [UInt8(ascii: "\n")]
  }

  /// Publishes corrected events, with an audit record for each batch. `began` receives the id in the audit.
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
  /// The replay's id; nil if nothing was written.
  var replayId: String?
  private(set) var events: [Edited] = []
  /// The dead letters that were left out, by reason.
  private(set) var left: [String: Int] = [:]
  /// The most dead letters held in memory.
  private static let max = 100_000

  /// Adds a dead letter, corrected by `edit`.
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

  /// The topic for a corrected dead letter. Throws if there is none.
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

  func encode(to encoder: any Encoder) throws {
    try encoder.encode(fields: ["replayId": replayId, "edited": events.count, "changed": changed, "left": left])
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

/// Corrects the values of dead letters. It sets and removes fields, which are named by paths such as `preferences.enabled`.
struct DeadLetterEdit {
  /// New values by path. A value that is not JSON becomes a string.
  var set: [String: String] = [:]
  /// Paths of fields to remove.
  var remove: [String] = []

  /// Whether it changes nothing.
  var isEmpty: Bool { self.set.isEmpty && remove.isEmpty }

  /// The corrected value. Throws if a path leads through something that is not an object.
  func apply(to value: JSONValue) throws -> JSONValue {
    var value = value
    for path in remove { try Self.change(&value, at: Self.parts(path), to: nil, path) }
    for (path, text) in set.sorted(by: { $0.key < $1.key }) {
      try Self.change(&value, at: Self.parts(path), to: Self.parse(text), path)
    }
    return value
  }

  /// Parses a number, boolean, list or object as JSON. Any other text is a string, and so are digits in quotes.
  static func parse(_ text: String) -> JSONValue { (try? JSONValue(Array(text.utf8))) ?? .string(text) }

  private static func parts(_ path: String) throws -> ArraySlice<String> {
    let parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.allSatisfy({ !$0.isEmpty }) else { throw CommandError("\(path) is not the path of a field") }
    return parts[...]
  }

  private static func change(
    _ value: inout JSONValue, at path: ArraySlice<String>, to new: JSONValue?, _ whole: String
  ) throws {
    guard case .object(var fields) = value, let name = path.first else {
      throw CommandError("\(whole): what is around the field is no object")
    }
    if path.count == 1 {
      fields[name] = new
    } else if var inner = fields[name] ?? (new == nil ? nil : .object([:])) {
      try change(&inner, at: path.dropFirst(), to: new, whole)
      fields[name] = inner
    }
    value = .object(fields)
  }

  /// The paths of the fields in which two values differ; `(the whole value)` if one of them is not an object.
  static func changes(_ before: JSONValue?, _ after: JSONValue) -> [String] {
    guard case .object(let old)? = before, case .object(let new) = after else {
      return before == after ? [] : ["(the whole value)"]
    }
    return Set(old.keys).union(new.keys).sorted().flatMap { name -> [String] in
      if let a = old[name], let b = new[name], case .object = a, case .object = b {
        return changes(a, b).map { "\(name).\($0)" }
      }
      return old[name] == new[name] ? [] : [name]
    }
  }
}

/// A corrected event in the form in which it would be published.
struct EditedEvent: Equatable {
  var topic: Topic
  /// The key that the event implies. A missing or wrong key is corrected too.
  var key: [UInt8]
  var value: [UInt8]
  /// The paths of the changed fields.
  var changed: [String]

  /// Why a correction is not published.
  struct Refusal: Error, Equatable {
    var reason: String
  }

  /// Validates a value as ingest does, except for rules that need ingest's state, for example whether the conversation is known.
  init(_ value: JSONValue, was before: JSONValue?, keyWas: [UInt8]?, topic: Topic, now: Milliseconds) throws {
    let field = topic == .chatEvents ? "conversationId" : "userId"
    guard let id = value[field]?.string, !id.isEmpty else { throw Refusal(reason: "\(field) is missing") }
    self.topic = topic
    key = Array(id.utf8)
    self.value = try RecordCoder().encode(value)
    changed = DeadLetterEdit.changes(before, value)
    if keyWas != key { changed.append("(the key)") }
    guard !changed.isEmpty else { throw Refusal(reason: "nothing changes in it") }
    let driver = StageDriver(IngestStage(IngestRules(endpoints: EndpointRules(allowsPrivateAddresses: true))), now: now)
    guard let rejection = driver.send(bytes: self.value, to: topic, key: key).rejection else { return }
    switch rejection.code {
    case .unknownConversation, .senderNotMember, .userDeleted: return
    default: throw Refusal(reason: "\(rejection.code.rawValue): \(rejection.message)")
    }
  }
}

/// Lets a person change a text in their editor. Only they can read the file, which is removed afterwards, even if a signal ends the
/// command.
struct TextEditor {
  /// The command in the form for a shell.
  var command: String

  /// How long the editor may take to end after a signal.
  private static let grace: Duration = .seconds(2)

  /// The editor from the environment; nil if there is none.
  init?(_ environment: [String: String] = ProcessInfo.processInfo.environment) {
    guard let command = [environment["VISUAL"], environment["EDITOR"]].compactMap({ $0 }).first(where: { !$0.isEmpty })
    else { return nil }
    self.command = command
  }

  /// Counts signals that end the editor but not this process, which must remove a file. Use one object for all edits, because several would
  /// take signals from each other.
  static func interrupts() -> Interrupts { Interrupts(and: [SIGHUP, SIGQUIT]) }

  /// The text after the person's changes.
  /// - Throws: `CommandError` if the editor fails or a signal arrives.
  func edit(_ text: [UInt8], _ interrupts: Interrupts) throws -> [UInt8] {
    let before = interrupts.count
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("nudge-edit-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: directory) }
    let file = directory.appendingPathComponent("event.json")
    try PrivateFile.write(text, to: file.path)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "\(command) \"$0\"", file.path]
    let ended = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in ended.signal() }
    try process.run()
    while ended.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
      guard interrupts.count > before else { continue }
      // Foundation gives the shell a process group of its own, and reports its end when everything that it started has ended.
      kill(-process.processIdentifier, SIGTERM)
      if ended.wait(timeout: .now() + Self.grace.seconds) == .timedOut {
        kill(-process.processIdentifier, SIGKILL)
        ended.wait()
      }
      break
    }
    guard interrupts.count == before else { throw CommandError("interrupted: nothing was written") }
    guard process.terminationStatus == 0 else {
      throw CommandError("\(command) ended with \(process.terminationStatus): nothing was written")
    }
    return Array(try Data(contentsOf: file))
  }
}
