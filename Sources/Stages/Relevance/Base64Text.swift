/// Bytes as text, in the standard alphabet of RFC 4648 with padding.
public enum Base64Text {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 255, count: 256)
    for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
    return values
  }()

  /// The text of some bytes.
  public static func encode(_ bytes: [UInt8]) -> String {
    String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { text in
      var place = 0
      var index = 0
      while index < bytes.count {
        let left = bytes.count - index
        let group =
          UInt32(bytes[index]) << 16 | (left > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
          | (left > 2 ? UInt32(bytes[index + 2]) : 0)
        text[place] = digits[Int(group >> 18)]
        text[place + 1] = digits[Int(group >> 12 & 63)]
        text[place + 2] = left > 1 ? digits[Int(group >> 6 & 63)] : UInt8(ascii: "=")
        text[place + 3] = left > 2 ? digits[Int(group & 63)] : UInt8(ascii: "=")
        place += 4
        index += 3
      }
      return place
    }
  }

  /// The bytes of a text; nil: it is not one that `encode` makes.
  public static func decode(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count / 4 * 3)
    var group: UInt32 = 0
    var count = 0
    var padding = 0
    for digit in text.utf8 {
      if digit == UInt8(ascii: "=") {
        padding += 1
        group <<= 6
      } else {
        let value = values[Int(digit)]
        guard value < 64, padding == 0 else { return nil }
        group = group << 6 | UInt32(value)
      }
      count += 1
      if count == 4 {
        guard padding <= 2 else { return nil }
        bytes.append(UInt8(truncatingIfNeeded: group >> 16))
        if padding < 2 { bytes.append(UInt8(truncatingIfNeeded: group >> 8)) }
        if padding < 1 { bytes.append(UInt8(truncatingIfNeeded: group)) }
        group = 0
        count = 0
      }
    }
    return count == 0 ? bytes : nil
  }
}
