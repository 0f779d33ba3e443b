/// Why a call of the sink failed: what was being done, and the reason, for people. Secrets never stand in it.
public struct SinkError: Error, Equatable, CustomStringConvertible {
  /// What the caller can do.
  public enum Kind: Sendable, Equatable {
    /// The same call may succeed later: a broker is away, slow, or broken.
    case passing
    /// It will fail again until somebody changes something: a setting, a permission, the broker.
    case refused
  }

  /// What the caller can do.
  public let kind: Kind
  /// What was being done.
  public let operation: String
  /// The reason, and the fix where there is one.
  public let reason: String

  init(_ kind: Kind, _ operation: String, _ reason: String) {
    self.kind = kind
    self.operation = operation
    self.reason = reason
  }

  /// Operation and reason, in one line.
  public var description: String { "\(operation): \(reason)" }
}
