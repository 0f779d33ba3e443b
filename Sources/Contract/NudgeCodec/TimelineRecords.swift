import JSONCodec
import NudgeSchema

extension TimelineEventBody: ReadableBody, WrittenBody {
  init(type: EventType, fields json: inout JSONFieldReader) throws(FallBackToCodable) {
    switch type {
    case .messageCandidate: self = .candidate(try .init(fields: &json))
    case .messageSent: self = .sent(try .init(fields: &json))
    case .candidateRedecide: self = .redecide(try .init(fields: &json))
    case .replayStopped: self = .replayStopped(try .init(fields: &json))
    case .timerFired: self = .timerFired(try .init(fields: &json))
    case .messageWithdrawn: self = .withdrawn(try .init(fields: &json))
    case .deviceRegistered: self = .deviceGained(try .init(fields: &json))
    case .deviceUnregistered: self = .deviceLost(try .init(fields: &json))
    case .deviceInvalidated: self = .deviceInvalidated(try .init(fields: &json))
    case .pushMissed: self = .pushMissed(try .init(fields: &json))
    case .personAsked: self = .asked(try .init(fields: &json))
    // Events of devices are above, because they have other fields here than on `user.events`.
    default: self = .user(try UserEventBody(type: type, fields: &json))
    }
  }

  /// Whether `writeFields` can write it; `RecordCoder` writes the others.
  var isFastEncodable: Bool {
    if case .user(let body) = self { body.isFastEncodable } else { true }
  }

  mutating func writeFields(to json: inout JSONWriter) {
    switch consume self {
    case .user(var body):
      body.writeFields(to: &json)
      self = .user(body)
    case .candidate(let body): self = .candidate(json.fields(of: body))
    case .redecide(let body): self = .redecide(json.fields(of: body))
    case .sent(let body): self = .sent(json.fields(of: body))
    case .replayStopped(let body): self = .replayStopped(json.fields(of: body))
    case .timerFired(let body): self = .timerFired(json.fields(of: body))
    case .withdrawn(let body): self = .withdrawn(json.fields(of: body))
    case .deviceGained(let body): self = .deviceGained(json.fields(of: body))
    case .deviceLost(let body): self = .deviceLost(json.fields(of: body))
    case .deviceInvalidated(let body): self = .deviceInvalidated(json.fields(of: body))
    case .pushMissed(let body): self = .pushMissed(json.fields(of: body))
    case .asked(let body): self = .asked(json.fields(of: body))
    }
  }
}

extension MessageSent: ReadableFields {
  static var blank: Self { Self(userId: "", conversationId: "", messageId: "") }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("conversationId", &conversationId)
    try json.field("messageId", &messageId)
  }
}

extension ReplayStopped: ReadableFields {
  static var blank: Self { Self(replayId: "") }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("replayId", &replayId)
    try json.field("after", &after)
  }
}

extension TimerFired: ReadableFields {
  static var blank: Self { Self(timer: "", dueAt: 0) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("timer", &timer)
    try json.field("dueAt", &dueAt)
  }
}

extension MessageWithdrawn: ReadableFields {
  static var blank: Self { Self(userIds: [], conversationId: "", messageId: nil, cause: .left) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userIds", &userIds)
    try json.field("conversationId", &conversationId)
    try json.field("messageId", &messageId)
    try json.field("cause", &cause)
    try json.field("body", &body)
    try json.field("title", &title)
    try json.field("sender", &sender)
  }
}

extension DeviceGained: ReadableFields {
  static var blank: Self { Self(userId: "", deviceId: "", version: 0, platform: .web) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("deviceId", &deviceId)
    try json.field("token", &token)
    try json.field("webPush", &webPush)
    try json.field("sealing", &sealing)
    try json.field("version", &version)
    try json.field("platform", &platform)
    try json.field("appVersion", &appVersion)
    try json.field("locale", &locale)
    try json.field("projectId", &projectId)
    try json.field("renders", &renders)
    try json.require(isAddressed)
  }
}

extension DeviceLost: ReadableFields {
  static var blank: Self { Self(userId: "", deviceId: "", tokenHash: "", version: 0, cause: .expired) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("deviceId", &deviceId)
    try json.field("tokenHash", &tokenHash)
    try json.field("version", &version)
    try json.field("cause", &cause)
  }
}

extension DeviceInvalidated: ReadableFields {
  static var blank: Self { Self(userId: "", deviceId: "", tokenHash: "", version: 0, code: "") }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("deviceId", &deviceId)
    try json.field("tokenHash", &tokenHash)
    try json.field("version", &version)
    try json.field("code", &code)
  }
}

extension PushMissed: ReadableFields {
  static var blank: Self {
    Self(
      userId: "", pushId: "", device: 0, devices: 0, conversationId: "", messageId: "", cause: .expired,
      presentation: .badge, priority: .low, sentAt: 0, expiresAt: 0, senderName: "", text: "")
  }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("pushId", &pushId)
    try json.field("device", &device)
    try json.field("devices", &devices)
    try json.field("conversationId", &conversationId)
    try json.field("messageId", &messageId)
    try json.field("cause", &cause)
    try json.field("presentation", &presentation)
    try json.field("priority", &priority)
    try json.field("sentAt", &sentAt)
    try json.field("expiresAt", &expiresAt)
    try json.field("senderName", &senderName)
    try json.field("groupName", &groupName)
    try json.field("text", &text)
    try json.field("edited", &edited)
    try json.field("senderId", &senderId)
    try json.field("avatarUrl", &avatarUrl)
  }
}

extension MessageCandidate: ReadableFields {
  static var blank: Self {
    Self(conversationId: "", messageId: "", sender: .blank, conversation: .blank, title: "", body: "", recipients: [])
  }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("conversationId", &conversationId)
    try json.field("messageId", &messageId)
    try json.field("sender", &sender)
    try json.field("conversation", &conversation)
    try json.field("title", &title)
    try json.field("body", &body)
    try json.field("attachment", &attachment)
    try json.field("mentions", &mentions)
    try json.field("replyTo", &replyTo)
    try json.field("answers", &answers)
    try json.field("urgent", &urgent)
    try json.field("recipients", &recipients)
    try json.field("possibleRepeat", &possibleRepeat)
    try json.field("byUser", &byUser)
    try json.field("replayId", &replayId)
    try json.field("forced", &forced)
    try json.field("failedPushes", &failedPushes)
    try json.field("maxAgeSeconds", &maxAgeSeconds)
    try json.field("rederived", &rederived)
  }
}

extension AnsweredMessage: ReadableFields {
  static var blank: Self { Self(messagesBack: 0, sentAt: 0) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("messagesBack", &messagesBack)
    try json.field("sentAt", &sentAt)
  }
}

extension FailedPush: ReadableFields {
  static var blank: Self { Self(userId: "", pushId: "") }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("pushId", &pushId)
    try json.field("devices", &devices)
    try json.field("presentation", &presentation)
  }
}

extension CandidateConversation: ReadableFields {
  static var blank: Self { Self(kind: .direct, memberCount: 0, activeSpeakers: 0) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("kind", &kind)
    try json.field("name", &name)
    try json.field("others", &others)
    try json.field("memberCount", &memberCount)
    try json.field("activeSpeakers", &activeSpeakers)
    try json.field("features", &features)
  }
}

extension Recipient: ReadableFields {
  static var blank: Self { Self(userId: "", context: .blank) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("context", &context)
  }
}

extension RecipientContext: ReadableFields {
  static var blank: Self { Self() }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("mentioned", &mentioned)
    try json.field("named", &named)
    try json.field("answered", &answered)
    try json.field("lastSpokeAt", &lastSpokeAt)
    try json.field("messagesSince", &messagesSince)
    try json.field("exchange", &exchange)
    try json.field("features", &features)
  }
}
