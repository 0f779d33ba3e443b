package import Foundation

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
}
