import Foundation

/// Whole files, for configuration and keys.
public enum FileContent {
  /// The bytes of a file.
  /// - Throws: Foundation's error, whose text names the file.
  public static func read(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: path)))
  }
}
