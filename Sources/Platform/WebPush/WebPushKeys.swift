import COpenSSL
import ServiceKit

/// The keys of a subscription, with which messages are encrypted (RFC 8291, section 3). The browser provides them.
public struct WebPushKeys: Sendable, Hashable {
  /// Why keys are refused. It contains nothing of the keys, because they are secrets of the app's user.
  public enum Invalid: String, Error, CustomStringConvertible {
    /// `p256dh` is not an uncompressed P-256 point in base64url.
    case p256dh
    /// `auth` is not 16 bytes in base64url.
    case auth

    /// The rule for the key.
    public var rule: String {
      switch self {
      case .p256dh: "must be a point of P-256, 65 bytes uncompressed, in base64url without padding"
      case .auth: "must be 16 bytes in base64url without padding"
      }
    }

    public var description: String { "\(rawValue) \(rule)" }
  }

  /// The receiver's public key.
  let point: P256.Point
  /// The secret that the receiver shares with the sender.
  let secret: [UInt8]

  /// Reads both in base64url, as `PushSubscription.toJSON()` returns them.
  public init(p256dh: String, auth: String) throws(Invalid) {
    guard p256dh.utf8.count == 87, let bytes = Base64URL.decode(p256dh), let point = P256.Point(bytes) else {
      throw .p256dh
    }
    guard auth.utf8.count == 22, let secret = Base64URL.decode(auth) else { throw .auth }
    self.point = point
    self.secret = secret
  }
}

/// The curve P-256, from OpenSSL.
enum P256 {
  static let pointLength = 65
  static let scalarLength = 32

  /// A point on the curve, parsed once.
  final class Point: @unchecked Sendable, Hashable {
    /// Its uncompressed form.
    let bytes: [UInt8]
    /// Safe to share: nothing changes it after init.
    fileprivate let pointer: OpaquePointer

    /// Nil if the bytes are not an uncompressed point on the curve.
    init?(_ bytes: [UInt8]) {
      guard bytes.count == pointLength, bytes[0] == 4, let point = EC_POINT_new(group.pointer) else { return nil }
      guard EC_POINT_oct2point(group.pointer, point, bytes, bytes.count, nil) == 1 else {
        ERR_clear_error()
        EC_POINT_free(point)
        return nil
      }
      (self.bytes, pointer) = (bytes, point)
    }

    deinit { EC_POINT_free(pointer) }

    static func == (one: Point, other: Point) -> Bool { one.bytes == other.bytes }
    func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
  }

  /// The public key of a private one.
  static func publicKey(of scalar: [UInt8]) throws(WebPushCryptographyError) -> [UInt8] {
    try multiply(scalar, nil)
  }

  /// The shared secret of a key exchange: the x-coordinate of the product.
  static func sharedSecret(_ scalar: [UInt8], _ other: Point) throws(WebPushCryptographyError) -> [UInt8] {
    Array(try multiply(scalar, other)[1...scalarLength])
  }

  /// A random private key, from 1 to the order of the curve.
  static func randomScalar() throws(WebPushCryptographyError) -> [UInt8] {
    guard let order = EC_GROUP_get0_order(group.pointer), let scalar = BN_secure_new() else {
      throw .failed("make a key")
    }
    defer { BN_clear_free(scalar) }
    repeat {
      guard BN_priv_rand_range(scalar, order) == 1 else { throw .failed("make a random key") }
    } while BN_is_zero(scalar) == 1
    var bytes = [UInt8](repeating: 0, count: scalarLength)
    guard BN_bn2binpad(scalar, &bytes, Int32(scalarLength)) == scalarLength else { throw .failed("write a key") }
    return bytes
  }

  private struct Group: @unchecked Sendable {
    /// Safe to share: nothing changes it after init.
    let pointer: OpaquePointer
  }

  private static let group: Group = {
    guard let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else {
      preconditionFailure("OpenSSL has no P-256")
    }
    return Group(pointer: group)
  }()

  /// The scalar times a point or the generator. OpenSSL computes it in constant time.
  private static func multiply(
    _ scalar: [UInt8], _ other: Point?
  ) throws(WebPushCryptographyError) -> [UInt8] {
    guard scalar.count == scalarLength, let number = BN_secure_new() else { throw .failed("read a key") }
    defer { BN_clear_free(number) }
    guard BN_bin2bn(scalar, Int32(scalarLength), number) != nil, let product = EC_POINT_new(group.pointer) else {
      throw .failed("read a key")
    }
    defer { EC_POINT_clear_free(product) }
    if let other {
      guard EC_POINT_mul(group.pointer, product, nil, other.pointer, number, nil) == 1 else {
        throw .failed("exchange keys")
      }
    } else {
      guard EC_POINT_mul(group.pointer, product, number, nil, nil, nil) == 1 else { throw .failed("make a public key") }
    }
    var bytes = [UInt8](repeating: 0, count: pointLength)
    let length = EC_POINT_point2oct(group.pointer, product, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, nil)
    ERR_clear_error()
    guard length == pointLength else { throw .failed("write a point") }
    return bytes
  }
}

/// OpenSSL failed in an operation that works with every valid key.
public enum WebPushCryptographyError: Error, Equatable, CustomStringConvertible {
  /// The operation that failed.
  case failed(String)

  public var description: String {
    switch self {
    case .failed(let operation): "OpenSSL could not \(operation)"
    }
  }
}
