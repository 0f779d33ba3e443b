import Foundation
import Gzip
package import NudgeSchema
import ServiceKit

/// Reads a chat log from a file of JSON lines, plain or gzip, message by message. Not thread-safe.
final class ChatLogFile: ChatMessages {
  /// The longest line in bytes: a message may have 64 KiB, and its JSON may be several times as long.
  static let maxLineBytes = 1 << 20
  private static let readSize = 1 << 16

  private let path: String
  private let file: FileHandle
  private let inflater: GzipInflater?
  private let decoder = JSONDecoder()
  /// Inflated bytes. Those before `start` are consumed.
  private var bytes: [UInt8] = []
  private var start = 0
  /// Where the search for the end of the line continues.
  private var searched = 0
  private var isAtEnd = false
  private var line = 0

  /// Opens a file. Its first two bytes tell whether it is gzip.
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
      throw ChatLogError("\(path) cannot be opened: \(FileContent.reason(path, error))")
    }
  }

  /// The next message. Empty lines are skipped. Absent at the end.
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
      throw ChatLogError("\(path) cannot be read: \(FileContent.reason(path, error))")
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

/// The source of a load's messages. Opening it again gives the same messages in the same order.
package enum ChatLogSource: Sendable, Equatable {
  /// A file of JSON lines, plain or gzip.
  case file(String)
  /// A log generated from a seed, with this many groups.
  case generated(seed: UInt64, groups: Int = GeneratedChatLog.defaultGroups)

  package func open() throws(ChatLogError) -> any ChatMessages {
    switch self {
    case .file(let path): InterleavedChatLog(try ChatLogFile(path: path))
    case .generated(let seed, let groups): GeneratedChatLog(seed: seed, groups: groups)
    }
  }

  /// The file's path, or a name for the built-in log.
  package var name: String {
    switch self {
    case .file(let path): path
    case .generated(let seed, let groups): "built in (seed \(seed), \(groups) groups)"
    }
  }
}

package struct ChatLogError: Error, Equatable, CustomStringConvertible {
  /// The file, the place in it, the cause and the remedy.
  package let description: String

  package init(_ description: String) { self.description = description }

  /// An error of a line. Lines are counted from 1.
  init(_ path: String, line: Int, _ reason: String) { self.init("\(path), line \(line): \(reason)") }

  /// An error of a field of a line.
  init(_ path: String, line: Int, _ error: DecodingError) { self.init(path, line: line, Self.reason(error)) }

  private static func reason(_ error: DecodingError) -> String {
    switch error {
    case .keyNotFound(let key, _): "\"\(key.stringValue)\" is missing; \(form)"
    case .valueNotFound(_, let context): "\"\(field(context))\" is null; \(form)"
    case .typeMismatch(let type, let context) where !context.codingPath.isEmpty:
      "\"\(field(context))\" is not of type \(type); \(form)"
    case .dataCorrupted(let context) where !context.codingPath.isEmpty:
      "\"\(field(context))\": \(context.debugDescription); \(form)"
    case .typeMismatch, .dataCorrupted: "not a JSON object; \(form)"
    @unknown default: "not a message; \(form)"
    }
  }

  private static func field(_ context: DecodingError.Context) -> String {
    context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
  }

  private static let form = #"a line is {"log":…,"n":…,"at":…,"nick":…,"text":…} and may have "replyTo":[n,…]"#
}

/// A line of a chat log.
package struct ChatMessage: Sendable, Equatable {
  package var log: String
  /// The message's number, to which answers refer. It rises within a log.
  package var number: Int
  /// When it was written, in milliseconds since the epoch. It does not fall within a log.
  package var at: Milliseconds
  package var nick: String
  /// The message's text. Empty for a picture.
  package var text: String
  /// The numbers of the messages it answers. Empty for a new topic, absent if the log is not annotated.
  package var replyTo: [Int]?
  /// The kind of the log's conversation. Absent: a group.
  package var kind: ConversationKind?
}

extension ChatMessage: Decodable {
  private enum CodingKeys: String, CodingKey {
    case number = "n"
    case log, at, nick, text, replyTo, kind
  }
}

/// A sequence of messages, read or generated on demand.
package protocol ChatMessages {
  mutating func next() throws(ChatLogError) -> ChatMessage?
}
