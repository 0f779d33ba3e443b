internal import Foundation

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
