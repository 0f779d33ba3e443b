import COpenSSL
import ServiceKit

/// The device's side of a subscription: it has keys of its own, and opens what was sealed for them (RFC 8291). For the lab and for tests:
/// no service opens a push.
public struct WebPushReceiver: Sendable {
  /// Why a body is not opened.
  public enum Failure: Error, Equatable {
    /// It has no header of RFC 8188, or more than one record.
    case format
    /// It was sealed for other keys, or was changed in transit.
    case keys
    /// OpenSSL failed.
    case cryptography(WebPushCryptographyError)
  }

  private let privateKey: [UInt8]
  private let publicKey: [UInt8]
  private let secret: [UInt8]

  /// A receiver with these keys.
  /// - Parameters:
  ///   - privateKey: 32 bytes, from 1 to the order of P-256.
  ///   - secret: 16 bytes.
  public init(privateKey: [UInt8], secret: [UInt8]) throws(WebPushCryptographyError) {
    guard secret.count == 16 else { throw .failed("use a secret that has not 16 bytes") }
    self.privateKey = privateKey
    self.secret = secret
    publicKey = try P256.publicKey(of: privateKey)
  }

  /// A receiver with fresh keys.
  public static func random() throws(WebPushCryptographyError) -> WebPushReceiver {
    var secret = [UInt8](repeating: 0, count: 16)
    guard RAND_bytes(&secret, 16) == 1 else { throw .failed("make a random secret") }
    return try WebPushReceiver(privateKey: try P256.randomScalar(), secret: secret)
  }

  /// The public key as a browser gives it.
  public var p256dh: String { Base64URL.encode(publicKey) }
  /// The secret as a browser gives it.
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

  /// AES-128-GCM; nil: the tag is another one.
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
