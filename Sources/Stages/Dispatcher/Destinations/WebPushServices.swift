import NudgeSchema
import WebPush

/// Which push services are told apart, for queues, quotas and breakers, and in metrics. Their number is bounded, because the users of an
/// app choose the endpoints: services that are not known by name share some hundred places by a hash.
struct WebPushServices: Sendable {
  /// The word of metrics, spans and logs for a host that has no name of its own.
  static let other = "other"
  /// The services of browsers.
  private static let known = [
    "fcm.googleapis.com", "updates.push.services.mozilla.com", "web.push.apple.com", "*.notify.windows.com",
  ]
  private static let places: UInt64 = 256

  /// Hosts that have a name: the known ones and those of the operator.
  let patterns: [String]
  /// Keeps users from choosing a host that shares its place with another one.
  private let salt: UInt64

  /// - Parameter hosts: the operator's.
  init(hosts: [String] = [], salt: UInt64) {
    patterns = Self.known + hosts.filter { !Self.known.contains($0) }.prefix(32)
    self.salt = salt
  }

  /// The service of an endpoint: its origin where it is known, or a place that it may share with others.
  func service(of endpoint: String) -> String {
    let origin = Self.origin(endpoint)
    if origin.hasPrefix("https://"), patterns.contains(where: { $0.utf8.elementsEqual(origin.utf8.dropFirst(8)) }) {
      return origin
    }
    var hash = FNV1a(seed: salt)
    hash.combine(origin.utf8)
    return "\(Self.other)-\(hash.spread % Self.places)"
  }

  /// The name of a host in metrics, spans and logs.
  func label(ofHost host: String) -> String {
    EndpointRules(hosts: patterns).pattern(of: host) ?? Self.other
  }

  /// Scheme, host and port as they are written.
  private static func origin(_ endpoint: String) -> String {
    var slashes = 0
    let end = endpoint.utf8.firstIndex { byte in
      if byte == UInt8(ascii: "/") { slashes += 1 }
      return slashes == 3 || slashes == 2 && byte == UInt8(ascii: "?")
    }
    return endpoint[..<(end ?? endpoint.endIndex)].lowercased()
  }
}

/// Where pushes to subscriptions may go.
struct WebPushRules: Sendable {
  var endpoints: EndpointRules
  var services: WebPushServices
}
