import NudgeSchema

/// The cause of a push. The push's id is a function of person, kind and cause alone, so that deciding again gives the same id.
enum PushCause {
  /// A message, whether it is shown or only counts on the badge.
  case message(conversationId: String, messageId: String, anew: Anew? = nil)
  /// A record that changed the badge, or read a conversation.
  case record(RecordPosition)

  /// Why a message has another push.
  enum Anew {
    /// Each replay that notifies by force makes a push of its own.
    case forced(replayId: String)
    /// This push failed.
    case failed(pushId: String)
  }
}

extension AnalyzerRules {
  /// The id of a push: 22 characters, base64url of the first 16 bytes of the hash of its parts, joined by NUL (ids hold no
  /// control characters).
  func pushId(userId: String, kind: Push.Kind, cause: PushCause) -> String {
    var bytes: [UInt8] = []
    func add(_ part: String) {
      bytes.append(contentsOf: part.utf8)
      bytes.append(0)
    }
    add(userId)
    add(kind.rawValue)
    switch cause {
    case .message(let conversationId, let messageId, let anew):
      add("message")
      add(conversationId)
      add(messageId)
      switch anew {
      case nil: break
      case .forced(let replayId):
        add("replay")
        add(replayId)
      case .failed(let pushId):
        add("failed")
        add(pushId)
      }
    case .record(let position):
      add("record")
      add(position.topic)
      add(String(position.partition))
      add(String(position.offset))
    }
    return base64url(hash(bytes).prefix(16))
  }
}

private let base64Digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

/// Base64 in the alphabet of URLs, without padding (RFC 4648, section 5).
private func base64url(_ bytes: some Sequence<UInt8>) -> String {
  let digits = base64Digits
  var text: [UInt8] = []
  text.reserveCapacity(22)
  var bits: UInt32 = 0
  var count: UInt32 = 0
  for byte in bytes {
    bits = bits << 8 | UInt32(byte)
    count += 8
    while count >= 6 {
      count -= 6
      text.append(digits[Int(bits >> count & 63)])
    }
    bits &= 1 << count - 1
  }
  if count > 0 { text.append(digits[Int(bits << (6 - count) & 63)]) }
  return String(decoding: text, as: UTF8.self)
}
