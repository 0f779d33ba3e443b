import Foundation

/// Reads and writes records as JSON. Only one thread may use an instance, which keeps its coders.
///
/// Unknown fields are ignored. Of a repeated field only the first counts, whatever the others contain, as in
/// Foundation's decoder; RFC 8259 leaves this open. A number without a fraction is an integer in any notation (`1.0`,
/// `1e3`).
public final class RecordCoder {
  private let encoder: JSONEncoder
  private let decoder: JSONDecoder

  /// A coder that writes the same bytes for the same value on every machine.
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
    // Foundation would also accept UTF-16 and UTF-32, which it recognises by these bytes. JSON in UTF-8 has none of
    // them.
    guard !bytes.prefix(2).contains(where: { $0 == 0x00 || $0 >= 0xFE }) else {
      throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "the record is not UTF-8"))
    }
    guard JSONNesting.fits(bytes) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "the record is nested deeper than \(JSONNesting.limit)"))
    }
    // The data borrows the bytes during the call. Nothing decoded keeps a reference to them.
    let data = Data(
      bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: bytes.count, deallocator: .none)
    return try decoder.decode(type, from: data)
  }

  /// Reads a value. Throws `EventFormatError`, `DecodingError`, or `SchemaViolation` for fields that exclude each other.
  public func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
    try bytes.withUnsafeBytes { try decode(type, from: $0) }
  }
}

/// The limit on nested JSON, because Foundation's decoder overflows the stack on deeper documents.
///
/// Foundation's decoder has a limit too, but on Linux its error may end the process: if the excess bracket is the last
/// byte, or a carriage return follows it, the search for the error's line reads past the text (Swift 6.3.1: 513 times
/// `[`). So every text from outside is checked first.
public enum JSONNesting {
  /// The deepest nesting of arrays and objects that is accepted.
  public static let limit = 512

  /// Whether the text keeps to the limit, up to the point where it stops being JSON.
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

/// A value of a fixed list, written as its name. Decoding an unknown name fails with the list of names, so that a
/// refused producer learns what is allowed.
public protocol NamedValue: RawRepresentable<String>, CaseIterable, Codable, Sendable {}

extension NamedValue {
  /// Reads a name. For an unknown name it throws `DecodingError` with the allowed names.
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

/// A name is not in the list of its type. The error does not contain the name, because a producer wrote it.
struct UnknownName: Error {
  let known: [String]
}
