import Foundation
import HTTPServer
import OAuthBearer
import Synchronization
import Testing

@Suite("OAUTHBEARER: tokens")
struct BearerTokenSourceTests {
  /// Milliseconds since the epoch, moved by the tests.
  private final class Clock: Sendable {
    let now = Mutex<Int64>(1_800_000_000_000)
    func pass(seconds: Int64) { now.withLock { $0 += seconds * 1000 } }
  }

  private static func jwt(_ payload: String) -> String {
    [#"{"alg":"none"}"#, payload, ""].map {
      Data($0.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }.joined(separator: ".")
  }

  private static func settings(_ properties: [(String, String)]) throws -> BearerTokenSettings {
    let login = [("security.protocol", "sasl_ssl"), ("sasl.mechanisms", "OAUTHBEARER")]
    return try #require(
      try BearerTokenSettings(properties: (login + properties).map { (name: $0.0, value: $0.1) }))
  }

  // MARK: A file

  private final class TokenFile {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("token-\(UUID().uuidString)").path
    func write(_ text: String) throws { try text.write(toFile: path, atomically: true, encoding: .utf8) }
    deinit { try? FileManager.default.removeItem(atPath: path) }
  }

  @Test(
    "a token in a file counts for four fifths of its life, then the file is read again; the last one until it expires")
  func file() throws {
    let (file, clock) = (TokenFile(), Clock())
    let source = BearerTokenSource(
      try Self.settings([("sasl.oauthbearer.token.endpoint.url", "file://\(file.path)")]),
      now: { clock.now.withLock { $0 } })
    let first = Self.jwt(#"{"sub":"mia","exp":1800000100}"#)
    try file.write("\n\(first) \n")
    #expect(try source.token().value == first)
    #expect(try source.token().principal == "mia")
    #expect(try source.token().expiresAt == 1_800_000_100_000)
    let second = Self.jwt(#"{"sub":"mia","exp":1800000900.5}"#)
    try file.write(second)
    clock.pass(seconds: 79)
    #expect(try source.token().value == first)
    clock.pass(seconds: 1)
    #expect(try source.token().value == second)
    try file.write("gone")
    clock.pass(seconds: 819)
    #expect(try source.token().value == second)
    clock.pass(seconds: 2)
    let error = #expect(throws: BearerTokenError.self) { try source.token() }
    #expect(error?.isPassing == true)
  }

  @Test(
    "what is no token that is valid is refused, and not repeated",
    arguments: [
      "", "secret", "a.b.c", jwt(#"{"sub":"secret"}"#), jwt(#"{"exp":"secret"}"#), jwt(#"{"exp":1799999999}"#),
      jwt("[1]"), jwt(String(repeating: "[", count: 513)), jwt(#"{"exp":1800000100}"#) + "\u{1}secret",
      String(repeating: "s", count: 70_000),
    ])
  func noToken(text: String) throws {
    let file = TokenFile()
    try file.write(text)
    let source = BearerTokenSource(
      try Self.settings([("sasl.oauthbearer.token.endpoint.url", "file://\(file.path)")]), now: { 1_800_000_000_000 })
    let error = try #require(throws: BearerTokenError.self) { try source.token() }
    #expect(error.description.contains(file.path) && !error.description.contains("secret"))
  }

  // MARK: An endpoint

  /// A token endpoint that says what it is told to, and keeps what it was asked.
  private final class Endpoint {
    final class Desk: Sendable {
      let answer = Mutex<(status: Int, body: String)>((200, ""))
      let asked = Mutex<[(authorization: String?, body: String)]>([])
    }
    let desk = Desk()
    private let server: HTTPServer
    var url: String { "http://\(server.boundAddress)/token" }

    init(answers status: Int = 200, _ body: String) throws {
      let desk = desk
      desk.answer.withLock { $0 = (status, body) }
      server = try HTTPServer(
        address: "127.0.0.1:0",
        routes: [
          HTTPRoute(.post, "/token") { request in
            desk.asked.withLock {
              $0.append((request.headers["authorization"], String(decoding: request.body, as: UTF8.self)))
            }
            let (status, body) = desk.answer.withLock { $0 }
            return HTTPServerResponse(status: status, body: Array(body.utf8))
          }
        ])
      try server.start()
    }

    deinit { server.stop() }

    func settings(_ properties: [(String, String)] = []) throws -> BearerTokenSettings {
      try BearerTokenSourceTests.settings(
        [
          ("sasl.oauthbearer.token.endpoint.url", url), ("sasl.oauthbearer.client.id", "push service"),
          ("sasl.oauthbearer.client.secret", "s:cret"),
        ] + properties)
    }
  }

  @Test("an endpoint is asked with the client's credentials, once in four fifths of a token's life")
  func endpoint() throws {
    let (endpoint, clock) = (try Endpoint(#"{"access_token":"opaque-1","expires_in":100.0}"#), Clock())
    let source = BearerTokenSource(
      try endpoint.settings([("sasl.oauthbearer.scope", "kafka read")]), now: { clock.now.withLock { $0 } })
    let token = try source.token()
    #expect(token.value == "opaque-1")
    #expect(token.principal == "push service")
    #expect(token.expiresAt == 1_800_000_100_000)
    #expect(try source.token() == token)
    let asked = endpoint.desk.asked.withLock { $0 }
    #expect(asked.map(\.body) == ["grant_type=client_credentials&scope=kafka+read"])
    #expect(asked.first?.authorization == "Basic " + Data("push+service:s%3Acret".utf8).base64EncodedString())
    let next = Self.jwt(#"{"sub":"service-account-7","exp":1800000200}"#)
    endpoint.desk.answer.withLock { $0 = (200, #"{"access_token":"\#(next)","token_type":"Bearer"}"#) }
    clock.pass(seconds: 80)
    #expect(try source.token().value == next)
    #expect(try source.token().principal == "service-account-7")
    #expect(try source.token().expiresAt == 1_800_000_200_000)
    #expect(endpoint.desk.asked.withLock { $0.count } == 2)
  }

  @Test(
    "an endpoint that gives none: whether it may later, and why, without its words",
    arguments: [
      (401, #"{"error":"invalid_client","error_description":"secret"}"#, false, "invalid_client"),
      (400, #"{"error":"secret: of mine"}"#, false, "400"), (404, "secret", false, "404"),
      (500, "secret", true, "500"), (429, "", true, "429"), (200, "secret", true, "no access_token"),
      (200, #"{"access_token":"opaque"}"#, true, "expires_in"),
      (200, #"{"access_token":"secret secret","expires_in":60}"#, true, "characters"),
      (200, #"{"access_token":"","expires_in":60}"#, true, "characters"),
      (302, "", false, "302"), (200, String(repeating: "[", count: 1_000), true, "no access_token"),
    ] as [(Int, String, Bool, String)])
  func refuses(status: Int, body: String, isPassing: Bool, reason: String) throws {
    let endpoint = try Endpoint(answers: status, body)
    let source = BearerTokenSource(try endpoint.settings(), now: { 1_800_000_000_000 })
    let error = try #require(throws: BearerTokenError.self) { try source.token() }
    #expect(error.isPassing == isPassing, "\(error)")
    #expect(error.description.contains(reason) && !error.description.contains("secret"), "\(error)")
  }

  @Test("an endpoint that is not there passes")
  func nobody() throws {
    let settings = try Self.settings([
      ("sasl.oauthbearer.token.endpoint.url", "http://127.0.0.1:1/token"), ("sasl.oauthbearer.client.id", "a"),
      ("sasl.oauthbearer.client.secret", "cret"),
    ])
    let error = try #require(throws: BearerTokenError.self) { try BearerTokenSource(settings).token() }
    #expect(error.isPassing && !error.description.contains("cret"), "\(error)")
  }
}
