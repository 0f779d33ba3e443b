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
