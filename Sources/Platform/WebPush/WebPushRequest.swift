public import ServiceKit

/// How soon a push is needed (RFC 8030, section 5.3): services hold back what is less urgent while a device saves power.
public enum WebPushUrgency: String, Sendable, CaseIterable {
  case veryLow = "very-low"
  case low, normal, high
}

/// The headers of a push for its push service (RFC 8030, 8188, 8292).
public struct WebPushHeaders: Sendable, Equatable {
  /// The longest time that services take, 4 weeks in seconds. Many grant less.
  public static let longestTTL: Int64 = 28 * 86_400

  /// Seconds for which the service may keep the push. 0: it is for a device that is there now.
  public var ttl: Int64
  /// How soon it is needed.
  public var urgency: WebPushUrgency
  /// A push replaces a waiting one with the same topic; nil if it replaces nothing.
  public var topic: String?
  /// `VAPIDTokens.authorization`.
  public var authorization: String

  /// Headers; a TTL out of its range becomes the nearest in it.
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

  /// A topic for what has this identifier: 32 characters of base64url that tell nothing of it to who does not know it.
  public static func topic(of identifier: String) -> String {
    Base64URL.encode(SHA256Digest.of(Array(identifier.utf8)).prefix(24))
  }
}

/// The meaning of an answer of a push service for the push and its subscription.
public enum WebPushAnswer: Sendable, Equatable {
  /// The service took it.
  case sent
  /// The subscription has ended: it is to be removed.
  case gone
  /// Too long for this service: a shorter one may pass.
  case tooLong
  /// Not now: again, after the time in `Retry-After` where the answer has it.
  case later
  /// The service refuses our key or token, not this push: nothing passes at this host with this key until somebody looks.
  case keyRefused
  /// The service will never take this push.
  case rejected

  /// Reads a status of HTTP.
  public init(status: Int) {
    switch status {
    case 200..<300: self = .sent
    case 404, 410: self = .gone
    case 413: self = .tooLong
    case 401, 403: self = .keyRefused
    // 408 and 425 ask for a repetition; 429 says too many. Among a server's faults only 501 and 505 are final.
    case 408, 425, 429, 500, 502...504, 506...599: self = .later
    // Also a redirect: following one would send the push to an address that nobody has checked.
    default: self = .rejected
    }
  }
}

/// Where subscriptions may lead. Ingest refuses others, and the dispatcher sends to no others: both want the same values.
public enum WebPushSettings {
  /// The hosts that are allowed.
  public static let hosts = Setting<[String]>(
    "web-push-hosts", default: [], placeholder: "HOST,…",
    help:
      "Hosts that subscriptions of Web Push may lead to: push.example.org, or *.example.org for all below it. They may have "
      + "private addresses. Default: every host at a public address. Give ingest and dispatcher the same value.",
    check: { hosts in
      hosts.allSatisfy(EndpointRules.isPattern) ? nil : "names of hosts, such as push.example.org or *.example.org"
    })

  /// Whether plain http and private addresses are allowed.
  public static let allowsPrivate = Setting<Bool>(
    "web-push-allow-private", default: false,
    help:
      "Subscriptions of Web Push may lead to private addresses, and to http: for tests and closed networks, as users of an app "
      + "choose these URLs. Give ingest and dispatcher the same value.")

  /// Both, in the order of the help.
  public static let all: [any AnySetting] = [hosts, allowsPrivate]

  /// The rules of the settings.
  public static func rules(_ values: SettingsValues) -> EndpointRules {
    EndpointRules(hosts: values[hosts], allowsPrivateAddresses: values[allowsPrivate])
  }
}
