import JSONCodec
import NudgeSchema

extension MessageCandidate: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      conversationId: try fields.text("conversationId"), messageId: try fields.text("messageId"),
      sender: try fields.object("sender"), conversation: try fields.object("conversation"),
      title: try fields.text("title"), body: try fields.text("body"),
      attachment: try fields.object(ifPresent: "attachment"), mentions: try fields.texts("mentions"),
      replyTo: try fields.text(ifPresent: "replyTo"), answers: try fields.object(ifPresent: "answers"),
      urgent: try fields.flag(ifPresent: "urgent"), recipients: try fields.objects("recipients"),
      possibleRepeat: try fields.flag(ifPresent: "possibleRepeat"), byUser: try fields.flag(ifPresent: "byUser"),
      replayId: try fields.text(ifPresent: "replayId"),
      forced: try fields.flag(ifPresent: "forced"),
      failedPushes: try fields.objects(ifPresent: "failedPushes"),
      maxAgeSeconds: try fields.int(ifPresent: "maxAgeSeconds"), rederived: try fields.flag(ifPresent: "rederived"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("conversationId", conversationId)
    json.field("messageId", messageId)
    json.object("sender", sender)
    json.object("conversation", conversation)
    json.field("title", title)
    json.field("body", body)
    json.object("attachment", ifPresent: attachment)
    json.texts("mentions", mentions)
    json.field("replyTo", ifPresent: replyTo)
    json.object("answers", ifPresent: answers)
    json.field("urgent", ifPresent: urgent)
    json.objects("recipients", recipients)
    json.field("possibleRepeat", ifPresent: possibleRepeat)
    json.field("byUser", ifPresent: byUser)
    json.field("replayId", ifPresent: replayId)
    json.field("forced", ifPresent: forced)
    if let failedPushes { json.objects("failedPushes", failedPushes) }
    json.field("maxAgeSeconds", ifPresent: maxAgeSeconds)
    json.field("rederived", ifPresent: rederived)
  }
}

extension AnsweredMessage: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(messagesBack: try fields.int("messagesBack"), sentAt: try fields.integer("sentAt"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("messagesBack", messagesBack)
    json.field("sentAt", sentAt)
  }
}

extension FailedPush: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      userId: try fields.text("userId"), pushId: try fields.text("pushId"),
      devices: try fields.texts(ifPresent: "devices"), presentation: try fields.choice(ifPresent: "presentation"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.field("pushId", pushId)
    if let devices { json.texts("devices", devices) }
    json.choice("presentation", ifPresent: presentation)
  }
}

extension CandidateConversation: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      kind: try fields.choice("kind"), name: try fields.text(ifPresent: "name"),
      others: try fields.objects(ifPresent: "others"), memberCount: try fields.int("memberCount"),
      activeSpeakers: try fields.int("activeSpeakers"), features: try fields.text(ifPresent: "features"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.choice("kind", kind)
    json.field("name", ifPresent: name)
    if let others { json.objects("others", others) }
    json.field("memberCount", memberCount)
    json.field("activeSpeakers", activeSpeakers)
    json.field("features", ifPresent: features)
  }
}

extension Recipient: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(userId: try fields.text("userId"), context: try fields.object("context"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.object("context", context)
  }
}

extension RecipientContext: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      mentioned: try fields.flag("mentioned"), named: try fields.flag("named"), answered: try fields.flag("answered"),
      lastSpokeAt: try fields.integer(ifPresent: "lastSpokeAt"),
      messagesSince: try fields.int(ifPresent: "messagesSince"), exchange: try fields.int("exchange"),
      features: try fields.text(ifPresent: "features"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("mentioned", mentioned)
    json.field("named", named)
    json.field("answered", answered)
    json.field("lastSpokeAt", ifPresent: lastSpokeAt)
    json.field("messagesSince", ifPresent: messagesSince)
    json.field("exchange", exchange)
    json.field("features", ifPresent: features)
  }
}
