import COpenSSL
@testable import FCMEmulator
import Foundation
import HTTPTransport
import ServiceKit
import Testing

@Suite("Access tokens: issued for a signed assertion, asked for by every message", .timeLimit(.minutes(2)))
struct TokenTests {
  struct Account: Decodable {
    let type: String
    let project_id: String
    let private_key_id: String
    let private_key: String
    let client_email: String
    let token_uri: String
  }

  struct Grant: Decodable {
    let access_token: String
    let expires_in: Int
    let token_type: String
  }

  struct Refusal: Decodable {
    let error: String
    let error_description: String
  }

  static let grantType = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"

  static func account(_ desk: Desk) throws -> Account {
    try JSONDecoder().decode(
      Account.self, from: Data(contentsOf: URL(fileURLWithPath: desk.emulator.serviceAccountFile)))
  }

  /// An assertion signed with the account's key, unless parts are replaced.
  static func assertion(
    _ account: Account, now: Date, algorithm: String = "RS256", keyID: String? = nil,
    claims change: (inout [String: Any]) -> Void = { _ in }
  ) throws -> String {
    let issued = Int(now.timeIntervalSince1970)
    var claims: [String: Any] = [
      "iss": account.client_email, "aud": account.token_uri, "iat": issued, "exp": issued + 3_600,
      "scope": "https://www.googleapis.com/auth/firebase.messaging",
    ]
    change(&claims)
    let header: [String: Any] = ["alg": algorithm, "typ": "JWT", "kid": keyID ?? account.private_key_id]
    let text = try [header, claims].map { Base64URL.encode(try JSONSerialization.data(withJSONObject: $0)) }
      .joined(separator: ".")
    return text + "." + Base64URL.encode(try sign(Array(text.utf8), pem: account.private_key))
  }

  static func sign(_ message: [UInt8], pem: String) throws -> [UInt8] {
    let bio = try #require(BIO_new(BIO_s_mem()))
    defer { BIO_free(bio) }
    try #require(BIO_write(bio, pem, Int32(pem.utf8.count)) == Int32(pem.utf8.count))
    let key = try #require(PEM_read_bio_PrivateKey(bio, nil, nil, nil))
    defer { EVP_PKEY_free(key) }
    let context = try #require(EVP_MD_CTX_new())
    defer { EVP_MD_CTX_free(context) }
    var signature = [UInt8](repeating: 0, count: 512)
    var count = signature.count
    try #require(EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1)
    try #require(EVP_DigestSign(context, &signature, &count, message, message.count) == 1)
    return Array(signature.prefix(count))
  }

  static func ask(_ desk: Desk, _ assertion: String) async throws -> HTTPResponse {
    try await post(desk, "grant_type=\(grantType)&assertion=\(assertion)")
  }

  static func post(
    _ desk: Desk, _ form: String, contentType: String = "application/x-www-form-urlencoded"
  ) async throws -> HTTPResponse {
    try await desk.post(
      desk.emulator.url + "/token", Array(form.utf8), headers: [("content-type", contentType)]
    ).get()
  }

  @Test("A good assertion gives a token that FCM takes, until it expires")
  func grant() async throws {
    let clock = Clock()
    let desk = try Desk(FCMEmulatorConfiguration(accessTokenLifetime: .seconds(600), now: { clock.now }))
    let account = try Self.account(desk)
    #expect(account.type == "service_account")
    #expect(account.project_id == "nudge-demo")
    #expect(account.token_uri == desk.emulator.url + "/token")
    let response = try await Self.ask(desk, try Self.assertion(account, now: clock.now))
    #expect(response.status == 200)
    let grant = try JSONDecoder().decode(Grant.self, from: Data(response.body))
    #expect(grant.expires_in == 600)
    #expect(grant.token_type == "Bearer")
    let body = Array(#"{"message":{"token":"t"}}"#.utf8)
    #expect(try await desk.send(body, authorization: "Bearer \(grant.access_token)").get().status == 200)
    clock.advance(599)
    #expect(try await desk.send(body, authorization: "Bearer \(grant.access_token)").get().status == 200)
    clock.advance(2)
    let expired = try await desk.send(body, authorization: "Bearer \(grant.access_token)").get()
    #expect(expired.status == 401)
    let error = try ErrorBody(expired)
    #expect(error.error.status == "UNAUTHENTICATED")
    #expect(error.reason == "ACCESS_TOKEN_EXPIRED")
    #expect(error.fcmCode == nil)
    desk.end()
  }

  @Test("Without a token it issued, nothing is sent")
  func unauthenticated() async throws {
    let desk = try Desk()
    let body = Array(#"{"message":{"token":"t"}}"#.utf8)
    for authorization in ["Bearer ya29.other", "Bearer ", "Basic dTpw", desk.token, "Bearer \(desk.token)x"] {
      let response = try await desk.send(body, authorization: authorization).get()
      #expect(response.status == 401, "\(authorization.prefix(6))")
    }
    let without = try await desk.post(
      desk.emulator.url + "/v1/projects/nudge-demo/messages:send", body,
      headers: [("content-type", "application/json")]
    ).get()
    #expect(without.status == 401)
    #expect(desk.emulator.counters.distinctTokens == 0)
    desk.end()
    let open = try Desk(FCMEmulatorConfiguration(acceptAnyToken: true))
    #expect(try await open.send(body, authorization: "Bearer anything").get().status == 200)
    #expect(try await open.send(body, authorization: "Basic dTpw").get().status == 401)
    open.end()
  }

  @Test("An assertion that breaks a rule is refused in Google's words")
  func badAssertions() async throws {
    let clock = Clock()
    let desk = try Desk(FCMEmulatorConfiguration(now: { clock.now }))
    let account = try Self.account(desk)
    let now = Int(clock.now.timeIntervalSince1970)
    let good = try Self.assertion(account, now: clock.now)
    #expect(try await Self.ask(desk, good).status == 200)
    let parts = good.split(separator: ".")
    let other = try Desk()
    let cases: [(String, String, String)] = try [
      (
        "another account's key",
        Self.assertion(Self.account(other), now: clock.now) {
          $0["iss"] = account.client_email; $0["aud"] = account.token_uri
        }, "invalid_grant"
      ),
      ("another key id", Self.assertion(account, now: clock.now, keyID: "other"), "invalid_grant"),
      ("another algorithm", Self.assertion(account, now: clock.now, algorithm: "none"), "invalid_grant"),
      ("HS256", Self.assertion(account, now: clock.now, algorithm: "HS256"), "invalid_grant"),
      ("another issuer", Self.assertion(account, now: clock.now) { $0["iss"] = "x@y" }, "invalid_grant"),
      (
        "another audience",
        Self.assertion(account, now: clock.now) { $0["aud"] = "https://oauth2.googleapis.com/token" }, "invalid_grant"
      ),
      ("no scope", Self.assertion(account, now: clock.now) { $0["scope"] = nil }, "invalid_scope"),
      (
        "another scope",
        Self.assertion(account, now: clock.now) { $0["scope"] = "https://www.googleapis.com/auth/drive" },
        "invalid_scope"
      ),
      (
        "expired",
        Self.assertion(account, now: clock.now) {
          $0["iat"] = now - 7_200; $0["exp"] = now - 3_600
        }, "invalid_grant"
      ),
      ("longer than an hour", Self.assertion(account, now: clock.now) { $0["exp"] = now + 3_601 }, "invalid_grant"),
      (
        "from the future",
        Self.assertion(account, now: clock.now) {
          $0["iat"] = now + 600; $0["exp"] = now + 1_200
        }, "invalid_grant"
      ),
      ("without exp", Self.assertion(account, now: clock.now) { $0["exp"] = nil }, "invalid_grant"),
      ("without a signature", "\(parts[0]).\(parts[1]).", "invalid_grant"),
      ("two parts", "\(parts[0]).\(parts[1])", "invalid_grant"),
      ("not base64", "a!.b!.c!", "invalid_grant"),
    ]
    for (name, assertion, code) in cases {
      let response = try await Self.ask(desk, assertion)
      #expect(response.status == 400, "\(name)")
      let refusal = try JSONDecoder().decode(Refusal.self, from: Data(response.body))
      #expect(refusal.error == code, "\(name): \(refusal.error_description)")
      #expect(!refusal.error_description.isEmpty)
    }
    #expect(desk.emulator.counters.tokensIssued == 2)
    other.end()
    desk.end()
  }

  @Test("A form that is no grant is refused")
  func badForms() async throws {
    let desk = try Desk()
    let cases: [(String, String, String)] = [
      ("", "application/x-www-form-urlencoded", "invalid_request"),
      ("grant_type=password&assertion=x", "application/x-www-form-urlencoded", "unsupported_grant_type"),
      ("grant_type=\(Self.grantType)", "application/x-www-form-urlencoded", "invalid_request"),
      ("grant_type=\(Self.grantType)&assertion=x", "application/json", "invalid_request"),
    ]
    for (form, type, code) in cases {
      let response = try await Self.post(desk, form, contentType: type)
      #expect(response.status == 400)
      #expect(try JSONDecoder().decode(Refusal.self, from: Data(response.body)).error == code)
    }
    desk.end()
  }
}
