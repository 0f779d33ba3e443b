import Foundation
import HTTPTransport
import ServiceKit
import TestSupport
import Testing

@testable import FCMEmulator

@Suite("C11: apps that are opened on the page with the phones", .timeLimit(.minutes(2)))
struct AppsTests {
  /// An emulator with a phone of ann on its page, and the folder of its files.
  private final class Stage {
    let folder: ScratchFolder
    let desk: Desk
    let port: Int

    init(file: String? = nil, hasApps: Bool = true, now: @escaping @Sendable () -> Date = { Date() }) async throws {
      folder = try ScratchFolder()
      if let file { try file.write(toFile: folder.file("apps.json"), atomically: true, encoding: .utf8) }
      desk = try Desk(
        FCMEmulatorConfiguration(
          directory: folder.path, recordFile: folder.file("requests.jsonl"), adminAddress: FCMEmulatorAddress(),
          appsFile: hasApps ? folder.file("apps.json") : nil, now: now))
      port = try #require(desk.emulator.adminURL.flatMap { URL(string: $0)?.port })
      for owner in ["ann", "bob"] {
        let answer = try await desk.send(
          #"{"message":{"token":"token-of-\#(owner)","notification":{"title":"Eve","body":"hi"},"data":{"type":"new_message","#
            + #""conversationId":"c","messageId":"m","recipientId":"\#(owner)","pushId":"p-\#(owner)","priority":"high"},"#
            + #""android":{"notification":{"tag":"t"}}}}"#)
        try #require(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
      }
    }

    deinit {
      desk.end()
      try? folder.remove()
    }

    /// A request for the app of a phone, as the page makes it, unless told otherwise.
    func ask(
      _ body: String = #"{"phone":1}"#, host: String? = nil, origin: String? = "own", type: String = "application/json",
      others: [String] = []
    ) throws -> SocketClient.Answer {
      let own = "127.0.0.1:\(port)"
      var lines = ["POST /apps HTTP/1.1", "Host: \(host ?? own)", "Content-Type: \(type)"] + others
      if let origin { lines.append("Origin: \(origin == "own" ? "http://\(own)" : origin)") }
      lines.append("Content-Length: \(body.utf8.count)")
      let client = try SocketClient(port: port)
      try client.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
      return try client.answer()
    }

    func session(_ body: String = #"{"phone":1}"#) throws -> Session {
      let answer = try ask(body)
      try #require(answer.status == 200, "\(answer.body)")
      return try JSONDecoder().decode(Session.self, from: Data(answer.body.utf8))
    }

    func policy(of page: String = "/") throws -> String {
      let answer = try SocketClient(port: port).request("GET", page)
      return try #require(answer.headers["content-security-policy"])
    }
  }

  private struct Session: Decodable {
    let api: String
    let userId: String
    let deviceId: String?
    let platform: String
    let token: String
    let expiresAt: Int64
  }

  private static let api = #"{"api":"http://127.0.0.1:8081","devices":{"token-of-ann":"ann/phone"}}"#

  private func subject(_ token: String, by emulator: FCMEmulator, at now: Int64) throws -> String? {
    let keys = try JSONWebKeySet(
      contents: Array(Data(contentsOf: URL(fileURLWithPath: #require(emulator.appKeysFile)))))
    return try JSONWebToken.verify(
      token, keys: keys, issuer: FCMEmulator.appIssuer, audience: FCMEmulator.appAudience, now: now
    ).subject
  }

  @Test("the page gets a token of a phone's owner, for ten minutes, with the API and the device's id")
  func session() async throws {
    let clock = Clock()
    let stage = try await Stage(file: Self.api, now: { clock.now })
    let now = Int64(clock.now.timeIntervalSince1970)
    let ann = try stage.session()
    #expect(
      (ann.api, ann.userId, ann.deviceId, ann.platform) == ("http://127.0.0.1:8081", "ann", "ann/phone", "android"))
    #expect(ann.expiresAt == now + 600)
    #expect(try subject(ann.token, by: stage.desk.emulator, at: now) == "ann")
    // The API's clock may differ by a minute.
    #expect(throws: JSONWebTokenError.expired) {
      try subject(ann.token, by: stage.desk.emulator, at: now + 600 + JSONWebToken.leeway)
    }
    let bob = try stage.session(#"{"phone":2}"#)
    #expect(bob.userId == "bob" && bob.deviceId == nil)
    #expect(try subject(bob.token, by: stage.desk.emulator, at: now) == "bob")
  }

  @Test("each start has a key of its own, of which only the public half is written")
  func key() async throws {
    let (one, other) = (try await Stage(file: Self.api), try await Stage(file: Self.api))
    let now = Int64(Date().timeIntervalSince1970)
    let token = try one.session().token
    #expect(throws: JSONWebTokenError.invalidSignature) { try subject(token, by: other.desk.emulator, at: now) }
    let file = try #require(one.desk.emulator.appKeysFile)
    #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix("-----BEGIN PUBLIC KEY-----"))
    // The service account has a key of FCM's; the record has the requests for pushes.
    for name in try FileManager.default.contentsOfDirectory(atPath: one.folder.path)
    where name != "service-account.json" {
      let text = try String(contentsOfFile: one.folder.file(name), encoding: .utf8)
      #expect(!text.contains("PRIVATE KEY") && !text.contains(token), "\(name)")
    }
  }

  @Test(
    "who is not the emulator's own page gets no token: by another name, from another site, without an origin, as a form"
  )
  func strangers() async throws {
    let stage = try await Stage(file: Self.api)
    for host in ["evil.example", "evil.example:\(stage.port)", "127.0.0.1.evil.example"] {
      let answer = try stage.ask(host: host, origin: "http://\(host)")
      #expect(answer.status == 421 && !answer.body.contains("token"), "\(host): \(answer)")
    }
    for origin in [nil, "http://evil.example", "http://127.0.0.1:1", "null", "http://localhost:\(stage.port)"] {
      let answer = try stage.ask(origin: origin)
      #expect(answer.status == 403 && !answer.body.contains("token"), "\(origin ?? "none"): \(answer)")
    }
    for site in ["cross-site", "same-site"] {
      #expect(try stage.ask(others: ["Sec-Fetch-Site: \(site)"]).status == 403)
    }
    #expect(try stage.ask(others: ["Sec-Fetch-Site: same-origin"]).status == 200)
    for type in ["text/plain", "application/x-www-form-urlencoded"] { #expect(try stage.ask(type: type).status == 415) }
    // By what a page of another site may send, it is told nothing about how it could.
    let preflight = try SocketClient(port: stage.port).request(
      "OPTIONS", "/apps", headers: ["Origin: http://evil.example", "Access-Control-Request-Method: POST"])
    #expect(!preflight.headers.keys.contains { $0.hasPrefix("access-control-allow") })
  }

  @Test("a phone that is not on the page, and what is no question, get nothing")
  func unknown() async throws {
    let stage = try await Stage(file: Self.api)
    for (body, status) in [
      (#"{"phone":3}"#, 404), (#"{"phone":0}"#, 404), (#"{"phone":"ann"}"#, 400), (#"{"user":"ann"}"#, 400),
      ("[]", 400),
      (#"{"phone":1,"x":"\#(String(repeating: "x", count: 2_000))"}"#, 413),
    ] {
      #expect(try stage.ask(body).status == status, "\(body.prefix(40))")
    }
  }

  @Test(
    "without the file of --apps, or with another machine's address in it, the answer says why; it may be written later")
  func file() async throws {
    let stage = try await Stage()
    let missing = try stage.ask()
    #expect(missing.status == 503 && missing.body.contains("is not there yet"), "\(missing.body)")
    #expect(try stage.policy().contains("connect-src 'self';"))
    for api in [
      "http://evil.example", "https://nudge.example:443", "http://127.0.0.1.evil.example", "http://0.0.0.0:1",
      "ftp://127.0.0.1",
      "http://127.0.0.1:1/path", "http://a@127.0.0.1:1", "http://127.0.0.1:1?x", "http://127.0.0.1:1; script-src *", "",
    ] {
      try #"{"api":"\#(api)"}"#.write(toFile: stage.folder.file("apps.json"), atomically: true, encoding: .utf8)
      let answer = try stage.ask()
      #expect(answer.status == 503 && answer.body.contains("no_api"), "\(api): \(answer)")
      #expect(try stage.policy().contains("connect-src 'self';"), "\(api)")
    }
    try Self.api.write(toFile: stage.folder.file("apps.json"), atomically: true, encoding: .utf8)
    #expect(try stage.session().api == "http://127.0.0.1:8081")
    #expect(try stage.policy().contains("connect-src 'self' http://127.0.0.1:8081;"))
  }

  @Test("an emulator without --apps has no token for anybody, and its page says what is missing")
  func off() async throws {
    let stage = try await Stage(hasApps: false)
    let answer = try stage.ask()
    #expect(answer.status == 404 && answer.body.contains("nudge demo --http"), "\(answer.body)")
    #expect(stage.desk.emulator.appKeysFile == nil)
    #expect(!FileManager.default.fileExists(atPath: stage.folder.file("app-keys.pem")))
  }

  @Test("apps are only for a page that this machine alone can reach")
  func loopback() throws {
    for address in [nil, FCMEmulatorAddress(host: "0.0.0.0"), FCMEmulatorAddress(host: "10.1.2.3")] {
      #expect(throws: FCMEmulatorError.self) {
        try FCMEmulator(FCMEmulatorConfiguration(adminAddress: address, appsFile: "/nowhere/apps.json"))
      }
    }
    for arguments in [["--apps", "a.json"], ["--apps", "a.json", "--admin-address", "0.0.0.0:8080"]] {
      var lines: [String] = []
      let exitCode = EmulatorProgram.program.main(
        arguments + ["--check"], environment: [:], output: { lines.append($0) }, errors: { lines.append($0) })
      #expect(exitCode == ExitCode.usage && lines.joined().contains("--admin-address"), "\(lines)")
    }
  }
}
