/// An HTTP answer of FCM.
public struct EmulatorAnswer: Sendable {
  /// The rows of FCM's table of answers, except 200.
  public enum Name: String, Sendable, CaseIterable {
    /// 400 about the token.
    case invalidToken = "INVALID_TOKEN"
    /// 400 about another field.
    case invalidArgument = "INVALID_ARGUMENT"
    /// 400 without details: the message is too large.
    case tooLarge = "TOO_LARGE"
    /// 401, the access token has expired.
    case accessTokenExpired = "ACCESS_TOKEN_EXPIRED"
    /// 401, the key for APNs or web push is wrong.
    case thirdPartyAuthError = "THIRD_PARTY_AUTH_ERROR"
    /// 403, the token belongs to another sender.
    case senderIDMismatch = "SENDER_ID_MISMATCH"
    /// 403 without an FCM code: the caller lacks a permission, or the API is disabled.
    case permissionDenied = "PERMISSION_DENIED"
    /// 404, the app was removed or the token replaced.
    case unregistered = "UNREGISTERED"
    /// 404 without an FCM code: no such project or URL.
    case notFound = "NOT_FOUND"
    /// 429, the project's quota.
    case quotaExceeded = "QUOTA_EXCEEDED"
    /// 429, the device's quota.
    case deviceQuotaExceeded = "DEVICE_QUOTA_EXCEEDED"
    /// 500.
    case internalError = "INTERNAL"
    /// 502 with an HTML page.
    case badGateway = "BAD_GATEWAY"
    /// 503.
    case unavailable = "UNAVAILABLE"
    /// 504 with an HTML page.
    case gatewayTimeout = "GATEWAY_TIMEOUT"
    /// 400 with the code for which FCM documents no cause.
    case unspecifiedError = "UNSPECIFIED_ERROR"
  }

  public var status: Int
  /// Header fields in addition to those of every answer, with names in lower case. A `content-type` replaces the default.
  public var headers: [(String, String)]
  public var body: String

  /// An answer with any status and body.
  public init(status: Int, headers: [(String, String)] = [], body: String = "") {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// A row of FCM's table. `retryAfter`, in seconds or as an HTTP date, is the value of the header of that name.
  public init(_ name: Name, retryAfter: String? = nil) {
    switch name {
    case .invalidToken:
      self = .invalid(
        "The registration token is not a valid FCM registration token", field: "message.token", isMessage: true)
    case .invalidArgument:
      self = .invalid("Invalid value at 'message.android.ttl'", field: "message.android.ttl", isMessage: true)
    case .tooLarge:
      self = .error(400, "INVALID_ARGUMENT", "Android message is too big")
    case .accessTokenExpired:
      self = .unauthenticated(reason: "ACCESS_TOKEN_EXPIRED")
    case .thirdPartyAuthError:
      self = .error(
        401, "UNAUTHENTICATED", "Auth error from APNS or Web Push Service",
        details: [.fcmError("THIRD_PARTY_AUTH_ERROR")])
    case .senderIDMismatch:
      self = .error(403, "PERMISSION_DENIED", "SenderId mismatch", details: [.fcmError("SENDER_ID_MISMATCH")])
    case .permissionDenied:
      self = .error(
        403, "PERMISSION_DENIED", "Permission 'cloudmessaging.messages.create' denied on resource",
        details: [.errorInfo("IAM_PERMISSION_DENIED")])
    case .unregistered:
      self = .error(404, "NOT_FOUND", "Requested entity was not found.", details: [.fcmError("UNREGISTERED")])
    case .notFound:
      self = .error(404, "NOT_FOUND", "Requested entity was not found.")
    case .quotaExceeded:
      self = .error(
        429, "RESOURCE_EXHAUSTED", "Quota exceeded for quota metric 'Messages sent' of the project",
        details: [.fcmError("QUOTA_EXCEEDED"), .quotaFailure("project:nudge", "Message rate of the project exceeded")])
    case .deviceQuotaExceeded:
      self = .error(
        429, "RESOURCE_EXHAUSTED", "Message rate of the device exceeded",
        details: [.fcmError("QUOTA_EXCEEDED"), .quotaFailure("device", "Message rate of the device exceeded")])
    case .internalError:
      self = .error(500, "INTERNAL", "Internal error encountered.", details: [.fcmError("INTERNAL")])
    case .badGateway:
      self = .page(502, "Server Error")
    case .unavailable:
      self = .error(503, "UNAVAILABLE", "The service is currently unavailable.", details: [.fcmError("UNAVAILABLE")])
    case .gatewayTimeout:
      self = .page(504, "Gateway Timeout")
    case .unspecifiedError:
      self = .error(400, "INVALID_ARGUMENT", "Unspecified error", details: [.fcmError("UNSPECIFIED_ERROR")])
    }
    if let retryAfter { headers.append(("retry-after", retryAfter)) }
  }

  /// 400 that names a field. `isMessage` is false for JSON without the structure of a request: Google's front end refuses
  /// that, without FCM's code.
  static func invalid(_ message: String, field: String, isMessage: Bool) -> EmulatorAnswer {
    .error(
      400, "INVALID_ARGUMENT", message,
      details: (isMessage ? [.fcmError("INVALID_ARGUMENT")] : []) + [.badRequest(field, message)])
  }

  /// 401 without an FCM code.
  static func unauthenticated(reason: String) -> EmulatorAnswer {
    .error(
      401, "UNAUTHENTICATED",
      "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid "
        + "authentication credential.", details: [.errorInfo(reason)])
  }

  /// Google's JSON for an error.
  static func error(_ code: Int, _ status: String, _ message: String, details: [Detail] = []) -> EmulatorAnswer {
    var body = "{\"error\":{\"code\":\(code),\"message\":\(quoted(message)),\"status\":\"\(status)\""
    if !details.isEmpty {
      body += ",\"details\":[" + details.map(\.json).joined(separator: ",") + "]"
    }
    return EmulatorAnswer(status: code, body: body + "}}")
  }

  private static func page(_ status: Int, _ title: String) -> EmulatorAnswer {
    EmulatorAnswer(
      status: status, headers: [("content-type", "text/html; charset=UTF-8")],
      body:
        "<!DOCTYPE html><html lang=en><title>Error \(status) (\(title))!!1</title><p><b>\(status).</b> That’s an error.</html>"
    )
  }

  /// An entry of an error's details.
  struct Detail {
    let json: String

    static func fcmError(_ code: String) -> Detail {
      Detail(json: #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(code)"}"#)
    }
    static func errorInfo(_ reason: String) -> Detail {
      Detail(
        json: #"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"\#(reason)","domain":"googleapis.com","#
          + #""metadata":{"service":"fcm.googleapis.com"}}"#)
    }
    static func badRequest(_ field: String, _ description: String) -> Detail {
      Detail(
        json: #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":\#(quoted(field)),"#
          + #""description":\#(quoted(description))}]}"#)
    }
    static func quotaFailure(_ subject: String, _ description: String) -> Detail {
      Detail(
        json: #"{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"subject":\#(quoted(subject)),"#
          + #""description":\#(quoted(description))}]}"#)
    }
  }
}

/// A text as a JSON string, quotes included.
func quoted(_ text: String) -> String {
  var result = "\""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\"": result += "\\\""
    case "\\": result += "\\\\"
    case "\n": result += "\\n"
    case "\r": result += "\\r"
    case "\t": result += "\\t"
    case _ where scalar.value < 0x20:
      let digits = String(scalar.value, radix: 16)
      result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result + "\""
}
