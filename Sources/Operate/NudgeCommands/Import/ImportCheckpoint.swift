import Foundation
import NudgeSchema

/// The progress of an import, in a small file beside the imported one. An interrupted import continues from it.
struct ImportCheckpoint: Codable, Equatable {
  var kind: String
  /// The file's size when the import began; a different size means a different file.
  var size: Int64
  /// The time of this import's events.
  var asOf: Milliseconds
  /// Bytes whose events are published.
  var offset: Int64
  /// Lines read.
  var lines: Int
  /// Acknowledged events.
  var published: Int
  /// Rejected lines.
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

  /// Writes it atomically.
  func write(of file: String) throws {
    let data = try CommandOutput.encoder.encode(self)
    try data.write(to: URL(fileURLWithPath: Self.path(of: file)), options: .atomic)
  }

  /// Deletes it after a finished import.
  static func remove(of file: String) throws {
    let path = path(of: file)
    if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
  }
}
