import JSONCodec
import NudgeSchema

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
