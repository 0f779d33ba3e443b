import Foundation

/// JSON Web Tokens: signed with RS256 or ES256, verified with configured keys.
public enum JSONWebToken {
  /// Tolerated clock difference in seconds.
  public static let leeway: Int64 = 60

  /// Longer tokens, in bytes, are refused unread.
  private static let longest = 16_384

  private struct Header: Codable {
    var alg: String
    var kid: String?
    var typ: String?
    var crit: [String]?
  }

  /// A signed token with these claims. The algorithm is the key's.
  /// - Parameter kid: The key's id, for the header; Google and JWKS readers find the key by it.
  /// - Throws: `JSONWebTokenError.cryptography`, or `malformed` if the claims cannot be encoded.
  public static func sign(
    _ claims: some Encodable, key: PrivateKey, kid: String? = nil
  ) throws(JSONWebTokenError) -> String {
    let header = Header(alg: key.key.algorithm.rawValue, kid: kid, typ: "JWT", crit: nil)
    let message = try Base64URL.encode(json(header)) + "." + Base64URL.encode(json(claims))
    let signature = try key.key.sign(Array(message.utf8))
    return message + "." + Base64URL.encode(signature)
  }

  /// The claims of a token that is valid now. The signature is verified first: before that, no error says anything about the token's content.
  ///
  /// The algorithm is that of the configured key. The header's must be the same, so that a token cannot choose `none`, or HS256 with the public key as its secret.
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

  /// Limit of opening brackets in a header, which is untrusted: Foundation's decoder can crash on hundreds of nested ones.
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
