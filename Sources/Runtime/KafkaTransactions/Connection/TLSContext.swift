internal import COpenSSL
import Foundation

/// The trusted authorities, certificate and key that all encrypted connections share.
final class TLSContext {
  let pointer: OpaquePointer
  let settings: TLSSettings

  init(_ settings: TLSSettings) throws(TransactionalProducerError) {
    self.settings = settings
    guard let pointer = SSL_CTX_new(TLS_client_method()) else { throw Self.failure("prepare TLS") }
    self.pointer = pointer
    _ = nudge_ssl_ctx_set_min_version(pointer, TLS1_2_VERSION)
    SSL_CTX_set_verify(pointer, settings.verifiesPeer ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nil)
    if let suites = settings.cipherSuites, SSL_CTX_set_cipher_list(pointer, suites) != 1 {
      throw Self.failure("set ssl.cipher.suites")
    }
    try trust()
    try identify()
  }

  deinit { SSL_CTX_free(pointer) }

  private func trust() throws(TransactionalProducerError) {
    switch settings.authorities {
    case nil:
      guard SSL_CTX_set_default_verify_paths(pointer) == 1 else {
        throw Self.failure("load the system's authorities")
      }
    case .file(let path, _) where Self.isDirectory(path):
      guard SSL_CTX_load_verify_locations(pointer, nil, path) == 1 else {
        throw Self.failure("load ssl.ca.location \(path)")
      }
    case .some(let source):
      guard let store = SSL_CTX_get_cert_store(pointer) else { throw Self.failure("prepare TLS") }
      let certificates = try Self.certificates(in: source)
      defer { for certificate in certificates { X509_free(certificate) } }
      for certificate in certificates where X509_STORE_add_cert(store, certificate) != 1 {
        throw Self.failure("trust \(Self.name(source))")
      }
    }
  }

  private func identify() throws(TransactionalProducerError) {
    guard let source = settings.certificate else { return }
    let certificates = try Self.certificates(in: source)
    defer { for certificate in certificates { X509_free(certificate) } }
    guard SSL_CTX_use_certificate(pointer, certificates.first) == 1 else {
      throw Self.failure("use \(Self.name(source))")
    }
    for certificate in certificates.dropFirst()
    where SSL_CTX_ctrl(pointer, Self.addToChain, 1, UnsafeMutableRawPointer(certificate)) != 1 {
      throw Self.failure("use \(Self.name(source))")
    }
    let keySource = settings.key ?? source
    let bytes = try Self.contents(of: keySource)
    guard let bio = BIO_new_mem_buf(bytes, Int32(bytes.count)) else { throw Self.failure("prepare TLS") }
    defer { BIO_free(bio) }
    // Without a password the empty one is used; otherwise OpenSSL would prompt on the terminal.
    let key = (settings.keyPassword ?? "").withCString {
      PEM_read_bio_PrivateKey(bio, nil, nil, UnsafeMutableRawPointer(mutating: $0))
    }
    guard let key else {
      throw Self.failure("read \(Self.name(keySource)) (is ssl.key.password right?)")
    }
    defer { EVP_PKEY_free(key) }
    guard SSL_CTX_use_PrivateKey(pointer, key) == 1, SSL_CTX_check_private_key(pointer) == 1 else {
      throw Self.failure("use \(Self.name(keySource)) with \(Self.name(source))")
    }
  }

  // SSL_CTRL_CHAIN_CERT, of the macro SSL_CTX_add1_chain_cert; Swift does not import macros with arguments.
  private static let addToChain: Int32 = 89

  private static func isDirectory(_ path: String) -> Bool {
    var isDirectory: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
  }

  private static func name(_ source: TLSSettings.Source) -> String {
    switch source {
    case .text: "the PEM text given"
    case .file(let path, let property): "\(property) \(path)"
    }
  }

  private static func contents(of source: TLSSettings.Source) throws(TransactionalProducerError) -> [UInt8] {
    switch source {
    case .text(let text): return Array(text.utf8)
    case .file(let path, _):
      guard let data = FileManager.default.contents(atPath: path) else {
        throw TransactionalProducerError(.refused, "read \(name(source))", "the file is not there, or may not be read")
      }
      return Array(data)
    }
  }

  /// All certificates of a PEM; the caller frees them.
  static func certificates(in source: TLSSettings.Source) throws(TransactionalProducerError) -> [OpaquePointer] {
    let bytes = try contents(of: source)
    guard let bio = BIO_new_mem_buf(bytes, Int32(bytes.count)) else { throw failure("prepare TLS") }
    defer { BIO_free(bio) }
    var found: [OpaquePointer] = []
    while let certificate = PEM_read_bio_X509(bio, nil, nil, nil) { found.append(certificate) }
    // OpenSSL reports the end of the text as an error.
    ERR_clear_error()
    guard !found.isEmpty else {
      throw TransactionalProducerError(.refused, "read \(name(source))", "there is no certificate in PEM")
    }
    return found
  }

  /// An error with the reasons from OpenSSL's queue, which is emptied.
  static func failure(
    _ operation: String, kind: TransactionalProducerError.Kind = .refused, else fallback: String = "no reason given"
  )
    -> TransactionalProducerError
  {
    var reasons: [String] = []
    while case let code = ERR_get_error(), code != 0 {
      if let reason = ERR_reason_error_string(code) { reasons.append(String(cString: reason)) }
    }
    return TransactionalProducerError(kind, operation, reasons.isEmpty ? fallback : reasons.joined(separator: "; "))
  }
}
