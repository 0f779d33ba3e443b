import JSONCodec
import NudgeSchema

extension ChatEventBody: FastDecodableBody {
  init(type: EventType, _ fields: JSONNode) throws(FallBackToCodable) {
    switch type {
    case .messageCreated: self = .messageCreated(try MessageCreated(fields))
    case .conversationUpdated: self = .conversationUpdated(try ConversationUpdated(fields))
    case .memberAdded: self = .memberAdded(try MembershipChange(fields))
    case .memberRemoved: self = .memberRemoved(try MembershipChange(fields))
    case .messageEdited: self = .messageEdited(try MessageRevision(fields))
    case .messageDeleted: self = .messageDeleted(try MessageRevision(fields))
    case .conversationDeleted:
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
