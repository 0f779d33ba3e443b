import Foundation

/// Reads the lines of a file that another process is writing.
struct GrowingFile {
  private static let readSize = 1 << 18

  private let path: String
  private var file: FileHandle?
  /// The beginning of an incomplete line.
  private var rest: [UInt8] = []

  /// Reads the file from its beginning. The file need not exist yet.
  init(path: String) { self.path = path }

  /// Passes each complete line since the last call to `body`, without its line break.
  mutating func readLines(_ body: (ArraySlice<UInt8>) throws -> Void) throws {
    if file == nil {
      guard FileManager.default.fileExists(atPath: path) else { return }
      file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    }
    while let chunk = try file?.read(upToCount: Self.readSize), !chunk.isEmpty {
      rest.append(contentsOf: chunk)
      var start = 0
      while let end = rest[start...].firstIndex(of: 0x0A) {
        try body(rest[start..<end])
        start = end + 1
      }
      rest.removeSubrange(..<start)
    }
  }

  /// The last lines of a file. Empty if it cannot be read.
  static func tail(_ path: String, lines count: Int) -> String {
    guard let file = FileHandle(forReadingAtPath: path) else { return "" }
    defer { try? file.close() }
    // This is enough for that many lines of a log.
    let size = (try? file.seekToEnd()) ?? 0
    guard (try? file.seek(toOffset: size - min(size, 65_536))) != nil, let data = try? file.readToEnd() else {
      return ""
    }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").suffix(count).joined(separator: "\n")
  }
}
