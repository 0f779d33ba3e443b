import COpenSSL

/// The signature algorithm, which is derived from the key and never from a token.
enum SigningAlgorithm: String, Sendable {
  /// RSA with PKCS #1 padding and SHA-256.
  case rs256 = "RS256"
  /// ECDSA on P-256 with SHA-256.
  case es256 = "ES256"
}

/// An OpenSSL key, public or private, of a type that can sign tokens.
final class SigningKey: @unchecked Sendable {
  /// Safe to share: the key never changes after init, OpenSSL allows many threads to read it at once, and each
  /// operation has its own context.
  private let key: OpaquePointer
  let algorithm: SigningAlgorithm

  /// The smallest RSA key that RFC 7518 allows for RS256.
  private static let fewestBits: Int32 = 2_048

  /// Takes ownership of the key.
  init(owning key: OpaquePointer) throws(JSONWebTokenError) {
    guard let algorithm = Self.algorithm(of: key) else {
      EVP_PKEY_free(key)
      throw .invalidKey("use RSA of 2048 bits or more (RS256) or EC on P-256 (ES256)")
    }
    self.key = key
    self.algorithm = algorithm
  }

  deinit { EVP_PKEY_free(key) }

  private static func algorithm(of key: OpaquePointer) -> SigningAlgorithm? {
    if EVP_PKEY_is_a(key, "RSA") == 1 { return EVP_PKEY_get_bits(key) >= fewestBits ? .rs256 : nil }
    guard EVP_PKEY_is_a(key, "EC") == 1 else { return nil }
    var name = [CChar](repeating: 0, count: 64)
    var length = 0
    guard EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else { return nil }
    let group = name.prefix(length).map { UInt8(bitPattern: $0) }
    return String(decoding: group, as: UTF8.self) == "prime256v1" ? .es256 : nil
  }

  /// The signature in a token's form: for ES256 r and s of 32 bytes each, not DER.
  func sign(_ message: [UInt8]) throws(JSONWebTokenError) -> [UInt8] {
    guard let context = EVP_MD_CTX_new() else { throw .cryptography("make a context") }
    defer { EVP_MD_CTX_free(context) }
    var length = 0
    guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
      EVP_DigestSign(context, nil, &length, message, message.count) == 1
    else { throw failure("sign") }
    var signature = [UInt8](repeating: 0, count: length)
    guard EVP_DigestSign(context, &signature, &length, message, message.count) == 1 else { throw failure("sign") }
    signature.removeLast(signature.count - length)
    guard algorithm == .es256 else { return signature }
    guard let raw = ECDSASignature.raw(fromDER: signature) else { throw .cryptography("read the signature it made") }
    return raw
  }

  /// Whether the signature, in a token's form, was made with this key.
  func verifies(_ signature: [UInt8], of message: [UInt8]) throws(JSONWebTokenError) -> Bool {
    guard let plain = algorithm == .es256 ? ECDSASignature.der(fromRaw: signature) : signature else { return false }
    guard let context = EVP_MD_CTX_new() else { throw .cryptography("make a context") }
    defer { EVP_MD_CTX_free(context) }
    guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1 else { throw failure("verify") }
    let isValid = EVP_DigestVerify(context, plain, plain.count, message, message.count) == 1
    // A refused signature leaves errors in the thread's queue, which a later call must not report as its own.
    ERR_clear_error()
    return isValid
  }

  private func failure(_ operation: String) -> JSONWebTokenError {
    ERR_clear_error()
    return .cryptography(operation)
  }
}

/// ECDSA signatures on P-256. OpenSSL has them in DER, tokens as r and s side by side (RFC 7518, section 3.4).
enum ECDSASignature {
  private static let half = 32

  static func raw(fromDER der: [UInt8]) -> [UInt8]? {
    der.withUnsafeBufferPointer { buffer in
      var position = buffer.baseAddress
      guard let signature = d2i_ECDSA_SIG(nil, &position, buffer.count) else { return nil }
      defer { ECDSA_SIG_free(signature) }
      var raw = [UInt8](repeating: 0, count: 2 * half)
      let isWritten = raw.withUnsafeMutableBufferPointer { raw in
        guard let base = raw.baseAddress else { return false }
        return BN_bn2binpad(ECDSA_SIG_get0_r(signature), base, Int32(half)) == half
          && BN_bn2binpad(ECDSA_SIG_get0_s(signature), base + half, Int32(half)) == half
      }
      return isWritten ? raw : nil
    }
  }

  /// Nil unless there are exactly 64 bytes.
  static func der(fromRaw raw: [UInt8]) -> [UInt8]? {
    guard raw.count == 2 * half, let signature = ECDSA_SIG_new() else { return nil }
    defer { ECDSA_SIG_free(signature) }
    let r = BN_bin2bn(raw, Int32(half), nil)
    let s = raw.withUnsafeBufferPointer { $0.baseAddress.flatMap { BN_bin2bn($0 + half, Int32(half), nil) } }
    guard let r, let s, ECDSA_SIG_set0(signature, r, s) == 1 else {
      BN_free(r)
      BN_free(s)
      return nil
    }
    let length = i2d_ECDSA_SIG(signature, nil)
    guard length > 0 else { return nil }
    var der = [UInt8](repeating: 0, count: Int(length))
    let written = der.withUnsafeMutableBufferPointer { buffer in
      var position = buffer.baseAddress
      return i2d_ECDSA_SIG(signature, &position)
    }
    return written == length ? der : nil
  }
}

/// Keys from PEM.
enum PEMKey {
  static func privateKey(_ pem: String) throws(JSONWebTokenError) -> SigningKey {
    // Without a callback OpenSSL would ask for an encrypted key's passphrase on the terminal.
    let key = read(pem) { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) }
    guard let key else { throw .invalidKey("no private key in PEM (BEGIN PRIVATE KEY), or it is encrypted") }
    return try SigningKey(owning: key)
  }

  static func publicKey(_ pem: String) throws(JSONWebTokenError) -> SigningKey {
    guard let key = read(pem, { PEM_read_bio_PUBKEY($0, nil, nil, nil) }) else {
      throw .invalidKey("no public key in PEM (BEGIN PUBLIC KEY)")
    }
    return try SigningKey(owning: key)
  }

  private static func read(_ pem: String, _ read: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
    let bytes = Array(pem.utf8)
    guard !bytes.isEmpty, let count = Int32(exactly: bytes.count) else { return nil }
    return bytes.withUnsafeBytes { buffer in
      guard let source = BIO_new_mem_buf(buffer.baseAddress, count) else { return nil }
      defer {
        BIO_free(source)
        ERR_clear_error()
      }
      return read(source)
    }
  }
}

/// A key that signs tokens.
public struct PrivateKey: Sendable {
  let key: SigningKey

  /// Reads an unencrypted private key in PEM. RSA with 2,048 bits or more signs RS256, EC on P-256 signs ES256.
  /// - Throws: `JSONWebTokenError.invalidKey`.
  public init(pem: String) throws(JSONWebTokenError) {
    key = try PEMKey.privateKey(pem)
  }
}

/// HMAC with SHA-256 (RFC 2104).
public enum HMACSHA256 {
  /// SHA-256's block size in bytes.
  private static let blockLength = 64

  /// The 32 bytes that prove that the writer of the message knows the key.
  public static func of(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
    // Uses two digests of an algorithm that is fetched once. OpenSSL's HMAC fetches it with each call, which takes
    // longer than a short code.
    var block = key.count > blockLength ? SHA256Digest.of(key) : key
    block += repeatElement(0, count: blockLength - block.count)
    let inner = SHA256Digest.of(block.map { $0 ^ 0x36 } + message)
    return SHA256Digest.of(block.map { $0 ^ 0x5C } + inner)
  }
}
