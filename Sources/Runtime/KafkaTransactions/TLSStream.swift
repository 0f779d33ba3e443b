internal import COpenSSL
import Foundation

/// The encryption of connections, from librdkafka's properties.
struct TLSSettings: Equatable, Sendable {
  /// PEM text, or a file with it.
  enum Source: Equatable, Sendable {
    case text(String)
    case file(String, property: String)

    /// Reads two of librdkafka's properties: the PEM text, or else the file. Fails if neither is set.
    init?(_ properties: [String: String], text: String, file: String) {
      if let value = properties[text], !value.isEmpty {
        self = .text(value)
      } else if let path = properties[file], !path.isEmpty, path != "probe" {
        self = .file(path, property: file)
      } else {
        return nil
      }
    }
  }

  /// The trusted authorities: a file, or a folder in OpenSSL's format. Absent: the system's.
  var authorities: Source?
  /// The client's certificate, with intermediate certificates.
  var certificate: Source?
  var key: Source?
  var keyPassword: String?
  var verifiesPeer = true
  var verifiesHost = true
  /// The cipher suites of TLS up to 1.2.
  var cipherSuites: String?
}

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
    // Without a password the empty one is used, because OpenSSL would else prompt on the terminal.
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

  /// All certificates of a PEM, which the caller frees.
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

/// An encrypted connection. OpenSSL works on memory buffers, and the socket below waits, with deadlines.
final class TLSStream: ByteStream {
  private let socket: TCPSocket
  private let context: TLSContext
  private let session: OpaquePointer
  /// Encrypted bytes from and to the broker, which the session owns.
  private let incoming: OpaquePointer
  private let outgoing: OpaquePointer
  private let peer: BrokerAddress

  /// Performs the handshake and verifies the broker.
  init(_ socket: TCPSocket, _ context: TLSContext, peer: BrokerAddress, deadline: Deadline)
    throws(TransactionalProducerError)
  {
    self.socket = socket
    self.context = context
    self.peer = peer
    let operation = "encrypt the connection to \(peer)"
    guard let session = SSL_new(context.pointer) else { throw TLSContext.failure(operation) }
    guard let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()) else {
      SSL_free(session)
      throw TLSContext.failure(operation)
    }
    (self.session, self.incoming, self.outgoing) = (session, incoming, outgoing)
    SSL_set_bio(session, incoming, outgoing)
    SSL_set_connect_state(session)
    let isAddress = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), peer.host) == 1
    ERR_clear_error()
    if isAddress && !context.settings.verifiesHost {
      X509_VERIFY_PARAM_set1_ip(SSL_get0_param(session), nil, 0)
    }
    if !isAddress {
      if context.settings.verifiesHost { SSL_set1_host(session, peer.host) }
      peer.host.withCString {
        _ = SSL_ctrl(session, Self.setServerName, 0, UnsafeMutableRawPointer(mutating: $0))
      }
    }
    try shakeHands(operation, deadline)
  }

  deinit { SSL_free(session) }

  // SSL_CTRL_SET_TLSEXT_HOSTNAME, a macro that Swift does not import.
  private static let setServerName: Int32 = 55

  private func shakeHands(_ operation: String, _ deadline: Deadline) throws(TransactionalProducerError) {
    while true {
      ERR_clear_error()
      let code = SSL_do_handshake(session)
      let error = code == 1 ? SSL_ERROR_NONE : SSL_get_error(session, code)
      if code != 1 && error != SSL_ERROR_WANT_READ {
        let verdict = SSL_get_verify_result(session)
        let reason: TransactionalProducerError
        if verdict != Int(X509_V_OK) {
          let text = String(cString: X509_verify_cert_error_string(verdict))
          reason = TransactionalProducerError(
            .refused, operation,
            "the broker's certificate is not accepted (\(text)): see ssl.ca.location and the broker's name")
          ERR_clear_error()
        } else {
          reason = TLSContext.failure(operation)
        }
        // Sends the alert to the broker, if possible.
        try? sendPending(deadline)
        throw reason
      }
      try sendPending(deadline)
      if code == 1 { return }
      try receive(deadline)
    }
  }

  private func sendPending(_ deadline: Deadline) throws(TransactionalProducerError) {
    let count = BIO_ctrl_pending(outgoing)
    guard count > 0 else { return }
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = max(0, Int(BIO_read(outgoing, buffer.baseAddress, Int32(clamping: count))))
    }
    try socket.write(bytes, deadline: deadline)
  }

  private func receive(_ deadline: Deadline) throws(TransactionalProducerError) {
    let bytes = try socket.read(atMost: 32 << 10, deadline: deadline)
    guard BIO_write(incoming, bytes, Int32(bytes.count)) == Int32(bytes.count) else {
      throw TLSContext.failure("read from \(peer)", kind: .passing)
    }
  }

  func write(_ bytes: [UInt8], deadline: Deadline) throws(TransactionalProducerError) {
    var done = 0
    while done < bytes.count {
      ERR_clear_error()
      let count = bytes.withUnsafeBytes {
        // Written in steps, to keep the buffer of unsent encrypted bytes small.
        SSL_write(session, $0.baseAddress! + done, Int32(min($0.count - done, 256 << 10)))
      }
      if count > 0 {
        done += Int(count)
        try sendPending(deadline)
        continue
      }
      guard SSL_get_error(session, count) == SSL_ERROR_WANT_READ else {
        throw TLSContext.failure("write to \(peer)", kind: .passing)
      }
      try sendPending(deadline)
      try receive(deadline)
    }
  }

  func read(atMost count: Int, deadline: Deadline) throws(TransactionalProducerError) -> [UInt8] {
    while true {
      ERR_clear_error()
      var got: Int32 = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        got = SSL_read(session, buffer.baseAddress, Int32(clamping: count))
        initialized = max(0, Int(got))
      }
      if got > 0 { return bytes }
      switch SSL_get_error(session, got) {
      case SSL_ERROR_WANT_READ:
        try sendPending(deadline)
        try receive(deadline)
      case SSL_ERROR_ZERO_RETURN:
        throw TransactionalProducerError(.passing, "read from \(peer)", "it closed the connection")
      default:
        // TLS 1.3: the broker's request for a client certificate fails after the handshake.
        throw TLSContext.failure("read from \(peer)", kind: .passing, else: "the connection is broken")
      }
    }
  }

  var isStale: Bool {
    // Session tickets arrive unrequested. They are read with the next answer.
    guard socket.isStale else { return false }
    do throws(TransactionalProducerError) {
      try receive(Deadline(after: .zero))
    } catch {
      return true
    }
    ERR_clear_error()
    var byte: UInt8 = 0
    let code = SSL_peek(session, &byte, 1)
    return code > 0 || SSL_get_error(session, code) != SSL_ERROR_WANT_READ
  }
}

/// The principal of a client with a certificate.
public enum CertificateSubject {
  /// The subject of a client's certificate, as Kafka's brokers write it (`CN=nudge,OU=chat,O=Example`), by the client's properties
  /// `ssl.certificate.pem` or `ssl.certificate.location`. Absent if there is no certificate, it is unreadable, or it has attributes that
  /// Java writes with numbers and not with names, such as `emailAddress`.
  public static func ofClient(_ properties: [String: String]) -> String? {
    let source = TLSSettings.Source(properties, text: "ssl.certificate.pem", file: "ssl.certificate.location")
    guard let source, let certificates = try? TLSContext.certificates(in: source) else { return nil }
    defer { for certificate in certificates { X509_free(certificate) } }
    // The client's certificate comes first, then the certificates of its authorities.
    guard let name = X509_get_subject_name(certificates.first), hasKnownParts(name),
      let bio = BIO_new(BIO_s_mem())
    else { return nil }
    defer { BIO_free(bio) }
    guard nudge_x509_name_print(bio, name) >= 0 else { return nil }
    var bytes: UnsafeMutablePointer<CChar>?
    let count = nudge_bio_contents(bio, &bytes)
    guard let bytes, count > 0 else { return nil }
    return String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  /// Whether OpenSSL and Java use the same name for each attribute.
  private static func hasKnownParts(_ name: OpaquePointer) -> Bool {
    let known: Set<Int32> = [
      NID_commonName, NID_countryName, NID_organizationName, NID_organizationalUnitName, NID_localityName,
      NID_stateOrProvinceName, NID_domainComponent, NID_userId,
    ]
    return (0..<X509_NAME_entry_count(name)).allSatisfy {
      known.contains(OBJ_obj2nid(X509_NAME_ENTRY_get_object(X509_NAME_get_entry(name, $0))))
    }
  }
}
