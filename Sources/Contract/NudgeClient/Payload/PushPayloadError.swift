/// Why a push is not one of Nudge's, or of a version this module does not know.
public enum PushPayloadError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The data has no such key.
  case missing(key: String)
  /// The value is no string; FCM's `data` has only strings.
  case notAString(key: String)
  /// The value is none of those that are expected.
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
