internal import Foundation
internal import HTTPServer
internal import ServiceKit
internal import VirtualPhone
internal import WebPages

/// Signs in the apps that the page of phones opens: makes users' tokens for the HTTP API, and gives the API's address.
///
/// Each start makes a new signing key, which never leaves this process. An ingest accepts the tokens only if its operator gave it the
/// public half (`--jwt-keys-file`) with this issuer and this audience.
struct PhoneApps: Sendable {
  static let issuer = "fcm-emulator"
  static let audience = "phones"
  /// How long a token is valid, in seconds.
  static let lifetime: Int64 = 600
  /// The public half's file, beside the CA's.
  private static let fileName = "app-keys.pem"
  /// The hosts to which a token may be sent: this machine alone.
  private static let hosts: Set<String> = ["127.0.0.1", "localhost"]

  /// The file of `--apps`, which another process may write later.
  private struct Setup: Decodable {
    /// The address of the HTTP API.
    let api: String
    /// The ids of devices, by the token or endpoint that they registered.
    let devices: [String: String]?
  }

  /// The credentials with which an app signs in.
  private struct Session: Encodable {
    let api: String
    let userId: String
    /// Absent if the file names no device for the phone's token.
    let deviceId: String?
    let platform: DeliveredMessage.Platform
    let token: String
    /// In seconds since the epoch.
    let expiresAt: Int64
  }

  private struct Claims: Encodable {
    let iss = PhoneApps.issuer
    let aud = PhoneApps.audience
    let sub: String
    let iat: Int64
    let exp: Int64
  }

  /// The file with the public half of the key.
  let keysFile: String
  private let path: String
  private let key: PrivateKey
  private let now: @Sendable () -> Date

  /// Makes a key, and writes its public half.
  ///
  /// - Parameters:
  ///   - path: The file of `--apps`.
  ///   - directory: Where the public half goes.
  init(path: String, directory: String, now: @escaping @Sendable () -> Date) throws(FCMEmulatorError) {
    self.path = path
    self.now = now
    let made = try CredentialKey.ec()
    let privatePEM = try made.pem()
    do throws(JSONWebTokenError) { key = try PrivateKey(pem: privatePEM) } catch {
      throw FCMEmulatorError("making a key for apps failed: \(error)")
    }
    keysFile = URL(fileURLWithPath: directory, isDirectory: true).appendingPathComponent(Self.fileName).path
    let pem = try made.publicPEM()
    do {
      try Data(pem.utf8).write(to: URL(fileURLWithPath: keysFile), options: .atomic)
    } catch {
      throw FCMEmulatorError("cannot write \(keysFile): \(error.localizedDescription)")
    }
  }

  /// The API's origin. Absent until the file of `--apps` exists and can be read.
  var origin: String? { try? setup().api }

  /// The answer to an app that is opened on a phone.
  func session(of owner: String, on platform: DeliveredMessage.Platform, address: String) -> HTTPServerResponse {
    do {
      let setup = try self.setup()
      let issuedAt = Int64(now().timeIntervalSince1970)
      let claims = Claims(sub: owner, iat: issuedAt, exp: issuedAt + Self.lifetime)
      return .json(
        Session(
          api: setup.api, userId: owner, deviceId: setup.devices?[address], platform: platform,
          token: try JSONWebToken.sign(claims, key: key), expiresAt: claims.exp))
    } catch {
      return .error(503, code: "no_api", message: "the app cannot be opened: \(error)")
    }
  }

  /// Reads the file and reduces the API's address to its origin.
  private func setup() throws -> Setup {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw FCMEmulatorError("\(path) is not there yet, which says where the HTTP API is")
    }
    guard let setup = try? JSONDecoder().decode(Setup.self, from: data) else {
      throw FCMEmulatorError("\(path) is not {\"api\": URL, \"devices\": {TOKEN: ID}}")
    }
    guard let origin = Self.origin(setup.api) else {
      throw FCMEmulatorError("the api of \(path) is no address on this machine, such as http://127.0.0.1:8081")
    }
    return Setup(api: origin, devices: setup.devices)
  }

  /// Scheme, host and port of an address on this machine. Absent for any other address.
  private static func origin(_ text: String) -> String? {
    guard let parts = URLComponents(string: text), let scheme = parts.scheme, ["http", "https"].contains(scheme),
      let host = parts.host, hosts.contains(host), ["", "/"].contains(parts.path), parts.query == nil,
      parts.user == nil, parts.fragment == nil
    else { return nil }
    return WebPages.origin(of: text)
  }
}
