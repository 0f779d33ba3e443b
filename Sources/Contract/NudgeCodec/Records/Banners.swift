import JSONCodec
import NudgeSchema

extension BannerEventBody: FastEncodable {
  func writeFields(to json: inout JSONWriter) {
    switch self {
    case .banner(let fields): fields.writeFields(to: &json)
    case .notice(let fields): fields.writeFields(to: &json)
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
