/// HMAC with SHA-256 (RFC 2104).
public enum HMACSHA256 {
  private static let block = 64

  /// The 32 bytes that say that whoever knows the key wrote the message.
  public static func of(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
    var key = key.count > block ? SHA256Digest.of(key) : key
    key += [UInt8](repeating: 0, count: block - key.count)
    let inner = SHA256Digest.of(key.map { $0 ^ 0x36 } + message)
    return SHA256Digest.of(key.map { $0 ^ 0x5C } + inner)
  }
}
