import JSONCodec
import NudgeSchema

extension UserEventBody: FastDecodableBody {
  init(type: EventType, _ fields: JSONNode) throws(FallBackToCodable) {
    switch type {
    case .userActivity: self = .activity(try Activity(fields))
    case .messageRead: self = .read(try MessageRead(fields))
    case .deviceRegistered: self = .deviceRegistered(try DeviceRegistered(fields))
    case .deviceUnregistered: self = .deviceUnregistered(try DeviceUnregistered(fields))
    case .feedbackSubmitted: self = .feedback(try FeedbackSubmitted(fields))
    case .notificationReceived: self = .notificationReceived(try NotificationReport(fields))
    case .notificationOpened: self = .notificationOpened(try NotificationReport(fields))
    case .notificationDismissed: self = .notificationDismissed(try NotificationReport(fields))
    case .userDeleted: self = .deleted(try UserDeleted(fields))
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

  func writeFields(to json: inout JSONWriter) {
    switch self {
    case .activity(let fields): fields.writeFields(to: &json)
    case .read(let fields): fields.writeFields(to: &json)
    case .feedback(let fields): fields.writeFields(to: &json)
    case .notificationReceived(let fields), .notificationOpened(let fields), .notificationDismissed(let fields):
      fields.writeFields(to: &json)
    case .deleted(let fields): fields.writeFields(to: &json)
    case .preferences, .deviceRegistered, .deviceUnregistered: break
    }
  }
}

extension UserDeleted: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) { self.init(userId: try fields.text("userId")) }

  func writeFields(to json: inout JSONWriter) { json.field("userId", userId) }
}

extension Activity: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      userId: try fields.text("userId"), deviceId: try fields.text("deviceId"), state: try fields.choice("state"),
      conversationId: try fields.text(ifPresent: "conversationId"),
      lastInputAt: try fields.integer(ifPresent: "lastInputAt"), tabId: try fields.text(ifPresent: "tabId"),
      live: try fields.flag(ifPresent: "live"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.field("deviceId", deviceId)
    json.choice("state", state)
    json.field("conversationId", ifPresent: conversationId)
    json.field("lastInputAt", ifPresent: lastInputAt)
    json.field("tabId", ifPresent: tabId)
    json.field("live", ifPresent: live)
  }
}

extension MessageRead: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      userId: try fields.text("userId"), conversationId: try fields.text("conversationId"),
      messageId: try fields.text(ifPresent: "messageId"), deviceId: try fields.text(ifPresent: "deviceId"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.field("conversationId", conversationId)
    json.field("messageId", ifPresent: messageId)
    json.field("deviceId", ifPresent: deviceId)
  }
}

extension DeviceRegistered: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      userId: try fields.text("userId"), deviceId: try fields.text("deviceId"),
      token: try fields.text(ifPresent: "token"),
      webPush: try fields.object(ifPresent: "webPush"), sealing: try fields.object(ifPresent: "sealing"),
      platform: try fields.choice("platform"), appVersion: try fields.text(ifPresent: "appVersion"),
      locale: try fields.text(ifPresent: "locale"), projectId: try fields.text(ifPresent: "projectId"),
      renders: try fields.flag(ifPresent: "renders"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.field("deviceId", deviceId)
    json.field("token", ifPresent: token)
    json.object("webPush", ifPresent: webPush)
    json.object("sealing", ifPresent: sealing)
    json.choice("platform", platform)
    json.field("appVersion", ifPresent: appVersion)
    json.field("locale", ifPresent: locale)
    json.field("projectId", ifPresent: projectId)
    json.field("renders", ifPresent: renders)
  }
}

extension DeviceUnregistered: FastDecodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(userId: try fields.text("userId"), deviceId: try fields.text("deviceId"))
  }
}

extension FeedbackSubmitted: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      userId: try fields.text("userId"), conversationId: try fields.text("conversationId"),
      messageId: try fields.text("messageId"), feedback: try fields.choice("feedback"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.field("conversationId", conversationId)
    json.field("messageId", messageId)
    json.choice("feedback", feedback)
  }
}

extension NotificationReport: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      userId: try fields.text("userId"), deviceId: try fields.text("deviceId"), pushId: try fields.text("pushId"),
      conversationId: try fields.text(ifPresent: "conversationId"),
      messageId: try fields.text(ifPresent: "messageId"), sentAt: try fields.integer(ifPresent: "sentAt"),
      banner: try fields.flag(ifPresent: "banner"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.field("deviceId", deviceId)
    json.field("pushId", pushId)
    json.field("conversationId", ifPresent: conversationId)
    json.field("messageId", ifPresent: messageId)
    json.field("sentAt", ifPresent: sentAt)
    json.field("banner", ifPresent: banner)
  }
}

extension DeviceClaimBody: FastDecodableBody, FastEncodable {
  init(type: EventType, _ fields: JSONNode) throws(FallBackToCodable) {
    switch type {
    case .deviceRegistered: self = .registered(try TokenClaimed(fields))
    case .deviceUnregistered: self = .unregistered(try TokenReleased(fields))
    case .userDeleted: self = .userDeleted(try UserDeleted(fields))
    case .userRestored: self = .userRestored(try UserDeleted(fields))
    default: throw FallBackToCodable()
    }
  }

  func writeFields(to json: inout JSONWriter) {
    switch self {
    case .registered(let fields): fields.writeFields(to: &json)
    case .unregistered(let fields): fields.writeFields(to: &json)
    case .userDeleted(let fields), .userRestored(let fields): fields.writeFields(to: &json)
    }
  }
}

extension TokenClaimed: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(tokenHash: try fields.text("tokenHash"), device: try fields.object("device"))
    guard device.isAddressed else { throw FallBackToCodable() }
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("tokenHash", tokenHash)
    json.object("device", device)
  }
}

extension TokenReleased: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      tokenHash: try fields.text("tokenHash"), userId: try fields.text("userId"),
      deviceId: try fields.text("deviceId"), cause: try fields.choice("cause"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("tokenHash", tokenHash)
    json.field("userId", userId)
    json.field("deviceId", deviceId)
    json.choice("cause", cause)
  }
}

extension WebPushSubscription: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      endpoint: try fields.text("endpoint"), p256dh: try fields.text("p256dh"), auth: try fields.text("auth"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("endpoint", endpoint)
    json.field("p256dh", p256dh)
    json.field("auth", auth)
  }
}

extension SealingKeys: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(p256dh: try fields.text("p256dh"), auth: try fields.text("auth"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("p256dh", p256dh)
    json.field("auth", auth)
  }
}
