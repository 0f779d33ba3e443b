/// Base64 with the alphabet for URLs, without padding (RFC 4648, section 5, as RFC 7515 uses it).
package enum Base64URL {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// The value of each byte, 255 for what is not in the alphabet.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 255, count: 256)
    for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
    return values
  }()

  package static func encode(_ bytes: some Sequence<UInt8>) -> String {
    // Reading a sequence of an unknown type would cost a call a byte.
    bytes.withContiguousStorageIfAvailable { text(of: $0) } ?? Array(bytes).withUnsafeBufferPointer { text(of: $0) }
  }

  private static func text(of bytes: UnsafeBufferPointer<UInt8>) -> String {
    let alphabet = alphabet
    return String(unsafeUninitializedCapacity: (bytes.count * 4 + 2) / 3) { text in
      var (count, bits, held) = (0, UInt32(0), 0)
      for byte in bytes {
        bits = bits << 8 | UInt32(byte)
        held += 8
        while held >= 6 {
          held -= 6
          text[count] = alphabet[Int(bits >> UInt32(held) & 63)]
          count += 1
        }
      }
      if held > 0 {
        text[count] = alphabet[Int(bits << UInt32(6 - held) & 63)]
        count += 1
      }
      return count
    }
  }

  /// Nil for padding, characters outside the alphabet, impossible lengths, and nonzero trailing bits: each value has exactly one text.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    // As for `encode`.
    text.utf8.withContiguousStorageIfAvailable { bytes(of: $0) }
      ?? Array(text.utf8).withUnsafeBufferPointer { bytes(of: $0) }
  }

  private static func bytes(of text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    let values = values
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count * 3 / 4)
    var bits: UInt32 = 0
    var held = 0
    for letter in text {
      let value = values[Int(letter)]
      guard value < 64 else { return nil }
      bits = bits << 6 | UInt32(value)
      held += 6
      if held >= 8 {
        held -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(held)))
      }
    }
    guard held < 6, bits & (1 << UInt32(held) - 1) == 0 else { return nil }
    return bytes
  }
}
