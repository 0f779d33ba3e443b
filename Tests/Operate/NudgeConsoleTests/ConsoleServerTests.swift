import Foundation
import HTTPServer
import Synchronization
import TestSupport
import Testing
import WebPages

@testable import NudgeConsole

/// Counts up to a number, waits until it is taken back, or fails, as the question says.
private final class Counting: ConsoleAnswers {
  let facts: ConsoleFacts
  let ended = Mutex<[String]>([])

  init(allowsActions: Bool = false, phones: String? = nil) {
    facts = ConsoleFacts(
      version: "1", bootstrapServers: "kafka:9092", topicPrefix: "", allowsActions: allowsActions, showsTexts: false,
      phones: phones)
  }

  struct Failure: Error, CustomStringConvertible { let description = "it is <b>broken</b>" }

  func isAction(_ question: ConsoleQuestion) -> Bool { question.ask == "write" }

  func answer(_ question: ConsoleQuestion, to job: ConsoleJob) throws {
    defer { ended.withLock { $0.append(question.ask) } }
    switch question.ask {
    case "count": for number in 1...(Int(question["to"] ?? "") ?? 3) { try job.write(["number": number]) }
    case "wait":
      job.report("waiting")
      while !job.isCancelled { job.wait(atMost: .seconds(60)) }
    default: throw Failure()
    }
  }
}

@Suite("The console's server")
struct ConsoleServerTests {
  private struct World {
    let server: ConsoleServer
    let answers: Counting
    let client: SocketClient
    private let token = "abcdefghijklmnop"
    /// What the page's requests carry.
    var pass: String { "X-Nudge-Token: \(token)" }

    init(_ answers: Counting = Counting()) throws {
      self.answers = answers
      server = try ConsoleServer(ConsoleAddress(host: "127.0.0.1", port: 0, token: token), answers: answers)
      try server.start()
      client = try SocketClient(port: server.port)
    }

    var key: String {
      get throws {
        let facts = try JSONSerialization.jsonObject(
          with: Data(try client.request("GET", "/api/console", headers: [pass]).body.utf8))
        return (facts as? [String: Any])?["key"] as? String ?? ""
      }
    }

    func ask(_ body: String, key: String, origin: String = "http://localhost") throws -> SocketClient.Answer {
      try client.request(
        "POST", "/api/jobs",
        headers: ["Content-Type: application/json", "Origin: \(origin)", "X-Nudge-Console: \(key)", pass], body: body)
    }

    func job(_ body: String) throws -> String {
      let answer = try ask(body, key: try key)
      let object = try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any]
      return object?["job"] as? String ?? ""
    }

    /// All rows of a job, and its end.
    func rows(_ job: String) throws -> (rows: [String], end: String) {
      var rows: [String] = []
      while true {
        var lines = try client.request("GET", "/api/jobs/\(job)?after=\(rows.count)", headers: [pass]).body
          .split(separator: "\n").map(String.init)
        let state = lines.removeLast()
        rows += lines
        if state.contains(#""done":true"#) { return (rows, state) }
      }
    }
  }

  @Test("every file that the page names is there, with its type; nothing else is")
  func pages() throws {
    let world = try World()
    defer { world.server.stop() }
    let index = try world.client.request("GET", "/")
    #expect(index.status == 200 && index.headers["content-type"] == "text/html; charset=utf-8")
    var wanted = index.body.matches(of: /(?:href|src)="([a-z]+\.[a-z]+)"/).map { String($0.1) }
    var seen: Set<String> = []
    while let name = wanted.popLast() {
      guard seen.insert(name).inserted else { continue }
      let file = try world.client.request("GET", "/\(name)")
      #expect(file.status == 200, "\(name)")
      #expect(!file.body.isEmpty)
      let type = name.hasSuffix(".js") ? "text/javascript; charset=utf-8" : nil
      if let type { #expect(file.headers["content-type"] == type) }
      wanted += file.body.matches(of: /from "\.\/([a-z]+\.js)"/).map { String($0.1) }
    }
    #expect(
      seen.count == WebPages.console.files.count - 1, "a page is not used: \(WebPages.console.files.keys.sorted())")
    #expect(try world.client.request("GET", "/pages.c").status == 404)
    #expect(try world.client.request("GET", "/..%2fPackage.swift").status == 404)
  }

  @Test("no inline code, no markup from texts: the page's own files hold to its policy")
  func policy() throws {
    let world = try World(Counting(phones: "http://127.0.0.1:9999/"))
    defer { world.server.stop() }
    let answer = try world.client.request("GET", "/")
    let policy = try #require(answer.headers["content-security-policy"])
    #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
    #expect(policy.contains("script-src 'self';") && !policy.contains("unsafe"))
    #expect(policy.contains("frame-src http://127.0.0.1:9999;"))
    #expect(answer.headers["x-content-type-options"] == "nosniff")
    #expect(answer.headers["referrer-policy"] == "no-referrer")
    #expect(answer.body.firstMatch(of: /<script(?![^>]*src=)|<style|\son\w+=|style=|https?:\/\//) == nil)
    for (name, page) in WebPages.console.files where name.hasSuffix(".js") {
      let text = String(decoding: page.bytes, as: UTF8.self)
      #expect(
        text.firstMatch(of: /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc/)
          == nil,
        "\(name)")
    }
  }

  @Test("a question's rows come in order and once, with their end")
  func rows() throws {
    let world = try World()
    defer { world.server.stop() }
    let (rows, end) = try world.rows(try world.job(#"{"ask":"count","with":{"to":"500"}}"#))
    #expect(rows == (1...500).map { #"{"number":\#($0)}"# })
    #expect(end.contains(#""next":500"#))
  }

  @Test("why a question failed is told, as a text")
  func failure() throws {
    let world = try World()
    defer { world.server.stop() }
    let (rows, end) = try world.rows(try world.job(#"{"ask":"nothing","with":{}}"#))
    #expect(rows.isEmpty && end.contains("broken"))
  }

  @Test("a question that is taken back ends")
  func takenBack() throws {
    let world = try World()
    defer { world.server.stop() }
    let job = try world.job(#"{"ask":"wait","with":{}}"#)
    let key = try world.key
    let answer = try world.client.request(
      "DELETE", "/api/jobs/\(job)", headers: ["Origin: http://localhost", "X-Nudge-Console: \(key)", world.pass])
    #expect(answer.status == 204)
    wait(for: "its end") { world.answers.ended.withLock { $0 == ["wait"] } }
    #expect(try world.client.request("GET", "/api/jobs/\(job)", headers: [world.pass]).status == 404)
  }

  @Test("too many questions at a time are refused, and end with the console")
  func bound() throws {
    let world = try World()
    let key = try world.key
    for _ in 0..<ConsoleJobs.most { #expect(try world.ask(#"{"ask":"wait","with":{}}"#, key: key).status == 200) }
    #expect(try world.ask(#"{"ask":"wait","with":{}}"#, key: key).status == 429)
    world.server.stop()
    wait(for: "all to end") { world.answers.ended.withLock { $0.count == ConsoleJobs.most } }
  }

  @Test("another origin, a missing key or a body that is no question start nothing")
  func foreign() throws {
    let world = try World()
    defer { world.server.stop() }
    let key = try world.key
    let question = #"{"ask":"count","with":{}}"#
    #expect(try world.ask(question, key: key, origin: "http://evil.example").status == 403)
    #expect(try world.ask(question, key: "").status == 403)
    #expect(try world.ask("[]", key: key).status == 400)
    // A form of a foreign page can send this.
    let form = try world.client.request(
      "POST", "/api/jobs",
      headers: ["Content-Type: text/plain", "Origin: http://localhost", "X-Nudge-Console: \(key)", world.pass],
      body: question)
    #expect(form.status == 415)
    #expect(world.answers.ended.withLock { $0.isEmpty })
  }

  @Test("a console that only reads refuses what writes; one that may does it")
  func actions() throws {
    let world = try World()
    defer { world.server.stop() }
    let refused = try world.ask(#"{"ask":"write","with":{}}"#, key: try world.key)
    #expect(refused.status == 403 && refused.body.contains("--allow-actions"))
    let writing = try World(Counting(allowsActions: true))
    defer { writing.server.stop() }
    #expect(try writing.ask(#"{"ask":"write","with":{}}"#, key: try writing.key).status == 200)
  }

  @Test("without its token a console tells nothing, and its link has it where no server sees it")
  func token() throws {
    let world = try World()
    defer { world.server.stop() }
    #expect(world.server.url.hasSuffix("/#token=abcdefghijklmnop"))
    for headers in [[], ["X-Nudge-Token: abcdefghijklmnoq"], ["Cookie: nudge-console=abcdefghijklmnop"]] {
      let answer = try world.client.request("GET", "/api/console", headers: headers)
      #expect(answer.status == 401 && !answer.body.contains("kafka"))
      #expect(try world.client.request("GET", "/api/jobs/1", headers: headers).status == 401)
    }
    #expect(try world.client.request("GET", "/api/console?token=abcdefghijklmnop").status == 401)
    #expect(try world.client.request("GET", "/api/console", headers: [world.pass]).status == 200)
  }

  @Test("the token gets a cookie that scripts cannot read and other sites do not send; a wrong one gets none")
  func cookie() throws {
    let world = try World()
    defer { world.server.stop() }
    func session(_ body: String, origin: String = "http://localhost") throws -> SocketClient.Answer {
      try world.client.request(
        "POST", "/api/session", headers: ["Content-Type: application/json", "Origin: \(origin)"], body: body)
    }
    for body in [#"{"token":"abcdefghijklmnoq"}"#, #"{"token":""}"#, "{}", "[]", ""] {
      let answer = try session(body)
      #expect([400, 401].contains(answer.status) && answer.headers["set-cookie"] == nil, "\(body)")
    }
    let right = #"{"token":"abcdefghijklmnop"}"#
    #expect(try session(right, origin: "http://evil.example").status == 403)
    let answer = try session(right)
    let cookie = try #require(answer.headers["set-cookie"])
    #expect(
      answer.status == 204 && cookie.hasSuffix("; HttpOnly; SameSite=Strict") && !cookie.contains("abcdefghijklmnop"))
    let value = String(cookie.prefix { $0 != ";" })
    #expect(try world.client.request("GET", "/api/console", headers: ["Cookie: \(value)"]).status == 200)
    #expect(try world.client.request("GET", "/api/console", headers: ["Cookie: \(value)x"]).status == 401)
  }
}
