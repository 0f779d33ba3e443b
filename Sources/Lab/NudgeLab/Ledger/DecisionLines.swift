import Foundation
import NudgeCommands

/// Writes decisions that made a push to a file, one JSON line each; the emulator's page of phones reads it.
final class DecisionLines {
  private let file: FileHandle

  /// Creates the file, readable by its owner only: decisions say who reads what, and when.
  init(path: String) throws {
    guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]),
      let file = FileHandle(forWritingAtPath: path)
    else { throw CommandError("\(path) cannot be written") }
    self.file = file
  }

  /// Appends a record's value with the console's words for its checks.
  func append(_ value: UnsafeRawBufferPointer) throws {
    try file.write(contentsOf: Data(try DecisionWithWords.json(value)) + [0x0A])
  }
}
