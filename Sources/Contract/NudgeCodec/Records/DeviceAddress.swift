import JSONCodec
import NudgeSchema

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
