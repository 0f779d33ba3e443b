/// Any JSON: what people are shown of a record is taken from it by name, so that a field which a newer service writes is
/// shown by an older command as well.
enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// A field of an object; nil where this is none, or has no such field, or the field is null.
  subscript(_ name: String) -> JSONValue? {
    guard case .object(let fields) = self, let value = fields[name], value != .null else { return nil }
    return value
  }

  /// The text of a string.
  var string: String? { if case .string(let text) = self { text } else { nil } }

  /// A whole number, also one that is written as text.
  var integer: Int64? {
    switch self {
    case .integer(let number): number
    case .number(let number): Int64(exactly: number)
    case .string(let text): Int64(text)
    default: nil
    }
  }

  /// true or false, also written as text.
  var bool: Bool? {
    switch self {
    case .bool(let flag): flag
    case .string("true"): true
    case .string("false"): false
    default: nil
    }
  }

  /// The elements of an array; none for anything else.
  var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }

  /// The fields of an object; none for anything else.
  var fields: [String: JSONValue] { if case .object(let fields) = self { fields } else { [:] } }

  /// The value in one line, a string without quotes.
  var shown: String {
    switch self {
    case .null: "none"
    case .bool(let flag): flag ? "yes" : "no"
    case .integer(let number): String(number)
    case .number(let number): Int64(exactly: number).map { String($0) } ?? String(number)
    case .string(let text): text
    case .array(let elements): "[\(elements.map(\.shown).joined(separator: ", "))]"
    case .object(let fields):
      "{\(fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.shown)" }.joined(separator: ", "))}"
    }
  }
}

extension JSONValue: Codable {
  /// Reads any JSON.
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let flag = try? container.decode(Bool.self) {
      self = .bool(flag)
    } else if let number = try? container.decode(Int64.self) {
      self = .integer(number)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .string(text)
    } else if let elements = try? container.decode([JSONValue].self) {
      self = .array(elements)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  /// Writes it as it was read.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let flag): try container.encode(flag)
    case .integer(let number): try container.encode(number)
    case .number(let number): try container.encode(number)
    case .string(let text): try container.encode(text)
    case .array(let elements): try container.encode(elements)
    case .object(let fields): try container.encode(fields)
    }
  }
}
