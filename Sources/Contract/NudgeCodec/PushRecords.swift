import JSONCodec
import NudgeSchema

extension PushEventBody: ReadableBody, WrittenBody {
  init(type: EventType, fields json: inout JSONFieldReader) throws(FallBackToCodable) {
    switch type {
    case .push: self = .push(try .init(fields: &json))
    case .pushCancelled: self = .cancelled(try .init(fields: &json))
    case .pushAnswered: self = .answered(try .init(fields: &json))
    default: throw FallBackToCodable()
    }
  }

  mutating func writeFields(to json: inout JSONWriter) {
    switch consume self {
    case .push(let body): self = .push(json.fields(of: body))
    case .cancelled(let body): self = .cancelled(json.fields(of: body))
    case .answered(let body): self = .answered(json.fields(of: body))
    }
  }
}

extension Push: ReadableFields {
  static var blank: Self {
    Self(
      pushId: "", kind: .message, userId: "", targets: [], priority: .low, presentation: .badge, badge: 0,
      ttlSeconds: 0, expiresAt: 0, decidedAt: 0)
  }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("pushId", &pushId)
    try json.field("kind", &kind)
    try json.field("userId", &userId)
    try json.field("targets", &targets)
    try json.field("title", &title)
    try json.field("body", &body)
    try json.field("imageUrl", &imageUrl)
    try json.field("avatarUrl", &avatarUrl)
    try json.field("priority", &priority)
    try json.field("presentation", &presentation)
    try json.field("replaces", &replaces)
    try json.field("mentioned", &mentioned)
    try json.field("answered", &answered)
    try json.field("urgent", &urgent)
    try json.field("quietHours", &quietHours)
    try json.field("sentAt", &sentAt)
    try json.field("reason", &reason)
    try json.field("badge", &badge)
    try json.field("conversationId", &conversationId)
    try json.field("messageId", &messageId)
    try json.field("senderId", &senderId)
    try json.field("conversation", &conversation)
    try json.field("unread", &unread)
    try json.field("language", &language)
    try json.field("digest", &digest)
    try json.field("escalation", &escalation)
    try json.field("ttlSeconds", &ttlSeconds)
    try json.field("expiresAt", &expiresAt)
    try json.field("decidedAt", &decidedAt)
  }
}

extension Escalation: ReadableFields {
  static var blank: Self { Self(pushedAt: 0) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("pushedAt", &pushedAt)
    try json.field("pushedAgainAt", &pushedAgainAt)
    try json.field("senderName", &senderName)
    try json.field("groupName", &groupName)
  }
}

extension PushConversation: ReadableFields {
  static var blank: Self { Self(senderName: "", kind: .direct) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("senderName", &senderName)
    try json.field("kind", &kind)
    try json.field("name", &name)
  }
}

extension Digest: ReadableFields {
  static var blank: Self { Self(messages: 0, conversations: 0, lines: []) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("messages", &messages)
    try json.field("conversations", &conversations)
    try json.field("lines", &lines)
    try json.field("parts", &parts)
  }
}

extension Digest.Line: ReadableFields {
  static var blank: Self { Self(conversationId: "", messageId: "", title: "", text: "") }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("conversationId", &conversationId)
    try json.field("messageId", &messageId)
    try json.field("title", &title)
    try json.field("text", &text)
  }
}

extension Digest.Part: ReadableFields {
  static var blank: Self { Self(conversationId: "", messages: 0, keys: []) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("conversationId", &conversationId)
    try json.field("messages", &messages)
    try json.field("keys", &keys)
  }
}

extension PushTarget: ReadableFields {
  static var blank: Self { Self(deviceId: "", version: 0, platform: .web) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("deviceId", &deviceId)
    try json.field("token", &token)
    try json.field("webPush", &webPush)
    try json.field("sealing", &sealing)
    try json.field("version", &version)
    try json.field("platform", &platform)
    try json.field("projectId", &projectId)
    try json.field("seenAt", &seenAt)
    try json.field("renders", &renders)
    try json.field("foreground", &foreground)
    try json.field("notBefore", &notBefore)
    try json.require(isAddressed)
  }
}

extension PushCancelled: ReadableFields {
  static var blank: Self { Self(userId: "") }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("deviceId", &deviceId)
    try json.field("messageId", &messageId)
    try json.field("conversationId", &conversationId)
    try json.field("sentUpTo", &sentUpTo)
    try json.field("kind", &kind)
    try json.field("exceptMentions", &exceptMentions)
    try json.field("tokenHash", &tokenHash)
    try json.field("version", &version)
    try json.field("badge", &badge)
    try json.field("erased", &erased)
    try json.field("replayId", &replayId)
    try json.field("senderId", &senderId)
    try json.field("conversationKind", &conversationKind)
    try json.field("exceptConversations", &exceptConversations)
    try json.field("exceptAddressed", &exceptAddressed)
    try json.field("showPreviews", &showPreviews)
    try json.field("quietHours", &quietHours)
    try json.field("target", &target)
  }
}

extension PushAnswered: ReadableFields {
  static var blank: Self { Self(userId: "", deviceId: "", pushId: "", attempt: 0, result: .pending) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("deviceId", &deviceId)
    try json.field("pushId", &pushId)
    try json.field("attempt", &attempt)
    try json.field("result", &result)
    try json.field("httpStatus", &httpStatus)
    try json.field("errorCode", &errorCode)
    try json.field("fcmName", &fcmName)
    try json.field("requests", &requests)
    try json.field("startedAt", &startedAt)
    try json.field("finishedAt", &finishedAt)
  }
}

extension QuietHours: ReadableFields {
  static var blank: Self { Self(start: "", end: "") }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("start", &start)
    try json.field("end", &end)
    try json.field("timeZone", &timeZone)
  }
}

extension OutcomeBody: WrittenBody, JSONFields {
  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("pushId", &pushId)
    try json.field("userId", &userId)
    try json.field("deviceId", &deviceId)
    try json.field("tokenHash", &tokenHash)
    try json.field("result", &result)
    try json.field("httpStatus", &httpStatus)
    try json.field("errorCode", &errorCode)
    try json.field("fcmName", &fcmName)
    try json.field("destination", &destination)
    try json.field("collapseKey", &collapseKey)
    try json.field("catchUp", &catchUp)
    try json.field("attempts", &attempts)
    try json.field("firstAttemptAt", &firstAttemptAt)
    try json.field("finishedAt", &finishedAt)
  }
}

extension ReceiptBody: WrittenBody, JSONFields {
  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("pushId", &pushId)
    try json.field("userId", &userId)
    try json.field("deviceId", &deviceId)
    try json.field("state", &state)
    try json.field("platform", &platform)
    try json.field("appVersion", &appVersion)
    try json.field("sentAt", &sentAt)
  }
}
