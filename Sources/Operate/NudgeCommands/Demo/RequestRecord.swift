import Foundation
import NudgeSchema

/// The emulator's record of requests, read as it grows.
struct RequestRecord {
  private let path: String
  private var file: GrowingFile
  private let decoder = JSONDecoder()

  /// The record in a file, which need not be there yet.
  init(path: String) {
    self.path = path
    file = GrowingFile(path: path)
  }

  /// Enters the requests that came since the last call; those for access tokens are none for messages.
  mutating func read(into account: inout Account) throws {
    let decoder = decoder
    do {
      try file.readLines { line in
        let request = try decoder.decode(RequestGlance.self, from: Data(line))
        guard request.path.hasSuffix("/messages:send") else { return }
        account.request(
          pushId: request.body?.message?.data?.pushId ?? "(none)", token: request.body?.message?.token ?? "(none)",
          messageId: request.body?.message?.data?.messageId, status: request.status, at: request.time)
      }
    } catch {
      throw DemoError("the emulator's record \(path) cannot be read: \(error)")
    }
  }
}
