import Foundation

/// The cryptographic operations needed to open a sealed payload. The app provides them: docs/apps.md shows them with
/// CryptoKit. Elsewhere use OpenSSL, swift-crypto or the system's library.
public protocol PayloadCryptography: Sendable {
  /// The public key of a private one: 65 bytes, uncompressed.
  func publicKey(of privateKey: [UInt8]) throws -> [UInt8]
  /// The shared secret of a P-256 key exchange: the x-coordinate of the product, 32 bytes.
  func sharedSecret(_ privateKey: [UInt8], _ publicKey: [UInt8]) throws -> [UInt8]
  /// HMAC with SHA-256: 32 bytes.
  func authenticationCode(_ message: [UInt8], key: [UInt8]) -> [UInt8]
  /// Decrypts AES-128-GCM. `sealed` ends with a tag of 16 bytes. Throws if the tag does not match.
  func open(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8]) throws -> [UInt8]
}

/// A device's keys. The texts of its pushes are encrypted for them (RFC 8291), so that FCM cannot read them.
///
/// The app creates the keys once from 48 random bytes of the system. It stores them where only the app and its
/// extensions can read them (on iOS a shared keychain group), and registers ``sealing`` with each token.
///
/// ```swift
/// let keys = try PayloadKeys(privateKey: stored.privateKey, secret: stored.secret, AppleCryptography())
/// perform(upload.tokenReceived(token, sealing: keys.sealing, at: Date()))
/// // In the Notification Service Extension, and wherever data arrives:
/// let push = try PushPayload(data: try keys.open(data))
/// ```
public struct PayloadKeys: Sendable {
  /// The field of a push's data that contains the encrypted fields.
  public static let field = "sealed"

  /// Why data cannot be opened. It contains none of the data.
  public enum Failure: Error, Equatable {
    /// The keys do not have 32 and 16 bytes, or are not valid.
    case keys
    /// The field is not a sealed payload of RFC 8291.
    case format
    /// The data was sealed for other keys or changed in transit. Register the current keys again.
    case notForThese
  }

  /// Salt, record size, and the sender's public key with its length (RFC 8188).
  private static let headerLength = 16 + 4 + 1 + 65

  private let privateKey: [UInt8]
  private let secret: [UInt8]
  private let publicKey: [UInt8]
  private let cryptography: any PayloadCryptography

  /// Stored keys: a P-256 private key of 32 bytes and a secret of 16 bytes.
  public init(privateKey: [UInt8], secret: [UInt8], _ cryptography: any PayloadCryptography) throws(Failure) {
    guard privateKey.count == 32, secret.count == 16, let publicKey = try? cryptography.publicKey(of: privateKey),
      publicKey.count == 65
    else { throw .keys }
    self.privateKey = privateKey
    self.secret = secret
    self.publicKey = publicKey
    self.cryptography = cryptography
  }

  /// The public part, for `device.registered`.
  public var sealing: Device.SealingKeys {
    Device.SealingKeys(p256dh: Self.base64URL(publicKey), auth: Self.base64URL(secret))
  }

  /// The original data of a sealed push, without title and body if it has none. Data that is not sealed is returned
  /// unchanged.
  public func open(_ data: [String: String]) throws(Failure) -> [String: String] {
    guard let field = data[Self.field] else { return data }
    guard let sealed = Self.bytes(ofBase64URL: field) else { throw .format }
    let text = try open(sealed)
    guard let fields = try? JSONSerialization.jsonObject(with: Data(text)) as? [String: Any] else { throw .format }
    // Fields outside the envelope are for the transport. A sealed field of the same name takes precedence.
    var opened = data
    opened[Self.field] = nil
    for (name, value) in fields { if let text = value as? String { opened[name] = text } }
    return opened
  }

  /// The message of a single record of `aes128gcm`.
  func open(_ sealed: [UInt8]) throws(Failure) -> [UInt8] {
    guard sealed.count > Self.headerLength + 16, sealed[20] == 65 else { throw .format }
    let size = sealed[16..<20].reduce(0) { $0 << 8 | Int($1) }
    let sender = Array(sealed[21..<Self.headerLength])
    let record = Array(sealed[Self.headerLength...])
    guard record.count <= size else { throw .format }
    var message: [UInt8]
    do {
      let shared = try cryptography.sharedSecret(privateKey, sender)
      let input = expand(
        cryptography.authenticationCode(shared, key: secret), Array("WebPush: info\0".utf8) + publicKey + sender, 32)
      let root = cryptography.authenticationCode(input, key: Array(sealed[..<16]))
      message = try cryptography.open(
        record, key: expand(root, Array("Content-Encoding: aes128gcm\0".utf8), 16),
        nonce: expand(root, Array("Content-Encoding: nonce\0".utf8), 12))
    } catch {
      throw .notForThese
    }
    // Zeros may follow the delimiter, which is 2 in the last record.
    while message.last == 0 { message.removeLast() }
    guard message.popLast() == 2 else { throw .format }
    return message
  }

  /// HKDF's expand step (RFC 5869), for at most the length of one hash.
  private func expand(_ root: [UInt8], _ info: [UInt8], _ length: Int) -> [UInt8] {
    Array(cryptography.authenticationCode(info + [1], key: root).prefix(length))
  }

  private static func base64URL(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
  }

  private static func bytes(ofBase64URL text: String) -> [UInt8]? {
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    let base64 = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/") + padding
    return Data(base64Encoded: base64).map { Array($0) }
  }
}
