import JSONCodec
import NudgeSchema

extension BannerEventBody: WrittenBody {
  mutating func writeFields(to json: inout JSONWriter) {
    switch consume self {
    case .banner(let body): self = .banner(json.fields(of: body))
    case .notice(let body): self = .notice(json.fields(of: body))
    case .badge(let body): self = .badge(json.fields(of: body))
    case .read(let body): self = .read(json.fields(of: body))
    case .updated(let body): self = .updated(json.fields(of: body))
    case .withdrawn(let body): self = .withdrawn(json.fields(of: body))
    case .answered(let body): self = .answered(json.fields(of: body))
    }
  }
}

extension Banner: JSONFields {
  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("conversationId", &conversationId)
    try json.field("messageId", &messageId)
    try json.field("senderId", &senderId)
    try json.field("senderName", &senderName)
    try json.field("avatarUrl", &avatarUrl)
    try json.field("preview", &preview)
    try json.field("groupName", &groupName)
    try json.field("pushId", &pushId)
  }
}

extension Notice: JSONFields {
  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("code", &code)
    try json.field("limit", &limit)
    try json.field("fallback", &fallback)
    try json.field("text", &text)
  }
}

extension BadgeChange: JSONFields {
  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("badge", &badge)
    try json.field("conversations", &conversations)
  }
}

extension BadgeChange.Conversation: JSONFields {
  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("conversationId", &conversationId)
    try json.field("unread", &unread)
  }
}

extension ConversationRead: JSONFields {
  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("conversationId", &conversationId)
    try json.field("messageId", &messageId)
    try json.field("sentAt", &sentAt)
  }
}

extension MessageUpdate: JSONFields {
  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("conversationId", &conversationId)
    try json.field("messageId", &messageId)
    try json.field("preview", &preview)
  }
}

extension MessageRemoval: JSONFields {
  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("conversationId", &conversationId)
    try json.field("messageId", &messageId)
  }
}

extension PersonAsked: ReadableFields {
  static var blank: Self { Self(userId: "") }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("device", &device)
  }
}

extension PersonAsked.Device: ReadableFields {
  static var blank: Self { Self(deviceId: "", stamp: .blank, isRegistered: false) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("deviceId", &deviceId)
    try json.field("stamp", &stamp)
    try json.field("isRegistered", &isRegistered)
  }
}

extension EventStamp: ReadableFields {
  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("occurredAt", &occurredAt)
    try json.field("eventId", &eventId)
  }
}

extension PersonAnswered: JSONFields {
  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("questionId", &questionId)
    try json.field("person", &person)
    try json.field("isBehind", &isBehind)
  }
}
