/// The registered claims of a token (RFC 7519, section 4.1), and the `scope` of OAuth. Times are seconds since the epoch.
public struct JSONWebClaims: Codable, Sendable, Equatable {
  /// `iss`: who made the token.
  public var issuer: String?
  /// `sub`: whom it speaks of.
  public var subject: String?
  /// `aud`: whom it is for; written as one text if there is one.
  public var audience: [String]
  /// `exp`: not valid from here on.
  public var expiresAt: Int64?
  /// `nbf`: not valid before.
  public var notBefore: Int64?
  /// `iat`: when it was made.
  public var issuedAt: Int64?
  /// `scope`: what it asks for, with blanks between.
  public var scope: String?

  /// Claims; those that are nil are left out.
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

  /// Reads them; `aud` may be a text or a list, times may have a fraction, which is cut.
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
    // Years far beyond any token; a larger number would not fit and has no meaning.
    guard number.magnitude < 1e15 else {
      throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "no time")
    }
    return Int64(number)
  }
}
