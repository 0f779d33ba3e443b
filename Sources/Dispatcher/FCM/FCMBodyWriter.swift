/// Writes the JSON of a `messages:send` and counts, as it goes, the payload FCM's limit is about: the bytes of keys and
/// values, without JSON's own punctuation and escapes.
struct FCMBodyWriter {
  private(set) var bytes: [UInt8] = []
  /// Bytes of keys and values so far.
  private(set) var payloadBytes = 0
  /// Whether a comma goes before the next member.
  private var needsComma = false

  init() { bytes.reserveCapacity(1536) }

  /// An object without a key: the whole body.
  mutating func object(_ fields: (inout FCMBodyWriter) -> Void) {
    bytes.append(UInt8(ascii: "{"))
    needsComma = false
    fields(&self)
    bytes.append(UInt8(ascii: "}"))
    needsComma = true
  }

  /// An object as a member. Its key counts, the braces don't.
  mutating func object(_ key: StaticString, _ fields: (inout FCMBodyWriter) -> Void) {
    self.key(key)
    object(fields)
  }

  /// A text; nil writes nothing.
  mutating func field(_ key: StaticString, _ value: String?) {
    guard let value else { return }
    self.key(key)
    string(value)
    payloadBytes += value.utf8.count
  }

  /// A number.
  mutating func field(_ key: StaticString, _ value: Int) {
    self.key(key)
    let digits = String(value)
    bytes.append(contentsOf: digits.utf8)
    payloadBytes += digits.utf8.count
    needsComma = true
  }

  /// `true` or `false`.
  mutating func field(_ key: StaticString, _ value: Bool) {
    self.key(key)
    let word = value ? "true" : "false"
    bytes.append(contentsOf: word.utf8)
    payloadBytes += word.utf8.count
    needsComma = true
  }

  /// A member that is the address, not the payload: not counted.
  mutating func address(_ key: StaticString, _ value: String) {
    let counted = payloadBytes
    field(key, value)
    payloadBytes = counted
  }

  /// What `fields` writes is no payload: structure around it, settings of the request.
  mutating func uncounted(_ fields: (inout FCMBodyWriter) -> Void) {
    let counted = payloadBytes
    fields(&self)
    payloadBytes = counted
  }

  private mutating func key(_ key: StaticString) {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    bytes.append(UInt8(ascii: "\""))
    key.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
    payloadBytes += key.utf8CodeUnitCount
    needsComma = true
  }

  private mutating func string(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0x0A:
        bytes.append(contentsOf: "\\n".utf8)
      case 0x00..<0x20:
        bytes.append(contentsOf: "\\u00".utf8)
        bytes.append(Self.hexDigit(byte >> 4))
        bytes.append(Self.hexDigit(byte & 15))
      default:
        bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
    needsComma = true
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}
