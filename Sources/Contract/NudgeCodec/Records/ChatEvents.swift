import JSONCodec
import NudgeSchema

extension ChatEventBody: FastDecodableBody {
  init(type: JSONNode, _ fields: JSONNode) throws(FallBackToCodable) {
    switch type {
    case "message.created": self = .messageCreated(try MessageCreated(fields))
    case "conversation.updated": self = .conversationUpdated(try ConversationUpdated(fields))
    case "conversation.member_added": self = .memberAdded(try MembershipChange(fields))
    case "conversation.member_removed": self = .memberRemoved(try MembershipChange(fields))
    case "message.edited": self = .messageEdited(try MessageRevision(fields))
    case "message.deleted": self = .messageDeleted(try MessageRevision(fields))
    case "conversation.deleted":
      self = .conversationDeleted(ConversationDeleted(conversationId: try fields.text("conversationId")))
    default: throw FallBackToCodable()
    }
  }
}

extension MessageCreated: FastDecodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      conversationId: try fields.text("conversationId"), messageId: try fields.text("messageId"),
      senderId: try fields.text("senderId"), text: try fields.text(ifPresent: "text"),
      attachments: try fields.objects(ifPresent: "attachments"), replyTo: try fields.text(ifPresent: "replyTo"),
      mentions: try fields.texts(ifPresent: "mentions"), sender: try fields.object(ifPresent: "sender"),
      conversation: try fields.object(ifPresent: "conversation"))
  }
}

extension ConversationUpdated: FastDecodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      conversationId: try fields.text("conversationId"), kind: try fields.choice("kind"),
      name: try fields.text(ifPresent: "name"), members: try fields.objects("members"))
  }
}

extension MembershipChange: FastDecodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      conversationId: try fields.text("conversationId"), userId: try fields.text("userId"),
      displayName: try fields.text(ifPresent: "displayName"), avatarUrl: try fields.text(ifPresent: "avatarUrl"))
  }
}

extension MessageRevision: FastDecodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      conversationId: try fields.text("conversationId"), messageId: try fields.text("messageId"),
      text: try fields.text(ifPresent: "text"))
  }
}
