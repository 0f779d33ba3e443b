import JSONCodec
import NudgeSchema

extension PushEventBody: DirectBody, DirectlyWritten {
  init(type: JSONNode, _ fields: JSONNode) throws(NeedsReference) {
    switch type {
    case "push": self = .push(try Push(fields))
    case "push.cancelled": self = .cancelled(try PushCancelled(fields))
    default: throw NeedsReference()
    }
  }

  func writeFields(to json: inout JSONWriter) {
    switch self {
    case .push(let fields): fields.writeFields(to: &json)
    case .cancelled(let fields): fields.writeFields(to: &json)
    }
  }
}

extension Push: DirectlyRead, DirectlyWritten {
  init(_ fields: JSONNode) throws(NeedsReference) {
    self.init(
      pushId: try fields.text("pushId"), kind: try fields.choice("kind"), userId: try fields.text("userId"),
      targets: try fields.objects("targets"), title: try fields.text(ifPresent: "title"),
      body: try fields.text(ifPresent: "body"), imageUrl: try fields.text(ifPresent: "imageUrl"),
      priority: try fields.choice("priority"), presentation: try fields.choice("presentation"),
      reason: try fields.choice(ifPresent: "reason"), badge: try fields.int("badge"),
      conversationId: try fields.text(ifPresent: "conversationId"),
      messageId: try fields.text(ifPresent: "messageId"), senderId: try fields.text(ifPresent: "senderId"),
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
    json.choice("priority", priority)
    json.choice("presentation", presentation)
    json.choice("reason", ifPresent: reason)
    json.field("badge", badge)
    json.field("conversationId", ifPresent: conversationId)
    json.field("messageId", ifPresent: messageId)
    json.field("senderId", ifPresent: senderId)
    json.field("ttlSeconds", ttlSeconds)
    json.field("expiresAt", expiresAt)
    json.field("decidedAt", decidedAt)
  }
}

extension PushTarget: DirectlyRead, DirectlyWritten {
  init(_ fields: JSONNode) throws(NeedsReference) {
    self.init(
      deviceId: try fields.text("deviceId"), token: try fields.text("token"), version: try fields.integer("version"),
      platform: try fields.choice("platform"), projectId: try fields.text(ifPresent: "projectId"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("deviceId", deviceId)
    json.field("token", token)
    json.field("version", version)
    json.choice("platform", platform)
    json.field("projectId", ifPresent: projectId)
  }
}

extension PushCancelled: DirectlyRead, DirectlyWritten {
  init(_ fields: JSONNode) throws(NeedsReference) {
    self.init(
      userId: try fields.text("userId"), deviceId: try fields.text(ifPresent: "deviceId"),
      messageId: try fields.text(ifPresent: "messageId"),
      conversationId: try fields.text(ifPresent: "conversationId"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.field("deviceId", ifPresent: deviceId)
    json.field("messageId", ifPresent: messageId)
    json.field("conversationId", ifPresent: conversationId)
  }
}
