import COpenSSL
import Foundation
public import ServiceKit

/// A key that identifies the sender to push services (RFC 8292). Apps subscribe with its public half, and it signs a
/// token for each service.
public struct VAPIDKey: Sendable {
  /// Why a key file is refused, without the key.
  public struct Invalid: Error, Equatable, CustomStringConvertible {
    public var description: String
  }

  /// The public key in base64url: `applicationServerKey` of `PushManager.subscribe`.
  public let publicKey: String
  private let key: PrivateKey

  /// Reads a private P-256 key in PEM.
  public init(pem: String) throws(Invalid) {
    do { key = try PrivateKey(pem: pem) } catch { throw Invalid(description: error.description) }
    guard let point = Self.publicPoint(pem) else {
      throw Invalid(description: "the key must be EC on P-256 (nudge vapid makes one)")
    }
    publicKey = Base64URL.encode(point)
  }

  /// All keys of a file with one or more PEM blocks. The first is for new subscriptions, the others for subscriptions
  /// made with them.
  public static func keys(inFile contents: String) throws(Invalid) -> [VAPIDKey] {
    // PKCS #8, and the form that `openssl ecparam` writes.
    let ends = ["-----END PRIVATE KEY-----", "-----END EC PRIVATE KEY-----"]
    var keys: [VAPIDKey] = []
    var rest = contents[...]
    while let place = ends.compactMap({ rest.firstRange(of: $0) }).min(by: { $0.lowerBound < $1.lowerBound }) {
      let key = try VAPIDKey(pem: String(rest[..<place.upperBound]) + "\n")
      guard !keys.contains(where: { $0.publicKey == key.publicKey }) else {
        throw Invalid(description: "the file has the same key twice")
      }
      keys.append(key)
      rest = rest[place.upperBound...]
    }
    guard !keys.isEmpty else {
      throw Invalid(description: "no private key in PEM (BEGIN PRIVATE KEY); nudge vapid makes one")
    }
    guard rest.allSatisfy(\.isWhitespace) else {
      throw Invalid(description: "something that is no private key follows the last key")
    }
    return keys
  }

  /// The paths in a list separated by commas.
  public static func paths(_ list: String) -> [String] {
    list.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }

  /// All keys of files. The first is for new subscriptions.
  public static func keys(inFiles paths: [String]) throws(Invalid) -> [VAPIDKey] {
    var keys: [VAPIDKey] = []
    for path in paths {
      guard let data = FileManager.default.contents(atPath: path) else {
        throw Invalid(description: "\(path) cannot be read")
      }
      let found: [VAPIDKey]
      do throws(Invalid) { found = try Self.keys(inFile: String(decoding: data, as: UTF8.self)) } catch {
        throw Invalid(description: "\(path): \(error.description)")
      }
      guard !found.contains(where: { new in keys.contains { $0.publicKey == new.publicKey } }) else {
        throw Invalid(description: "\(path) has a key that another file has too")
      }
      keys += found
    }
    return keys
  }

  /// A new key in PEM.
  public static func makePEM() throws(WebPushCryptographyError) -> String {
    guard let key = nudge_ec_generate("P-256"), let file = BIO_new(BIO_s_mem()) else { throw .failed("make a key") }
    defer {
      EVP_PKEY_free(key)
      BIO_free(file)
    }
    guard PEM_write_bio_PKCS8PrivateKey(file, key, nil, nil, 0, nil, nil) == 1 else { throw .failed("write a key") }
    var bytes: UnsafeMutablePointer<CChar>?
    let count = nudge_bio_contents(file, &bytes)
    guard count > 0, let bytes else { throw .failed("write a key") }
    return String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  /// The header `Authorization` for a push service: a signed token and the public key.
  ///
  /// - Parameters:
  ///   - origin: The service's origin, as in `WebPushEndpoint.origin`.
  ///   - subject: How the service can contact the operator: `mailto:…` or `https:…`.
  ///   - expiresAt: Seconds since the epoch, at most 24 hours ahead.
  func authorization(origin: String, subject: String, expiresAt: Int64) throws(JSONWebTokenError) -> String {
    struct Claims: Encodable {
      var aud: String
      var exp: Int64
      var sub: String
    }
    let token = try JSONWebToken.sign(Claims(aud: origin, exp: expiresAt, sub: subject), key: key)
    return "vapid t=\(token),k=\(publicKey)"
  }

  private static func publicPoint(_ pem: String) -> [UInt8]? {
    let pem = Array(pem.utf8)
    return pem.withUnsafeBytes { buffer -> [UInt8]? in
      guard let file = BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count)) else { return nil }
      defer {
        BIO_free(file)
        ERR_clear_error()
      }
      guard let key = PEM_read_bio_PrivateKey(file, nil, { _, _, _, _ in -1 }, nil) else { return nil }
      defer { EVP_PKEY_free(key) }
      var point = [UInt8](repeating: 0, count: P256.pointLength)
      var length = 0
      guard EVP_PKEY_is_a(key, "EC") == 1,
        EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, &point, point.count, &length) == 1,
        length == P256.pointLength, P256.Point(point) != nil
      else { return nil }
      return point
    }
  }
}

/// Tokens for push services. Each is signed once and used for many pushes.
public struct VAPIDTokens: Sendable {
  /// How long a token is valid, in seconds. Services refuse more than 24 hours, and their clock may be behind ours.
  public static let lifetime: Int64 = 12 * 3_600
  /// A token is replaced this long before its end, in seconds, so that it does not expire while a push waits.
  static let renewal: Int64 = 2 * 3_600
  /// The most services with a kept token. A further one replaces the token that ends first.
  static let capacity = 1_000

  private struct Name: Hashable {
    var origin: String
    var publicKey: String
  }

  private let subject: String
  private var tokens: [Name: (header: String, expiresAt: Int64)] = [:]

  /// - Parameter subject: How services can contact the operator: `mailto:…` or `https:…`.
  public init(subject: String) { self.subject = subject }

  /// Whether services accept a subject.
  public static func isSubject(_ text: String) -> Bool {
    let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    return isPlain
      && (text.hasPrefix("mailto:") && text.dropFirst(7).contains("@")
        || text.hasPrefix("https://") && text.utf8.count > 8)
  }

  /// The header `Authorization` for a service.
  ///
  /// - Parameter now: Seconds since the epoch.
  public mutating func authorization(
    for origin: String, by key: VAPIDKey, now: Int64
  ) throws(JSONWebTokenError) -> String {
    let name = Name(origin: origin, publicKey: key.publicKey)
    // After a clock went back, a token from the future must not be used.
    if let token = tokens[name], token.expiresAt - Self.renewal > now, token.expiresAt <= now + Self.lifetime {
      return token.header
    }
    let expiresAt = now + Self.lifetime
    let header = try key.authorization(origin: origin, subject: subject, expiresAt: expiresAt)
    if tokens.count >= Self.capacity, tokens[name] == nil,
      let first = tokens.min(by: { $0.value.expiresAt < $1.value.expiresAt })
    {
      tokens[first.key] = nil
    }
    tokens[name] = (header, expiresAt)
    return header
  }

  /// Removes the tokens for a service that refused one.
  public mutating func forget(_ origin: String) { tokens = tokens.filter { $0.key.origin != origin } }
}
