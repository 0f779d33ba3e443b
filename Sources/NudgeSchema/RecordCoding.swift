import Foundation

/// Reads and writes records as JSON. One thread uses an instance; it keeps its coders.
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

  /// Reads a value. Throws `EventFormatError` or `DecodingError`.
  public func decode<Value: Decodable>(_ type: Value.Type, from bytes: UnsafeRawBufferPointer) throws -> Value {
    guard let base = bytes.baseAddress else { return try decoder.decode(type, from: Data()) }
    // The data borrows the bytes for the length of the call: nothing decoded keeps a reference to them.
    let data = Data(
      bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: bytes.count, deallocator: .none)
    return try decoder.decode(type, from: data)
  }

  /// Reads a value. Throws `EventFormatError` or `DecodingError`.
  public func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
    try bytes.withUnsafeBytes { try decode(type, from: $0) }
  }
}
