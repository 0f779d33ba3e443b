/// An error of the transactional producer: the operation and the reason. Never contains secrets.
public struct TransactionalProducerError: Error, Equatable, CustomStringConvertible {
  /// Whether a retry can succeed.
  public enum Kind: Sendable, Equatable {
    /// The same call may succeed later: a broker is unavailable or slow.
    case passing
    /// The call fails until a setting, a permission or the broker is changed.
    case refused
  }

  /// Whether a retry can succeed.
  public let kind: Kind
  public let operation: String
  /// The reason and, if known, the fix.
  public let reason: String
  /// Whether a permission is missing.
  public let isAuthorization: Bool

  init(_ kind: Kind, _ operation: String, _ reason: String, isAuthorization: Bool = false) {
    self.kind = kind
    self.operation = operation
    self.reason = reason
    self.isAuthorization = isAuthorization
  }

  /// Operation and reason, in one line.
  public var description: String { "\(operation): \(reason)" }
}
