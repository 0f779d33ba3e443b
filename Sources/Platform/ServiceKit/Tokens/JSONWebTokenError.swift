/// Why a token or a key is refused. No case holds the token or any part of a key.
public enum JSONWebTokenError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Not three parts of base64url with JSON in the first two.
  case malformed
  /// The header names an algorithm that is not that of the configured key, such as `none` or HS256.
  case algorithmRefused
  /// The header demands extensions (`crit`) that are not known here.
  case criticalExtension
  /// No configured key has the token's `kid`.
  case unknownKey
  /// The signature is not that of a configured key.
  case invalidSignature
  /// There is no `exp`.
  case noExpiry
  /// `exp` has passed.
  case expired
  /// `nbf` or `iat` is yet to come.
  case notYetValid
  /// `iss` is another.
  case wrongIssuer
  /// `aud` does not name this service.
  case wrongAudience
  /// A configured key cannot be used; the text says which and why.
  case invalidKey(String)
  /// OpenSSL failed at an operation it should not fail at.
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
