import Foundation

/// Reads single texts of records without decoding them, because decoding each record would dominate the measurement.
enum JSONText {
  /// The value of the first field of this name, up to the next quotation mark; nil if there is none. For values without escapes.
  static func value(of field: StaticString, in bytes: [UInt8]) -> String? {
    var needle = Array("\"".utf8)
    field.withUTF8Buffer { needle.append(contentsOf: $0) }
    needle += Array("\":\"".utf8)
    return bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return nil }
      var start = 0
      while start + needle.count <= bytes.count, memcmp(base + start, needle, needle.count) != 0 { start += 1 }
      let value = bytes.dropFirst(start + needle.count)
      return value.firstIndex(of: UInt8(ascii: "\"")).map { String(decoding: value[..<$0], as: UTF8.self) }
    }
  }
}
