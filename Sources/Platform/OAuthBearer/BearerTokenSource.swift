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
