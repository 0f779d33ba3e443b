import Foundation
import NudgeClient
import ServiceKit
import TestSupport
import Testing

@testable import WebPush

/// The operations by OpenSSL, as an app on Linux or Android would bring them.
private struct OpenSSLCryptography: PayloadCryptography {
  func publicKey(of privateKey: [UInt8]) throws -> [UInt8] { try P256.publicKey(of: privateKey) }
  func sharedSecret(_ privateKey: [UInt8], _ publicKey: [UInt8]) throws -> [UInt8] {
    guard let point = P256.Point(publicKey) else { throw PayloadKeys.Failure.keys }
    return try P256.sharedSecret(privateKey, point)
  }
  func authenticationCode(_ message: [UInt8], key: [UInt8]) -> [UInt8] { HMACSHA256.of(message, key: key) }
  func open(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8]) throws -> [UInt8] {
    guard let text = try WebPushReceiver.decrypt(sealed, key: key, nonce: nonce) else { throw PayloadKeys.Failure.keys }
    return text
  }
}

@Suite("Issue 57: data that goes sealed through FCM")
struct PayloadKeysTests {
  private func keys() throws -> PayloadKeys {
    let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
    return try PayloadKeys(privateKey: try P256.randomScalar(), secret: bytes, OpenSSLCryptography())
  }

  private func sealed(_ text: String, for keys: PayloadKeys) throws -> String {
    let given = keys.sealing
    return Base64URL.encode(
      try WebPushSealing.seal(Array(text.utf8), for: try WebPushKeys(p256dh: given.p256dh, auth: given.auth)))
  }

  @Test("what the services seal for registered keys is the data again, and a push that the app reads")
  func opened() throws {
    let keys = try keys()
    let inside =
      #"{"type":"new_message","pushId":"p-1","recipientId":"ann","conversationId":"c","messageId":"m","senderId":"ada","#
      + #""priority":"high","presentation":"alert","timestamp":"1800000000","badge":"3","title":"Ada","body":"Grüße 🦊"}"#
    let data = ["sealed": try sealed(inside, for: keys), "badge": "1", "other": "stays"]
    let opened = try keys.open(data)
    #expect(opened["sealed"] == nil && opened["other"] == "stays" && opened["badge"] == "3")
    #expect(opened["body"] == "Grüße 🦊" && opened["conversationId"] == "c")
    let push = try PushPayload(data: opened)
    #expect(push.pushId == "p-1" && push.recipientId == "ann" && push.badge == 3)
  }

  @Test("data that is not sealed comes back as it is")
  func plain() throws {
    let data = ["pushId": "p-1", "body": "Hello"]
    #expect(try keys().open(data) == data)
  }

  @Test("what was sealed for others, or was changed, is refused, and nothing of it is in the error")
  func refused() throws {
    let (mine, other) = (try keys(), try keys())
    let field = try sealed(#"{"body":"canary"}"#, for: other)
    #expect(throws: PayloadKeys.Failure.notForThese) { try mine.open(["sealed": field]) }
    for wrong in ["", "x", "no base64!", String(field.prefix(100))] {
      #expect(throws: PayloadKeys.Failure.format, "\(wrong)") { try mine.open(["sealed": wrong]) }
    }
    for text in ["[]", "canary", ""] {
      #expect(throws: PayloadKeys.Failure.format, "\(text)") { try mine.open(["sealed": try sealed(text, for: mine)]) }
    }
    #expect(throws: PayloadKeys.Failure.keys) {
      try PayloadKeys(privateKey: [], secret: [UInt8](repeating: 1, count: 16), OpenSSLCryptography())
    }
    #expect(throws: PayloadKeys.Failure.keys) {
      try PayloadKeys(
        privateKey: [UInt8](repeating: 0xFF, count: 31), secret: [UInt8](repeating: 1, count: 16), OpenSSLCryptography()
      )
    }
  }
}
