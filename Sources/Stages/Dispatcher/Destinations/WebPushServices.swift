import NudgeSchema
import ServiceKit
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
  private static let places = (0..<256).map { "\(other)-\($0)" }

  /// Hosts that have a name: the known ones and those of the operator.
  let patterns: [String]
  private let rules: EndpointRules
  /// The origins of hosts that have a name.
  private let origins: [String]
  /// Keeps users from choosing a host that shares its place with another one.
  private let salt: UInt64

  /// - Parameter hosts: the operator's.
  init(hosts: [String] = [], salt: UInt64) {
    patterns = Self.known + hosts.filter { !Self.known.contains($0) }.prefix(32)
    rules = EndpointRules(hosts: patterns)
    origins = patterns.map { "https://\($0)" }
    self.salt = salt
  }

  /// The service of an endpoint: its origin where it is known, or a place that it may share with others.
  func service(of endpoint: String) -> String {
    var endpoint = endpoint
    return endpoint.withUTF8 { url in
      // Scheme, host and port as they are written, in lower case.
      var (slashes, end) = (0, 0)
      var hash = FNV1a(seed: salt)
      while end < url.count {
        let byte = url[end]
        if byte == 0x2F { slashes += 1 }
        if slashes == 3 || slashes == 2 && byte == 0x3F { break }
        hash.combine(ASCII.lowercased(byte))
        end += 1
      }
      let origin = UnsafeBufferPointer(rebasing: url[..<end])
      if let known = origins.first(where: { Self.isSame($0, origin) }) { return known }
      return Self.places[Int(hash.spread % UInt64(Self.places.count))]
    }
  }

  private static func isSame(_ known: String, _ origin: UnsafeBufferPointer<UInt8>) -> Bool {
    guard known.utf8.count == origin.count else { return false }
    for (one, other) in zip(known.utf8, origin) where one != ASCII.lowercased(other) { return false }
    return true
  }

  /// The name of a host in metrics, spans and logs.
  func label(ofHost host: String) -> String {
    rules.pattern(of: host) ?? Self.other
  }
}

/// Where pushes to subscriptions may go.
struct WebPushRules: Sendable {
  var endpoints: EndpointRules
  var services: WebPushServices
}
