import Foundation

/// Whole files, for configuration and keys.
public enum FileContent {
  /// The bytes of a file.
  /// - Throws: ``FileFailure``, whose text names the file.
  public static func read(_ path: String) throws -> [UInt8] {
    do {
      return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    } catch {
      throw FileFailure(description: "\(path) cannot be read: \((error as NSError).localizedDescription)")
    }
  }
}

/// A file could not be read.
public struct FileFailure: Error, CustomStringConvertible {
  /// Which, and why, in one line.
  public let description: String
}
