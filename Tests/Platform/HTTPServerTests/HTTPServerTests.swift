import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer

/// Makes a server on a port of the system's choice, runs the body, and stops it.
func withServer(
  _ routes: [HTTPRoute], limits: HTTPServerLimits = HTTPServerLimits(), _ body: (HTTPServer) throws -> Void
) throws {
  let server = try HTTPServer(address: "127.0.0.1:0", routes: routes, limits: limits)
  try server.start()
  defer { server.stop() }
  try body(server)
}

@Suite("HTTP server: requests and answers")
struct HTTPServerRequestTests {
  @Test("a handler gets path parameters, query and headers, decoded")
  func parameters() throws {
    let route = HTTPRoute(.get, "/v1/schemas/{type}/{part}") { request in
      .text(
        [
          request.parameters["type"], request.parameters["part"], request.query["q"], request.query["empty"],
          request.headers["x-TRACE"], request.path, request.method.rawValue,
        ].map { $0 ?? "-" }.joined(separator: "|"))
    }
    try withServer([route]) { server in
      let client = try SocketClient(port: server.port)
      let answer = try client.request(
        "GET", "/v1/schemas/message%2Ecreated/a%2Fb?q=caf%C3%A9+au+lait&empty=", headers: ["X-Trace: 7"])
      #expect(answer.status == 200)
      #expect(
        answer.body == "message.created|a/b|café au lait||7|/v1/schemas/message%2Ecreated/a%2Fb|GET")
    }
  }

  @Test(
    "a route refuses query parameters that it does not name, before the body is read; one that names none takes all")
  func queryParameters() throws {
    let routes = [
      HTTPRoute(.get, "/some", query: ["a", "b"]) { .text($0.query["a"] ?? "-") },
      HTTPRoute(.post, "/none", query: []) { _ in .text("taken") }, HTTPRoute(.get, "/any") { _ in .text("taken") },
    ]
    try withServer(routes) { server in
      func ask(_ target: String, _ method: String = "GET", body: String? = nil) throws -> (Int, String) {
        let answer = try SocketClient(port: server.port).request(method, target, body: body)
        return (answer.status, answer.body)
      }
      #expect(try ask("/some?b=2&a=1") == (200, "1"))
      #expect(try ask("/any?c=3") == (200, "taken"))
      #expect(try ask("/none?", "POST", body: "x") == (200, "taken"))
      let refused = try ask("/some?%0AB=2&a=1&A=1")
      #expect(refused.0 == 400 && refused.1.contains("B, A are not query parameters; known here: a, b"), "\(refused.1)")
      #expect(try ask("/none?c", "POST", body: "x").1.contains("c is not a query parameter; none is known here"))
      let many = (0..<100).map { "zz\($0)\(String(repeating: "x", count: 100))=1" }.joined(separator: "&")
      #expect(try ask("/some?" + many).1.utf8.count < 500)
    }
  }

  @Test("a handler learns the peer's address")
  func peer() throws {
    try withServer([HTTPRoute(.get, "/") { .text($0.remoteAddress) }]) { server in
      let answer = try SocketClient(port: server.port).request("GET", "/")
      #expect(answer.body.hasPrefix("127.0.0.1:"))
    }
  }

  @Test("a body arrives whole, with a length and in chunks; with a length the connection stays open")
  func bodies() throws {
    let route = HTTPRoute(.post, "/echo") { HTTPServerResponse(body: $0.body) }
    try withServer([route]) { server in
      let client = try SocketClient(port: server.port)
      let long = String(repeating: "0123456789", count: 20_000)
      #expect(try client.request("POST", "/echo", body: long).body == long)
      #expect(try client.request("POST", "/echo", body: "").body == "")
      try client.send(
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n")
      #expect(try client.answer().body == "abcdefg")
    }
  }

  @Test("JSON answers have sorted keys and their content type")
  func json() throws {
    try withServer([HTTPRoute(.get, "/") { _ in .json(["b": "x/y", "a": "ü"], status: 202) }]) { server in
      let answer = try SocketClient(port: server.port).request("GET", "/")
      #expect(answer.status == 202)
      #expect(answer.headers["content-type"] == "application/json")
      #expect(answer.body == #"{"a":"ü","b":"x/y"}"#)
    }
  }

  @Test("HEAD is answered by the route for GET, with its length and no body")
  func head() throws {
    try withServer([HTTPRoute(.get, "/") { .text("12345 \($0.method.rawValue)") }]) { server in
      let client = try SocketClient(port: server.port)
      let answer = try client.request("HEAD", "/")
      #expect(answer.status == 200)
      #expect(answer.headers["content-length"] == "10")
      // The next answer on the same connection would begin with the body, had there been one.
      #expect(try client.request("GET", "/").body == "12345 GET")
    }
  }

  @Test(
    "an answer with a header that cannot be sent as it is becomes 500: not cut, not changed, and no hung connection",
    arguments: ["b\r\nX-C: d", "b\nX-C: d", "b\rX-C: d", "b\u{0}X-C: d", "b\u{1}", "b\u{7f}"])
  func badHeader(_ value: String) throws {
    for header in [("X-A", value), (value, "a")] {
      try withServer([HTTPRoute(.get, "/") { _ in HTTPServerResponse(headers: [header]) }]) { server in
        let answer = try SocketClient(port: server.port).request("GET", "/")
        #expect(answer.status == 500)
        #expect(answer.headers["x-a"] == nil && answer.headers["x-c"] == nil)
      }
    }
  }
}

@Suite("HTTP server: refusals")
struct HTTPServerRefusalTests {
  private func body(_ answer: SocketClient.Answer) throws -> [String: String] {
    try JSONDecoder().decode([String: String].self, from: Data(answer.body.utf8))
  }

  @Test("404 names the path, as code and message")
  func notFound() throws {
    try withServer([HTTPRoute(.get, "/a/{b}") { _ in .text("") }]) { server in
      let client = try SocketClient(port: server.port)
      for path in ["/b", "/a", "/a/", "/a/b/c", "/"] {
        let answer = try client.request("GET", path)
        #expect(answer.status == 404, "\(path)")
        #expect(try body(answer)["code"] == "not_found")
        #expect(try body(answer)["message"]?.hasSuffix(path) == true)
      }
    }
  }

  @Test("405 lists the allowed methods in Allow")
  func wrongMethod() throws {
    let routes = [HTTPRoute(.get, "/a") { _ in .text("") }, HTTPRoute(.post, "/a") { _ in .text("") }]
    try withServer(routes) { server in
      let client = try SocketClient(port: server.port)
      let answer = try client.request("DELETE", "/a")
      #expect(answer.status == 405)
      #expect(answer.headers["allow"] == "GET, HEAD, POST")
      #expect(try body(answer)["code"] == "method_not_allowed")
      #expect(try client.request("PUT", "/a", body: "x").status == 405)
    }
  }

  @Test("415 for a type the route does not take; parameters and case of the type do not matter")
  func wrongType() throws {
    let route = HTTPRoute(.post, "/a", contentTypes: ["application/json", "application/x-ndjson"]) { _ in .text("") }
    try withServer([route]) { server in
      let client = try SocketClient(port: server.port)
      let answer = try client.request("POST", "/a", headers: ["Content-Type: text/xml"], body: "<a/>")
      #expect(answer.status == 415)
      #expect(try body(answer)["message"] == "set Content-Type to application/json or application/x-ndjson")
      #expect(try client.request("POST", "/a", body: "{}").status == 415)
      let known = ["Application/JSON; charset=utf-8", "application/json ;charset=utf-8", "application/x-ndjson\t"]
      let unknown = ["application/js\ton", "application / json", "application/jsonl", "x application/json"]
      for (types, status) in [(known, 200), (unknown + [";application/json"], 415)] {
        for type in types {
          let answer = try client.request("POST", "/a", headers: ["Content-Type: \(type)"], body: "{}")
          #expect(answer.status == status, "\(type)")
        }
      }
    }
  }

  @Test("413 for a body over the route's limit, with a length or in chunks; one at the limit passes")
  func tooLarge() throws {
    let routes = [
      HTTPRoute(.post, "/small", bodyLimit: 10) { .text("\($0.body.count)") },
      HTTPRoute(.post, "/large") { .text("\($0.body.count)") },
    ]
    try withServer(routes, limits: HTTPServerLimits(bodySize: 100_000)) { server in
      let client = try SocketClient(port: server.port)
      #expect(try client.request("POST", "/small", body: "0123456789").body == "10")
      let answer = try client.request("POST", "/small", body: "0123456789a")
      #expect(answer.status == 413)
      #expect(
        try body(answer) == ["code": "too_large", "message": "the body may have at most 10 bytes: send less at once"])
      let megabyte = String(repeating: "x", count: 1_000_000)
      #expect(try client.request("POST", "/large", body: megabyte).status == 413)
      // The server has read the refused bodies to their end, so the connection still serves.
      #expect(try client.request("POST", "/small", body: "abc").body == "3")
      try client.send("POST /small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
      try client.send("6\r\nabcdef\r\n6\r\nghijkl\r\n0\r\n\r\n")
      #expect(try client.answer().status == 413)
    }
  }

  @Test("a request with Expect: 100-continue is refused before the body, or gets 100")
  func expectation() throws {
    try withServer([HTTPRoute(.post, "/", bodyLimit: 10) { HTTPServerResponse(body: $0.body) }]) { server in
      let refused = try SocketClient(port: server.port)
      try refused.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\nExpect: 100-continue\r\n\r\n")
      #expect(try refused.answer().status == 413)
      let welcome = try SocketClient(port: server.port)
      try welcome.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
      #expect(try welcome.answer().status == 100)
      try welcome.send("abc")
      #expect(try welcome.answer().body == "abc")
    }
  }

  @Test("a body without end is cut off")
  func endless() throws {
    try withServer([HTTPRoute(.post, "/", bodyLimit: 10) { _ in .text("") }]) { server in
      let client = try SocketClient(port: server.port)
      try client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
      let chunk = "10000\r\n\(String(repeating: "x", count: 65_536))\r\n"
      var isCutOff = false
      for _ in 0..<1_000 where !isCutOff {
        do { try client.send(chunk) } catch { isCutOff = true }
      }
      #expect(isCutOff)
    }
  }

  @Test(
    "400 for targets that are no paths",
    arguments: ["/a%2", "/a%zz", "/a%ff%fe", "/a?b=%f", "nonsense"])
  func badTarget(_ target: String) throws {
    try withServer([HTTPRoute(.get, "/a") { _ in .text("") }]) { server in
      let answer = try SocketClient(port: server.port).request("GET", target)
      #expect(answer.status == 400)
      #expect(try body(answer)["code"] == "bad_request")
    }
  }
}

@Suite("HTTP server: addresses")
struct HTTPServerAddressTests {
  @Test("the port that the system chose is known after the start")
  func port() throws {
    let server = try HTTPServer(address: "127.0.0.1:0", routes: [])
    #expect(server.port == 0)
    try server.start()
    defer { server.stop() }
    #expect(server.port > 0)
    #expect(server.boundAddress == "127.0.0.1:\(server.port)")
  }

  @Test("a port that is taken is named, with the reason and the fix")
  func taken() throws {
    try withServer([]) { first in
      let second = try HTTPServer(address: first.boundAddress, routes: [])
      let error = #expect(throws: HTTPServerError.self) { try second.start() }
      #expect(error?.description.contains("cannot listen on \(first.boundAddress): Address already in use") == true)
    }
  }

  @Test(
    "a text that is no host and port is refused",
    arguments: ["", "8080", "localhost", "a:b", ":80", "::1:80", "h:70000", "h:-1", "h:+1", "[::1]"])
  func invalid(_ address: String) {
    #expect(throws: HTTPServerError.invalidAddress(address)) { try HTTPServer(address: address, routes: []) }
  }

  @Test("IPv6 addresses stand in brackets")
  func ipv6() throws {
    #expect(try ListeningSocket.split("[::1]:9000") == ("::1", "9000"))
    #expect(try ListeningSocket.split("0.0.0.0:8080") == ("0.0.0.0", "8080"))
  }

  @Test("a server is started once")
  func twice() throws {
    try withServer([]) { server in
      #expect(throws: HTTPServerError.alreadyStarted) { try server.start() }
    }
  }
}

@Suite("HTTP server: concurrency and stop")
struct HTTPServerLifeTests {
  /// Runs `body` for each number on a thread of its own and waits for all.
  private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) -> DispatchGroup {
    let group = DispatchGroup()
    for number in 0..<count {
      group.enter()
      Thread {
        body(number)
        group.leave()
      }.start()
    }
    return group
  }

  @Test("many connections at once each get their own answers")
  func many() throws {
    let route = HTTPRoute(.post, "/echo/{name}") { .text("\($0.parameters["name"] ?? "-") \($0.body.count)") }
    try withServer([route]) { server in
      let port = server.port
      let wrong = Mutex<[String]>([])
      let group = onThreads(16) { number in
        do {
          let client = try SocketClient(port: port)
          for round in 0..<50 {
            let body = String(repeating: "b", count: number * 100 + round)
            let answer = try client.request("POST", "/echo/\(number)-\(round)", body: body)
            let expected = "\(number)-\(round) \(body.count)"
            if answer.body != expected { wrong.withLock { $0.append("\(answer.body), not \(expected)") } }
          }
        } catch {
          wrong.withLock { $0.append("\(error)") }
        }
      }
      #expect(group.wait(timeout: .now() + 60) == .success)
      #expect(wrong.withLock { $0 } == [])
    }
  }

  @Test("handlers that hang hold up neither each other's threads' successors nor routes that answer later")
  func slowHandlers() throws {
    let release = DispatchSemaphore(value: 0)
    let entered = DispatchSemaphore(value: 0)
    let routes = [
      HTTPRoute(.get, "/slow") { _ in
        entered.signal()
        release.wait()
        return .text("slow")
      },
      HTTPRoute(.get, "/later", answeringLater: { _, responder in responder.respond(.text("later")) }),
      HTTPRoute(.get, "/fast") { _ in .text("fast") },
    ]
    try withServer(routes, limits: HTTPServerLimits(handlerThreads: 2)) { server in
      let slow = try SocketClient(port: server.port)
      try slow.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
      entered.wait()
      // One of two threads is taken: the other answers.
      #expect(try SocketClient(port: server.port).request("GET", "/fast").body == "fast")
      let second = try SocketClient(port: server.port)
      try second.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
      entered.wait()
      // Both are taken: what needs no thread is answered all the same.
      #expect(try SocketClient(port: server.port).request("GET", "/later").body == "later")
      release.signal()
      release.signal()
      #expect(try slow.answer().body == "slow")
      #expect(try second.answer().body == "slow")
    }
  }

  @Test("an answer may come later, from another thread; only the first counts")
  func later() throws {
    let route = HTTPRoute(
      .post, "/",
      answeringLater: { request, responder in
        Thread {
          responder.respond(.text("\(request.body.count)", status: 202))
          responder.respond(.text("again"))
        }.start()
      })
    try withServer([route]) { server in
      let client = try SocketClient(port: server.port)
      for _ in 0..<200 {
        let answer = try client.request("POST", "/", body: "abcd")
        #expect(answer.status == 202)
        #expect(answer.body == "4")
      }
    }
  }

  @Test("a request that is dropped without an answer gets 500")
  func dropped() throws {
    try withServer([HTTPRoute(.get, "/", answeringLater: { _, _ in })]) { server in
      let answer = try SocketClient(port: server.port).request("GET", "/")
      #expect(answer.status == 500)
    }
  }

  @Test("stop waits for the request in flight, answers it, closes, and refuses new connections")
  func stopInFlight() throws {
    let release = DispatchSemaphore(value: 0)
    let entered = DispatchSemaphore(value: 0)
    let route = HTTPRoute(.get, "/") { _ in
      entered.signal()
      release.wait()
      return .text("finished")
    }
    let server = try HTTPServer(address: "127.0.0.1:0", routes: [route], limits: HTTPServerLimits(drain: .seconds(30)))
    try server.start()
    let client = try SocketClient(port: server.port)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    entered.wait()
    let port = server.port
    let stopped = onThreads(1) { _ in server.stop() }
    let deadline = ContinuousClock.now + .seconds(10)
    var isRefused = false
    while !isRefused, ContinuousClock.now < deadline {
      do { _ = try SocketClient(port: port) } catch { isRefused = true }
    }
    #expect(isRefused)
    #expect(stopped.wait(timeout: .now()) == .timedOut)
    release.signal()
    let answer = try client.answer()
    #expect(answer.body == "finished")
    #expect(answer.headers["connection"]?.lowercased() == "close")
    #expect(stopped.wait(timeout: .now() + 10) == .success)
    #expect(try client.isClosedByPeer())
  }

  @Test("stop answers late requests with 503, and the handler's answer afterwards has no effect")
  func stopHung() throws {
    let kept = Mutex<HTTPResponder?>(nil)
    let entered = DispatchSemaphore(value: 0)
    let route = HTTPRoute(
      .get, "/",
      answeringLater: { _, responder in
        kept.withLock { $0 = responder }
        entered.signal()
      })
    let logged = Mutex<[String]>([])
    let server = try HTTPServer(
      address: "127.0.0.1:0", routes: [route], limits: HTTPServerLimits(drain: .milliseconds(50)),
      log: { line in logged.withLock { $0.append(line) } })
    try server.start()
    let client = try SocketClient(port: server.port)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    entered.wait()
    server.stop()
    let answer = try client.answer()
    #expect(answer.status == 503 && answer.headers["retry-after"] == "1")
    #expect(logged.withLock { $0.count } == 1)
    kept.withLock { $0?.respond(.text("late")) }
    server.stop()
  }

  /// libmicrohttpd aborts the process if it stops with a suspended connection. A program that scrapes metrics sends requests on
  /// a connection that stays open, so one may come when all others have ended.
  @Test("a request that comes while the server stops gets an answer or a closed connection, and the process goes on")
  func requestDuringStop() async {
    await #expect(processExitsWith: .success) {
      for round in 0..<20 {
        let route = HTTPRoute(
          .get, "/",
          answeringLater: { _, responder in
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { responder.respond(.text("ok")) }
          })
        let server = try HTTPServer(address: "127.0.0.1:0", routes: [route])
        try server.start()
        let clients = try (0..<8).map { _ in try SocketClient(port: server.port) }
        for client in clients { try #require(client.request("GET", "/").status == 200) }
        let stopped = DispatchGroup()
        DispatchQueue.global().async(group: stopped) { server.stop() }
        // Some come before the stop, some during it, some after its end.
        for (index, client) in clients.enumerated() {
          let moment = ContinuousClock.now + .microseconds(index * (3 * round + 1))
          while ContinuousClock.now < moment {}
          try? client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        }
        for client in clients {
          if let answer = try? client.answer() { try #require([200, 503].contains(answer.status)) }
        }
        try #require(stopped.wait(timeout: .now() + 60) == .success)
      }
    }
  }

  @Test("a connection on which nothing moves is closed")
  func idle() throws {
    try withServer([], limits: HTTPServerLimits(idleTimeout: .seconds(1))) { server in
      let client = try SocketClient(port: server.port)
      try client.send("GET / HT")
      #expect(try client.isClosedByPeer())
    }
  }

  @Test("connections that send or read too slowly are closed, in spite of constant traffic")
  func slow() throws {
    let limits = HTTPServerLimits(idleTimeout: .seconds(30), transferTime: .milliseconds(500))
    try withServer([HTTPRoute(.post, "/") { _ in .text("ok") }], limits: limits) { server in
      for beginning in [
        "", "POST / HTTP/1.1\r\nHost: x\r\n", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n",
      ] {
        let client = try SocketClient(port: server.port)
        try client.send(beginning)
        wait(for: "the connection to be closed") { (try? client.send("x")) == nil }
      }
      let patient = try SocketClient(port: server.port)
      #expect(try patient.request("POST", "/", body: "x").status == 200)
    }
  }

  @Test("a route may refuse a request by its head, before the body, its type and its length")
  func admission() throws {
    let route = HTTPRoute(
      .post, "/", bodyLimit: 10, contentTypes: ["a/b"],
      admit: { head in
        head.headers["Key"] == "right" ? .admitted(17) : .refused(.error(401, code: "no", message: "no"))
      },
      answeringLater: { $1.respond(.text("\($0.admitted as? Int ?? 0)")) })
    let answers = Mutex<[String]>([])
    let server = try HTTPServer(
      address: "127.0.0.1:0", routes: [route],
      onAnswer: { answer in answers.withLock { $0.append("\(answer.status) \(answer.reason ?? "-")") } })
    try server.start()
    defer { server.stop() }
    let client = try SocketClient(port: server.port)
    #expect(try client.request("POST", "/", body: "longer than ten").status == 401)
    #expect(try client.request("POST", "/", headers: ["Key: right", "Content-Type: a/b"], body: "x").body == "17")
    #expect(try client.request("GET", "/").status == 405)
    #expect(answers.withLock { $0 } == ["401 no", "200 -", "405 method_not_allowed"])
  }

  @Test("heads of random and of broken bytes are answered with 4xx or closed, and the server goes on")
  func randomHeads() throws {
    var random = SeededGenerator(announcedFor: "random heads")
    let whole = Array(
      ("POST /a%20b?x=1 HTTP/1.1\r\nHost: x\r\nContent-Type: a/b\r\nContent-Length: 3\r\nExpect: 100-continue\r\n"
        + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n").utf8)
    let limits = HTTPServerLimits(bodySize: 64, idleTimeout: .seconds(1), transferTime: .seconds(1))
    try withServer([HTTPRoute(.post, "/{name}") { _ in .text("ok") }], limits: limits) { server in
      for _ in 0..<200 {
        var bytes = whole
        for _ in 0...random.below(6) {
          let place = random.below(bytes.count)
          switch random.below(3) {
          case 0: bytes[place] = UInt8(random.below(256))
          case 1: bytes.removeSubrange(place..<min(bytes.count, place + random.below(8)))
          default: bytes.insert(contentsOf: [0x0D, 0x0A, 0x00, 0x25][random.below(4)...], at: place)
          }
          if bytes.isEmpty { bytes = [0] }
        }
        let client = try SocketClient(port: server.port)
        try? client.send(bytes: bytes)
        client.finish()
        // 505: the bytes ask for a version of HTTP that there is not.
        if let answer = try? client.answer() { #expect((100..<500).contains(answer.status) || answer.status == 505) }
      }
      #expect(try SocketClient(port: server.port).request("POST", "/a", body: "x").status == 200)
    }
  }

  @Test("connections beyond the limit wait until one is free")
  func connectionLimit() throws {
    try withServer([HTTPRoute(.get, "/") { _ in .text("ok") }], limits: HTTPServerLimits(connections: 1)) { server in
      var first: SocketClient? = try SocketClient(port: server.port)
      #expect(try first?.request("GET", "/").status == 200)
      let second = try SocketClient(port: server.port)
      try second.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      first = nil
      #expect(try second.answer().status == 200)
    }
  }
}
