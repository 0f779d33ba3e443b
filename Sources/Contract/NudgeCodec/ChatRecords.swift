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

extension Member: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      userId: try fields.text("userId"), displayName: try fields.text("displayName"),
      avatarUrl: try fields.text(ifPresent: "avatarUrl"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.field("displayName", displayName)
    json.field("avatarUrl", ifPresent: avatarUrl)
  }
}

extension SenderProfile: FastDecodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      displayName: try fields.text(ifPresent: "displayName"), avatarUrl: try fields.text(ifPresent: "avatarUrl"))
  }
}

extension ConversationSnapshot: FastDecodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      kind: try fields.choice("kind"), name: try fields.text(ifPresent: "name"),
      members: try fields.objects("members"))
  }
}

extension Attachment: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(kind: try fields.choice("kind"), url: try fields.text(ifPresent: "url"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.choice("kind", kind)
    json.field("url", ifPresent: url)
  }
}

extension Envelope: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(eventId: try fields.text("eventId"), occurredAt: try fields.integer("occurredAt"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("eventId", eventId)
    json.field("occurredAt", occurredAt)
  }
}

extension Origin: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      topic: try fields.text("topic"), partition: try fields.int32("partition"), offset: try fields.integer("offset"),
      index: try fields.int32(ifPresent: "index"), generation: try fields.int32(ifPresent: "generation"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("topic", topic)
    json.field("partition", Int64(partition))
    json.field("offset", offset)
    json.field("index", ifPresent: index.map { Int64($0) })
    json.field("generation", ifPresent: generation.map { Int64($0) })
  }
}

extension RecordPosition: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      topic: try fields.text("topic"), partition: try fields.int32("partition"), offset: try fields.integer("offset"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("topic", topic)
    json.field("partition", Int64(partition))
    json.field("offset", offset)
  }
}
