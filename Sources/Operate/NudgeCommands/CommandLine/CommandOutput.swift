package import Foundation
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

  /// Writes what was printed so far, for whoever reads along.
  /// - Throws: `CommandError` if it cannot be written, such as to a pipe that nobody reads any more.
  package static func flush() throws {
    guard let reason = StandardOutput.flush() else { return }
    throw CommandError("standard output could not be written (\(reason))")
  }
}
