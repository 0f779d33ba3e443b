import Foundation
import HTTPTransport
import JSONCodec
import Synchronization

/// A token for the SASL mechanism OAUTHBEARER (RFC 7628).
public struct BearerToken: Sendable, Equatable {
  /// The token itself, a secret.
  public let value: String
  /// The principal: `sub` of a JSON Web Token, else the client's id.
  public let principal: String
  /// The expiry in milliseconds since the epoch.
  public let expiresAt: Int64
}

/// Why no token is available. Never contains a token, the client's secret or an endpoint's answer.
public struct BearerTokenError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The property with the error; nil if no property is the cause.
  public let property: String?
  /// The reason and, if known, the fix.
  public let reason: String
  /// Whether a later attempt may succeed because the endpoint is only unavailable or slow.
  public let isPassing: Bool

  init(_ property: String?, _ reason: String, isPassing: Bool = false) {
    self.property = property
    self.reason = reason
    self.isPassing = isPassing
  }

  /// The property, if any, and the reason.
  public var description: String { property.map { "\($0): \(reason)" } ?? reason }
}

/// Keeps a token and fetches the next one before it expires. Any thread may ask for it; while one thread fetches, the
/// others wait.
public final class BearerTokenSource: Sendable {
  /// The fraction of a token's lifetime after which the next one is fetched.
  static let usedShare = 0.8
  /// The longest accepted token in bytes: brokers close the connection on a larger one.
  static let maxTokenBytes = 64 << 10

  /// Where its tokens come from.
  public let settings: BearerTokenSettings

  private struct Kept {
    var token: BearerToken
    var refreshAt: Int64
  }

  private let kept = Mutex<Kept?>(nil)
  private let now: @Sendable () -> Int64

  /// A source without a token.
  /// - Parameter now: Returns milliseconds since the epoch; nil for the system's clock.
  public init(_ settings: BearerTokenSettings, now: (@Sendable () -> Int64)? = nil) {
    self.settings = settings
    self.now = now ?? { Int64(Date().timeIntervalSince1970 * 1000) }
  }

  /// A token that is valid now, usually without I/O. If the next one cannot be fetched, the current one is used until
  /// it expires.
  /// - Parameter timeout: how long an endpoint may take.
  public func token(timeout: Duration = .seconds(10)) throws(BearerTokenError) -> BearerToken {
    let fetched = kept.withLock { kept in
      let now = now()
      if let kept, now < kept.refreshAt { return Result<BearerToken, BearerTokenError>.success(kept.token) }
      do throws(BearerTokenError) {
        let token = try fetch(now, timeout)
        kept = Kept(token: token, refreshAt: now + Int64(Double(token.expiresAt - now) * Self.usedShare))
        return .success(token)
      } catch {
        if let kept, now < kept.token.expiresAt { return .success(kept.token) }
        return .failure(error)
      }
    }
    return try fetched.get()
  }

  private func fetch(_ now: Int64, _ timeout: Duration) throws(BearerTokenError) -> BearerToken {
    switch settings.place {
    case .file(let path): try read(path, now)
    case .endpoint(let url, let id, let secret): try ask(url, id, secret, now, timeout)
    }
  }

  // MARK: A file

  private func read(_ path: String, _ now: Int64) throws(BearerTokenError) -> BearerToken {
    guard let file = FileHandle(forReadingAtPath: path),
      let bytes = try? file.read(upToCount: Self.maxTokenBytes + 1)
    else { throw BearerTokenError(nil, "no token: \(path) cannot be read", isPassing: true) }
    guard bytes.count <= Self.maxTokenBytes else {
      throw BearerTokenError(nil, "no token: \(path) has more than \(Self.maxTokenBytes) bytes", isPassing: true)
    }
    let value = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    // The program that writes the file may be replacing it at this moment.
    guard let claims = Claims(token: value), let expiresAt = claims.expiresAt else {
      throw BearerTokenError(
        nil, "no token: what \(path) holds is not a JSON Web Token that says when it expires (exp)", isPassing: true)
    }
    return try valid(
      BearerToken(value: value, principal: claims.subject ?? "unknown", expiresAt: expiresAt), now,
      "the token in \(path)")
  }

  // MARK: An endpoint

  private func ask(_ url: String, _ id: String, _ secret: String, _ now: Int64, _ timeout: Duration)
    throws(BearerTokenError) -> BearerToken
  {
    let response = try post(url, id, secret, timeout)
    let answer = Answer(response.body)
    guard response.status == 200 else {
      // Only OAuth's own codes are taken from the endpoint's answer into the error.
      let code = answer?.error.map { ": \($0)" } ?? ""
      throw BearerTokenError(
        nil, "no token: \(settings.endpointName) answers \(response.status)\(code)",
        isPassing: response.status >= 500 || response.status == 429 || response.status == 408)
    }
    guard let value = answer?.token else {
      throw BearerTokenError(
        nil, "no token: the answer of \(settings.endpointName) has no access_token", isPassing: true)
    }
    let claims = Claims(token: value)
    guard let expiresAt = answer?.lifetime.map({ now + $0 * 1000 }) ?? claims?.expiresAt else {
      throw BearerTokenError(
        nil, "no token: the answer of \(settings.endpointName) does not say when it expires (expires_in)",
        isPassing: true)
    }
    return try valid(
      BearerToken(value: value, principal: claims?.subject ?? id, expiresAt: expiresAt), now,
      "the token of \(settings.endpointName)")
  }

  private func post(_ url: String, _ id: String, _ secret: String, _ timeout: Duration)
    throws(BearerTokenError) -> HTTPResponse
  {
    var body = "grant_type=client_credentials"
    if let scope = settings.scope { body += "&scope=\(Self.formEncoded(scope))" }
    let credentials = Data("\(Self.formEncoded(id)):\(Self.formEncoded(secret))".utf8).base64EncodedString()
    do throws(HTTPTransportError) {
      // No connection is kept, because it is rarely used.
      let client = try HTTPClient(
        HTTPClientConfiguration(
          caFile: settings.authorities, maxConnectionsPerHost: 1, maxConcurrentStreams: 1, maxQueued: 1,
          maxResponseBytes: 2 * Self.maxTokenBytes, plainProtocol: .http1))
      defer { client.shutdown(grace: .zero) }
      return try client.response(
        to: HTTPRequest(
          url: url,
          headers: [
            ("content-type", "application/x-www-form-urlencoded"), ("accept", "application/json"),
            ("authorization", "Basic \(credentials)"),
          ], body: Array(body.utf8), timeout: timeout)
      ).get()
    } catch {
      throw BearerTokenError(nil, "no token: \(settings.endpointName): \(error)", isPassing: true)
    }
  }

  /// `application/x-www-form-urlencoded`, which RFC 6749 also requires for id and secret (section 2.3.1).
  private static func formEncoded(_ text: String) -> String {
    text.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
        return String(UnicodeScalar(byte))
      case UInt8(ascii: " "): return "+"
      default: return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }.joined()
  }

  /// Refuses tokens that librdkafka would refuse without a reason, and tokens that no broker accepts.
  private func valid(_ token: BearerToken, _ now: Int64, _ whose: String) throws(BearerTokenError) -> BearerToken {
    guard token.expiresAt > now else { throw BearerTokenError(nil, "\(whose) has expired", isPassing: true) }
    // RFC 6750, section 2.1.
    let isPlain = token.value.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "-._~+/=".utf8.contains(byte)
      }
    }
    guard !token.value.isEmpty, isPlain else {
      throw BearerTokenError(nil, "\(whose) has characters that no token has", isPassing: true)
    }
    return token
  }
}

/// An endpoint's answer (RFC 6749, sections 5.1 and 5.2).
private struct Answer {
  var token: String?
  /// In seconds, at least 1.
  var lifetime: Int64?
  /// One of OAuth's error codes, which are plain words.
  var error: String?

  init?(_ body: [UInt8]) {
    let found = try? JSONParser().parse(body) { json in
      (json["access_token"]?.string, json["expires_in"]?.double, json["error"]?.string)
    }
    guard let found else { return nil }
    token = found.0
    // Some endpoints write 3600.0. More than a hundred years is an error.
    lifetime = found.1.flatMap { $0 >= 1 && $0 < 3.2e9 ? Int64($0) : nil }
    error = found.2.flatMap { code in
      code.utf8.count <= 64 && code.utf8.allSatisfy { $0 == UInt8(ascii: "_") || (0x61...0x7a).contains($0) }
        ? code : nil
    }
  }
}

/// The claims of a JSON Web Token. The client cannot verify the signature.
private struct Claims {
  var subject: String?
  /// In milliseconds since the epoch.
  var expiresAt: Int64?

  init?(token: String) {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    var text = parts[1].replacing("-", with: "+").replacing("_", with: "/")
    text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    guard let bytes = Data(base64Encoded: String(text)) else { return nil }
    let found = try? JSONParser().parse([UInt8](bytes)) { json in (json["sub"]?.string, json["exp"]?.double) }
    guard let found else { return nil }
    subject = found.0
    expiresAt = found.1.flatMap { $0 > 0 && $0 < 1e12 ? Int64($0 * 1000) : nil }
  }
}

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
