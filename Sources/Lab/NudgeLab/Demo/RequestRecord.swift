import Foundation
import NudgeCommands
import NudgeSchema
import VirtualPhone

/// Reads the emulator's record of requests while it grows.
struct RequestRecord {
  private let path: String
  private var file: GrowingFile
  private let decoder = JSONDecoder()

  /// Reads the file from its beginning. The file need not exist yet.
  init(path: String) {
    self.path = path
    file = GrowingFile(path: path)
  }

  /// Enters the requests since the last call, except those for access tokens.
  mutating func read(into ledger: inout DeliveryLedger) throws {
    let decoder = decoder
    do {
      try file.readLines { line in
        let request = try decoder.decode(RequestGlance.self, from: Data(line))
        guard request.path.hasSuffix("/messages:send") || request.path.hasPrefix(BrowserSubscription.path) else {
          return
        }
        ledger.request(
          pushId: request.body?.message?.data?.pushId ?? "(none)", token: request.body?.message?.token ?? "(none)",
          messageId: request.body?.message?.data?.shownMessageId, status: request.status, at: request.time)
      }
    } catch {
      throw CommandError("the emulator's record \(path) cannot be read: \(error)")
    }
  }
}

/// The fields of a line in the emulator's record of requests that the ledger reads.
struct RequestGlance: Decodable {
  struct Message: Decodable {
    struct Fields: Decodable {
      let pushId: String?
      let messageId: String?
      let type: String?

      /// The message that the push shows. Absent for a read, whose message the person has already seen.
      var shownMessageId: String? { type == "read" ? nil : messageId }
    }
    let token: String?
    let data: Fields?
  }
  struct Body: Decodable { let message: Message? }
  let time: Milliseconds
  let path: String
  let status: Int
  let body: Body?

  private enum CodingKeys: String, CodingKey { case time, path, status, body }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    time = try fields.decode(Milliseconds.self, forKey: .time)
    path = try fields.decode(String.self, forKey: .path)
    status = try fields.decode(Int.self, forKey: .status)
    // The emulator records a body that is not JSON as a string.
    body = try? fields.decode(Body.self, forKey: .body)
  }
}

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
