import COpenSSL

/// A hash that stands for a token or another secret in logs, traces and topics. It distinguishes two secrets and reveals neither.
public enum ShortHash {
  /// The first 12 hexadecimal digits of the SHA-256 of the text's UTF-8 bytes.
  public static func of(_ text: String) -> String {
    Hexadecimal.encode(SHA256Digest.of(Array(text.utf8)).prefix(6))
  }
}

/// Bytes as hexadecimal digits in lower case.
package enum Hexadecimal {
  private static let digits = Array("0123456789abcdef".utf8)

  package static func encode(_ bytes: some Sequence<UInt8>) -> String {
    // Reading a sequence of an unknown type would cost a call a byte.
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

/// Identifies a device's token on topics and in state, where the token itself must not be a key (T4). It has 128 bits, so that nobody
/// finds a second token with the same hash and takes the first one's owner row.
public enum TokenHash {
  /// The first 32 hexadecimal digits of the SHA-256 of the token's UTF-8 bytes.
  public static func of(_ token: String) -> String {
    Hexadecimal.encode(SHA256Digest.of(Array(token.utf8)).prefix(16))
  }
}

/// SHA-256 by OpenSSL.
public enum SHA256Digest {
  /// The algorithm, fetched once: `SHA256` would fetch it with each call, which takes longer than a short digest. Nil if the
  /// library cannot provide it.
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
