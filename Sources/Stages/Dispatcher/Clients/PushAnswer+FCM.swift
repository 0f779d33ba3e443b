import Foundation
import JSONCodec
public import NudgeSchema

extension PushAnswer {
  /// Classifies an HTTP answer of `messages:send`. An HTTP date in the `retryAfter` header is relative to `now`. Only a body that begins
  /// like a JSON object is parsed, because proxies answer 502 and 504 with HTML.
  public init(status: Int, retryAfter header: String?, body: [UInt8], now: Milliseconds) {
    if (200..<300).contains(status) {
      // The status alone shows that FCM accepted the push, even if the body is lost.
      self.init(.sent(name: FCMErrorBody.name(in: body)), httpStatus: status, isUnknown: status != 200)
      return
    }
    let error = FCMErrorBody(body)
    let retryAfter = header.flatMap { RetryAfter($0)?.wait(from: now) } ?? error.retryDelay
    let (verdict, known) = Self.verdict(status: status, error: error)
    self.init(
      verdict, httpStatus: status, errorCode: error.errorCode ?? error.status ?? "HTTP_\(status)",
      retryAfter: retryAfter, isUnknown: !known || !error.hasKnownCode)
  }

  /// The verdict, and whether the table has a row for this answer.
  private static func verdict(status: Int, error: FCMErrorBody) -> (Verdict, known: Bool) {
    switch status {
    case 400: return (error.isAboutToken ? .invalidToken : .rejected, true)
    case 401: return (error.errorCode == "THIRD_PARTY_AUTH_ERROR" ? .platformRefused : .projectRefused, true)
    case 403: return (error.errorCode == "SENDER_ID_MISMATCH" ? .senderMismatch : .projectRefused, true)
    case 404: return (error.errorCode == "UNREGISTERED" ? .invalidToken : .projectRefused, true)
    case 408, 425: return (.serverFailed, false)
    case 429: return (.quotaExceeded(error.isAboutProjectQuota ? .project : .device), true)
    case 500, 502, 503, 504: return (.serverFailed, true)
    case 300..<400: return (.projectRefused, false)
    case 400..<500: return (.rejected, false)
    default: return (.serverFailed, false)
    }
  }
}

/// The relevant parts of Google's error body, found by `@type`. A missing or malformed part is nil.
struct FCMErrorBody {
  /// `error.status`, e.g. `NOT_FOUND`.
  private(set) var status: String?
  /// `errorCode` of the detail `google.firebase.fcm.v1.FcmError`.
  private(set) var errorCode: String?
  /// Whether FCM blames the registration token.
  private(set) var isAboutToken = false
  /// Whether a detail says that the project's quota is used up.
  private(set) var isAboutProjectQuota = false
  /// `retryDelay` of the detail `google.rpc.RetryInfo`.
  private(set) var retryDelay: Milliseconds?

  /// The error codes in the table.
  private static let knownCodes: Set<String> = [
    "INVALID_ARGUMENT", "UNREGISTERED", "SENDER_ID_MISMATCH", "QUOTA_EXCEEDED", "UNAVAILABLE", "INTERNAL",
    "THIRD_PARTY_AUTH_ERROR",
  ]
  /// Whether it has no code, or one in the table.
  var hasKnownCode: Bool { errorCode.map { Self.knownCodes.contains($0) } ?? true }

  /// Codes appear in records and metrics, so only a short word of capitals, digits and `_` is accepted.
  private static func code(_ value: Any?) -> String? {
    guard let text = value as? String, (1...64).contains(text.utf8.count),
      text.utf8.allSatisfy({ $0 == 0x5F || (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) })
    else { return nil }
    return text
  }

  init(_ body: [UInt8]) {
    guard let error = Self.object(body)?["error"] as? [String: Any] else { return }
    status = Self.code(error["status"])
    if let message = (error["message"] as? String)?.lowercased(), message.contains("registration token"),
      message.contains("not a valid") || message.contains("not valid") || message.contains("invalid")
    {
      isAboutToken = true
    }
    for detail in error["details"] as? [Any] ?? [] {
      guard let detail = detail as? [String: Any], let type = detail["@type"] as? String else { continue }
      switch type.split(separator: "/").last {
      case "google.firebase.fcm.v1.FcmError": errorCode = Self.code(detail["errorCode"])
      case "google.rpc.BadRequest": readViolatedFields(detail)
      case "google.rpc.QuotaFailure": readQuota(detail)
      case "google.rpc.ErrorInfo": readErrorInfo(detail)
      case "google.rpc.RetryInfo": readRetryDelay(detail)
      default: continue
      }
    }
  }

  private mutating func readViolatedFields(_ detail: [String: Any]) {
    for violation in detail["fieldViolations"] as? [[String: Any]] ?? [] {
      if violation["field"] as? String == "message.token" { isAboutToken = true }
    }
  }

  private mutating func readQuota(_ detail: [String: Any]) {
    for violation in detail["violations"] as? [[String: Any]] ?? [] {
      let words = [violation["subject"], violation["description"]].compactMap { ($0 as? String)?.lowercased() }
      // "device" is checked first, because a device's violation may name its project.
      if words.contains(where: { $0.contains("device") }) { continue }
      if words.contains(where: { $0.contains("project") }) { isAboutProjectQuota = true }
    }
  }

  /// Google's front end uses these terms for the project's quota of requests per minute.
  private mutating func readErrorInfo(_ detail: [String: Any]) {
    if detail["reason"] as? String == "RATE_LIMIT_EXCEEDED",
      (detail["metadata"] as? [String: Any])?["quota_metric"] != nil
    {
      isAboutProjectQuota = true
    }
  }

  /// A protobuf duration: decimal seconds with the suffix `s`.
  private mutating func readRetryDelay(_ detail: [String: Any]) {
    guard let text = detail["retryDelay"] as? String, text.hasSuffix("s"), let seconds = Double(text.dropLast()),
      seconds.isFinite, seconds >= 0
    else { return }
    retryDelay = Milliseconds(min(seconds * 1000, Double(RetryAfter.longestWait)).rounded(.up))
  }

  /// FCM's name of an accepted push.
  static func name(in body: [UInt8]) -> String? {
    // A truncated or malformed body is ignored; the status counts.
    (try? JSONParser().parse(body) { $0["name"]?.string }) ?? nil
  }

  private static func object(_ body: [UInt8]) -> [String: Any]? {
    guard let first = body.first(where: { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 }), first == 0x7B
    else { return nil }
    // A truncated or malformed body is ignored; the status counts.
    return (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any]
  }
}
