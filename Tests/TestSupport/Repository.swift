public import Foundation

/// The checkout the tests were built from: for tests that hold documents, schemas or sources against the code.
public enum Repository {
  /// Its root: the folder with Package.swift.
  public static let url = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// A file or folder by its path from the root, such as `docs/apps.md`.
  public static func file(_ path: String) -> URL { url.appendingPathComponent(path) }
}
