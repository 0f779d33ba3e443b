/// A value of a log line's metadata. Literals and string interpolations convert implicitly: `["partition": 3, "topic": "\(name)"]`.
public enum LogValue: Sendable, Equatable {
  /// Text. Never a token, a secret or the text of a message: those are logged as `ShortHash`.
  case string(String)
  case int(Int)
  /// A number; infinities and NaN are written as text, because JSON has none.
  case double(Double)
  case bool(Bool)
}

extension LogValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral
{
  /// A string literal or interpolation.
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int) { self = .int(value) }
  /// A floating-point literal.
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension LogValue: CustomStringConvertible {
  /// The value as plain text.
  public var description: String {
    switch self {
    case .string(let text): text
    case .int(let number): String(number)
    case .double(let number): String(number)
    case .bool(let flag): String(flag)
    }
  }
}
