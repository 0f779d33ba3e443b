import JSONCodec

/// A JSON value. Commands show a record's fields by name, so an older command shows fields of newer services too.
enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// An object's field; nil for another kind of value, a missing field, or null.
  subscript(_ name: String) -> JSONValue? {
    guard case .object(let fields) = self, let value = fields[name], value != .null else { return nil }
    return value
  }

  var string: String? { if case .string(let text) = self { text } else { nil } }

  /// A whole number; a string of digits is parsed.
  var integer: Int64? {
    switch self {
    case .integer(let number): number
    case .number(let number): Int64(exactly: number)
    case .string(let text): Int64(text)
    default: nil
    }
  }

  /// A boolean; the strings `true` and `false` are parsed.
  var bool: Bool? {
    switch self {
    case .bool(let flag): flag
    case .string("true"): true
    case .string("false"): false
    default: nil
    }
  }

  /// An array's elements; empty for another kind of value.
  var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }

  /// An object's fields; empty for another kind of value.
  var fields: [String: JSONValue] { if case .object(let fields) = self { fields } else { [:] } }

  /// The value in one line; a string has no quotes.
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
  /// Decodes JSON.
  /// - Throws: `JSONParseError` for invalid JSON.
  init(_ bytes: UnsafeRawBufferPointer) throws(JSONParseError) {
    let parser = JSONParser(maximumDepth: 512)
    self.init(try parser.parse(bytes))
    withExtendedLifetime(parser) {}
  }

  /// Decodes JSON.
  /// - Throws: `JSONParseError` for invalid JSON.
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
