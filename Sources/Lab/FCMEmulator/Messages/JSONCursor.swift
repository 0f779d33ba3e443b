/// A defect of a JSON text.
enum JSONFault: Error {
  case syntax
  case tooDeep
}

/// A string within a JSON text, as a range of its bytes.
struct JSONString {
  /// The first byte after the opening quote.
  let start: UnsafePointer<UInt8>
  /// Bytes between the quotes, escapes as written.
  let rawCount: Int
  /// Bytes of the string in UTF-8, escapes resolved.
  let count: Int

  var hasEscapes: Bool { rawCount != count }

  var string: String {
    hasEscapes
      ? String(decoding: unescaped(), as: UTF8.self)
      : String(decoding: UnsafeBufferPointer(start: start, count: rawCount), as: UTF8.self)
  }

  /// Calls `body` with the string's bytes, escapes resolved.
  func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    hasEscapes ? unescaped().withUnsafeBufferPointer(body) : body(UnsafeBufferPointer(start: start, count: rawCount))
  }

  func equals(_ text: StaticString) -> Bool {
    guard count == text.utf8CodeUnitCount else { return false }
    return withBytes { bytes in
      for index in 0..<bytes.count where bytes[index] != text.utf8Start[index] { return false }
      return true
    }
  }

  /// The string's bytes with escapes resolved. ``JSONCursor`` must have checked the text.
  private func unescaped() -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(count)
    var index = 0
    while index < rawCount {
      let byte = start[index]
      index += 1
      guard byte == 0x5C else {
        result.append(byte)
        continue
      }
      let escape = start[index]
      index += 1
      switch escape {
      case 0x62: result.append(0x08)
      case 0x66: result.append(0x0C)
      case 0x6E: result.append(0x0A)
      case 0x72: result.append(0x0D)
      case 0x74: result.append(0x09)
      case 0x75:
        var value = hex(index)
        index += 4
        if value & 0xFC00 == 0xD800 {
          value = 0x10000 + (value & 0x3FF) << 10 + hex(index + 2) & 0x3FF
          index += 6
        }
        if let scalar = Unicode.Scalar(value) { result.append(contentsOf: String(Character(scalar)).utf8) }
      default: result.append(escape)
      }
    }
    return result
  }

  private func hex(_ at: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 << 4 | UInt32(JSONCursor.hexValue(start[at + $1]) ?? 0) }
  }
}

/// Reads a JSON text in one pass and checks every byte: grammar (RFC 8259), UTF-8, paired surrogates, depth.
///
/// It allocates nothing: a string is a range of the text. The cursor must not outlive the bytes.
struct JSONCursor {
  private var at: UnsafePointer<UInt8>
  private let end: UnsafePointer<UInt8>
  /// The maximum nesting depth; Google's limit is 100.
  static let maxDepth = 100

  init(start: UnsafePointer<UInt8>, count: Int) {
    at = start
    end = start + count
  }

  /// The next byte that is not white space, without consuming it; 0 at the end.
  mutating func peek() -> UInt8 {
    while at < end {
      let byte = at.pointee
      if byte > 0x20 { return byte }
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
      at += 1
    }
    return 0
  }

  /// Consumes `byte` and white space before it.
  mutating func take(_ byte: UInt8) throws(JSONFault) {
    guard peek() == byte, at < end else { throw .syntax }
    at += 1
  }

  /// Consumes `byte` if it comes next.
  mutating func takeIf(_ byte: UInt8) -> Bool {
    guard peek() == byte, at < end else { return false }
    at += 1
    return true
  }

  /// Checks that only white space follows.
  mutating func finish() throws(JSONFault) {
    _ = peek()
    guard at == end else { throw .syntax }
  }

  mutating func string() throws(JSONFault) -> JSONString {
    try take(0x22)
    let start = at
    var shorter = 0
    while at < end {
      let byte = at.pointee
      if byte == 0x22 {
        let raw = at - start
        at += 1
        return JSONString(start: start, rawCount: raw, count: raw - shorter)
      }
      if byte >= 0x80 {
        try multibyte(byte)
      } else if byte == 0x5C {
        shorter += try escape()
      } else if byte < 0x20 {
        throw .syntax
      } else {
        at += 1
      }
    }
    throw .syntax
  }

  /// Consumes a number, `true`, `false` or `null`, and returns its text.
  mutating func scalar() throws(JSONFault) -> UnsafeBufferPointer<UInt8> {
    let first = peek()
    let start = at
    switch first {
    case 0x74: try literal("true")
    case 0x66: try literal("false")
    case 0x6E: try literal("null")
    default: try number()
    }
    return UnsafeBufferPointer(start: start, count: at - start)
  }

  /// Consumes any value. Returns the size of all its keys and scalars in bytes: strings without quotes, escapes resolved.
  mutating func anyValue(depth: Int) throws(JSONFault) -> Int {
    guard depth < Self.maxDepth else { throw .tooDeep }
    var bytes = 0
    switch peek() {
    case 0x22:
      return try string().count
    case 0x7B:
      try take(0x7B)
      if takeIf(0x7D) { return 0 }
      repeat {
        bytes += try string().count
        try take(0x3A)
        bytes += try anyValue(depth: depth + 1)
      } while takeIf(0x2C)
      try take(0x7D)
      return bytes
    case 0x5B:
      try take(0x5B)
      if takeIf(0x5D) { return 0 }
      repeat { bytes += try anyValue(depth: depth + 1) } while takeIf(0x2C)
      try take(0x5D)
      return bytes
    default:
      return try scalar().count
    }
  }

  static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: return byte - 0x30
    case 0x41...0x46: return byte - 0x37
    case 0x61...0x66: return byte - 0x57
    default: return nil
    }
  }

  /// Consumes an escape. Returns by how many bytes its resolved form is shorter.
  private mutating func escape() throws(JSONFault) -> Int {
    guard end - at >= 2 else { throw .syntax }
    switch at[1] {
    case 0x22, 0x2F, 0x5C, 0x62, 0x66, 0x6E, 0x72, 0x74:
      at += 2
      return 1
    case 0x75:
      let first = try unit(2)
      if first & 0xFC00 == 0xD800 {
        guard end - at >= 12, at[6] == 0x5C, at[7] == 0x75, try unit(8) & 0xFC00 == 0xDC00 else { throw .syntax }
        at += 12
        return 12 - 4
      }
      guard first & 0xFC00 != 0xDC00 else { throw .syntax }
      at += 6
      return 6 - (first < 0x80 ? 1 : first < 0x800 ? 2 : 3)
    default:
      throw .syntax
    }
  }

  private func unit(_ offset: Int) throws(JSONFault) -> UInt32 {
    guard end - at >= offset + 4 else { throw .syntax }
    var value: UInt32 = 0
    for index in offset..<offset + 4 {
      guard let digit = Self.hexValue(at[index]) else { throw .syntax }
      value = value << 4 | UInt32(digit)
    }
    return value
  }

  /// Consumes a UTF-8 sequence of two to four bytes. Refuses overlong forms, surrogates and scalars beyond U+10FFFF.
  private mutating func multibyte(_ first: UInt8) throws(JSONFault) {
    let length: Int
    var low: UInt8 = 0x80
    var high: UInt8 = 0xBF
    switch first {
    case 0xC2...0xDF: length = 2
    case 0xE0: (length, low) = (3, 0xA0)
    case 0xED: (length, high) = (3, 0x9F)
    case 0xE1...0xEF: length = 3
    case 0xF0: (length, low) = (4, 0x90)
    case 0xF4: (length, high) = (4, 0x8F)
    case 0xF1...0xF3: length = 4
    default: throw .syntax
    }
    guard end - at >= length, at[1] >= low, at[1] <= high else { throw .syntax }
    for index in 2..<max(length, 2) where at[index] & 0xC0 != 0x80 { throw .syntax }
    at += length
  }

  private mutating func literal(_ text: StaticString) throws(JSONFault) {
    let count = text.utf8CodeUnitCount
    guard end - at >= count else { throw .syntax }
    for index in 0..<count where at[index] != text.utf8Start[index] { throw .syntax }
    at += count
  }

  private mutating func number() throws(JSONFault) {
    if at < end, at.pointee == 0x2D { at += 1 }
    guard at < end else { throw .syntax }
    if at.pointee == 0x30 { at += 1 } else { try digits() }
    if at < end, at.pointee == 0x2E {
      at += 1
      try digits()
    }
    if at < end, at.pointee | 0x20 == 0x65 {
      at += 1
      if at < end, at.pointee == 0x2B || at.pointee == 0x2D { at += 1 }
      try digits()
    }
  }

  private mutating func digits() throws(JSONFault) {
    let start = at
    while at < end, at.pointee &- 0x30 < 10 { at += 1 }
    guard at > start else { throw .syntax }
  }
}
