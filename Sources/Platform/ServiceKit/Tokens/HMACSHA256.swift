import COpenSSL

/// HMAC with SHA-256 (RFC 2104) by OpenSSL.
public enum HMACSHA256 {
  /// The 32 bytes that say that whoever knows the key wrote the message.
  public static func of(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: 32)
    let made = HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &code, nil)
    precondition(made != nil, "OpenSSL has no HMAC with SHA-256")
    return code
  }
}
