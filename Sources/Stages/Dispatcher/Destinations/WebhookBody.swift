import JSONCodec
import NudgeSchema

/// The body of a request to the webhook: type, time and data, as the Standard Webhooks specification has it. It names people, the
/// conversation and the message, and has nothing of the text.
struct WebhookBody {
  static let type = "message.escalated"

  private let push: Push

  init(_ push: Push) { self.push = push }

  var encoded: [UInt8] {
    var json = JSONWriter(capacity: 512)
    json.beginObject()
    json.field("type", Self.type)
    json.field("timestamp", RFC3339.text(push.decidedAt))
    json.key("data" as StaticString)
    json.beginObject()
    json.field("userId", push.userId)
    json.field("conversationId", ifPresent: push.conversationId)
    json.field("messageId", ifPresent: push.messageId)
    json.field("senderId", ifPresent: push.senderId)
    json.field("senderName", ifPresent: push.escalation?.senderName)
    json.field("groupName", ifPresent: push.escalation?.groupName)
    json.field("mentioned", push.mentioned == true)
    json.field("priority", push.priority.rawValue)
    json.field("reason", ifPresent: push.reason?.rawValue)
    json.field("sentAt", ifPresent: push.sentAt.map(RFC3339.text))
    json.field("pushedAt", ifPresent: (push.escalation?.pushedAt).map(RFC3339.text))
    json.field("pushedAgainAt", ifPresent: (push.escalation?.pushedAgainAt).map(RFC3339.text))
    json.endObject()
    json.endObject()
    return json.bytes
  }
}
