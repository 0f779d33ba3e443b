import COpenSSL

/// Base64 with the alphabet for URLs, without padding (RFC 4648, section 5, as RFC 7515 uses it).
package enum Base64URL {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// The value of each byte; 255 for bytes outside the alphabet.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 255, count: 256)
    for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
    return values
  }()

  package static func encode(_ bytes: some Sequence<UInt8>) -> String {
    // Reading a sequence of an unknown type would cost a call per byte.
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

  /// Nil for padding, characters outside the alphabet, impossible lengths, and nonzero trailing bits. So each value has
  /// exactly one text.
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

/// Characters of ASCII as bytes.
package enum ASCII {
  /// The lower-case letter of an ASCII capital; any other byte unchanged.
  @inlinable package static func lowercased(_ byte: UInt8) -> UInt8 {
    (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
  }
}

/// Bytes as hexadecimal digits in lower case.
package enum Hexadecimal {
  private static let digits = Array("0123456789abcdef".utf8)

  package static func encode(_ bytes: some Sequence<UInt8>) -> String {
    // Reading a sequence of an unknown type would cost a call per byte.
    bytes.withContiguousStorageIfAvailable { text(of: $0) } ?? Array(bytes).withUnsafeBufferPointer { text(of: $0) }
  }

  private static func text(of bytes: UnsafeBufferPointer<UInt8>) -> String {
    let digits = digits
    return String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
      for (index, byte) in bytes.enumerated() {
        text[2 * index] = digits[Int(byte >> 4)]
        text[2 * index + 1] = digits[Int(byte & 15)]
      }
      return 2 * bytes.count
    }
  }
}

/// Identifies a device's token on topics and in state, where the token itself must not be a key (T4). With 128 bits,
/// nobody can find a second token with the same hash and take over the first one's owner row.
public enum TokenHash {
  /// The first 32 hexadecimal digits of the SHA-256 of the token's UTF-8 bytes.
  public static func of(_ token: String) -> String {
    Hexadecimal.encode(SHA256Digest.of(Array(token.utf8)).prefix(16))
  }
}

/// SHA-256 by OpenSSL.
public enum SHA256Digest {
  /// The algorithm, fetched once. OpenSSL's `SHA256` would fetch it with each call, which takes longer than a short
  /// digest. Nil if the library cannot provide it.
  ///
  /// `nonisolated(unsafe)` is safe: it is set once, before its first use, and OpenSSL lets threads share an `EVP_MD`.
  private nonisolated(unsafe) static let algorithm = EVP_MD_fetch(nil, "SHA256", nil)

  /// The 32 bytes of the digest.
  public static func of(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    guard let algorithm, EVP_Digest(bytes, bytes.count, &digest, nil, algorithm, nil) == 1 else {
      SHA256(bytes, bytes.count, &digest)
      return digest
    }
    return digest
  }
}
