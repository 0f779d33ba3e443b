import Foundation
import Ingest
import NudgeSchema
import ServiceKit

enum ImportCommand {
  private static let kind = Setting<ImportKind>(
    required: "kind", environment: .none,
    help: "The kind of the lines: each has the fields of conversation.updated, "
      + "preferences.updated or device.registered.")
  private static let asOf = Setting<PointInTime?>(
    "as-of", environment: .none, default: nil,
    help: "The time of the file's content: newer values already published stay. Default: the file's own time.")

  private static let json = Setting<Bool>(
    "json", environment: .none, default: false, help: "Print the counts as JSON at the end.")

  static let command = Command(
    "import",
    abstract: "Publishes conversations, preferences or devices from a file.",
    discussion:
      "The file has one JSON object a line. An interrupted import continues where it stopped.",
    settings: [kind, asOf, Writing.dryRun, json] + ClusterSettings.all,
    arguments: [PositionalArgument("file", help: "A JSON object a line, as the event without its envelope.")],
    examples: [
      "nudge import conversations.jsonl --kind conversations --bootstrap-servers kafka:9092",
      "nudge import devices.jsonl --kind devices --as-of 2026-11-22T03:00:00Z --bootstrap-servers kafka:9092",
    ]
  ) { input in
    let interrupts = Interrupts()
    var run = ImportRun(
      file: input.argument("file") ?? "", kind: input[kind], asOf: input[asOf], isInterrupted: { interrupts.count > 0 })
    if input[json] { run.summarize = { try CommandOutput.print(json: $0) } }
    return input[Writing.dryRun] ? try run.check() : try run.run(ClusterSettings(input))
  }
}

/// The result of an import, for `--json`.
struct ImportSummary: Encodable, Equatable {
  var lines: Int
  var published: Int
  var refused: Int
  /// False for a dry run; `published` then is what would be published.
  var isWritten: Bool
  /// False if it was interrupted; the same command continues it.
  var isComplete: Bool

  init(_ checkpoint: ImportCheckpoint, isWritten: Bool, isComplete: Bool) {
    lines = checkpoint.lines
    published = checkpoint.published
    refused = checkpoint.refused
    self.isWritten = isWritten
    self.isComplete = isComplete
  }
}

struct ImportRun {
  /// The number of lines between two waits for acknowledgements.
  static let batchLines = 2_000
  /// The most rejected lines that are reported individually.
  private static let shownRefusals = 20
  /// The most lines with unknown fields that are reported individually.
  private static let shownUnknown = 20
  /// The oldest time that ingest accepts, minus a day for the import itself and for lag.
  private static let oldest: Milliseconds = 6 * 86_400_000

  let file: String
  let kind: ImportKind
  let asOf: PointInTime?
  let isInterrupted: () -> Bool
  var progress = ReadingProgress.standardError()
  var now: Milliseconds = SystemClock.milliseconds()
  /// Prints a line for a person.
  var say: (String) -> Void = CommandOutput.report
  /// Receives the counts at the end.
  var summarize: (ImportSummary) throws -> Void = { _ in }

  init(file: String, kind: ImportKind, asOf: PointInTime?, isInterrupted: @escaping () -> Bool = { false }) {
    self.file = file
    self.kind = kind
    self.asOf = asOf
    self.isInterrupted = isInterrupted
  }

  /// Imports the rest of the file. Returns the exit code.
  func run(_ cluster: ClusterSettings) throws -> Int32 {
    var checkpoint = try begin()
    if checkpoint.offset > 0 {
      say("going on behind line \(checkpoint.lines), where an earlier import of \(file) ended")
    }
    let lines = try JSONLinesFile(path: file, offset: checkpoint.offset)
    let writer = try AcknowledgedWriter(cluster)
    defer { writer.close() }
    progress.begin("importing \(kind.rawValue), bytes", total: checkpoint.size)
    let coder = RecordCoder()
    var unknown = UnknownFieldsReport(kind: kind, shown: Self.shownUnknown, say: say)
    var isAtEnd = false
    while !isAtEnd, !isInterrupted() {
      var added = 0
      while added < Self.batchLines {
        guard let line = try lines.next() else {
          isAtEnd = true
          break
        }
        checkpoint.lines += 1
        guard line.contains(where: { $0 > 0x20 }) else { continue }
        do {
          let event = try kind.event(of: line, occurredAt: checkpoint.asOf, coder: coder)
          try writer.add(event.value, to: event.topic, key: event.key)
          added += 1
          unknown.add(line, number: checkpoint.lines)
        } catch {
          guard let reason = Self.reason(error) else { throw error }
          checkpoint.refused += 1
          if checkpoint.refused <= Self.shownRefusals { say("line \(checkpoint.lines): \(reason)") }
        }
      }
      _ = try writer.flush()
      checkpoint.published += added
      checkpoint.offset = lines.offset
      try checkpoint.write(of: file)
      progress.reached(checkpoint.offset)
    }
    progress.end()
    unknown.end()
    return try end(checkpoint, isAtEnd: isAtEnd)
  }

  /// Reads the rest of the file as `run` would, but writes nothing.
  func check() throws -> Int32 {
    var checkpoint = try begin()
    let lines = try JSONLinesFile(path: file, offset: checkpoint.offset)
    let coder = RecordCoder()
    var unknown = UnknownFieldsReport(kind: kind, shown: Self.shownUnknown, say: say)
    while let line = try lines.next(), !isInterrupted() {
      checkpoint.lines += 1
      guard line.contains(where: { $0 > 0x20 }) else { continue }
      do {
        _ = try kind.event(of: line, occurredAt: checkpoint.asOf, coder: coder)
        checkpoint.published += 1
        unknown.add(line, number: checkpoint.lines)
      } catch {
        guard let reason = Self.reason(error) else { throw error }
        checkpoint.refused += 1
        if checkpoint.refused <= Self.shownRefusals { say("line \(checkpoint.lines): \(reason)") }
      }
    }
    unknown.end()
    say(
      "\(checkpoint.published.counted("event")) would be published, \(checkpoint.refused.counted("line")) refused. "
        + "Nothing was written")
    try summarize(ImportSummary(checkpoint, isWritten: false, isComplete: !isInterrupted()))
    return checkpoint.refused == 0 ? ExitCode.success : ExitCode.failure
  }

  /// Where to begin, and the time of the events.
  private func begin() throws -> ImportCheckpoint {
    let attributes: [FileAttributeKey: Any]
    do {
      attributes = try FileManager.default.attributesOfItem(atPath: file)
    } catch {
      throw CommandError("\(file) cannot be read: \(FileContent.reason(file, error))")
    }
    let size = (attributes[.size] as? NSNumber)?.int64Value ?? 0
    let modified = (attributes[.modificationDate] as? Date).map { Int64($0.timeIntervalSince1970 * 1_000) } ?? now
    let time = asOf?.milliseconds(now: now) ?? modified
    guard time <= now + 60_000, now - time <= Self.oldest else {
      throw CommandError(
        "what the file says would be of \(RFC3339.text(time)): ingest refuses events older than 7 days, and those of the "
          + "future. Give --as-of with a time of the last 6 days; what was published with a later time stays as it is")
    }
    guard let checkpoint = try ImportCheckpoint.read(of: file) else {
      return ImportCheckpoint(
        kind: kind.rawValue, size: size, asOf: time, offset: 0, lines: 0, published: 0, refused: 0)
    }
    guard checkpoint.kind == kind.rawValue, checkpoint.size == size,
      asOf == nil || checkpoint.asOf == time, now - checkpoint.asOf <= Self.oldest
    else {
      throw CommandError(
        "\(ImportCheckpoint.path(of: file)) belongs to an import of another file, kind or time: remove it to begin anew"
      )
    }
    return checkpoint
  }

  private func end(_ checkpoint: ImportCheckpoint, isAtEnd: Bool) throws -> Int32 {
    guard isAtEnd else {
      try summarize(ImportSummary(checkpoint, isWritten: true, isComplete: false))
      say("interrupted behind line \(checkpoint.lines); the same command goes on there")
      return ExitCode.interrupted
    }
    try ImportCheckpoint.remove(of: file)
    say(
      "\(checkpoint.published.counted("event")) of \(checkpoint.lines.counted("line")) \(checkpoint.published == 1 ? "is" : "are") published, "
        + "\(checkpoint.refused.counted("line was", "lines were")) refused")
    try summarize(ImportSummary(checkpoint, isWritten: true, isComplete: true))
    return checkpoint.refused == 0 ? ExitCode.success : ExitCode.failure
  }

  /// Why a line is rejected; nil for errors that are not about the line. It names fields, never values, which may be tokens.
  private static func reason(_ error: any Error) -> String? {
    switch error {
    case let error as SchemaViolation: error.description
    case let error as EventFormatError: error.description
    case let error as DecodingError: Rejection(error).message
    default: nil
    }
  }
}

/// The content of a file for `nudge import`, with one object per line.
enum ImportKind: String, SettingValue, CaseIterable {
  /// The fields of `conversation.updated`.
  case conversations
  /// The fields of `preferences.updated`.
  case preferences
  /// The fields of `device.registered`.
  case devices

  /// The fields that a line may have. Those of the envelope are among them; the import makes its own.
  var known: KnownFields {
    switch self {
    case .conversations: .conversationUpdated
    case .preferences: .preferencesUpdated
    case .devices: .deviceRegistered
    }
  }

  /// An event with its topic and key.
  struct Imported {
    let topic: Topic
    let key: String
    let value: [UInt8]
  }

  /// The event of a line.
  /// - Parameter occurredAt: The time to which the file's content applies.
  /// - Throws: `DecodingError` or `EventFormatError` for missing or wrong fields, `SchemaViolation` for a broken rule.
  func event(of line: [UInt8], occurredAt: Milliseconds, coder: RecordCoder) throws -> Imported {
    // Equal lines have equal event ids, so importing a file again has no effect.
    let digest = Hexadecimal.encode(SHA256Digest.of(line).prefix(16))
    let envelope = Envelope(eventId: "import-\(digest)", occurredAt: occurredAt)
    switch self {
    case .conversations:
      let event = ChatEvent(envelope, .conversationUpdated(try coder.decode(ConversationUpdated.self, from: line)))
      try event.validate()
      return Imported(topic: .chatEvents, key: event.body.conversationId, value: try coder.encode(event))
    case .preferences:
      return try user(envelope, .preferences(try coder.decode(PreferencesUpdated.self, from: line)), coder)
    case .devices:
      return try user(envelope, .deviceRegistered(try coder.decode(DeviceRegistered.self, from: line)), coder)
    }
  }

  private func user(_ envelope: Envelope, _ body: UserEventBody, _ coder: RecordCoder) throws -> Imported {
    let event = UserEvent(envelope, body)
    try event.validate()
    return Imported(topic: .userEvents, key: event.body.userId, value: try coder.encode(event))
  }
}

/// Reports fields that no event has. They are not published, so a misspelt one is lost.
struct UnknownFieldsReport {
  let kind: ImportKind
  /// The most lines that are reported individually.
  let shown: Int
  let say: (String) -> Void
  private var lines = 0

  init(kind: ImportKind, shown: Int, say: @escaping (String) -> Void) {
    self.kind = kind
    self.shown = shown
    self.say = say
  }

  mutating func add(_ line: [UInt8], number: Int) {
    let unknown = kind.known.unknown(in: line)
    guard let first = unknown.first else { return }
    lines += 1
    guard lines <= shown else { return }
    let more = unknown.count > 1 ? ", and others" : ""
    say("line \(number): a field is ignored\(more): \(first)")
  }

  func end() {
    if lines > 0 {
      say("\(lines.counted("line has", "lines have")) fields that are ignored, because no event has them")
    }
  }
}

/// The progress of an import, in a small file beside the imported one. An interrupted import continues from there.
struct ImportCheckpoint: Codable, Equatable {
  var kind: String
  /// The file's size when the import began. Another size means another file.
  var size: Int64
  /// The time of this import's events.
  var asOf: Milliseconds
  /// The number of bytes whose events are published.
  var offset: Int64
  /// The number of lines read.
  var lines: Int
  /// The number of acknowledged events.
  var published: Int
  /// The number of rejected lines.
  var refused: Int

  /// The path of a file's checkpoint.
  static func path(of file: String) -> String { file + ".nudge-import" }

  /// The checkpoint of a file; nil without one.
  /// - Throws: `CommandError` if it cannot be read.
  static func read(of file: String) throws -> ImportCheckpoint? {
    let path = path(of: file)
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    do {
      return try JSONDecoder().decode(
        ImportCheckpoint.self, from: try Data(contentsOf: URL(fileURLWithPath: path)))
    } catch {
      throw CommandError("\(path) cannot be read: remove it to import \(file) from its start")
    }
  }

  /// Writes the file atomically.
  func write(of file: String) throws {
    let data = try CommandOutput.encoder.encode(self)
    try data.write(to: URL(fileURLWithPath: Self.path(of: file)), options: .atomic)
  }

  /// Removes the file after a complete import.
  static func remove(of file: String) throws {
    let path = path(of: file)
    if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
  }
}

/// Reads a file line by line, beginning at any byte. Not thread-safe.
final class JSONLinesFile {
  private static let readSize = 1 << 18
  /// The longest line in bytes, which is the largest record of a topic.
  static let maxLineBytes = 4 << 20

  private let path: String
  private let file: FileHandle
  private var bytes: [UInt8] = []
  private var start = 0
  private var isAtEnd = false
  /// The start of the next line, in bytes from the file's start.
  private(set) var offset: Int64

  /// - Throws: `CommandError`, which names the path.
  init(path: String, offset: Int64 = 0) throws {
    self.path = path
    self.offset = offset
    do {
      file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      try file.seek(toOffset: UInt64(offset))
    } catch {
      throw CommandError("\(path) cannot be read: \(FileContent.reason(path, error))")
    }
  }

  /// The next line without its line break; nil at the end of the file.
  func next() throws -> [UInt8]? {
    var searched = start
    while true {
      if let end = bytes[searched...].firstIndex(of: 0x0A) { return take(upTo: end, skipping: 1) }
      guard !isAtEnd else {
        return start < bytes.count ? take(upTo: bytes.count, skipping: 0) : nil
      }
      guard bytes.count - start <= Self.maxLineBytes else {
        throw CommandError(
          "\(path) has a line of more than \(Self.maxLineBytes) bytes at byte \(offset): is it JSON, an object a line?")
      }
      searched = bytes.count - start
      try readOn()
    }
  }

  private func take(upTo end: Int, skipping terminator: Int) -> [UInt8] {
    let line = Array(bytes[start..<end])
    offset += Int64(end - start + terminator)
    start = end + terminator
    return line
  }

  /// Reads more bytes. Unused bytes move to the start of the buffer.
  private func readOn() throws {
    bytes.removeFirst(start)
    start = 0
    do {
      let piece = try file.read(upToCount: Self.readSize) ?? Data()
      isAtEnd = piece.isEmpty
      bytes.append(contentsOf: piece)
    } catch {
      throw CommandError("\(path) cannot be read: \(FileContent.reason(path, error))")
    }
  }
}
