import Foundation

/// Where tokens come from, in librdkafka's and Java's properties.
///
/// `sasl.oauthbearer.token.endpoint.url` is either `https://…`, an endpoint that accepts the client's credentials (RFC
/// 6749, section 4.4), or `file:///…`, a file in which another program stores a JSON Web Token.
public struct BearerTokenSettings: Sendable, Equatable {
  enum Place: Sendable, Equatable {
    case file(String)
    case endpoint(url: String, id: String, secret: String)
  }

  let place: Place
  /// The requested scope; nil for the endpoint's default.
  let scope: String?
  /// A file of trusted certificate authorities for the endpoint; nil for the system's.
  let authorities: String?
  /// The endpoint in errors: scheme, host and port. The rest of its URL may contain a login.
  var endpointName: String {
    guard case .endpoint(let url, _, _) = place, let parts = URLComponents(string: url), let scheme = parts.scheme,
      let host = parts.host
    else { return "the token endpoint" }
    return "\(scheme)://\(host)" + (parts.port.map { ":\($0)" } ?? "")
  }
  /// Additional fields for the broker (RFC 7628, section 3.1), such as a cluster's name.
  public let extensions: [Extension]

  /// A key and its value.
  public struct Extension: Sendable, Equatable {
    /// ASCII letters.
    public let key: String
    /// Printable ASCII characters and spaces.
    public let value: String
  }

  private static let urlProperty = "sasl.oauthbearer.token.endpoint.url"

  /// Reads properties; the last value of a name counts. Nil if the login uses another mechanism, or there is no login.
  /// - Throws: An error with the property and the fix, if a value is wrong or missing.
  public init?(properties: [(name: String, value: String)]) throws(BearerTokenError) {
    var values: [String: String] = [:]
    for (name, value) in properties { values[name == "sasl.mechanism" ? "sasl.mechanisms" : name] = value }
    guard values["security.protocol"]?.lowercased().hasPrefix("sasl_") == true,
      values["sasl.mechanisms"]?.uppercased() == "OAUTHBEARER"
    else { return nil }
    func value(_ name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }
    for name in ["sasl.oauthbearer.config", "enable.sasl.oauthbearer.unsecure.jwt"] {
      guard value(name).map({ $0 == "false" }) ?? true else {
        throw BearerTokenError(name, "tokens without a signature are for tests; set \(Self.urlProperty)")
      }
    }
    guard let url = value(Self.urlProperty) else {
      throw BearerTokenError(
        Self.urlProperty, "OAUTHBEARER needs it: https://… of the token endpoint, or file:///… of a file with a token")
    }
    if url.hasPrefix("file://") {
      let path = String(url.dropFirst("file://".count))
      guard path.hasPrefix("/") else { throw BearerTokenError(Self.urlProperty, "a file's path begins with file:///") }
      place = .file(path)
    } else {
      guard url.hasPrefix("https://") || Self.isOnThisMachine(url) else {
        throw BearerTokenError(
          Self.urlProperty, "it is neither https:// nor file:///; the client's secret is not sent over http")
      }
      func needed(_ name: String) throws(BearerTokenError) -> String {
        guard let found = value(name) else { throw BearerTokenError(name, "the token endpoint asks for it") }
        return found
      }
      place = .endpoint(
        url: url, id: try needed("sasl.oauthbearer.client.id"), secret: try needed("sasl.oauthbearer.client.secret"))
    }
    scope = value("sasl.oauthbearer.scope")
    authorities = value("https.ca.location")
    extensions = try Self.extensions(value("sasl.oauthbearer.extensions") ?? "")
  }

  /// Whether a property is read here instead of by librdkafka, because Debian's build lacks support for token
  /// endpoints. librdkafka refuses unknown and misspelt names.
  public static func owns(_ property: String) -> Bool { owned.contains(property) }

  private static let owned: Set<String> = [
    urlProperty, "sasl.oauthbearer.client.id", "sasl.oauthbearer.client.secret", "sasl.oauthbearer.scope",
    "sasl.oauthbearer.extensions", "https.ca.location", "sasl.oauthbearer.config",
    "enable.sasl.oauthbearer.unsecure.jwt",
    // This property selects librdkafka's own token fetching. Here the URL decides.
    "sasl.oauthbearer.method",
  ]

  /// Whether the URL is plain http to a loopback address. The client's secret does not leave this machine there: the
  /// endpoint is an agent beside the service, or a test.
  private static func isOnThisMachine(_ url: String) -> Bool {
    guard let parts = URLComponents(string: url), parts.scheme == "http", parts.user == nil, parts.password == nil
    else {
      return false
    }
    return ["127.0.0.1", "localhost", "::1", "[::1]"].contains(parts.host ?? "")
  }

  /// `key=value,key=value`.
  private static func extensions(_ text: String) throws(BearerTokenError) -> [Extension] {
    let name = "sasl.oauthbearer.extensions"
    var found: [Extension] = []
    for part in text.split(separator: ",") {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard pair.count == 2, !pair[0].isEmpty, pair[0].allSatisfy({ $0.isASCII && $0.isLetter }) else {
        throw BearerTokenError(name, "it is a list of key=value with commas between; a key is letters")
      }
      guard pair[0] != "auth" else { throw BearerTokenError(name, "the key auth is the token's own") }
      guard pair[1].utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else {
        throw BearerTokenError(name, "the value of \(pair[0]) has characters that are not printable ASCII")
      }
      found.append(Extension(key: String(pair[0]), value: String(pair[1])))
    }
    return found
  }
}
