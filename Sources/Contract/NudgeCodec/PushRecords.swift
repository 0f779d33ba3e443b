import JSONCodec
import NudgeSchema

extension PushEventBody: FastDecodableBody, FastEncodable {
  init(type: EventType, _ fields: JSONNode) throws(FallBackToCodable) {
    switch type {
    case .push: self = .push(try Push(fields))
    case .pushCancelled: self = .cancelled(try PushCancelled(fields))
    case .pushAnswered: self = .answered(try PushAnswered(fields))
    default: throw FallBackToCodable()
    }
  }

  func writeFields(to json: inout JSONWriter) {
    switch self {
    case .push(let fields): fields.writeFields(to: &json)
    case .cancelled(let fields): fields.writeFields(to: &json)
    case .answered(let fields): fields.writeFields(to: &json)
    }
  }
}

extension Push: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      pushId: try fields.text("pushId"), kind: try fields.choice("kind"), userId: try fields.text("userId"),
      targets: try fields.objects("targets"), title: try fields.text(ifPresent: "title"),
      body: try fields.text(ifPresent: "body"), imageUrl: try fields.text(ifPresent: "imageUrl"),
      avatarUrl: try fields.text(ifPresent: "avatarUrl"), priority: try fields.choice("priority"),
      presentation: try fields.choice("presentation"), replaces: try fields.flag(ifPresent: "replaces"),
      mentioned: try fields.flag(ifPresent: "mentioned"), answered: try fields.flag(ifPresent: "answered"),
      quietHours: try fields.object(ifPresent: "quietHours"),
      sentAt: try fields.integer(ifPresent: "sentAt"), reason: try fields.choice(ifPresent: "reason"),
      badge: try fields.int("badge"),
      conversationId: try fields.text(ifPresent: "conversationId"),
      messageId: try fields.text(ifPresent: "messageId"), senderId: try fields.text(ifPresent: "senderId"),
      conversation: try fields.object(ifPresent: "conversation"), unread: try fields.int(ifPresent: "unread"),
      language: try fields.text(ifPresent: "language"),
      digest: try fields.object(ifPresent: "digest"),
      escalation: try fields.object(ifPresent: "escalation"),
      ttlSeconds: try fields.int("ttlSeconds"), expiresAt: try fields.integer("expiresAt"),
      decidedAt: try fields.integer("decidedAt"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("pushId", pushId)
    json.choice("kind", kind)
    json.field("userId", userId)
    json.objects("targets", targets)
    json.field("title", ifPresent: title)
    json.field("body", ifPresent: body)
    json.field("imageUrl", ifPresent: imageUrl)
    json.field("avatarUrl", ifPresent: avatarUrl)
    json.choice("priority", priority)
    json.choice("presentation", presentation)
    json.field("replaces", ifPresent: replaces)
    json.field("mentioned", ifPresent: mentioned)
    json.field("answered", ifPresent: answered)
    json.object("quietHours", ifPresent: quietHours)
    json.field("sentAt", ifPresent: sentAt)
    json.choice("reason", ifPresent: reason)
    json.field("badge", badge)
    json.field("conversationId", ifPresent: conversationId)
    json.field("messageId", ifPresent: messageId)
    json.field("senderId", ifPresent: senderId)
    json.object("conversation", ifPresent: conversation)
    json.field("unread", ifPresent: unread)
    json.field("language", ifPresent: language)
    json.object("digest", ifPresent: digest)
    json.object("escalation", ifPresent: escalation)
    json.field("ttlSeconds", ttlSeconds)
    json.field("expiresAt", expiresAt)
    json.field("decidedAt", decidedAt)
  }
}

extension Escalation: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      pushedAt: try fields.integer("pushedAt"), pushedAgainAt: try fields.integer(ifPresent: "pushedAgainAt"),
      senderName: try fields.text(ifPresent: "senderName"), groupName: try fields.text(ifPresent: "groupName"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("pushedAt", pushedAt)
    json.field("pushedAgainAt", ifPresent: pushedAgainAt)
    json.field("senderName", ifPresent: senderName)
    json.field("groupName", ifPresent: groupName)
  }
}

extension PushConversation: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      senderName: try fields.text("senderName"), kind: try fields.choice("kind"),
      name: try fields.text(ifPresent: "name"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("senderName", senderName)
    json.choice("kind", kind)
    json.field("name", ifPresent: name)
  }
}

extension Digest: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      messages: try fields.int("messages"), conversations: try fields.int("conversations"),
      lines: try fields.objects("lines"), parts: try fields.objects(ifPresent: "parts"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("messages", messages)
    json.field("conversations", conversations)
    json.objects("lines", lines)
    if let parts { json.objects("parts", parts) }
  }
}

extension Digest.Line: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      conversationId: try fields.text("conversationId"), messageId: try fields.text("messageId"),
      title: try fields.text("title"), text: try fields.text("text"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("conversationId", conversationId)
    json.field("messageId", messageId)
    json.field("title", title)
    json.field("text", text)
  }
}

extension Digest.Part: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      conversationId: try fields.text("conversationId"), messages: try fields.int("messages"),
      keys: try fields.texts("keys"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("conversationId", conversationId)
    json.field("messages", messages)
    json.texts("keys", keys)
  }
}

extension PushTarget: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      deviceId: try fields.text("deviceId"), token: try fields.text(ifPresent: "token"),
      webPush: try fields.object(ifPresent: "webPush"), sealing: try fields.object(ifPresent: "sealing"),
      version: try fields.integer("version"),
      platform: try fields.choice("platform"), projectId: try fields.text(ifPresent: "projectId"),
      seenAt: try fields.integer(ifPresent: "seenAt"), renders: try fields.flag(ifPresent: "renders"),
      foreground: try fields.flag(ifPresent: "foreground"), notBefore: try fields.integer(ifPresent: "notBefore"))
    guard isAddressed else { throw FallBackToCodable() }
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("deviceId", deviceId)
    json.field("token", ifPresent: token)
    json.object("webPush", ifPresent: webPush)
    json.object("sealing", ifPresent: sealing)
    json.field("version", version)
    json.choice("platform", platform)
    json.field("projectId", ifPresent: projectId)
    json.field("seenAt", ifPresent: seenAt)
    json.field("renders", ifPresent: renders)
    json.field("foreground", ifPresent: foreground)
    json.field("notBefore", ifPresent: notBefore)
  }
}

extension PushCancelled: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      userId: try fields.text("userId"), deviceId: try fields.text(ifPresent: "deviceId"),
      messageId: try fields.text(ifPresent: "messageId"),
      conversationId: try fields.text(ifPresent: "conversationId"),
      sentUpTo: try fields.integer(ifPresent: "sentUpTo"), kind: try fields.choice(ifPresent: "kind"),
      exceptMentions: try fields.flag(ifPresent: "exceptMentions"),
      tokenHash: try fields.text(ifPresent: "tokenHash"), version: try fields.integer(ifPresent: "version"),
      badge: try fields.int(ifPresent: "badge"), erased: try fields.flag(ifPresent: "erased"),
      replayId: try fields.text(ifPresent: "replayId"), senderId: try fields.text(ifPresent: "senderId"),
      conversationKind: try fields.choice(ifPresent: "conversationKind"),
      exceptConversations: try fields.texts(ifPresent: "exceptConversations"),
      exceptAddressed: try fields.flag(ifPresent: "exceptAddressed"),
      showPreviews: try fields.flag(ifPresent: "showPreviews"),
      quietHours: try fields.object(ifPresent: "quietHours"), target: try fields.object(ifPresent: "target"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.field("deviceId", ifPresent: deviceId)
    json.field("messageId", ifPresent: messageId)
    json.field("conversationId", ifPresent: conversationId)
    json.field("sentUpTo", ifPresent: sentUpTo)
    json.choice("kind", ifPresent: kind)
    json.field("exceptMentions", ifPresent: exceptMentions)
    json.field("tokenHash", ifPresent: tokenHash)
    json.field("version", ifPresent: version)
    json.field("badge", ifPresent: badge)
    json.field("erased", ifPresent: erased)
    json.field("replayId", ifPresent: replayId)
    json.field("senderId", ifPresent: senderId)
    json.choice("conversationKind", ifPresent: conversationKind)
    if let exceptConversations { json.texts("exceptConversations", exceptConversations) }
    json.field("exceptAddressed", ifPresent: exceptAddressed)
    json.field("showPreviews", ifPresent: showPreviews)
    json.object("quietHours", ifPresent: quietHours)
    json.object("target", ifPresent: target)
  }
}

extension PushAnswered: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      userId: try fields.text("userId"), deviceId: try fields.text("deviceId"), pushId: try fields.text("pushId"),
      attempt: try fields.int("attempt"), result: try fields.choice("result"),
      httpStatus: try fields.int(ifPresent: "httpStatus"), errorCode: try fields.text(ifPresent: "errorCode"),
      fcmName: try fields.text(ifPresent: "fcmName"), requests: try fields.int(ifPresent: "requests"),
      startedAt: try fields.integer(ifPresent: "startedAt"), finishedAt: try fields.integer(ifPresent: "finishedAt"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.field("deviceId", deviceId)
    json.field("pushId", pushId)
    json.field("attempt", attempt)
    json.choice("result", result)
    json.field("httpStatus", ifPresent: httpStatus)
    json.field("errorCode", ifPresent: errorCode)
    json.field("fcmName", ifPresent: fcmName)
    json.field("requests", ifPresent: requests)
    json.field("startedAt", ifPresent: startedAt)
    json.field("finishedAt", ifPresent: finishedAt)
  }
}

extension QuietHours: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      start: try fields.text("start"), end: try fields.text("end"), timeZone: try fields.text(ifPresent: "timeZone"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("start", start)
    json.field("end", end)
    json.field("timeZone", ifPresent: timeZone)
  }
}

extension OutcomeBody: FastEncodable {
  func writeFields(to json: inout JSONWriter) {
    json.field("pushId", pushId)
    json.field("userId", userId)
    json.field("deviceId", deviceId)
    json.field("tokenHash", tokenHash)
    json.choice("result", result)
    json.field("httpStatus", ifPresent: httpStatus)
    json.field("errorCode", ifPresent: errorCode)
    json.field("fcmName", ifPresent: fcmName)
    json.choice("destination", ifPresent: destination)
    json.field("collapseKey", ifPresent: collapseKey)
    json.field("catchUp", ifPresent: catchUp)
    json.field("attempts", attempts)
    json.field("firstAttemptAt", ifPresent: firstAttemptAt)
    json.field("finishedAt", finishedAt)
  }
}

extension ReceiptBody: FastEncodable {
  func writeFields(to json: inout JSONWriter) {
    json.field("pushId", pushId)
    json.field("userId", userId)
    json.field("deviceId", deviceId)
    json.choice("state", state)
    json.choice("platform", platform)
    json.field("appVersion", ifPresent: appVersion)
    json.field("sentAt", sentAt)
  }
}
