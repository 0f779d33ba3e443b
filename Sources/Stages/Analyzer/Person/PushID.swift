import NudgeSchema
import ServiceKit

/// The cause of a push. The push's id is a function of person, kind and cause alone, so that deciding again gives the same id.
enum PushCause {
  /// A message, whether it is shown or only counts on the badge; with its sender, where somebody else has used the id.
  case message(conversationId: String, messageId: String, senderId: String? = nil, anew: Anew? = nil)
  /// A record that changed the badge, or read a conversation.
  case record(RecordPosition)

  /// Why a message has another push.
  enum Anew {
    /// Each replay that notifies by force makes a push of its own.
    case forced(replayId: String)
    /// This push failed.
    case failed(pushId: String)
    /// It neither arrived nor was read.
    case again
  }
}

extension AnalyzerRules {
  /// The id of a push: 22 characters, base64url of the first 16 bytes of the hash of its parts, joined by NUL (ids hold no
  /// control characters).
  func pushId(userId: String, kind: Push.Kind, cause: PushCause) -> String {
    var bytes: [UInt8] = []
    // Four ids of usual length.
    bytes.reserveCapacity(192)
    func add(_ part: String) {
      bytes.append(contentsOf: part.utf8)
      bytes.append(0)
    }
    add(userId)
    add(kind.rawValue)
    switch cause {
    case .message(let conversationId, let messageId, let senderId, let anew):
      add("message")
      add(conversationId)
      add(messageId)
      if let senderId {
        add("sender")
        add(senderId)
      }
      switch anew {
      case nil: break
      case .forced(let replayId):
        add("replay")
        add(replayId)
      case .failed(let pushId):
        add("failed")
        add(pushId)
      case .again: add("again")
      }
    case .record(let position):
      add("record")
      add(position.topic)
      add(String(position.partition))
      add(String(position.offset))
    }
    return Base64URL.encode(hash(bytes).prefix(16))
  }
}
