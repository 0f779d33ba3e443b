/// HMAC with SHA-256 (RFC 2104).
public enum HMACSHA256 {
  /// The bytes that SHA-256 takes at a time.
  private static let blockLength = 64

  /// The 32 bytes that say that whoever knows the key wrote the message.
  public static func of(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
    // By two digests of an algorithm that is fetched once: OpenSSL's HMAC fetches one with each call, which takes longer than a short code.
    var block = key.count > blockLength ? SHA256Digest.of(key) : key
    block += repeatElement(0, count: blockLength - block.count)
    let inner = SHA256Digest.of(block.map { $0 ^ 0x36 } + message)
    return SHA256Digest.of(block.map { $0 ^ 0x5C } + inner)
  }
}
