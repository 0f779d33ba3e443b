import JSONCodec
import NudgeSchema

extension UserEventBody: ReadableBody {
  init(type: EventType, fields json: inout JSONFieldReader) throws(FallBackToCodable) {
    switch type {
    case .userActivity: self = .activity(try .init(fields: &json))
    case .messageRead: self = .read(try .init(fields: &json))
    case .deviceRegistered: self = .deviceRegistered(try .init(fields: &json))
    case .deviceUnregistered: self = .deviceUnregistered(try .init(fields: &json))
    case .feedbackSubmitted: self = .feedback(try .init(fields: &json))
    case .notificationReceived: self = .notificationReceived(try .init(fields: &json))
    case .notificationOpened: self = .notificationOpened(try .init(fields: &json))
    case .notificationDismissed: self = .notificationDismissed(try .init(fields: &json))
    case .userDeleted: self = .deleted(try .init(fields: &json))
    default: throw FallBackToCodable()
    }
  }

  /// Whether `writeFields` knows it: as it reaches the timeline.
  var isFastEncodable: Bool {
    switch self {
    case .activity, .read, .feedback, .notificationReceived, .notificationOpened, .notificationDismissed, .deleted: true
    case .preferences, .deviceRegistered, .deviceUnregistered: false
    }
  }

  mutating func writeFields(to json: inout JSONWriter) {
    switch consume self {
    case .activity(let body): self = .activity(json.fields(of: body))
    case .read(let body): self = .read(json.fields(of: body))
    case .feedback(let body): self = .feedback(json.fields(of: body))
    case .notificationReceived(let body): self = .notificationReceived(json.fields(of: body))
    case .notificationOpened(let body): self = .notificationOpened(json.fields(of: body))
    case .notificationDismissed(let body): self = .notificationDismissed(json.fields(of: body))
    case .deleted(let body): self = .deleted(json.fields(of: body))
    // The reference writes these (`isFastEncodable`).
    case let body: self = body
    }
  }
}

extension UserDeleted: ReadableFields {
  static var blank: Self { Self(userId: "") }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
  }
}

extension Activity: ReadableFields {
  static var blank: Self { Self(userId: "", deviceId: "", state: .idle) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("deviceId", &deviceId)
    try json.field("state", &state)
    try json.field("conversationId", &conversationId)
    try json.field("lastInputAt", &lastInputAt)
    try json.field("tabId", &tabId)
    try json.field("live", &live)
  }
}

extension MessageRead: ReadableFields {
  static var blank: Self { Self(userId: "", conversationId: "") }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("conversationId", &conversationId)
    try json.field("messageId", &messageId)
    try json.field("deviceId", &deviceId)
  }
}

extension DeviceRegistered: ReadableFields {
  static var blank: Self { Self(userId: "", deviceId: "", platform: .web) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("deviceId", &deviceId)
    try json.field("token", &token)
    try json.field("webPush", &webPush)
    try json.field("sealing", &sealing)
    try json.field("platform", &platform)
    try json.field("appVersion", &appVersion)
    try json.field("locale", &locale)
    try json.field("projectId", &projectId)
    try json.field("renders", &renders)
  }
}

extension DeviceUnregistered: ReadableFields {
  static var blank: Self { Self(userId: "", deviceId: "") }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("deviceId", &deviceId)
  }
}

extension FeedbackSubmitted: ReadableFields {
  static var blank: Self { Self(userId: "", conversationId: "", messageId: "", feedback: .helpful) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("conversationId", &conversationId)
    try json.field("messageId", &messageId)
    try json.field("feedback", &feedback)
  }
}

extension NotificationReport: ReadableFields {
  static var blank: Self { Self(userId: "", deviceId: "", pushId: "") }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("userId", &userId)
    try json.field("deviceId", &deviceId)
    try json.field("pushId", &pushId)
    try json.field("conversationId", &conversationId)
    try json.field("messageId", &messageId)
    try json.field("sentAt", &sentAt)
    try json.field("banner", &banner)
  }
}

extension DeviceClaimBody: ReadableBody, WrittenBody {
  init(type: EventType, fields json: inout JSONFieldReader) throws(FallBackToCodable) {
    switch type {
    case .deviceRegistered: self = .registered(try .init(fields: &json))
    case .deviceUnregistered: self = .unregistered(try .init(fields: &json))
    case .userDeleted: self = .userDeleted(try .init(fields: &json))
    case .userRestored: self = .userRestored(try .init(fields: &json))
    default: throw FallBackToCodable()
    }
  }

  mutating func writeFields(to json: inout JSONWriter) {
    switch consume self {
    case .registered(let body): self = .registered(json.fields(of: body))
    case .unregistered(let body): self = .unregistered(json.fields(of: body))
    case .userDeleted(let body): self = .userDeleted(json.fields(of: body))
    case .userRestored(let body): self = .userRestored(json.fields(of: body))
    }
  }
}

extension TokenClaimed: ReadableFields {
  static var blank: Self { Self(tokenHash: "", device: .blank) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("tokenHash", &tokenHash)
    try json.field("device", &device)
    try json.require(device.isAddressed)
  }
}

extension TokenReleased: ReadableFields {
  static var blank: Self { Self(tokenHash: "", userId: "", deviceId: "", cause: .expired) }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("tokenHash", &tokenHash)
    try json.field("userId", &userId)
    try json.field("deviceId", &deviceId)
    try json.field("cause", &cause)
  }
}

extension WebPushSubscription: ReadableFields {
  static var blank: Self { Self(endpoint: "", p256dh: "", auth: "") }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("endpoint", &endpoint)
    try json.field("p256dh", &p256dh)
    try json.field("auth", &auth)
  }
}

extension SealingKeys: ReadableFields {
  static var blank: Self { Self(p256dh: "", auth: "") }

  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
    try json.field("p256dh", &p256dh)
    try json.field("auth", &auth)
  }
}
