import Foundation

/// The decisions that made a push, a line of JSON each, for the emulator's page with the phones.
final class DecisionLines {
  private let file: FileHandle

  /// Makes the file, readable by its owner only: decisions say who reads what, and when.
  init(path: String) throws {
    guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]),
      let file = FileHandle(forWritingAtPath: path)
    else { throw DemoError("\(path) cannot be written") }
    self.file = file
  }

  /// Adds a record's value. What Nudge writes has no line breaks.
  func append(_ value: UnsafeRawBufferPointer) throws {
    try file.write(contentsOf: Data(value) + [0x0A])
  }
}
