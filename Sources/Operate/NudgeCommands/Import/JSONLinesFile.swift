import Foundation

/// A file of lines, read in pieces from a byte on. One thread uses it.
final class JSONLinesFile {
  private static let readSize = 1 << 18
  /// The longest line, in bytes: what the topics take.
  static let maxLineBytes = 4 << 20

  private let path: String
  private let file: FileHandle
  private var bytes: [UInt8] = []
  private var start = 0
  private var isAtEnd = false
  /// Where the next line begins, in bytes from the file's start.
  private(set) var offset: Int64

  /// Opens a file.
  /// - Throws: `ReadingError` that names it.
  init(path: String, offset: Int64 = 0) throws {
    self.path = path
    self.offset = offset
    do {
      file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      try file.seek(toOffset: UInt64(offset))
    } catch {
      throw ReadingError("\(path) cannot be read: \((error as NSError).localizedDescription)")
    }
  }

  /// The next line without its end; nil at the end of the file.
  func next() throws -> [UInt8]? {
    var searched = start
    while true {
      if let end = bytes[searched...].firstIndex(of: 0x0A) { return take(upTo: end, skipping: 1) }
      guard !isAtEnd else {
        return start < bytes.count ? take(upTo: bytes.count, skipping: 0) : nil
      }
      guard bytes.count - start <= Self.maxLineBytes else {
        throw ReadingError(
          "\(path) has a line of more than \(Self.maxLineBytes) bytes at byte \(offset): is it JSON, an object a line?")
      }
      searched = bytes.count - start
      try readOn()
    }
  }

  private func take(upTo end: Int, skipping terminator: Int) -> [UInt8] {
    let line = Array(bytes[start..<end])
    offset += Int64(end - start + terminator)
    start = end + terminator
    return line
  }

  /// Afterwards what is not used up begins at 0.
  private func readOn() throws {
    bytes.removeFirst(start)
    start = 0
    do {
      let piece = try file.read(upToCount: Self.readSize) ?? Data()
      isAtEnd = piece.isEmpty
      bytes.append(contentsOf: piece)
    } catch {
      throw ReadingError("\(path) cannot be read: \((error as NSError).localizedDescription)")
    }
  }
}
