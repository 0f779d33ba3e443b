import COpenSSL
import Foundation

/// The public keys that tokens are verified with. A file that changes is read again into a new one.
public struct JSONWebKeySet: Sendable {
  struct Entry: Sendable {
    let identifier: String?
    let key: SigningKey
  }

  let entries: [Entry]

  /// Reads the content of a key file: a JWK Set, one JWK, or one public key in PEM.
  /// - Throws: `JSONWebTokenError.invalidKey` if there is no usable key in it, or one that is meant for signatures is broken. Keys for encryption, and of types not known here, are passed over, as RFC 7517 asks.
  public init(contents: [UInt8]) throws(JSONWebTokenError) {
    let text = String(decoding: contents, as: UTF8.self)
    if text.contains("-----BEGIN") {
      entries = [Entry(identifier: nil, key: try PEMKey.publicKey(text))]
      return
    }
    var entries: [Entry] = []
    for (index, key) in try Self.keys(in: contents).enumerated() {
      guard key.use == nil || key.use == "sig", let made = try Self.signingKey(key, index: index) else { continue }
      if let algorithm = key.alg, algorithm != made.algorithm.rawValue { continue }
      entries.append(Entry(identifier: key.kid, key: made))
    }
    guard !entries.isEmpty else {
      throw .invalidKey("no key for RS256 or ES256 in the set: use RSA of 2048 bits or more, or EC on P-256")
    }
    self.entries = entries
  }

  private struct Key: Decodable {
    let kty: String
    let kid: String?
    let use: String?
    let alg: String?
    let crv: String?
    let n: String?
    let e: String?
    let x: String?
    let y: String?
  }

  private struct KeySet: Decodable {
    let keys: [Key]
  }

  private static func keys(in contents: [UInt8]) throws(JSONWebTokenError) -> [Key] {
    let decoder = JSONDecoder()
    let data = Data(contents)
    if let set = try? decoder.decode(KeySet.self, from: data) { return set.keys }
    if let key = try? decoder.decode(Key.self, from: data) { return [key] }
    throw .invalidKey("the file is neither a JSON Web Key Set ({\"keys\": […]}) nor a public key in PEM")
  }

  /// Nil for types of keys that are not known here.
  private static func signingKey(_ key: Key, index: Int) throws(JSONWebTokenError) -> SigningKey? {
    let name = key.kid.map { "'\($0)'" } ?? "number \(index + 1)"
    switch key.kty {
    case "RSA":
      guard let n = key.n.flatMap({ Base64URL.decode($0) }), let e = key.e.flatMap({ Base64URL.decode($0) }) else {
        throw .invalidKey("\(name): n and e must be base64url")
      }
      return try SigningKey(
        owning: make("RSA", name) { $0.add(n, OSSL_PKEY_PARAM_RSA_N) && $0.add(e, OSSL_PKEY_PARAM_RSA_E) })
    case "EC" where key.crv == "P-256":
      guard let x = key.x.flatMap({ Base64URL.decode($0) }), let y = key.y.flatMap({ Base64URL.decode($0) }),
        x.count == 32, y.count == 32
      else { throw .invalidKey("\(name): x and y must be 32 bytes in base64url") }
      // 4 marks a point with both coordinates.
      return try SigningKey(
        owning: make("EC", name) {
          $0.add("prime256v1", OSSL_PKEY_PARAM_GROUP_NAME) && $0.add(octets: [4] + x + y, OSSL_PKEY_PARAM_PUB_KEY)
        })
    default:
      return nil
    }
  }

  private static func make(
    _ type: String, _ name: String, _ fill: (KeyParameters) -> Bool
  ) throws(JSONWebTokenError) -> OpaquePointer {
    defer { ERR_clear_error() }
    guard let parameters = KeyParameters(), fill(parameters), let key = parameters.publicKey(type) else {
      throw .invalidKey("\(name): OpenSSL refuses it; the numbers are no \(type) key")
    }
    return key
  }
}

/// The parameters from which OpenSSL makes a public key.
private final class KeyParameters {
  private let builder: OpaquePointer
  /// The builder keeps only references to these, names included, until the key is made.
  private var numbers: [OpaquePointer] = []
  private var kept: [UnsafeMutableRawPointer] = []

  init?() {
    guard let builder = OSSL_PARAM_BLD_new() else { return nil }
    self.builder = builder
  }

  deinit {
    OSSL_PARAM_BLD_free(builder)
    for number in numbers { BN_free(number) }
    for copy in kept { copy.deallocate() }
  }

  func add(_ number: [UInt8], _ name: String) -> Bool {
    guard let count = Int32(exactly: number.count), let value = BN_bin2bn(number, count, nil) else { return false }
    numbers.append(value)
    return OSSL_PARAM_BLD_push_BN(builder, keep(name), value) == 1
  }

  func add(_ text: String, _ name: String) -> Bool {
    OSSL_PARAM_BLD_push_utf8_string(builder, keep(name), keep(text), 0) == 1
  }

  func add(octets: [UInt8], _ name: String) -> Bool {
    OSSL_PARAM_BLD_push_octet_string(builder, keep(name), keep(octets), octets.count) == 1
  }

  private func keep(_ bytes: [UInt8]) -> UnsafeMutableRawPointer {
    let copy = UnsafeMutableRawPointer.allocate(byteCount: bytes.count, alignment: 1)
    copy.copyMemory(from: bytes, byteCount: bytes.count)
    kept.append(copy)
    return copy
  }

  private func keep(_ text: String) -> UnsafePointer<CChar> {
    let bytes = Array(text.utf8) + [0]
    return UnsafePointer(keep(bytes).bindMemory(to: CChar.self, capacity: bytes.count))
  }

  /// Nil if OpenSSL does not take them; a point that is not on the curve is not taken.
  func publicKey(_ type: String) -> OpaquePointer? {
    guard let parameters = OSSL_PARAM_BLD_to_param(builder) else { return nil }
    defer { OSSL_PARAM_free(parameters) }
    guard let context = EVP_PKEY_CTX_new_from_name(nil, type, nil) else { return nil }
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_fromdata_init(context) == 1,
      EVP_PKEY_fromdata(context, &key, nudge_evp_pkey_public_key(), parameters) == 1
    else { return nil }
    return key
  }
}
