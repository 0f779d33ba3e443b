import Foundation

/// Where a command's answer goes.
enum CommandOutput {
  /// `--json`, of every command that reads.
  static let encoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }()

  /// Prints a value as one line of JSON.
  static func print(json value: some Encodable) throws {
    Swift.print(String(decoding: try encoder.encode(value), as: UTF8.self))
  }
}
