import JSONCodec
import NudgeSchema

extension BannerEventBody: FastEncodable {
  func writeFields(to json: inout JSONWriter) {
    switch self {
    case .banner(let fields): fields.writeFields(to: &json)
    case .notice(let fields): fields.writeFields(to: &json)
    case .badge(let fields): fields.writeFields(to: &json)
    case .read(let fields): fields.writeFields(to: &json)
    case .updated(let fields): fields.writeFields(to: &json)
    case .withdrawn(let fields): fields.writeFields(to: &json)
    case .answered(let fields): fields.writeFields(to: &json)
    }
  }
}

extension Banner: FastEncodable {
  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.field("conversationId", conversationId)
    json.field("messageId", messageId)
    json.field("senderId", senderId)
    json.field("senderName", senderName)
    json.field("avatarUrl", ifPresent: avatarUrl)
    json.field("preview", preview)
    json.field("groupName", ifPresent: groupName)
    json.field("pushId", ifPresent: pushId)
  }
}

extension Notice: FastEncodable {
  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.choice("code", code)
    json.field("limit", limit)
    json.choice("fallback", fallback)
    json.field("text", text)
  }
}

extension BadgeChange: FastEncodable {
  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.field("badge", badge)
    json.key("conversations")
    json.beginArray()
    for conversation in conversations {
      json.beginObject()
      json.field("conversationId", conversation.conversationId)
      json.field("unread", conversation.unread)
      json.endObject()
    }
    json.endArray()
  }
}

extension ConversationRead: FastEncodable {
  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.field("conversationId", conversationId)
    json.field("messageId", ifPresent: messageId)
    json.field("sentAt", sentAt)
  }
}

extension MessageUpdate: FastEncodable {
  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.field("conversationId", conversationId)
    json.field("messageId", messageId)
    json.field("preview", preview)
  }
}

extension MessageRemoval: FastEncodable {
  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.field("conversationId", conversationId)
    json.field("messageId", messageId)
  }
}

extension PersonAsked: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(userId: try fields.text("userId"), device: try fields.object(ifPresent: "device"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.object("device", ifPresent: device)
  }
}

extension PersonAsked.Device: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      deviceId: try fields.text("deviceId"), stamp: try fields.object("stamp"),
      isRegistered: try fields.flag("isRegistered"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("deviceId", deviceId)
    json.object("stamp", stamp)
    json.field("isRegistered", isRegistered)
  }
}

extension EventStamp: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(occurredAt: try fields.integer("occurredAt"), eventId: try fields.text("eventId"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("occurredAt", occurredAt)
    json.field("eventId", eventId)
  }
}

extension PersonAnswered: FastEncodable {
  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.field("questionId", questionId)
    json.field("person", ifPresent: person)
    json.field("isBehind", isBehind)
  }
}
