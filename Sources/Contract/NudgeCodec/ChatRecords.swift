import JSONCodec
import NudgeSchema

extension ChatEventBody: ReadableBody {
  init(type: EventType, fields json: inout JSONFieldReader) throws(FallBackToCodable) {
    switch type {
    case .messageCreated: self = .messageCreated(try .init(fields: &json))
    case .conversationUpdated: self = .conversationUpdated(try .init(fields: &json))
    case .memberAdded: self = .memberAdded(try .init(fields: &json))
    case .memberRemoved: self = .memberRemoved(try .init(fields: &json))
    case .messageEdited: self = .messageEdited(try .init(fields: &json))
    case .messageDeleted: self = .messageDeleted(try .init(fields: &json))
    case .conversationDeleted: self = .conversationDeleted(try .init(fields: &json))
    default: throw FallBackToCodable()
    }
  }
}

extension ConversationDeleted: ReadableFields {
  static var blank: Self { Self(conversationId: "") }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("conversationId", &conversationId)
  }
}

extension MessageCreated: ReadableFields {
  static var blank: Self { Self(conversationId: "", messageId: "", senderId: "") }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("conversationId", &conversationId)
    try json.field("messageId", &messageId)
    try json.field("senderId", &senderId)
    try json.field("text", &text)
    try json.field("attachments", &attachments)
    try json.field("replyTo", &replyTo)
    try json.field("mentions", &mentions)
    try json.field("sender", &sender)
    try json.field("conversation", &conversation)
  }
}

extension ConversationUpdated: ReadableFields {
  static var blank: Self { Self(conversationId: "", kind: .direct, members: []) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("conversationId", &conversationId)
    try json.field("kind", &kind)
    try json.field("name", &name)
    try json.field("members", &members)
  }
}

extension MembershipChange: ReadableFields {
  static var blank: Self { Self(conversationId: "", userId: "") }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("conversationId", &conversationId)
    try json.field("userId", &userId)
    try json.field("displayName", &displayName)
    try json.field("avatarUrl", &avatarUrl)
  }
}

extension MessageRevision: ReadableFields {
  static var blank: Self { Self(conversationId: "", messageId: "") }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("conversationId", &conversationId)
    try json.field("messageId", &messageId)
    try json.field("text", &text)
  }
}

extension Member: ReadableFields {
  static var blank: Self { Self(userId: "", displayName: "") }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("displayName", &displayName)
    try json.field("avatarUrl", &avatarUrl)
  }
}

extension SenderProfile: ReadableFields {
  static var blank: Self { Self(displayName: nil) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("displayName", &displayName)
    try json.field("avatarUrl", &avatarUrl)
  }
}

extension ConversationSnapshot: ReadableFields {
  static var blank: Self { Self(kind: .direct, members: []) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("kind", &kind)
    try json.field("name", &name)
    try json.field("members", &members)
  }
}

extension Attachment: ReadableFields {
  static var blank: Self { Self(kind: .file) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("kind", &kind)
    try json.field("url", &url)
  }
}

extension Envelope: ReadableFields {
  static var blank: Self { Self(eventId: "", occurredAt: 0) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("eventId", &eventId)
    try json.field("occurredAt", &occurredAt)
  }
}

extension Origin: ReadableFields {
  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("topic", &topic)
    try json.field("partition", &partition)
    try json.field("offset", &offset)
    try json.field("index", &index)
    try json.field("generation", &generation)
  }
}

extension RecordPosition: ReadableFields {
  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("topic", &topic)
    try json.field("partition", &partition)
    try json.field("offset", &offset)
  }
}
