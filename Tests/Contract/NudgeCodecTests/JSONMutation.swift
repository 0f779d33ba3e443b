import TestSupport

/// Makes JSON something else: often still JSON, sometimes none.
struct JSONMutation {
  var random: SeededGenerator

  /// Values that stand where others stood.
  private static let values = [
    "null", "true", "false", "0", "-0", "-1", "1.0", "1e3", "1.5", "1e-400", "1e400", "-0.0", "9007199254740993",
    "9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551616",
    "123456789012345678901234567890", "01", "+1", ".5", "1.", "0x10", "NaN", "\"\"", "\"x\"", "\"1\"", "[]", "{}",
    "[null]", "[[[[]]]]", "{\"a\":{\"a\":{}}}", "\"\\u0000\"", "\"\\ud800\"", "\"\\ud83e\\udd8a\"",
    "\"\\udd8a\\ud83e\"",
    "\"\\x\"", "\"\u{1}\"", "\"\\u00e9\"", "\"e\u{301}\"", "\"2026-11-21T15:40:00.250Z\"", "\"group\"", "\"GROUP\"",
    "\"message.created\"", "\"push\"", "tru", "\"unfinished",
  ]

  mutating func apply(to bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<1 + random.below(2) { bytes = step(bytes) }
    return bytes
  }

  private mutating func step(_ bytes: [UInt8]) -> [UInt8] {
    switch random.below(12) {
    case 0: return replacingValue(bytes)
    case 1, 2, 3: return insertingField(bytes)
    case 4: return Array(bytes.prefix(random.below(bytes.count + 1)))
    case 5:
      var bytes = bytes
      for _ in 0..<1 + random.below(3) where !bytes.isEmpty {
        bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
      }
      return bytes
    case 6:
      let place = random.below(bytes.count + 1)
      return Array(bytes[..<place]) + Array(random.oneIn(2) ? [0] : [0xC3, 0x28]) + Array(bytes[place...])
    case 7: return [[0xEF, 0xBB, 0xBF], [0xFE, 0xFF], [0x20, 0x0A]][random.below(3)] + bytes
    case 8: return bytes + Array([" ", "}", "x", "\n", "{}", "\u{0}"][random.below(6)].utf8)
    case 9: return spaced(bytes)
    case 10: return deepened(bytes)
    default: return replacingValue(insertingField(bytes))
    }
  }

  /// Another value after one of the colons.
  private mutating func replacingValue(_ bytes: [UInt8]) -> [UInt8] {
    let colons = bytes.indices.filter { bytes[$0] == UInt8(ascii: ":") }
    guard !colons.isEmpty else { return bytes }
    let start = colons[random.below(colons.count)] + 1
    var end = start
    var depth = 0
    var isInText = false
    while end < bytes.count {
      let byte = bytes[end]
      if isInText {
        if byte == UInt8(ascii: "\\") { end += 1 } else if byte == UInt8(ascii: "\"") { isInText = false }
      } else if byte == UInt8(ascii: "\"") {
        isInText = true
      } else if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
        depth += 1
      } else if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
        if depth == 0 { break }
        depth -= 1
      } else if byte == UInt8(ascii: ","), depth == 0 {
        break
      }
      end += 1
    }
    return Array(bytes[..<start]) + Array(value().utf8) + Array(bytes[min(end, bytes.count)...])
  }

  /// A field at the beginning or the end of an object: unknown, or one that is there already.
  private mutating func insertingField(_ bytes: [UInt8]) -> [UInt8] {
    let names = fieldNames(bytes) + ["x-unknown", "", "é", "user\\u0049d"]
    let field = "\"\(names[random.below(names.count)])\":\(value())"
    if random.oneIn(2) {
      let opens = bytes.indices.filter { bytes[$0] == UInt8(ascii: "{") }
      guard !opens.isEmpty else { return bytes }
      let place = opens[random.below(opens.count)] + 1
      return Array(bytes[..<place]) + Array((field + ",").utf8) + Array(bytes[place...])
    }
    let closes = bytes.indices.filter { bytes[$0] == UInt8(ascii: "}") }
    guard !closes.isEmpty else { return bytes }
    let place = closes[random.below(closes.count)]
    return Array(bytes[..<place]) + Array(("," + field).utf8) + Array(bytes[place...])
  }

  private func fieldNames(_ bytes: [UInt8]) -> [String] {
    bytes.split(separator: UInt8(ascii: "\"")).map { String(decoding: $0, as: UTF8.self) }
      .filter { $0.count > 2 && $0.allSatisfy(\.isLetter) }
  }

  private mutating func value() -> String { Self.values[random.below(Self.values.count)] }

  /// Blanks wherever a comma stands, in texts too.
  private func spaced(_ bytes: [UInt8]) -> [UInt8] {
    bytes.flatMap { $0 == UInt8(ascii: ",") ? [0x20, $0, 0x0A, 0x09] : [$0] }
  }

  /// A field that nobody knows, nested deep.
  private mutating func deepened(_ bytes: [UInt8]) -> [UInt8] {
    let depth = [10, 60, 64, 70, 511, 520, 5_000][random.below(7)]
    let value = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    guard bytes.first == UInt8(ascii: "{") else { return bytes }
    return Array("{\"deep\":\(value),".utf8) + bytes.dropFirst()
  }
}
