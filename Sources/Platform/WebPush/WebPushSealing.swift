import COpenSSL
import ServiceKit

/// Encrypts messages for a subscription, so that the push service cannot read them: one record of `aes128gcm` (RFC
/// 8188) with keys of RFC 8291.
public struct WebPushSealing: Sendable {
  /// The longest encrypted message in bytes that every push service accepts (RFC 8030, section 7.2).
  public static let longestSealed = 4_096
  /// Salt, record size, and the sender's public key with its length.
  static let headerLength = 16 + 4 + 1 + P256.pointLength
  /// The longest message in bytes. Encryption adds a header, a delimiter and a tag.
  public static let longestMessage = longestSealed - headerLength - 1 - tagLength

  static let tagLength = 16

  /// Why a message cannot be encrypted.
  public enum Failure: Error, Equatable {
    /// It is longer than `longestMessage`.
    case tooLong
    /// OpenSSL failed.
    case cryptography(WebPushCryptographyError)
  }

  /// The values that must be new for every message. Two messages with the same ones would reveal their difference.
  struct Fresh {
    var privateKey: [UInt8]
    var salt: [UInt8]

    static func random() throws(WebPushCryptographyError) -> Fresh {
      var salt = [UInt8](repeating: 0, count: 16)
      guard RAND_bytes(&salt, 16) == 1 else { throw .failed("make a random salt") }
      return Fresh(privateKey: try P256.randomScalar(), salt: salt)
    }
  }

  /// The body of a push that contains this message.
  public static func seal(_ message: [UInt8], for keys: WebPushKeys) throws(Failure) -> [UInt8] {
    let fresh: Fresh
    do { fresh = try .random() } catch { throw .cryptography(error) }
    return try seal(message, for: keys, fresh)
  }

  static func seal(_ message: [UInt8], for keys: WebPushKeys, _ fresh: Fresh) throws(Failure) -> [UInt8] {
    guard message.count <= longestMessage else { throw .tooLong }
    do {
      let ours = try P256.publicKey(of: fresh.privateKey)
      let shared = try P256.sharedSecret(fresh.privateKey, keys.point)
      let (key, nonce) = Self.keys(
        shared: shared, secret: keys.secret, receiver: keys.point.bytes, sender: ours, salt: fresh.salt)
      var sealed = fresh.salt
      sealed.reserveCapacity(headerLength + message.count + 1 + tagLength)
      let size = UInt32(longestSealed)
      sealed += [UInt8(truncatingIfNeeded: size >> 24), UInt8(truncatingIfNeeded: size >> 16)]
      sealed += [UInt8(truncatingIfNeeded: size >> 8), UInt8(truncatingIfNeeded: size), UInt8(P256.pointLength)]
      sealed += ours
      // 2 marks the last record.
      sealed += try encrypt(message + [2], key: key, nonce: nonce)
      return sealed
    } catch {
      throw .cryptography(error)
    }
  }

  /// The key and the nonce of the only record (RFC 8291, section 3.4).
  static func keys(
    shared: [UInt8], secret: [UInt8], receiver: [UInt8], sender: [UInt8], salt: [UInt8]
  ) -> (key: [UInt8], nonce: [UInt8]) {
    let input = expand(
      HMACSHA256.of(shared, key: secret), Array("WebPush: info\0".utf8) + receiver + sender, to: 32)
    let root = HMACSHA256.of(input, key: salt)
    return (
      expand(root, Array("Content-Encoding: aes128gcm\0".utf8), to: 16),
      expand(root, Array("Content-Encoding: nonce\0".utf8), to: 12)
    )
  }

  /// HKDF's expand step (RFC 5869), for at most the length of one hash.
  private static func expand(_ root: [UInt8], _ info: [UInt8], to length: Int) -> [UInt8] {
    Array(HMACSHA256.of(info + [1], key: root).prefix(length))
  }

  /// AES-128-GCM, fetched once, because `EVP_aes_128_gcm` would be fetched with each message. Nil if the library cannot
  /// provide it.
  ///
  /// `nonisolated(unsafe)` is safe: it is set once, before its first use, and OpenSSL lets threads share an `EVP_CIPHER`.
  nonisolated(unsafe) static let cipher = EVP_CIPHER_fetch(nil, "AES-128-GCM", nil)

  /// The ciphertext and its tag.
  private static func encrypt(
    _ text: [UInt8], key: [UInt8], nonce: [UInt8]
  ) throws(WebPushCryptographyError) -> [UInt8] {
    guard let cipher, let context = EVP_CIPHER_CTX_new() else { throw .failed("make a cipher") }
    defer { EVP_CIPHER_CTX_free(context) }
    var sealed = [UInt8](repeating: 0, count: text.count + tagLength)
    var count: Int32 = 0
    var rest: Int32 = 0
    // GCM is a stream cipher, so nothing remains to be written at the end.
    guard EVP_EncryptInit_ex(context, cipher, nil, key, nonce) == 1,
      EVP_EncryptUpdate(context, &sealed, &count, text, Int32(text.count)) == 1, Int(count) == text.count,
      EVP_EncryptFinal_ex(context, nil, &rest) == 1
    else {
      ERR_clear_error()
      throw .failed("encrypt")
    }
    let hasTag = sealed.withUnsafeMutableBytes { bytes in
      EVP_CIPHER_CTX_ctrl(
        context, EVP_CTRL_AEAD_GET_TAG, Int32(tagLength), bytes.baseAddress.map { $0 + text.count }) == 1
    }
    guard hasTag else { throw .failed("make a tag") }
    return sealed
  }
}

/// The device's side of a subscription. It has its own keys and decrypts messages for them (RFC 8291). Only the lab and
/// tests use it; no service decrypts a push.
public struct WebPushReceiver: Sendable {
  /// Why a body cannot be decrypted.
  public enum Failure: Error, Equatable {
    /// It has no RFC 8188 header, or more than one record.
    case format
    /// It was encrypted for other keys, or was changed in transit.
    case keys
    /// OpenSSL failed.
    case cryptography(WebPushCryptographyError)
  }

  private let privateKey: [UInt8]
  private let publicKey: [UInt8]
  private let secret: [UInt8]

  /// A receiver with given keys.
  /// - Parameters:
  ///   - privateKey: 32 bytes, from 1 to the order of P-256.
  ///   - secret: 16 bytes.
  public init(privateKey: [UInt8], secret: [UInt8]) throws(WebPushCryptographyError) {
    guard secret.count == 16 else { throw .failed("use a secret that has not 16 bytes") }
    self.privateKey = privateKey
    self.secret = secret
    publicKey = try P256.publicKey(of: privateKey)
  }

  /// A receiver with random keys.
  public static func random() throws(WebPushCryptographyError) -> WebPushReceiver {
    var secret = [UInt8](repeating: 0, count: 16)
    guard RAND_bytes(&secret, 16) == 1 else { throw .failed("make a random secret") }
    return try WebPushReceiver(privateKey: try P256.randomScalar(), secret: secret)
  }

  /// The public key in a browser's form.
  public var p256dh: String { Base64URL.encode(publicKey) }
  /// The secret in a browser's form.
  public var auth: String { Base64URL.encode(secret) }

  /// The message in the body of a push.
  public func open(_ sealed: [UInt8]) throws(Failure) -> [UInt8] {
    let header = WebPushSealing.headerLength
    guard sealed.count > header + WebPushSealing.tagLength, Int(sealed[20]) == P256.pointLength else { throw .format }
    let size = sealed[16..<20].reduce(0) { $0 << 8 | Int($1) }
    guard let sender = P256.Point(Array(sealed[21..<header])) else { throw .cryptography(.failed("read a point")) }
    let record = Array(sealed[header...])
    guard record.count <= size else { throw .format }
    var message: [UInt8]
    do {
      let shared = try P256.sharedSecret(privateKey, sender)
      let (key, nonce) = WebPushSealing.keys(
        shared: shared, secret: secret, receiver: publicKey, sender: sender.bytes, salt: Array(sealed[..<16]))
      guard let text = try Self.decrypt(record, key: key, nonce: nonce) else { throw Failure.keys }
      message = text
    } catch let error as WebPushCryptographyError {
      throw .cryptography(error)
    } catch {
      throw .keys
    }
    // Zeros may follow the delimiter, which is 2 in the last record.
    while message.last == 0 { message.removeLast() }
    guard message.popLast() == 2 else { throw .format }
    return message
  }

  /// Decrypts AES-128-GCM; nil if the tag does not match.
  static func decrypt(
    _ record: [UInt8], key: [UInt8], nonce: [UInt8]
  ) throws(WebPushCryptographyError) -> [UInt8]? {
    guard let context = EVP_CIPHER_CTX_new() else { throw .failed("make a cipher") }
    defer {
      EVP_CIPHER_CTX_free(context)
      ERR_clear_error()
    }
    let length = record.count - WebPushSealing.tagLength
    var tag = Array(record[length...])
    var text = [UInt8](repeating: 0, count: length)
    var count: Int32 = 0
    var rest: Int32 = 0
    guard EVP_DecryptInit_ex(context, WebPushSealing.cipher, nil, key, nonce) == 1,
      EVP_DecryptUpdate(context, &text, &count, record, Int32(length)) == 1, Int(count) == length,
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(WebPushSealing.tagLength), &tag) == 1
    else { throw .failed("decrypt") }
    return EVP_DecryptFinal_ex(context, &text, &rest) == 1 ? text : nil
  }
}
