public import Foundation

/// The checkout the tests were built from. Tests compare documents, schemas and sources in it with the code.
public enum Repository {
  /// Its root: the folder with Package.swift.
  public static let url = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// A file or folder by its path from the root, such as `docs/apps.md`.
  public static func file(_ path: String) -> URL { url.appendingPathComponent(path) }

  /// The Swift files of a folder and its subfolders, by path; empty if there is no such folder.
  public static func swiftFiles(in folder: URL) -> [URL] { files(in: folder, withExtension: "swift") }

  /// The files of a folder and its subfolders with such names, by path; empty if there is no such folder.
  public static func files(in folder: URL, withExtension suffix: String) -> [URL] {
    let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    return (found?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == suffix }.sorted { $0.path < $1.path }
  }
}
