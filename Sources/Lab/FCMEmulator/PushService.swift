internal import Foundation
internal import ServiceKit
internal import VirtualPhone
internal import WebPush

/// A push service (RFC 8030) and the browsers behind it. It checks a push as real services do, and opens it as the browser does. Only the
/// emulator's thread uses it.
final class PushService {
  /// The result of a request to an endpoint.
  enum Verdict {
    /// The push was refused.
    case refused(EmulatorAnswer)
    case taken(Taken)
  }

  /// An accepted push.
  struct Taken {
    /// The answer of the service.
    var answer: EmulatorAnswer
    /// The push as the browser opened it, in the shape of FCM's messages, with the endpoint as token. Absent if the browser could not open
    /// the push and dropped it.
    var message: [UInt8]?
  }

  /// The longest life of a VAPID token in seconds (RFC 8292, section 2: 24 hours).
  private static let longestToken: Int64 = 86_400
  /// How many verified tokens are kept. A sender uses one for hours.
  private static let capacity = 1_000
  private static let urgencies: Set<String> = ["very-low", "low", "normal", "high"]

  /// Scheme, host and port: the `aud` of tokens.
  private let origin: String
  /// Further origins of the same listeners.
  private let origins: Set<String>
  /// The public keys that subscriptions were made with. Empty: every key is accepted.
  private let keys: Set<String>
  private var verified: [String: Int64] = [:]
  private var subscriptions: [String: BrowserSubscription] = [:]
  private var messages = 0

  init(origin: String, plainOrigin: String?, keys: [String]) {
    self.origin = origin
    origins = Set([origin] + (plainOrigin.map { [$0] } ?? []))
    self.keys = Set(keys)
  }

  /// The endpoint of an id.
  func endpoint(_ id: String) -> String { origin + BrowserSubscription.path + id }

  /// Checks a push. `isGone` says that the subscription was ended.
  func verdict(
    on body: [UInt8], to id: String, _ headers: [String: String], isGone: Bool, now: Date
  ) -> Verdict {
    guard let subscription = subscription(id) else {
      return .refused(Self.refusal(404, "there is no such subscription"))
    }
    guard !isGone else { return .refused(Self.refusal(410, "the subscription has ended")) }
    if let refusal = refusal(ofToken: headers["authorization"], Int64(now.timeIntervalSince1970)) {
      return .refused(refusal)
    }
    guard let ttl = headers["ttl"].flatMap(Self.number) else {
      return .refused(Self.refusal(400, "TTL must be a number of seconds"))
    }
    if let urgency = headers["urgency"], !Self.urgencies.contains(urgency) {
      return .refused(Self.refusal(400, "Urgency must be very-low, low, normal or high"))
    }
    if let topic = headers["topic"], !Self.isTopic(topic) {
      return .refused(Self.refusal(400, "Topic must have 1 to 32 characters of base64url"))
    }
    guard headers["content-encoding"] == "aes128gcm" else {
      return .refused(Self.refusal(400, "Content-Encoding must be aes128gcm"))
    }
    guard body.count <= WebPushSealing.longestSealed else {
      return .refused(Self.refusal(413, "a push has at most \(WebPushSealing.longestSealed) bytes"))
    }
    guard body.count > 21, body.count > 21 + Int(body[20]) else {
      return .refused(Self.refusal(400, "the body has no header of RFC 8188"))
    }
    messages += 1
    let answer = EmulatorAnswer(
      status: 201,
      headers: [("location", "\(origin)/wpush-message/\(messages)"), ("ttl", "\(min(ttl, WebPushHeaders.longestTTL))")])
    let text = try? subscription.receiver.open(body)
    return .taken(Taken(answer: answer, message: text.flatMap { message($0, id, headers) }))
  }

  private func subscription(_ id: String) -> BrowserSubscription? {
    if let known = subscriptions[id] { return known }
    guard let made = BrowserSubscription(id: id) else { return nil }
    if subscriptions.count >= 100_000 { subscriptions.removeAll() }
    subscriptions[id] = made
    return made
  }

  // MARK: VAPID

  /// Why the token is refused (RFC 8292). Absent if it is valid.
  private func refusal(ofToken header: String?, _ now: Int64) -> EmulatorAnswer? {
    guard let header, header.lowercased().hasPrefix("vapid ") else {
      return Self.refusal(401, "Authorization must be vapid, with t and k")
    }
    if let expiresAt = verified[header], now < expiresAt { return nil }
    var parameters: [String: String] = [:]
    for part in header.dropFirst(6).split(separator: ",") {
      let pair = part.trimmingCharacters(in: .whitespaces).split(separator: "=", maxSplits: 1)
      if pair.count == 2 { parameters[String(pair[0])] = String(pair[1]) }
    }
    guard let token = parameters["t"], let key = parameters["k"] else {
      return Self.refusal(401, "Authorization must be vapid, with t and k")
    }
    guard keys.isEmpty || keys.contains(key) else {
      return Self.refusal(403, "the subscription was made with another key")
    }
    guard let point = Base64URL.decode(key), point.count == 65 else {
      return Self.refusal(403, "k is no point of P-256")
    }
    let set =
      #"{"kty":"EC","crv":"P-256","x":"\#(Base64URL.encode(point[1..<33]))","y":"\#(Base64URL.encode(point[33...]))"}"#
    do {
      let claims = try JSONWebToken.verify(
        token, keys: try JSONWebKeySet(contents: Array(set.utf8)), issuer: nil, audience: nil, now: now)
      guard claims.audience.count == 1, origins.contains(claims.audience[0]) else {
        return Self.refusal(403, "aud must be the origin of the push service")
      }
      guard let expiresAt = claims.expiresAt, expiresAt <= now + Self.longestToken else {
        return Self.refusal(403, "exp must be at most 24 hours ahead")
      }
      guard let subject = claims.subject, VAPIDTokens.isSubject(subject) else {
        return Self.refusal(403, "sub must be mailto: or https:")
      }
      if verified.count >= Self.capacity { verified.removeAll() }
      verified[header] = expiresAt
      return nil
    } catch {
      return Self.refusal(403, "the token is refused: \(error)")
    }
  }

  // MARK: The browser

  /// The data of a push in the shape of FCM's messages.
  private func message(_ text: [UInt8], _ id: String, _ headers: [String: String]) -> [UInt8]? {
    guard let object = try? JSONSerialization.jsonObject(with: Data(text)) as? [String: Any] else { return nil }
    let data = object.compactMapValues { $0 as? String }
    var asked: [String: String] = [:]
    for (name, key) in [("TTL", "ttl"), ("Topic", "topic"), ("Urgency", "urgency")] { asked[name] = headers[key] }
    let message: [String: Any] = ["token": endpoint(id), "data": data, "webpush": ["headers": asked]]
    let bytes = try? JSONSerialization.data(
      withJSONObject: ["message": message], options: [.sortedKeys, .withoutEscapingSlashes])
    return bytes.map { Array($0) }
  }

  // MARK: Parts

  private static func refusal(_ status: Int, _ reason: String) -> EmulatorAnswer {
    EmulatorAnswer(status: status, body: "{\"code\":\(status),\"message\":\(quoted(reason))}\n")
  }

  private static func number(_ text: String) -> Int64? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
  }

  private static func isTopic(_ text: String) -> Bool {
    (1...32).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
      }
  }
}
