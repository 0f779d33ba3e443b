import JSONCodec
import NudgeSchema

extension Member: DirectlyRead, DirectlyWritten {
  init(_ fields: JSONNode) throws(NeedsReference) {
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

extension SenderProfile: DirectlyRead {
  init(_ fields: JSONNode) throws(NeedsReference) {
    self.init(
      displayName: try fields.text("displayName"), avatarUrl: try fields.text(ifPresent: "avatarUrl"))
  }
}

extension ConversationSnapshot: DirectlyRead {
  init(_ fields: JSONNode) throws(NeedsReference) {
    self.init(
      kind: try fields.choice("kind"), name: try fields.text(ifPresent: "name"),
      members: try fields.objects("members"))
  }
}

extension Attachment: DirectlyRead, DirectlyWritten {
  init(_ fields: JSONNode) throws(NeedsReference) {
    self.init(kind: try fields.choice("kind"), url: try fields.text(ifPresent: "url"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.choice("kind", kind)
    json.field("url", ifPresent: url)
  }
}
