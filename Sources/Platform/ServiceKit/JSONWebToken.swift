import COpenSSL
import Foundation

/// JSON Web Tokens: signed with RS256 or ES256, verified with configured keys.
public enum JSONWebToken {
  /// Tolerated clock difference in seconds.
  public static let leeway: Int64 = 60

  /// Longer tokens, in bytes, are refused without being parsed.
  private static let longest = 16_384

  private struct Header: Codable {
    var alg: String
    var kid: String?
    var typ: String?
    var crit: [String]?
  }

  /// A signed token with these claims. The algorithm is the key's.
  /// - Parameter kid: The key's id for the header, by which Google and readers of a JWKS find the key.
  /// - Throws: `JSONWebTokenError.cryptography`, or `malformed` if the claims cannot be encoded.
  public static func sign(
    _ claims: some Encodable, key: PrivateKey, kid: String? = nil
  ) throws(JSONWebTokenError) -> String {
    let header = Header(alg: key.key.algorithm.rawValue, kid: kid, typ: "JWT", crit: nil)
    let message = try Base64URL.encode(json(header)) + "." + Base64URL.encode(json(claims))
    let signature = try key.key.sign(Array(message.utf8))
    return message + "." + Base64URL.encode(signature)
  }

  /// The claims of a token that is valid now. The signature is verified first; until then, no error reveals anything of
  /// the token's content.
  ///
  /// The algorithm is that of the configured key, and the header must name the same one. So a token cannot choose
  /// `none`, or HS256 with the public key as its secret.
  /// - Parameters:
  ///   - issuer: The required `iss`; nil accepts any.
  ///   - audience: The required member of `aud`; nil accepts any.
  ///   - now: Seconds since the epoch.
  public static func verify(
    _ token: String, keys: JSONWebKeySet, issuer: String?, audience: String?, now: Int64
  ) throws(JSONWebTokenError) -> JSONWebClaims {
    let claims = try signedClaims(of: token, keys: keys)
    guard let expiresAt = claims.expiresAt else { throw .noExpiry }
    guard now < expiresAt + leeway else { throw .expired }
    if let notBefore = claims.notBefore, now + leeway < notBefore { throw .notYetValid }
    if let issuedAt = claims.issuedAt, now + leeway < issuedAt { throw .notYetValid }
    if let issuer, claims.issuer != issuer { throw .wrongIssuer }
    if let audience, !claims.audience.contains(audience) { throw .wrongAudience }
    return claims
  }

  /// The most opening brackets in a header, which is untrusted. Foundation's decoder can crash on hundreds of nested
  /// ones.
  private static let mostBrackets = 64

  private static func signedClaims(
    of token: String, keys: JSONWebKeySet
  ) throws(JSONWebTokenError) -> JSONWebClaims {
    guard token.utf8.count <= longest else { throw .malformed }
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let headerBytes = Base64URL.decode(parts[0]), let body = Base64URL.decode(parts[1]),
      let signature = Base64URL.decode(parts[2]),
      headerBytes.count(where: { $0 == 0x5B || $0 == 0x7B }) <= mostBrackets,
      let header = try? JSONDecoder().decode(Header.self, from: Data(headerBytes))
    else { throw .malformed }
    guard header.crit == nil else { throw .criticalExtension }
    let message = Array("\(parts[0]).\(parts[1])".utf8)
    try verify(signature, of: message, header: header, keys: keys)
    guard let claims = try? JSONDecoder().decode(JSONWebClaims.self, from: Data(body)) else { throw .malformed }
    return claims
  }

  private static func verify(
    _ signature: [UInt8], of message: [UInt8], header: Header, keys: JSONWebKeySet
  ) throws(JSONWebTokenError) {
    // A key without an id, such as one from PEM, can match any `kid`.
    let named = keys.entries.filter { header.kid == nil || $0.identifier == nil || $0.identifier == header.kid }
    guard !named.isEmpty else { throw .unknownKey }
    let fitting = named.filter { $0.key.algorithm.rawValue == header.alg }
    guard !fitting.isEmpty else { throw .algorithmRefused }
    for entry in fitting where try entry.key.verifies(signature, of: message) { return }
    throw .invalidSignature
  }

  private static func json(_ value: some Encodable) throws(JSONWebTokenError) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return try encoder.encode(value)
    } catch {
      throw .malformed
    }
  }
}

/// Why a token or key is refused. No case contains the token or any part of a key.
public enum JSONWebTokenError: Error, Sendable, Equatable, CustomStringConvertible {
  /// It does not have three parts of base64url with JSON in the first two.
  case malformed
  /// The header names another algorithm than the configured key's, such as `none` or HS256.
  case algorithmRefused
  /// The header requires extensions (`crit`) that are not supported.
  case criticalExtension
  /// No configured key has the token's `kid`.
  case unknownKey
  /// The signature does not match any configured key.
  case invalidSignature
  /// There is no `exp`.
  case noExpiry
  /// `exp` has passed.
  case expired
  /// `nbf` or `iat` is yet to come.
  case notYetValid
  /// `iss` differs from the required one.
  case wrongIssuer
  /// `aud` does not name this service.
  case wrongAudience
  /// A configured key cannot be used. The text says which one and why.
  case invalidKey(String)
  /// OpenSSL failed in an operation that normally cannot fail.
  case cryptography(String)

  /// The reason in words.
  public var description: String {
    switch self {
    case .malformed: "the token is no JSON Web Token"
    case .algorithmRefused: "the token's algorithm is not that of the configured key"
    case .criticalExtension: "the token demands extensions that are not supported"
    case .unknownKey: "no configured key has the token's key id"
    case .invalidSignature: "the token's signature is not valid"
    case .noExpiry: "the token has no expiry: it must carry exp"
    case .expired: "the token has expired: get a new one"
    case .notYetValid: "the token is not valid yet: check the clocks"
    case .wrongIssuer: "the token comes from another issuer"
    case .wrongAudience: "the token is for another audience"
    case .invalidKey(let reason): "key: \(reason)"
    case .cryptography(let operation): "OpenSSL failed: \(operation)"
    }
  }
}

/// The registered claims of a token (RFC 7519, section 4.1), and the `scope` of OAuth. Times are seconds since the epoch.
public struct JSONWebClaims: Codable, Sendable, Equatable {
  /// `iss`: who issued the token.
  public var issuer: String?
  /// `sub`: whom it is about.
  public var subject: String?
  /// `aud`: whom it is for. A single audience is written as one text.
  public var audience: [String]
  /// `exp`: it is not valid from this time on.
  public var expiresAt: Int64?
  /// `nbf`: it is not valid before this time.
  public var notBefore: Int64?
  /// `iat`: when it was issued.
  public var issuedAt: Int64?
  /// `scope`: what it requests, separated by blanks.
  public var scope: String?

  /// Claims. Those that are nil are omitted.
  public init(
    issuer: String? = nil, subject: String? = nil, audience: [String] = [], expiresAt: Int64? = nil,
    notBefore: Int64? = nil, issuedAt: Int64? = nil, scope: String? = nil
  ) {
    self.issuer = issuer
    self.subject = subject
    self.audience = audience
    self.expiresAt = expiresAt
    self.notBefore = notBefore
    self.issuedAt = issuedAt
    self.scope = scope
  }

  private enum CodingKeys: String, CodingKey {
    case issuer = "iss"
    case subject = "sub"
    case audience = "aud"
    case expiresAt = "exp"
    case notBefore = "nbf"
    case issuedAt = "iat"
    case scope
  }

  /// Reads the claims. `aud` may be a text or a list. A fraction of a time is cut.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    issuer = try container.decodeIfPresent(String.self, forKey: .issuer)
    subject = try container.decodeIfPresent(String.self, forKey: .subject)
    if let one = try? container.decode(String.self, forKey: .audience) {
      audience = [one]
    } else {
      audience = try container.decodeIfPresent([String].self, forKey: .audience) ?? []
    }
    expiresAt = try Self.seconds(container, .expiresAt)
    notBefore = try Self.seconds(container, .notBefore)
    issuedAt = try Self.seconds(container, .issuedAt)
    scope = try container.decodeIfPresent(String.self, forKey: .scope)
  }

  /// Writes the claims that are present.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(issuer, forKey: .issuer)
    try container.encodeIfPresent(subject, forKey: .subject)
    if audience.count == 1 {
      try container.encode(audience[0], forKey: .audience)
    } else if !audience.isEmpty {
      try container.encode(audience, forKey: .audience)
    }
    try container.encodeIfPresent(expiresAt, forKey: .expiresAt)
    try container.encodeIfPresent(notBefore, forKey: .notBefore)
    try container.encodeIfPresent(issuedAt, forKey: .issuedAt)
    try container.encodeIfPresent(scope, forKey: .scope)
  }

  private static func seconds(
    _ container: KeyedDecodingContainer<CodingKeys>, _ key: CodingKeys
  ) throws -> Int64? {
    guard let number = try container.decodeIfPresent(Double.self, forKey: key) else { return nil }
    // Years far beyond any token. A larger number would not fit and has no meaning.
    guard number.magnitude < 1e15 else {
      throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "no time")
    }
    return Int64(number)
  }
}

/// The public keys that verify tokens. A file that changes is read into a new set.
public struct JSONWebKeySet: Sendable {
  struct Entry: Sendable {
    let identifier: String?
    let key: SigningKey
  }

  let entries: [Entry]

  /// Reads the content of a key file: a JWK Set, one JWK, or one public key in PEM.
  /// - Throws: `JSONWebTokenError.invalidKey` if the file has no usable key, or if a key for signatures is broken. Keys
  ///   for encryption and keys of unknown types are skipped, as RFC 7517 requires.
  public init(contents: [UInt8]) throws(JSONWebTokenError) {
    let text = String(decoding: contents, as: UTF8.self)
    if text.contains("-----BEGIN") {
      entries = [Entry(identifier: nil, key: try PEMKey.publicKey(text))]
      return
    }
    var entries: [Entry] = []
    for (index, key) in try Self.keys(in: contents).enumerated() {
      guard key.use == nil || key.use == "sig", let made = try Self.signingKey(key, index: index) else { continue }
      if let algorithm = key.alg, algorithm != made.algorithm.rawValue { continue }
      entries.append(Entry(identifier: key.kid, key: made))
    }
    guard !entries.isEmpty else {
      throw .invalidKey("no key for RS256 or ES256 in the set: use RSA of 2048 bits or more, or EC on P-256")
    }
    self.entries = entries
  }

  private struct Key: Decodable {
    let kty: String
    let kid: String?
    let use: String?
    let alg: String?
    let crv: String?
    let n: String?
    let e: String?
    let x: String?
    let y: String?
  }

  private struct KeySet: Decodable {
    let keys: [Key]
  }

  private static func keys(in contents: [UInt8]) throws(JSONWebTokenError) -> [Key] {
    let decoder = JSONDecoder()
    let data = Data(contents)
    if let set = try? decoder.decode(KeySet.self, from: data) { return set.keys }
    if let key = try? decoder.decode(Key.self, from: data) { return [key] }
    throw .invalidKey("the file is neither a JSON Web Key Set ({\"keys\": […]}) nor a public key in PEM")
  }

  /// Nil for unknown types of keys.
  private static func signingKey(_ key: Key, index: Int) throws(JSONWebTokenError) -> SigningKey? {
    let name = key.kid.map { "'\($0)'" } ?? "number \(index + 1)"
    switch key.kty {
    case "RSA":
      guard let n = key.n.flatMap({ Base64URL.decode($0) }), let e = key.e.flatMap({ Base64URL.decode($0) }) else {
        throw .invalidKey("\(name): n and e must be base64url")
      }
      return try SigningKey(
        owning: make("RSA", name) { $0.add(n, OSSL_PKEY_PARAM_RSA_N) && $0.add(e, OSSL_PKEY_PARAM_RSA_E) })
    case "EC" where key.crv == "P-256":
      guard let x = key.x.flatMap({ Base64URL.decode($0) }), let y = key.y.flatMap({ Base64URL.decode($0) }),
        x.count == 32, y.count == 32
      else { throw .invalidKey("\(name): x and y must be 32 bytes in base64url") }
      // 4 marks a point with both coordinates.
      return try SigningKey(
        owning: make("EC", name) {
          $0.add("prime256v1", OSSL_PKEY_PARAM_GROUP_NAME) && $0.add(octets: [4] + x + y, OSSL_PKEY_PARAM_PUB_KEY)
        })
    default:
      return nil
    }
  }

  private static func make(
    _ type: String, _ name: String, _ fill: (KeyParameters) -> Bool
  ) throws(JSONWebTokenError) -> OpaquePointer {
    defer { ERR_clear_error() }
    guard let parameters = KeyParameters(), fill(parameters), let key = parameters.publicKey(type) else {
      throw .invalidKey("\(name): OpenSSL refuses it; the numbers are no \(type) key")
    }
    return key
  }
}

/// The parameters from which OpenSSL makes a public key.
private final class KeyParameters {
  private let builder: OpaquePointer
  /// The builder keeps only references to these values and names until the key is created.
  private var numbers: [OpaquePointer] = []
  private var kept: [UnsafeMutableRawPointer] = []

  init?() {
    guard let builder = OSSL_PARAM_BLD_new() else { return nil }
    self.builder = builder
  }

  deinit {
    OSSL_PARAM_BLD_free(builder)
    for number in numbers { BN_free(number) }
    for copy in kept { copy.deallocate() }
  }

  func add(_ number: [UInt8], _ name: String) -> Bool {
    guard let count = Int32(exactly: number.count), let value = BN_bin2bn(number, count, nil) else { return false }
    numbers.append(value)
    return OSSL_PARAM_BLD_push_BN(builder, keep(name), value) == 1
  }

  func add(_ text: String, _ name: String) -> Bool {
    OSSL_PARAM_BLD_push_utf8_string(builder, keep(name), keep(text), 0) == 1
  }

  func add(octets: [UInt8], _ name: String) -> Bool {
    OSSL_PARAM_BLD_push_octet_string(builder, keep(name), keep(octets), octets.count) == 1
  }

  private func keep(_ bytes: [UInt8]) -> UnsafeMutableRawPointer {
    let copy = UnsafeMutableRawPointer.allocate(byteCount: bytes.count, alignment: 1)
    copy.copyMemory(from: bytes, byteCount: bytes.count)
    kept.append(copy)
    return copy
  }

  private func keep(_ text: String) -> UnsafePointer<CChar> {
    let bytes = Array(text.utf8) + [0]
    return UnsafePointer(keep(bytes).bindMemory(to: CChar.self, capacity: bytes.count))
  }

  /// Nil if OpenSSL refuses the parameters, for example a point that is not on the curve.
  func publicKey(_ type: String) -> OpaquePointer? {
    guard let parameters = OSSL_PARAM_BLD_to_param(builder) else { return nil }
    defer { OSSL_PARAM_free(parameters) }
    guard let context = EVP_PKEY_CTX_new_from_name(nil, type, nil) else { return nil }
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_fromdata_init(context) == 1,
      EVP_PKEY_fromdata(context, &key, nudge_evp_pkey_public_key(), parameters) == 1
    else { return nil }
    return key
  }
}
