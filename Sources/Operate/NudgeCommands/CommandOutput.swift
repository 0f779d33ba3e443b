package import Foundation
import Glibc
import NudgeSchema
package import ServiceKit

/// Writes a command's result.
package enum CommandOutput {
  /// `--json`.
  package static let json = Setting<Bool>("json", environment: .none, default: false, help: "Print JSON.")

  /// The encoder behind every `--json`: sorted keys, one line.
  package static let encoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }()

  /// The encoder of JSON for people: sorted keys, a line a field.
  static let prettyEncoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return encoder
  }()

  /// Prints a value as one line of JSON.
  package static func print(json value: some Encodable) throws {
    Swift.print(String(decoding: try encoder.encode(value), as: UTF8.self))
  }

  /// Prints a result as one line of JSON, or as text for people.
  package static func print(_ result: some Encodable, asJSON: Bool, text: @autoclosure () -> String) throws {
    if asJSON { try print(json: result) } else { Swift.print(text()) }
  }

  /// Prints an object with these fields as one line of JSON.
  static func print(fields: JSONObject) throws { try print(json: fields) }

  /// Writes a line to standard error: progress, or what is not part of the result.
  package static func report(_ line: String) { FileHandle.standardError.write(Data("\(line)\n".utf8)) }

  /// Writes the output so far, for readers of a pipe.
  /// - Throws: `CommandError` if it cannot be written, for example to a closed pipe.
  package static func flush() throws {
    guard let reason = StandardOutput.flush() else { return }
    throw CommandError("standard output could not be written (\(reason))")
  }
}

/// Why a command cannot continue: what failed, and how to fix it.
package struct CommandError: ExitCodeError, Equatable, CustomStringConvertible {
  package let description: String
  package let exitCode: Int32

  package init(_ description: String, exitCode: Int32 = ExitCode.failure) {
    self.description = description
    self.exitCode = exitCode
  }
}

extension BinaryInteger {
  /// The number with its noun: `1 push`, `2 pushes`. A noun without an irregular plural gets an s.
  package func counted(_ one: String, _ many: String? = nil) -> String {
    "\(self) \(self == 1 ? one : many ?? one + "s")"
  }
}

extension String {
  /// The text with spaces behind it, so that a column has one width.
  package func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

  /// The text with spaces before it, for a column of numbers.
  package func alignedRight(in width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}

extension Array {
  /// The element below which this share of a sorted array is; nil if the array is empty.
  package func quantile(_ share: Double) -> Element? {
    isEmpty ? nil : self[Swift.min(count - 1, Int(Double(count) * share))]
  }
}

extension Dictionary where Key: RawRepresentable<String> {
  /// The values by the keys' names.
  package var byName: [String: Value] {
    Dictionary<String, Value>(uniqueKeysWithValues: map { ($0.key.rawValue, $0.value) })
  }
}

/// Checks a flag whose value must be one of some names that come from elsewhere.
enum Choices {
  /// The existing names, with the one that was probably meant; nil if the value is absent or one of them.
  static func missing(_ value: String?, among names: [String]) -> String? {
    guard let value, !names.contains(value) else { return nil }
    var seen: Set<String> = []
    let list = names.filter { seen.insert($0).inserted }.joined(separator: ", ")
    return "one of \(list)\(NearestName.of(value, among: names).map { " (did you mean \($0)?)" } ?? "")"
  }
}

extension Topic {
  /// Parses a topic's name; the prefix `nudge.` may be left out.
  /// - Throws: `SettingsError`, which lists the topics.
  init(commandLine name: String) throws(SettingsError) {
    guard let topic = Topic(rawValue: name) ?? Topic(rawValue: "nudge.\(name)") else {
      let names = Topic.allCases.map(\.rawValue)
      let short = names.map { String($0.dropFirst($0.hasPrefix("nudge.") ? 6 : 0)) }
      let meant = NearestName.of(name, among: names) ?? NearestName.of(name, among: short)
      throw SettingsError(
        "unknown topic \(name): \(meant.map { "did you mean \($0)? U" } ?? "u")se one of \(names.joined(separator: ", "))"
      )
    }
    self = topic
  }
}

/// The flags of every command that writes. Without `--yes` such a command only says what it would do. Commands that act like a producer or
/// a setup and remove nothing (`publish`, `import`, `topics create`) act at once, and also have `--dry-run`.
enum Writing {
  static let yes = Setting<Bool>(
    "yes", environment: .none, default: false, help: "Execute; without it, only print what would happen.")
  static let dryRun = Setting<Bool>(
    "dry-run", environment: .none, default: false, help: "Only print what would happen, and write nothing.")
  static let why = Setting<String>(
    "why", environment: .none, default: "", placeholder: "TEXT", help: "The reason, for the audit; required with --yes."
  )
  static let optionalWhy = Setting<String>(
    "why", environment: .none, default: "", placeholder: "TEXT", help: "The reason, for the audit.")

  /// For a command that requires a reason for its audit.
  static let all: [any AnySetting] = [yes, dryRun, why]
  /// For a command that repairs something on which an operator already works. The reason is optional.
  static let mending: [any AnySetting] = [yes, dryRun, optionalWhy]

  /// Whether a command with `all` should write.
  /// - Throws: `SettingsError` if the flags contradict each other, or the reason is missing.
  static func isAsked(_ input: CommandInput) throws(SettingsError) -> Bool {
    guard try isAskedWithoutReason(input) else { return false }
    guard input[why].contains(where: { !$0.isWhitespace }) else {
      throw SettingsError("--why is missing: give the reason, for the audit")
    }
    return true
  }

  /// Whether a command with `mending` should write.
  static func isMendingAsked(_ input: CommandInput) throws(SettingsError) -> Bool {
    guard try isAskedWithoutReason(input) else { return false }
    if input[optionalWhy].isEmpty {
      CommandOutput.report("no reason is given: the audit has none. --why TEXT says it")
    }
    return true
  }

  private static func isAskedWithoutReason(_ input: CommandInput) throws(SettingsError) -> Bool {
    guard !(input[yes] && input[dryRun]) else { throw SettingsError("--yes and --dry-run exclude each other") }
    return input[yes]
  }
}

/// Files that only their owner may read.
enum PrivateFile {
  /// Checks that files can be made in the folder of a path.
  /// - Throws: `CommandError` as `write` does.
  static func checkFolder(of path: String) throws(CommandError) {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    guard access(folder, W_OK | X_OK) == 0 else { throw failure(path) }
  }

  /// Replaces a file's content, whatever its mode and the umask were. A symbolic link is refused, because somebody else may have created
  /// it.
  static func write(_ content: [UInt8], to path: String) throws {
    let file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw failure(path) }
    defer { close(file) }
    var status = stat()
    // A pipe or a terminal has no mode to change, and cannot be truncated.
    if fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      guard fchmod(file, 0o600) == 0, ftruncate(file, 0) == 0 else { throw failure(path) }
    }
    var rest = content[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      guard count > 0 || errno == EINTR else { throw failure(path) }
      rest = rest.dropFirst(max(0, count))
    }
    guard fsync(file) == 0 || errno == EINVAL else { throw failure(path) }
  }

  private static func failure(_ path: String) -> CommandError {
    CommandError(
      "\(path) cannot be written: \(errno == ELOOP ? "it is a symbolic link" : String(cString: strerror(errno)))")
  }
}

/// An object of JSON that lists its fields where it fills them. A field that is nil is left out.
package struct JSONObject: Encodable, ExpressibleByDictionaryLiteral {
  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }

    init?(intValue: Int) { nil }
  }

  private let fields: [(name: String, value: (any Encodable)?)]

  package init(dictionaryLiteral fields: (String, (any Encodable)?)...) {
    self.fields = fields.map { (name: $0.0, value: $0.1) }
  }

  package func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Name.self)
    for case (let name, let value?) in fields { try object.encode(value, forKey: Name(stringValue: name)) }
  }
}

extension Encoder {
  /// Encodes a value as these fields, beside those that it has already encoded.
  package func encode(fields: JSONObject) throws { try fields.encode(to: self) }
}
