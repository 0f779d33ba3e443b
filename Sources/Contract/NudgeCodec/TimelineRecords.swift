import JSONCodec
import NudgeSchema

extension TimelineEventBody: FastDecodableBody, FastEncodable {
  init(type: EventType, _ fields: JSONNode) throws(FallBackToCodable) {
    switch type {
    case .messageCandidate: self = .candidate(try MessageCandidate(fields))
    case .messageSent: self = .sent(try MessageSent(fields))
    case .candidateRedecide: self = .redecide(try MessageCandidate(fields))
    case .replayStopped: self = .replayStopped(try ReplayStopped(fields))
    case .timerFired: self = .timerFired(try TimerFired(fields))
    case .messageWithdrawn: self = .withdrawn(try MessageWithdrawn(fields))
    case .deviceRegistered: self = .deviceGained(try DeviceGained(fields))
    case .deviceUnregistered: self = .deviceLost(try DeviceLost(fields))
    case .deviceInvalidated: self = .deviceInvalidated(try DeviceInvalidated(fields))
    case .pushMissed: self = .pushMissed(try PushMissed(fields))
    case .personAsked: self = .asked(try PersonAsked(fields))
    // Devices, which are user events too, are above: here they have other fields.
    default: self = .user(try UserEventBody(type: type, fields))
    }
  }

  /// Whether `writeFields` knows it.
  var isFastEncodable: Bool {
    if case .user(let body) = self { body.isFastEncodable } else { true }
  }

  func writeFields(to json: inout JSONWriter) {
    switch self {
    case .user(let fields): fields.writeFields(to: &json)
    case .candidate(let fields), .redecide(let fields): fields.writeFields(to: &json)
    case .sent(let fields): fields.writeFields(to: &json)
    case .replayStopped(let fields): fields.writeFields(to: &json)
    case .timerFired(let fields): fields.writeFields(to: &json)
    case .withdrawn(let fields): fields.writeFields(to: &json)
    case .deviceGained(let fields): fields.writeFields(to: &json)
    case .deviceLost(let fields): fields.writeFields(to: &json)
    case .deviceInvalidated(let fields): fields.writeFields(to: &json)
    case .pushMissed(let fields): fields.writeFields(to: &json)
    case .asked(let fields): fields.writeFields(to: &json)
    }
  }
}

extension MessageSent: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      userId: try fields.text("userId"), conversationId: try fields.text("conversationId"),
      messageId: try fields.text("messageId"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.field("conversationId", conversationId)
    json.field("messageId", messageId)
  }
}

extension ReplayStopped: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(replayId: try fields.text("replayId"), after: try fields.text(ifPresent: "after"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("replayId", replayId)
    json.field("after", ifPresent: after)
  }
}

extension TimerFired: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(timer: try fields.text("timer"), dueAt: try fields.integer("dueAt"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("timer", timer)
    json.field("dueAt", dueAt)
  }
}

extension MessageWithdrawn: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      userIds: try fields.texts("userIds"), conversationId: try fields.text("conversationId"),
      messageId: try fields.text(ifPresent: "messageId"), cause: try fields.choice("cause"),
      body: try fields.text(ifPresent: "body"), title: try fields.text(ifPresent: "title"),
      sender: try fields.object(ifPresent: "sender"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.texts("userIds", userIds)
    json.field("conversationId", conversationId)
    json.field("messageId", ifPresent: messageId)
    json.choice("cause", cause)
    json.field("body", ifPresent: body)
    json.field("title", ifPresent: title)
    json.object("sender", ifPresent: sender)
  }
}

extension DeviceGained: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      userId: try fields.text("userId"), deviceId: try fields.text("deviceId"),
      token: try fields.text(ifPresent: "token"),
      webPush: try fields.object(ifPresent: "webPush"), sealing: try fields.object(ifPresent: "sealing"),
      version: try fields.integer("version"), platform: try fields.choice("platform"),
      appVersion: try fields.text(ifPresent: "appVersion"), locale: try fields.text(ifPresent: "locale"),
      projectId: try fields.text(ifPresent: "projectId"), renders: try fields.flag(ifPresent: "renders"))
    guard isAddressed else { throw FallBackToCodable() }
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.field("deviceId", deviceId)
    json.field("token", ifPresent: token)
    json.object("webPush", ifPresent: webPush)
    json.object("sealing", ifPresent: sealing)
    json.field("version", version)
    json.choice("platform", platform)
    json.field("appVersion", ifPresent: appVersion)
    json.field("locale", ifPresent: locale)
    json.field("projectId", ifPresent: projectId)
    json.field("renders", ifPresent: renders)
  }
}

extension DeviceLost: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      userId: try fields.text("userId"), deviceId: try fields.text("deviceId"),
      tokenHash: try fields.text("tokenHash"), version: try fields.integer("version"),
      cause: try fields.choice("cause"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.field("deviceId", deviceId)
    json.field("tokenHash", tokenHash)
    json.field("version", version)
    json.choice("cause", cause)
  }
}

extension DeviceInvalidated: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      userId: try fields.text("userId"), deviceId: try fields.text("deviceId"),
      tokenHash: try fields.text("tokenHash"), version: try fields.integer("version"), code: try fields.text("code"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.field("deviceId", deviceId)
    json.field("tokenHash", tokenHash)
    json.field("version", version)
    json.field("code", code)
  }
}

extension PushMissed: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      userId: try fields.text("userId"), pushId: try fields.text("pushId"), device: try fields.int("device"),
      devices: try fields.int("devices"), conversationId: try fields.text("conversationId"),
      messageId: try fields.text("messageId"), cause: try fields.choice("cause"),
      presentation: try fields.choice("presentation"), priority: try fields.choice("priority"),
      sentAt: try fields.integer("sentAt"), expiresAt: try fields.integer("expiresAt"),
      senderName: try fields.text("senderName"), groupName: try fields.text(ifPresent: "groupName"),
      text: try fields.text("text"), edited: try fields.flag(ifPresent: "edited"),
      senderId: try fields.text(ifPresent: "senderId"), avatarUrl: try fields.text(ifPresent: "avatarUrl"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.field("pushId", pushId)
    json.field("device", device)
    json.field("devices", devices)
    json.field("conversationId", conversationId)
    json.field("messageId", messageId)
    json.choice("cause", cause)
    json.choice("presentation", presentation)
    json.choice("priority", priority)
    json.field("sentAt", sentAt)
    json.field("expiresAt", expiresAt)
    json.field("senderName", senderName)
    json.field("groupName", ifPresent: groupName)
    json.field("text", text)
    json.field("edited", ifPresent: edited)
    json.field("senderId", ifPresent: senderId)
    json.field("avatarUrl", ifPresent: avatarUrl)
  }
}

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
