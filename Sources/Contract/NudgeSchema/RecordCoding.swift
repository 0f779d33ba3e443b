import Foundation

/// Reads and writes records as JSON. One thread uses an instance; it keeps its coders.
///
/// Unknown fields are ignored. The first of a repeated field counts, and the others are not looked
/// at, whatever they hold: so does Foundation's decoder, which RFC 8259 leaves open. A number without a fraction is an
/// integer however it is written (`1.0`, `1e3`).
public final class RecordCoder {
  private let encoder: JSONEncoder
  private let decoder: JSONDecoder

  /// A coder whose output is the same bytes for the same value, on any machine.
  public init() {
    encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    decoder = JSONDecoder()
  }

  /// The value as JSON.
  public func encode(_ value: some Encodable) throws -> [UInt8] {
    [UInt8](try encoder.encode(value))
  }

  /// Reads a value. Throws `EventFormatError`, `DecodingError`, or `SchemaViolation` for fields that exclude each other.
  public func decode<Value: Decodable>(_ type: Value.Type, from bytes: UnsafeRawBufferPointer) throws -> Value {
    guard let base = bytes.baseAddress else { return try decoder.decode(type, from: Data()) }
    // Foundation would read UTF-16 and UTF-32 too, told by these bytes, none of which is in JSON written as UTF-8.
    guard !bytes.prefix(2).contains(where: { $0 == 0x00 || $0 >= 0xFE }) else {
      throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "the record is not UTF-8"))
    }
    guard JSONNesting.fits(bytes) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "the record is nested deeper than \(JSONNesting.limit)"))
    }
    // The data borrows the bytes for the length of the call: nothing decoded keeps a reference to them.
    let data = Data(
      bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: bytes.count, deallocator: .none)
    return try decoder.decode(type, from: data)
  }

  /// Reads a value. Throws `EventFormatError`, `DecodingError`, or `SchemaViolation` for fields that exclude each other.
  public func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
    try bytes.withUnsafeBytes { try decode(type, from: $0) }
  }
}

/// The depth to which JSON may be nested. Foundation's decoder overflows the stack on deeper documents.
///
/// That refuses what is deeper, but on Linux it may end the process while it does: it looks for the line of the error behind the end of
/// the text where the bracket too many is the last byte, or a carriage return follows it (seen with Swift 6.3.1: 513 times `[`). So what
/// anybody may send is looked at first.
public enum JSONNesting {
  /// Arrays and objects within one another that are taken.
  public static let limit = 512

  /// Whether text that may be JSON keeps to the limit, as far as it is JSON.
  public static func fits(_ text: UnsafeRawBufferPointer) -> Bool {
    var depth = 0
    var isInString = false
    var isEscaped = false
    for byte in text {
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        depth += 1
        if depth > limit { return false }
      case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
      default: break
      }
    }
    return true
  }
}

/// A value of a fixed list, written as its name. Reading a name that is not in the list fails with the list, so that whoever is refused
/// learns what is taken.
public protocol NamedValue: RawRepresentable<String>, CaseIterable, Codable, Sendable {}

extension NamedValue {
  /// Reads a name. Throws `DecodingError` with the names there are for another.
  public init(from decoder: any Decoder) throws {
    guard let value = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: decoder.codingPath, debugDescription: "none of the values allowed",
          underlyingError: UnknownName(known: Self.allCases.map(\.rawValue))))
    }
    self = value
  }
}

/// A name is not in the list of its type. It does not keep the name, which a producer wrote.
struct UnknownName: Error {
  let known: [String]
}
