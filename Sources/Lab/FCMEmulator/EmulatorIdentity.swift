import COpenSSL
import Foundation

/// The emulator's CA, server certificate and service account. Each start creates new ones.
struct EmulatorIdentity: Sendable {
  let serverKey: CredentialKey
  let serverCertificate: Certificate
  let account: EmulatorServiceAccount

  private let authority: Certificate
  private let accountPEM: String

  init(project: String, host: String) throws(FCMEmulatorError) {
    let authorityKey = try CredentialKey.ec()
    // The name is unique: a client that trusts another emulator's CA then reports an unknown issuer and not a broken signature.
    authority = try Certificate(
      name: "FCM emulator CA " + String(UInt32.random(in: .min ... .max), radix: 16), key: authorityKey, issuer: nil)
    serverKey = try CredentialKey.ec()
    serverCertificate = try Certificate(
      name: "localhost", key: serverKey, issuer: (authority, authorityKey),
      addresses: host == "127.0.0.1" || host == "0.0.0.0"
        ? "DNS:localhost,IP:127.0.0.1" : "DNS:localhost,IP:127.0.0.1,IP:\(host)")
    let key = try CredentialKey.rsa()
    accountPEM = try key.pem()
    account = EmulatorServiceAccount(
      project: project, email: "nudge@\(project).iam.gserviceaccount.com",
      keyID: String(UInt64.random(in: .min ... .max), radix: 16), key: key)
  }

  /// Writes `ca.pem` and `service-account.json`, and returns their paths.
  func write(to directory: String, tokenURI: String) throws(FCMEmulatorError) -> (caFile: String, accountFile: String) {
    let folder = URL(fileURLWithPath: directory, isDirectory: true)
    let caFile = folder.appendingPathComponent("ca.pem").path
    let accountFile = folder.appendingPathComponent("service-account.json").path
    let fields: [String: String] = [
      "type": "service_account", "project_id": account.project, "private_key_id": account.keyID,
      "private_key": accountPEM, "client_email": account.email, "client_id": "100000000000000000001",
      "auth_uri": "https://accounts.google.com/o/oauth2/auth", "token_uri": tokenURI,
    ]
    let pem = try authority.pem()
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(pem.utf8).write(to: URL(fileURLWithPath: caFile), options: .atomic)
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      try encoder.encode(fields).write(to: URL(fileURLWithPath: accountFile), options: .atomic)
      // The file contains a private key.
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: accountFile)
    } catch {
      throw FCMEmulatorError(
        "cannot write the CA and service account to \(directory): \(error.localizedDescription)")
    }
    return (caFile, accountFile)
  }
}

/// The account whose signed assertions the token endpoint accepts.
struct EmulatorServiceAccount: Sendable {
  let project: String
  let email: String
  let keyID: String
  let key: CredentialKey
}

/// An owned asymmetric key pair.
///
/// `@unchecked Sendable`: nothing changes an `EVP_PKEY` after its creation, and OpenSSL 3 allows concurrent reads.
final class CredentialKey: @unchecked Sendable {
  let handle: OpaquePointer

  private init(_ handle: OpaquePointer) {
    self.handle = handle
  }

  deinit {
    EVP_PKEY_free(handle)
  }

  /// A new RSA key of 2,048 bits, as Google's service accounts have.
  static func rsa() throws(FCMEmulatorError) -> CredentialKey {
    guard let handle = nudge_rsa_generate(2048) else { throw .openSSL("making an RSA key") }
    return CredentialKey(handle)
  }

  /// A new P-256 key, for certificates.
  static func ec() throws(FCMEmulatorError) -> CredentialKey {
    guard let handle = nudge_ec_generate("P-256") else { throw .openSSL("making an EC key") }
    return CredentialKey(handle)
  }

  /// The key in PKCS #8 PEM.
  func pem() throws(FCMEmulatorError) -> String {
    try pemText("writing a private key") { PEM_write_bio_PrivateKey($0, handle, nil, nil, 0, nil, nil) }
  }

  /// The public half in PEM.
  func publicPEM() throws(FCMEmulatorError) -> String {
    try pemText("writing a public key") { PEM_write_bio_PUBKEY($0, handle) }
  }

  /// Whether `signature` is this key's RS256 signature of `message`. The algorithm follows from the key and not from a token's header.
  func verifies(_ message: [UInt8], signature: [UInt8]) -> Bool {
    guard let context = EVP_MD_CTX_new() else { return false }
    defer {
      EVP_MD_CTX_free(context)
      // A wrong signature leaves errors in this thread's queue, which the next TLS call would report as its own.
      ERR_clear_error()
    }
    return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, handle) == 1
      && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
  }
}

/// An owned certificate.
///
/// `@unchecked Sendable`: a signed `X509` is only read.
final class Certificate: @unchecked Sendable {
  let handle: OpaquePointer

  /// Creates and signs a certificate that is valid for ten days from yesterday.
  ///
  /// - Parameters:
  ///   - name: its common name.
  ///   - key: the key that it certifies.
  ///   - issuer: the CA and its key. Absent: the certificate is a self-signed CA.
  ///   - addresses: subject alternative names in OpenSSL's notation, `IP:127.0.0.1,DNS:localhost`.
  init(
    name: String, key: CredentialKey, issuer: (certificate: Certificate, key: CredentialKey)?, addresses: String = ""
  ) throws(FCMEmulatorError) {
    guard let certificate = X509_new() else { throw .openSSL("making a certificate") }
    handle = certificate
    let serial = UInt64.random(in: 1...(.max >> 1))
    let day = 86_400
    guard X509_set_version(certificate, 2) == 1,
      ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial) == 1,
      X509_gmtime_adj(X509_getm_notBefore(certificate), -day) != nil,
      X509_gmtime_adj(X509_getm_notAfter(certificate), 10 * day) != nil,
      X509_set_pubkey(certificate, key.handle) == 1,
      let subject = X509_get_subject_name(certificate),
      nudge_x509_name_set_common(subject, name) == 1,
      X509_set_issuer_name(certificate, issuer.map { X509_get_subject_name($0.certificate.handle) } ?? subject) == 1
    else { throw .openSSL("filling in a certificate") }
    if let issuer {
      try extend(issuer.certificate, NID_basic_constraints, "critical,CA:FALSE")
      try extend(issuer.certificate, NID_subject_alt_name, addresses)
      try extend(issuer.certificate, NID_ext_key_usage, "serverAuth")
    } else {
      try extend(self, NID_basic_constraints, "critical,CA:TRUE")
      try extend(self, NID_key_usage, "critical,keyCertSign,cRLSign")
      try extend(self, NID_subject_key_identifier, "hash")
    }
    guard X509_sign(certificate, (issuer?.key ?? key).handle, EVP_sha256()) > 0 else {
      throw .openSSL("signing a certificate")
    }
  }

  deinit {
    X509_free(handle)
  }

  /// The certificate in PEM.
  func pem() throws(FCMEmulatorError) -> String {
    try pemText("writing a certificate") { PEM_write_bio_X509($0, handle) }
  }

  private func extend(_ issuer: Certificate, _ kind: Int32, _ value: String) throws(FCMEmulatorError) {
    var context = X509V3_CTX()
    X509V3_set_ctx(&context, issuer.handle, handle, nil, nil, 0)
    guard let extension_ = X509V3_EXT_conf_nid(nil, &context, kind, value) else {
      throw .openSSL("the certificate extension \(value)")
    }
    defer { X509_EXTENSION_free(extension_) }
    guard X509_add_ext(handle, extension_, -1) == 1 else { throw .openSSL("adding a certificate extension") }
  }
}

private func pemText(
  _ operation: String, _ write: (OpaquePointer) -> Int32
) throws(FCMEmulatorError) -> String {
  guard let bio = BIO_new(BIO_s_mem()) else { throw .openSSL(operation) }
  defer { BIO_free(bio) }
  guard write(bio) == 1 else { throw .openSSL(operation) }
  var bytes: UnsafeMutablePointer<CChar>?
  let count = nudge_bio_contents(bio, &bytes)
  return String(
    decoding: UnsafeRawBufferPointer(start: bytes, count: max(count, 0)), as: UTF8.self)
}

extension FCMEmulatorError {
  /// The error of a failed operation, with the errors of this thread's OpenSSL queue, which is emptied.
  static func openSSL(_ operation: String) -> FCMEmulatorError {
    var reasons: [String] = []
    while case let code = ERR_get_error(), code != 0 {
      if let reason = ERR_reason_error_string(code) { reasons.append(String(cString: reason)) }
    }
    return FCMEmulatorError(
      "\(operation) failed" + (reasons.isEmpty ? "" : ": " + reasons.joined(separator: "; ")))
  }
}
