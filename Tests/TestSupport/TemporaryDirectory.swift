import Foundation

/// A folder of its own for a test, removed with the object.
public final class TemporaryDirectory {
  /// Its absolute path.
  public let path: String

  /// Makes the folder.
  public init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("nudge-test-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
