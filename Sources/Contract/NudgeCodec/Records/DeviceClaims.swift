import JSONCodec
import NudgeSchema

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
