import Foundation
import VirtualPhone

@testable import NudgeLab

/// Reads the emulator's record of requests as it grows.
struct RequestFile {
  /// A request with its whole message.
  struct Line: Decodable {
    struct Headers: Decodable {
      var webhookId: String?
      enum CodingKeys: String, CodingKey { case webhookId = "webhook-id" }
    }
    struct Body: Decodable { var message: Message? }
    struct Message: Decodable {
      var token: String?
      var data: [String: String]?
    }
    var time: Int64
    var path: String
    var status: Int
    var headers: Headers?
    var body: Body?
  }

  private var file: GrowingFile
  private let decoder = JSONDecoder()

  init(path: String) { file = GrowingFile(path: path) }

  /// Passes on each request written since the last call, with its line.
  mutating func read(_ body: (SeenRequest, [UInt8]) -> Void) throws {
    let decoder = decoder
    try file.readLines { bytes in
      let line = try decoder.decode(Line.self, from: Data(bytes))
      if line.path == "/webhook" {
        return body(
          SeenRequest(
            time: line.time, status: line.status, token: SeenRequest.webhook, pushId: line.headers?.webhookId ?? "",
            recipientId: ""), Array(bytes))
      }
      // The record of a Web Push has the message that the browser opened, in the shape of FCM's.
      guard line.path.hasSuffix("/messages:send") || line.path.hasPrefix(BrowserSubscription.path),
        let message = line.body?.message, let data = message.data
      else {
        return
      }
      body(
        SeenRequest(
          time: line.time, status: line.status, token: message.token ?? "", pushId: data["pushId"] ?? "",
          recipientId: data["recipientId"] ?? "", messageId: data["type"] == "read" ? nil : data["messageId"]),
        Array(bytes))
    }
  }
}
