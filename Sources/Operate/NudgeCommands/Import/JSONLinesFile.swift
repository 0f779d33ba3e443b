import Foundation

/// Reads a file line by line, from any byte on. Not thread-safe.
final class JSONLinesFile {
  private static let readSize = 1 << 18
  /// The longest line, in bytes: the most a topic accepts.
  static let maxLineBytes = 4 << 20

  private let path: String
  private let file: FileHandle
  private var bytes: [UInt8] = []
  private var start = 0
  private var isAtEnd = false
  /// The start of the next line, in bytes from the file's start.
  private(set) var offset: Int64

  /// - Throws: `CommandError` with the path.
  init(path: String, offset: Int64 = 0) throws {
    self.path = path
    self.offset = offset
    do {
      file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      try file.seek(toOffset: UInt64(offset))
    } catch {
      throw CommandError("\(path) cannot be read: \((error as NSError).localizedDescription)")
    }
  }

  /// The next line without its line break; nil at the end of the file.
  func next() throws -> [UInt8]? {
    var searched = start
    while true {
      if let end = bytes[searched...].firstIndex(of: 0x0A) { return take(upTo: end, skipping: 1) }
      guard !isAtEnd else {
        return start < bytes.count ? take(upTo: bytes.count, skipping: 0) : nil
      }
      guard bytes.count - start <= Self.maxLineBytes else {
        throw CommandError(
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

  /// Reads more bytes; unconsumed ones move to the start of the buffer.
  private func readOn() throws {
    bytes.removeFirst(start)
    start = 0
    do {
      let piece = try file.read(upToCount: Self.readSize) ?? Data()
      isAtEnd = piece.isEmpty
      bytes.append(contentsOf: piece)
    } catch {
      throw CommandError("\(path) cannot be read: \((error as NSError).localizedDescription)")
    }
  }
}
