/// What a client shows a broker with the SASL mechanism OAUTHBEARER (RFC 7628).
public struct BearerToken: Sendable, Equatable {
  /// The token itself, a secret.
  public let value: String
  /// Whom it speaks of: `sub` of a JSON Web Token, else the client's id.
  public let principal: String
  /// Not valid from here on, in milliseconds since the epoch.
  public let expiresAt: Int64
}

/// Why there is no token. The token, the client's secret and what an endpoint answered never stand in it.
public struct BearerTokenError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The property that is wrong; nil: it is not a property.
  public let property: String?
  /// The reason, and the fix where there is one.
  public let reason: String
  /// It may be there later without anybody's doing: the endpoint is away, or slow.
  public let isPassing: Bool

  init(_ property: String?, _ reason: String, isPassing: Bool = false) {
    self.property = property
    self.reason = reason
    self.isPassing = isPassing
  }

  /// The property, where it is one, and the reason.
  public var description: String { property.map { "\($0): \(reason)" } ?? reason }
}
