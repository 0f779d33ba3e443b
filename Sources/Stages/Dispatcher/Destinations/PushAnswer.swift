import Foundation
import JSONCodec
public import NudgeSchema

/// A push service's answer, or the reason why there is none, classified by its consequence (P4).
public struct PushAnswer: Sendable, Equatable {
  /// The kinds of answers, each with its consequence.
  public enum Verdict: Sendable, Equatable {
    /// The service accepted the push. `name` is FCM's name of it; nil if the body was lost, and for other services.
    case sent(name: String?)
    /// The token or subscription is not valid or no longer valid. It must be removed unless it was registered again since (T3).
    case invalidToken
    /// The token belongs to another sender. Nothing may be sent to the device until it registers again.
    case senderMismatch
    /// The push service refuses our key for this subscription but accepts other pushes. Try again later.
    case subscriptionRefused
    /// The service refuses this request, and would refuse it again.
    case rejected
    /// Credentials, project, key or address are wrong. Nothing can be sent there until an operator fixes it.
    case projectRefused
    /// FCM's credentials for one platform (APNs or Web Push key) are wrong. Nothing can be sent to that platform.
    case platformRefused
    /// The quota of the device or of the project is used up.
    case quotaExceeded(QuotaScope)
    /// The service failed: 5xx and similar.
    case serverFailed
    /// No answer: the connection failed or was reset, or the time ran out.
    case unreachable
    /// The request did not leave in time, or its task was given up before. Nothing was sent.
    case notSent
  }

  /// Whose quota is used up.
  public enum QuotaScope: Sendable, Equatable {
    /// The device's. Also used if the service does not say whose, so that one device's problem never blocks others.
    case device
    /// The project's.
    case project
  }

  public var verdict: Verdict
  /// The HTTP status; nil if there was no answer.
  public var httpStatus: Int?
  /// The service's error code, or else its status, or else the transport's error; nil if the push was sent.
  public var errorCode: String?
  /// The wait that the service asks for, in milliseconds from the answer.
  public var retryAfter: Milliseconds?
  /// Whether the service's documentation lacks this answer. It is then treated by its HTTP class.
  public var isUnknown: Bool

  public init(
    _ verdict: Verdict, httpStatus: Int? = nil, errorCode: String? = nil, retryAfter: Milliseconds? = nil,
    isUnknown: Bool = false
  ) {
    self.verdict = verdict
    self.httpStatus = httpStatus
    self.errorCode = errorCode
    self.retryAfter = retryAfter
    self.isUnknown = isUnknown
  }
}

extension PushAnswer {
  /// Whether the service accepted the push.
  var isSent: Bool { if case .sent = verdict { true } else { false } }

  /// FCM's name of an accepted push.
  var name: String? { if case .sent(let name) = verdict { name } else { nil } }

  /// Whether it refuses the device's token.
  var isAboutToken: Bool { verdict == .invalidToken || verdict == .senderMismatch }

  /// Whether it shows if the token is valid, which the breaker over invalid tokens counts (T3).
  var judgesToken: Bool {
    switch verdict {
    case .sent, .invalidToken, .senderMismatch: true
    default: false
    }
  }
}

extension PushAnswer {
  /// Every value of `verdictName`.
  static let verdictNames = [
    "sent", "invalid_token", "sender_mismatch", "subscription_refused", "rejected", "project_refused",
    "platform_refused", "quota_device",
    "quota_project", "server_failed", "unreachable", "not_sent",
  ]

  /// The verdict as a label of metrics.
  var verdictName: String {
    switch verdict {
    case .sent: "sent"
    case .invalidToken: "invalid_token"
    case .senderMismatch: "sender_mismatch"
    case .subscriptionRefused: "subscription_refused"
    case .rejected: "rejected"
    case .projectRefused: "project_refused"
    case .platformRefused: "platform_refused"
    case .quotaExceeded(.device): "quota_device"
    case .quotaExceeded(.project): "quota_project"
    case .serverFailed: "server_failed"
    case .unreachable: "unreachable"
    case .notSent: "not_sent"
    }
  }
}

/// The header `Retry-After` (RFC 9110, 10.2.3): seconds, or an HTTP date in one of its three forms.
public enum RetryAfter: Sendable, Equatable {
  /// This many seconds.
  case seconds(Int64)
  /// Until this time.
  case date(Milliseconds)

  /// The longest wait accepted from a server: a day. Longer waits are mistakes, and freshness ends earlier.
  public static let longestWait: Milliseconds = 86_400_000

  /// Reads a header's value; nil if it has neither form.
  public init?(_ text: String) {
    let text = text.utf8.drop { $0 == 0x20 || $0 == 0x09 }
    let bytes = Array(text.reversed().drop { $0 == 0x20 || $0 == 0x09 }.reversed())
    guard !bytes.isEmpty else { return nil }
    if bytes.allSatisfy({ (0x30...0x39).contains($0) }) {
      // A number that does not fit is still a long wait.
      self = .seconds(Int64(String(decoding: bytes, as: UTF8.self)) ?? .max)
    } else if let time = HTTPDate.milliseconds(bytes) {
      self = .date(time)
    } else {
      return nil
    }
  }

  /// The wait that it asks for, in milliseconds from 0 to `longestWait`.
  public func wait(from now: Milliseconds) -> Milliseconds {
    switch self {
    case .seconds(let seconds): min(seconds, Self.longestWait / 1000) * 1000
    case .date(let time): min(max(time.subtractingReportingOverflow(now).partialValue, 0), Self.longestWait)
    }
  }
}

/// HTTP dates (RFC 9110, 5.6.7): the form that servers must send, and the two obsolete ones that recipients must accept.
public enum HTTPDate {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  private static let shortDays: Set<String> = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  private static let longDays: Set<String> = [
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
  ]

  /// Milliseconds since the epoch; nil if the bytes are not an HTTP date.
  public static func milliseconds(_ bytes: [UInt8]) -> Milliseconds? {
    let words = String(decoding: bytes, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: true)
    switch words.count {
    case 6:  // IMF-fixdate: Sun, 06 Nov 1994 08:49:37 GMT
      guard words[0].hasSuffix(","), shortDays.contains(String(words[0].dropLast())), words[5] == "GMT",
        words[1].utf8.count == 2, words[3].utf8.count == 4
      else { return nil }
      return time(day: words[1], month: words[2], year: number(words[3]), clock: words[4])
    case 4:  // RFC 850: Sunday, 06-Nov-94 08:49:37 GMT
      let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
      guard words[0].hasSuffix(","), longDays.contains(String(words[0].dropLast())), words[3] == "GMT",
        date.count == 3, date[0].utf8.count == 2, date[2].utf8.count == 2, let twoDigits = number(date[2])
      else { return nil }
      // Two digits: 70–99 mean 19xx, as when the form was in use.
      return time(
        day: date[0], month: date[1], year: twoDigits < 70 ? 2000 + twoDigits : 1900 + twoDigits, clock: words[2])
    case 5:  // asctime: Sun Nov  6 08:49:37 1994
      guard shortDays.contains(String(words[0])), words[4].utf8.count == 4 else { return nil }
      return time(day: words[2], month: words[1], year: number(words[4]), clock: words[3])
    default: return nil
    }
  }

  private static func number(_ text: Substring) -> Int? {
    guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
  }

  private static func time(day: Substring, month: Substring, year: Int?, clock: Substring) -> Milliseconds? {
    let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
    guard let day = number(day), let month = months.firstIndex(of: String(month)), let year, year >= 1900,
      parts.count == 3, parts.allSatisfy({ $0.utf8.count == 2 }), parts.allSatisfy({ number($0) != nil })
    else { return nil }
    func pad(_ value: Int, _ width: Int) -> String {
      let digits = String(value)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    // RFC 3339's parser checks the calendar and the ranges.
    return RFC3339.milliseconds("\(pad(year, 4))-\(pad(month + 1, 2))-\(pad(day, 2))T\(clock)Z")
  }
}

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
