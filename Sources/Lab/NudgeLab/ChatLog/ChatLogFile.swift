import Foundation
import Gzip

/// Reads a chat log from a file of JSON lines, plain or gzip, message by message. Not thread-safe.
final class ChatLogFile: ChatMessages {
  /// The longest line, in bytes: a message may have 64 KiB, and JSON takes a few times as much.
  static let maxLineBytes = 1 << 20
  private static let readSize = 1 << 16

  private let path: String
  private let file: FileHandle
  private let inflater: GzipInflater?
  private let decoder = JSONDecoder()
  /// Inflated bytes; those before `start` are consumed.
  private var bytes: [UInt8] = []
  private var start = 0
  /// Where the search for the end of the line continues.
  private var searched = 0
  private var isAtEnd = false
  private var line = 0

  /// Opens a file; its first two bytes say whether it is gzip.
  init(path: String) throws(ChatLogError) {
    self.path = path
    do {
      file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      let magic = try file.read(upToCount: 2) ?? Data()
      try file.seek(toOffset: 0)
      inflater = magic.elementsEqual([0x1f, 0x8b]) ? try GzipInflater() : nil
    } catch let damage as GzipError {
      throw ChatLogError("\(path) cannot be read: \(damage)")
    } catch {
      throw ChatLogError("\(path) cannot be opened: \((error as NSError).localizedDescription)")
    }
  }

  /// The next message; empty lines are skipped.
  func next() throws(ChatLogError) -> ChatMessage? {
    while let line = try nextLine() {
      guard line.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) else { continue }
      return try decode(line)
    }
    return nil
  }

  private func decode(_ text: ArraySlice<UInt8>) throws(ChatLogError) -> ChatMessage {
    do {
      return try decoder.decode(ChatMessage.self, from: Data(text))
    } catch let error as DecodingError {
      throw ChatLogError(path, line: line, error)
    } catch {
      throw ChatLogError(path, line: line, "\(error)")
    }
  }

  private func nextLine() throws(ChatLogError) -> ArraySlice<UInt8>? {
    while true {
      if let end = bytes[searched...].firstIndex(of: 0x0A) {
        line += 1
        defer {
          start = end + 1
          searched = start
        }
        return bytes[start..<end]
      }
      searched = bytes.count
      guard bytes.count - start <= Self.maxLineBytes else {
        throw ChatLogError(path, line: line + 1, "longer than \(Self.maxLineBytes) bytes")
      }
      if isAtEnd {
        guard start < bytes.count else { return nil }
        line += 1
        defer { start = bytes.count }
        return bytes[start...]
      }
      try readMore()
    }
  }

  private func readMore() throws(ChatLogError) {
    bytes.removeSubrange(..<start)
    searched -= start
    start = 0
    var chunk: [UInt8]
    do {
      chunk = [UInt8](try file.read(upToCount: Self.readSize) ?? Data())
    } catch {
      throw ChatLogError("\(path) cannot be read: \((error as NSError).localizedDescription)")
    }
    if chunk.isEmpty {
      isAtEnd = true
      if let inflater, !inflater.isComplete {
        throw ChatLogError("\(path) is truncated after line \(line): the gzip data has no end; download the file again")
      }
    } else if let inflater {
      do throws(GzipError) {
        try chunk.withUnsafeMutableBufferPointer { (input) throws(GzipError) in
          try inflater.inflate(input, appendingTo: &bytes)
        }
      } catch {
        throw ChatLogError("\(path) is damaged after line \(line): \(error); download the file again")
      }
    } else {
      bytes.append(contentsOf: chunk)
    }
  }
}
