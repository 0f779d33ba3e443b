/// Why a push cannot be decoded: Nudge did not send it, or it has a type that this module does not know.
public enum PushPayloadError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The data lacks a key.
  case missing(key: String)
  /// The value is not a string; FCM's `data` has only strings.
  case notAString(key: String)
  /// The value is not one of those expected.
  case invalid(key: String, expected: String)

  /// One sentence, without the value.
  public var description: String {
    switch self {
    case .missing(let key): "the push has no \"\(key)\""
    case .notAString(let key): "\"\(key)\" of the push is not a string"
    case .invalid(let key, let expected): "\"\(key)\" of the push must be \(expected)"
    }
  }
}
