import Foundation
import JSONCodec
import TestSupport

/// A JSON value that Foundation's coders, the parser and the writer can all read and write, to compare them.
///
/// Numbers are kept in one form each, so that 1e3 and 1000 are equal: Int64 if exact, else UInt64, else Double.
indirect enum JSONValue: Equatable {
  case null
  case bool(Bool)
  case int(Int64)
  case uint(UInt64)
  case double(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  init(number: Double) {
    if let int = Int64(exactly: number) {
      self = .int(int)
    } else if let uint = UInt64(exactly: number) {
      self = .uint(uint)
    } else {
      self = .double(number)
    }
  }

  /// From a parsed document; of members with the same key the first counts.
  init(_ node: JSONNode) {
    switch node.kind {
    case .null: self = .null
    case .bool: self = node.bool.map(JSONValue.bool) ?? .null
    case .int64: self = node.int64.map(JSONValue.int) ?? .null
    case .uint64: self = node.uint64.map(JSONValue.uint) ?? .null
    case .double: self = node.double.map(JSONValue.init(number:)) ?? .null
    case .string: self = node.string.map(JSONValue.string) ?? .null
    case .array: self = .array(node.elements.map { $0.map(JSONValue.init) } ?? [])
    case .object:
      var members: [String: JSONValue] = [:]
      for member in node.members.map(Array.init) ?? [] {
        let key = member.key.string ?? ""
        if members[key] == nil { members[key] = JSONValue(member.value) }
      }
      self = .object(members)
    }
  }
}

extension JSONValue {
  /// Written by the writer, with keys in the order that JSONEncoder's `.sortedKeys` gives.
  func write(to writer: inout JSONWriter) {
    switch self {
    case .null: writer.null()
    case .bool(let value): writer.value(value)
    case .int(let value): writer.value(value)
    case .uint(let value): writer.value(value)
    case .double(let value): writer.value(value)
    case .string(let value): writer.value(value)
    case .array(let values):
      writer.beginArray()
      for value in values { value.write(to: &writer) }
      writer.endArray()
    case .object(let members):
      writer.beginObject()
      for (key, value) in members.sorted(by: { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }) {
        writer.key(key)
        value.write(to: &writer)
      }
      writer.endObject()
    }
  }
}

extension JSONValue {
  /// Equal, except that numbers beyond 2⁵³ need only be the same or the next double: for `17919161944907503.10`
  /// JSONDecoder gives the integer with the fraction cut off, where the parser has the nearest double and no integer.
  func agrees(with other: JSONValue) -> Bool {
    switch (self, other) {
    case (.array(let a), .array(let b)):
      a.count == b.count && zip(a, b).allSatisfy { $0.agrees(with: $1) }
    case (.object(let a), .object(let b)):
      a.count == b.count && a.allSatisfy { key, value in b[key].map(value.agrees) ?? false }
    default:
      self == other || isNear(other)
    }
  }

  private func isNear(_ other: JSONValue) -> Bool {
    guard let a = rounded, let b = other.rounded else { return false }
    return abs(a) >= 9_007_199_254_740_992 && abs(a - b) <= a.ulp
  }

  private var rounded: Double? {
    switch self {
    case .int(let value): Double(value)
    case .uint(let value): Double(value)
    case .double(let value): value
    default: nil
    }
  }
}

extension JSONValue: Codable {
  init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: AnyKey.self) {
      var members: [String: JSONValue] = [:]
      for key in container.allKeys { members[key.stringValue] = try container.decode(JSONValue.self, forKey: key) }
      self = .object(members)
      return
    }
    if var container = try? decoder.unkeyedContainer() {
      var values: [JSONValue] = []
      while !container.isAtEnd { values.append(try container.decode(JSONValue.self)) }
      self = .array(values)
      return
    }
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .int(value)
    } else if let value = try? container.decode(UInt64.self) {
      self = .uint(value)
    } else if let value = try? container.decode(Double.self) {
      self = .init(number: value)
    } else {
      self = .string(try container.decode(String.self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    switch self {
    case .object(let members):
      var container = encoder.container(keyedBy: AnyKey.self)
      for (key, value) in members { try container.encode(value, forKey: AnyKey(stringValue: key)) }
    case .array(let values):
      var container = encoder.unkeyedContainer()
      for value in values { try container.encode(value) }
    default:
      var container = encoder.singleValueContainer()
      switch self {
      case .bool(let value): try container.encode(value)
      case .int(let value): try container.encode(value)
      case .uint(let value): try container.encode(value)
      case .double(let value): try container.encode(value)
      case .string(let value): try container.encode(value)
      default: try container.encodeNil()
      }
    }
  }

  struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

/// Foundation's encoder, set to what the writer writes.
func foundationJSON(_ value: some Encodable) throws -> [UInt8] {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
  return [UInt8](try encoder.encode(value))
}

func written(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
  var writer = JSONWriter(capacity: 1)
  body(&writer)
  return writer.bytes
}

extension SeededGenerator {
  mutating func value(depth: Int = 0) -> JSONValue {
    switch Int.random(in: 0..<(depth < 5 ? 10 : 7), using: &self) {
    case 0: return .null
    case 1: return .bool(.random(using: &self))
    case 2: return .int(Int64(bitPattern: next()) >> Int64.random(in: 0..<64, using: &self))
    case 3: return .uint(UInt64.random(in: (1 << 63)...UInt64.max, using: &self))
    case 4:
      let double = Double(bitPattern: next())
      return double.isFinite ? JSONValue(number: double) : .null
    case 5, 6: return .string(string())
    case 7, 8:
      var members: [String: JSONValue] = [:]
      for _ in 0..<Int.random(in: 0..<6, using: &self) { members[string()] = value(depth: depth + 1) }
      return .object(members)
    default:
      return .array((0..<Int.random(in: 0..<6, using: &self)).map { _ in value(depth: depth + 1) })
    }
  }

  mutating func string() -> String {
    var scalars = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0..<24, using: &self) {
      let range: ClosedRange<UInt32> =
        switch Int.random(in: 0..<8, using: &self) {
        case 0: 0...0x1F
        case 1: 0x22...0x22
        case 2: 0x5C...0x5C
        case 3: 0x80...0x7FF
        case 4: 0x800...0xFFFF
        case 5: 0x1_0000...0x10_FFFF
        default: 0x20...0x7F
        }
      if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &self)) { scalars.append(scalar) }
    }
    return String(scalars)
  }
}
