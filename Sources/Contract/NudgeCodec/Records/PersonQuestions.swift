import JSONCodec
import NudgeSchema

extension PersonAsked: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(userId: try fields.text("userId"), device: try fields.object(ifPresent: "device"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.object("device", ifPresent: device)
  }
}

extension PersonAsked.Device: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      deviceId: try fields.text("deviceId"), stamp: try fields.object("stamp"),
      isRegistered: try fields.flag("isRegistered"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("deviceId", deviceId)
    json.object("stamp", stamp)
    json.field("isRegistered", isRegistered)
  }
}

extension EventStamp: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(occurredAt: try fields.integer("occurredAt"), eventId: try fields.text("eventId"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("occurredAt", occurredAt)
    json.field("eventId", eventId)
  }
}

extension PersonAnswered: FastEncodable {
  func writeFields(to json: inout JSONWriter) {
    json.field("userId", userId)
    json.field("questionId", questionId)
    json.field("person", ifPresent: person)
    json.field("isBehind", isBehind)
  }
}
