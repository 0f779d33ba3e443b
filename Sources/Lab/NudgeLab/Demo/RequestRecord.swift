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
