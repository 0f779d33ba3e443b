import JSONCodec
import NudgeSchema

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
