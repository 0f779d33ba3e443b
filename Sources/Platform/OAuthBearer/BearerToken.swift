/// A token for the SASL mechanism OAUTHBEARER (RFC 7628).
public struct BearerToken: Sendable, Equatable {
  /// The token itself, a secret.
  public let value: String
  /// The principal: `sub` of a JSON Web Token, else the client's id.
  public let principal: String
  /// The expiry in milliseconds since the epoch.
  public let expiresAt: Int64
}

/// Why no token could be had. Never contains a token, the client's secret or an endpoint's answer.
public struct BearerTokenError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The property with the error; nil if no property is the cause.
  public let property: String?
  /// The reason and, if known, the fix.
  public let reason: String
  /// Whether a later attempt may succeed: the endpoint is unavailable or slow.
  public let isPassing: Bool

  init(_ property: String?, _ reason: String, isPassing: Bool = false) {
    self.property = property
    self.reason = reason
    self.isPassing = isPassing
  }

  /// The property, if any, and the reason.
  public var description: String { property.map { "\($0): \(reason)" } ?? reason }
}
