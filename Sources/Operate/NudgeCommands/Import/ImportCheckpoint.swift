import Foundation
import NudgeSchema

/// How far a file was imported: a small file beside it, so that an import which was interrupted goes on.
struct ImportCheckpoint: Codable, Equatable {
  /// What kind it was imported as.
  var kind: String
  /// The file's size when the import began: another size is another file.
  var size: Int64
  /// What the events of this import say as their time.
  var asOf: Milliseconds
  /// Bytes that are published.
  var offset: Int64
  /// Lines that were read.
  var lines: Int
  /// Events that Kafka has.
  var published: Int
  /// Lines that were refused.
  var refused: Int

  /// Where the checkpoint of a file is.
  static func path(of file: String) -> String { file + ".nudge-import" }

  /// The checkpoint of a file; nil where there is none.
  /// - Throws: `ReadingError` where there is one that cannot be read.
  static func read(of file: String) throws -> ImportCheckpoint? {
    let path = path(of: file)
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    do {
      return try JSONDecoder().decode(
        ImportCheckpoint.self, from: try Data(contentsOf: URL(fileURLWithPath: path)))
    } catch {
      throw ReadingError("\(path) cannot be read: remove it to import \(file) from its start")
    }
  }

  /// Writes it, whole or not at all.
  func write(of file: String) throws {
    let data = try CommandOutput.encoder.encode(self)
    try data.write(to: URL(fileURLWithPath: Self.path(of: file)), options: .atomic)
  }

  /// Takes it away: the import is done.
  static func remove(of file: String) throws {
    let path = path(of: file)
    if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
  }
}
