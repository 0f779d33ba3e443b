import Foundation

/// The few operations that opening a sealed payload needs. The app brings them: docs/apps.md has them by CryptoKit; elsewhere by
/// OpenSSL, swift-crypto, or the system's.
public protocol PayloadCryptography: Sendable {
  /// The public key of a private one: 65 bytes, uncompressed.
  func publicKey(of privateKey: [UInt8]) throws -> [UInt8]
  /// The secret of an exchange on P-256: the first coordinate of the product, 32 bytes.
  func sharedSecret(_ privateKey: [UInt8], _ publicKey: [UInt8]) throws -> [UInt8]
  /// HMAC with SHA-256: 32 bytes.
  func authenticationCode(_ message: [UInt8], key: [UInt8]) -> [UInt8]
  /// AES-128-GCM: the text of what ends with a tag of 16 bytes. Throws for another tag.
  func open(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8]) throws -> [UInt8]
}

/// A device's keys: what the app shows goes through FCM sealed for them (RFC 8291), so that nobody on the way can read it.
///
/// The app makes them once with 48 random bytes of the system, keeps them where only it and its extensions read them (on iOS a shared keychain
/// group), and registers ``sealing`` with each token.
///
/// ```swift
/// let keys = try PayloadKeys(privateKey: stored.privateKey, secret: stored.secret, AppleCryptography())
/// perform(upload.tokenReceived(token, sealing: keys.sealing, at: Date()))
/// // In the Notification Service Extension, and wherever data arrives:
/// let push = try PushPayload(data: try keys.open(data))
/// ```
public struct PayloadKeys: Sendable {
  /// The field of a push's data that has the rest of it.
  public static let field = "sealed"

  /// Why data cannot be opened. Nothing of the data is in it.
  public enum Failure: Error, Equatable {
    /// The keys have not 32 and 16 bytes, or are no keys.
    case keys
    /// The field is no sealed payload of RFC 8291.
    case format
    /// It was sealed for other keys, or was changed in transit. Register the present keys again.
    case notForThese
  }

  /// Salt, record size, and the sender's public key with its length (RFC 8188).
  private static let headerLength = 16 + 4 + 1 + 65

  private let privateKey: [UInt8]
  private let secret: [UInt8]
  private let publicKey: [UInt8]
  private let cryptography: any PayloadCryptography

  /// Keys that the app keeps: 32 bytes of a private key of P-256 and a secret of 16.
  public init(privateKey: [UInt8], secret: [UInt8], _ cryptography: any PayloadCryptography) throws(Failure) {
    guard privateKey.count == 32, secret.count == 16, let publicKey = try? cryptography.publicKey(of: privateKey),
      publicKey.count == 65
    else { throw .keys }
    self.privateKey = privateKey
    self.secret = secret
    self.publicKey = publicKey
    self.cryptography = cryptography
  }

  /// What `device.registered` says of them.
  public var sealing: Device.SealingKeys {
    Device.SealingKeys(p256dh: Self.base64URL(publicKey), auth: Self.base64URL(secret))
  }

  /// The data of a push as it was before it was sealed, without its title and body where it has none; data that is not sealed comes
  /// back as it is.
  public func open(_ data: [String: String]) throws(Failure) -> [String: String] {
    guard let field = data[Self.field] else { return data }
    guard let sealed = Self.bytes(ofBase64URL: field) else { throw .format }
    let text = try open(sealed)
    guard let fields = try? JSONSerialization.jsonObject(with: Data(text)) as? [String: Any] else { throw .format }
    // Fields outside the envelope serve the transport. A sealed field of the same name counts.
    var opened = data
    opened[Self.field] = nil
    for (name, value) in fields { if let text = value as? String { opened[name] = text } }
    return opened
  }

  /// The message in one record of `aes128gcm`.
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

  /// HKDF's second half (RFC 5869), up to the length of one hash.
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
