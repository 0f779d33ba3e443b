import JSONCodec

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

extension JSONValue {
  /// Reads any JSON.
  /// - Throws: `JSONParseError` for bytes that are none.
  init(_ bytes: UnsafeRawBufferPointer) throws(JSONParseError) {
    let parser = JSONParser(maximumDepth: 512)
    self.init(try parser.parse(bytes))
    withExtendedLifetime(parser) {}
  }

  /// Reads any JSON.
  /// - Throws: `JSONParseError` for bytes that are none.
  init(_ bytes: [UInt8]) throws { self = try bytes.withUnsafeBytes { try JSONValue($0) } }

  private init(_ node: JSONNode) {
    switch node.kind {
    case .null: self = .null
    case .bool: self = .bool(node.bool ?? false)
    case .int64: self = .integer(node.int64 ?? 0)
    case .uint64, .double:
      let number = node.double ?? 0
      self = Int64(exactly: number).map { .integer($0) } ?? .number(number)
    case .string: self = .string(node.string ?? "")
    case .array:
      var elements: [JSONValue] = []
      if let nodes = node.elements { for element in nodes { elements.append(JSONValue(element)) } }
      self = .array(elements)
    case .object:
      var fields: [String: JSONValue] = [:]
      if let members = node.members {
        for member in members { fields[member.key.string ?? ""] = JSONValue(member.value) }
      }
      self = .object(fields)
    }
  }
}

extension JSONValue: Encodable {
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
