public import ServiceKit

/// What to do with a value that a serializer of Confluent's schema registry wrote: a zero byte and the schema's id in four bytes stand
/// before it.
public enum SchemaRegistryFrame: String, CaseIterable, SettingValue, Sendable {
  /// The record is refused, with the frame named.
  case refuse
  /// The frame is left out, and what follows is read.
  case skip

  /// Its length in bytes.
  static let length = 5

  /// The schema's id of a value that begins with a frame; nil: it does not. JSON has no zero byte.
  static func schemaID(in value: [UInt8]) -> UInt32? {
    guard value.count >= length, value[0] == 0 else { return nil }
    return value[1..<length].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
