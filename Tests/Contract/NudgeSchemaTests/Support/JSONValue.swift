import Foundation
import NudgeSchema

/// Any JSON, to look into schemas and to change samples.
enum JSONValue: Codable, Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// A step from a value to one inside it.
  enum Step: Sendable, Equatable {
    case key(String)
    case index(Int)
  }

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let integer = try? value.decode(Int64.self) {
      self = .integer(integer)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let string = try? value.decode(String.self) {
      self = .string(string)
    } else if let array = try? value.decode([JSONValue].self) {
      self = .array(array)
    } else {
      self = .object(try value.decode([String: JSONValue].self))
    }
  }

  init(bytes: [UInt8]) throws { self = try RecordCoder().decode(JSONValue.self, from: bytes) }

  var bytes: [UInt8] { get throws { try RecordCoder().encode(self) } }

  func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .null: try value.encodeNil()
    case .bool(let bool): try value.encode(bool)
    case .integer(let integer): try value.encode(integer)
    case .number(let number): try value.encode(number)
    case .string(let string): try value.encode(string)
    case .array(let array): try value.encode(array)
    case .object(let object): try value.encode(object)
    }
  }

  subscript(key: String) -> JSONValue? {
    guard case .object(let fields) = self else { return nil }
    return fields[key]
  }

  var object: [String: JSONValue] { if case .object(let fields) = self { fields } else { [:] } }
  var array: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
  var string: String? { if case .string(let string) = self { string } else { nil } }
  var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }

  /// A copy with the value at a path replaced, or removed where the new one is nil.
  func replacing(_ path: ArraySlice<Step>, with new: JSONValue?) -> JSONValue {
    guard let step = path.first else { return new ?? .null }
    let rest = path.dropFirst()
    switch (self, step) {
    case (.object(var fields), .key(let key)):
      fields[key] = rest.isEmpty ? new : fields[key]?.replacing(rest, with: new)
      return .object(fields)
    case (.array(var elements), .index(let index)):
      elements[index] = elements[index].replacing(rest, with: new)
      return .array(elements)
    default: return self
    }
  }
}

extension [JSONValue.Step] {
  /// `conversation.members[0].userId`.
  var text: String {
    reduce(into: "") { text, step in
      switch step {
      case .key(let key): text += text.isEmpty ? key : ".\(key)"
      case .index(let index): text += "[\(index)]"
      }
    }
  }
}
