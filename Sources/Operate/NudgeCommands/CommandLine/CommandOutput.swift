package import Foundation
import NudgeSchema
import ServiceKit

/// Writes a command's result.
package enum CommandOutput {
  /// The encoder behind every `--json`: sorted keys, one line.
  package static let encoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }()

  /// Prints a value as one line of JSON.
  package static func print(json value: some Encodable) throws {
    Swift.print(String(decoding: try encoder.encode(value), as: UTF8.self))
  }

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
