import ServiceKit

/// A token's name on topics and in state, where the token itself must not be a key (T4).
public enum TokenHash {
  /// The first 32 hexadecimal digits of the SHA-256 of the token's UTF-8 bytes: 128 bits, so that nobody finds a second
  /// token of the same name to take the first one's owner row.
  public static func of(_ token: String) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(32)
    for byte in SHA256Digest.of(Array(token.utf8)).prefix(16) {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}
