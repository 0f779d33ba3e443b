public import ServiceKit

/// The urgency of a push (RFC 8030, section 5.3). Services hold back less urgent pushes while a device saves power.
public enum WebPushUrgency: String, Sendable, CaseIterable {
  case veryLow = "very-low"
  case low, normal, high
}

/// The headers of a push for its push service (RFC 8030, 8188, 8292).
public struct WebPushHeaders: Sendable, Equatable {
  /// The longest TTL that services accept, 4 weeks in seconds. Many grant less.
  public static let longestTTL: Int64 = 28 * 86_400

  /// The seconds for which the service may store the push. With 0 it reaches only a device that is connected now.
  public var ttl: Int64
  /// The urgency.
  public var urgency: WebPushUrgency
  /// The topic, or nil. A push replaces a waiting push with the same topic.
  public var topic: String?
  /// The value of `VAPIDTokens.authorization`.
  public var authorization: String

  /// Headers. A TTL out of range becomes the nearest allowed one.
  public init(ttl: Int64, urgency: WebPushUrgency, topic: String? = nil, authorization: String) {
    self.ttl = min(max(0, ttl), Self.longestTTL)
    self.urgency = urgency
    self.topic = topic
    self.authorization = authorization
  }

  /// Names and values.
  public var fields: [(String, String)] {
    var fields = [
      ("TTL", String(ttl)), ("Urgency", urgency.rawValue), ("Content-Encoding", "aes128gcm"),
      ("Content-Type", "application/octet-stream"), ("Authorization", authorization),
    ]
    if let topic { fields.append(("Topic", topic)) }
    return fields
  }

  /// A topic for this identifier: 32 characters of base64url that reveal nothing of it.
  public static func topic(of identifier: String) -> String {
    Base64URL.encode(SHA256Digest.of(Array(identifier.utf8)).prefix(24))
  }
}

/// What a push service's answer means for the push and its subscription.
public enum WebPushAnswer: Sendable, Equatable {
  /// The service accepted the push.
  case sent
  /// The subscription has ended and must be removed.
  case gone
  /// The push is too long for this service. A shorter one may be accepted.
  case tooLong
  /// Not now. Try again, after the time in `Retry-After` if the answer has it.
  case later
  /// The service refuses our key or token, not this push. It will refuse every push with this key until somebody fixes
  /// that.
  case keyRefused
  /// The service will never accept this push.
  case rejected

  /// Reads an HTTP status.
  public init(status: Int) {
    switch status {
    case 200..<300: self = .sent
    case 404, 410: self = .gone
    case 413: self = .tooLong
    case 401, 403: self = .keyRefused
    // 408 and 425 ask for a repetition, 429 means too many. Of the server errors only 501 and 505 are final.
    case 408, 425, 429, 500, 502...504, 506...599: self = .later
    // A redirect is rejected too: following it would send the push to an unchecked address.
    default: self = .rejected
    }
  }
}

/// The endpoints that subscriptions may have. Ingest refuses others, and the dispatcher does not send to them. Both
/// need the same values.
public enum WebPushSettings {
  /// The allowed hosts.
  public static let hosts = Setting<[String]>(
    "web-push-hosts", default: [], placeholder: "HOST,…",
    help:
      "The only hosts to which Web Push subscriptions may lead: push.example.org, or *.example.org for "
      + "every host below it. They may have private addresses. Default: every host at a public address. Give "
      + "ingest and dispatcher the same value.",
    check: { hosts in
      hosts.allSatisfy(EndpointRules.isPattern) ? nil : "names of hosts, such as push.example.org or *.example.org"
    })

  /// Whether plain http and private addresses are allowed.
  public static let allowsPrivate = Setting<Bool>(
    "web-push-allow-private", default: false,
    help:
      "Allow Web Push subscriptions to private addresses and by http, for tests and closed networks. Users "
      + "of an app choose these URLs. Give ingest and dispatcher the same value.")

  /// Both settings, in the order of the help.
  public static let all: [any AnySetting] = [hosts, allowsPrivate]

  /// The rules from the settings.
  public static func rules(_ values: SettingsValues) -> EndpointRules {
    EndpointRules(hosts: values[hosts], allowsPrivateAddresses: values[allowsPrivate])
  }
}
