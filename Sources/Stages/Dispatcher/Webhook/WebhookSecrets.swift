import Foundation
import ServiceKit

/// The secrets that requests to the webhook are signed with: one a line, each as the Standard Webhooks specification writes it,
/// `whsec_` and 24 to 64 bytes in Base64. With two of them a receiver can change from one to the other.
struct WebhookSecrets: Sendable, Equatable {
  static let prefix = "whsec_"
  static let most = 4

  let keys: [[UInt8]]

  /// - Throws: `SettingsError`, which names the file and the line, and nothing in it.
  init(contents: [UInt8], name: String) throws(SettingsError) {
    var keys: [[UInt8]] = []
    let lines = String(decoding: contents, as: UTF8.self).split(whereSeparator: \.isNewline)
    for (number, line) in lines.enumerated() {
      let text = line.trimmingCharacters(in: .whitespaces)
      if text.isEmpty || text.hasPrefix("#") { continue }
      guard text.hasPrefix(Self.prefix), let key = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
        (24...64).contains(key.count)
      else {
        throw SettingsError(
          "--escalation-secret-file \(name), line \(number + 1): it is no secret; "
            + "printf 'whsec_%s\\n' \"$(openssl rand -base64 32)\" makes one")
      }
      keys.append([UInt8](key))
    }
    guard (1...Self.most).contains(keys.count) else {
      throw SettingsError(
        "--escalation-secret-file \(name): it has \(keys.count) secrets; 1 to \(Self.most) are allowed")
    }
    self.keys = keys
  }

  /// The header of a request: a signature by each secret, over id, time and body.
  func signature(id: String, timestamp: String, body: [UInt8]) -> String {
    let message = Array("\(id).\(timestamp).".utf8) + body
    return keys.map { "v1," + Data(HMACSHA256.of(message, key: $0)).base64EncodedString() }.joined(separator: " ")
  }
}
