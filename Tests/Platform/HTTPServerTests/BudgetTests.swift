import Dispatch
import HTTPServer
import Synchronization
import TestSupport
import Testing

@Suite("HTTP server: budgets")
struct HTTPServerBudgetTests {
  /// A server whose handler keeps each request until it is released.
  private final class HoldingServer: Sendable {
    private let held = Mutex<[(HTTPServerRequest, HTTPResponder)]>([])

    var route: HTTPRoute {
      HTTPRoute(
        .post, "/", answeringLater: { request, responder in self.held.withLock { $0.append((request, responder)) } })
    }

    var count: Int { held.withLock { $0.count } }

    func answerAll() {
      let all = held.withLock { held in
        defer { held = [] }
        return held
      }
      for (request, responder) in all { responder.respond(.text("\(request.body.count)")) }
    }
  }

  private func head(_ framing: String) -> String { "POST / HTTP/1.1\r\nHost: x\r\n\(framing)\r\n\r\n" }

  @Test("a body beyond the server's budget gets 503 before it is read; once others are done it is taken")
  func bodies() throws {
    let holding = HoldingServer()
    let limits = HTTPServerLimits(bodySize: 100_000, bodyBudget: 100_000)
    try withServer([holding.route], limits: limits) { server in
      let first = try SocketClient(port: server.port)
      try first.send(head("Content-Length: 80000") + String(repeating: "a", count: 80_000))
      wait(for: "the first request") { holding.count == 1 }
      let second = try SocketClient(port: server.port)
      try second.send(head("Content-Length: 30000"))
      let refused = try second.answer()
      #expect(refused.status == 503)
      #expect(refused.headers["retry-after"] == "1")
      #expect(refused.body.contains(#""code":"overloaded""#))
      #expect(try second.isClosedByPeer())
      // The length of a chunked body shows only as it arrives.
      let third = try SocketClient(port: server.port)
      try third.send(
        head("Transfer-Encoding: chunked") + "7530\r\n\(String(repeating: "c", count: 30_000))\r\n0\r\n\r\n")
      #expect(try third.answer().status == 503)
      // One that fits beside the first is taken.
      let fourth = try SocketClient(port: server.port)
      try fourth.send(head("Content-Length: 20000") + String(repeating: "d", count: 20_000))
      wait(for: "the fourth request") { holding.count == 2 }
      holding.answerAll()
      #expect(try first.answer().body == "80000")
      #expect(try fourth.answer().body == "20000")
      // All of the budget is free again, over and over.
      for _ in 0..<5 {
        let client = try SocketClient(port: server.port)
        try client.send(head("Content-Length: 100000") + String(repeating: "e", count: 100_000))
        wait(for: "the next request") { holding.count == 1 }
        holding.answerAll()
        #expect(try client.answer().body == "100000")
      }
    }
  }

  @Test("bodies that are announced and not sent use none of the budget")
  func announced() throws {
    let limits = HTTPServerLimits(bodySize: 100_000, bodyBudget: 100_000)
    try withServer([HTTPRoute(.post, "/") { .text("\($0.body.count)") }], limits: limits) { server in
      let silent = try (0..<10).map { _ in
        let client = try SocketClient(port: server.port)
        try client.send(head("Content-Length: 100000"))
        return client
      }
      #expect(
        try SocketClient(port: server.port).request("POST", "/", body: String(repeating: "x", count: 90_000)).body
          == "90000")
      #expect(silent.count == 10)
    }
  }

  @Test("a client that breaks off frees its part of the budget, at the latest after the time for a transfer")
  func brokenOff() throws {
    // libmicrohttpd 0.9.75 may miss the end of a connection that arrives together with the last bytes (it uses edge-triggered epoll
    // and takes a short read for the last one). The deadline of the transfer closes such a connection.
    let limits = HTTPServerLimits(bodySize: 100_000, bodyBudget: 100_000, transferTime: .seconds(1))
    try withServer([HTTPRoute(.post, "/") { .text("\($0.body.count)") }], limits: limits) { server in
      for _ in 0..<5 {
        let client = try SocketClient(port: server.port)
        try client.send(head("Content-Length: 100000") + String(repeating: "x", count: 90_000))
      }
      wait(for: "room for a whole body") {
        (try? SocketClient(port: server.port).request("POST", "/", body: String(repeating: "y", count: 100_000)).status)
          == 200
      }
    }
  }

  @Test("connections beyond an address's limit get 429 or, without a request, are closed; other connections go on")
  func connections() throws {
    let limits = HTTPServerLimits(connections: 50, connectionsPerAddress: 2)
    try withServer([HTTPRoute(.get, "/") { _ in .text("ok") }], limits: limits) { server in
      var first: SocketClient? = try SocketClient(port: server.port)
      let second = try SocketClient(port: server.port)
      #expect(try first?.request("GET", "/").status == 200)
      #expect(try second.request("GET", "/").status == 200)
      let third = try SocketClient(port: server.port)
      let refused = try third.request("GET", "/")
      #expect(refused.status == 429)
      #expect(refused.body.contains(#""code":"too_many_connections""#))
      #expect(try third.isClosedByPeer())
      let silent = try SocketClient(port: server.port)
      #expect(try silent.isClosedByPeer())
      #expect(try second.request("GET", "/").status == 200)
      first = nil
      wait(for: "a place") { (try? SocketClient(port: server.port).request("GET", "/").status) == 200 }
    }
  }

  @Test(
    "two addresses that hold all connections keep nobody out: a new client takes the place of one that only waits; whoever works goes on",
    arguments: ["silent", "slow", "idle", "unread"])
  func crowded(_ kind: String) throws {
    // No connection is closed for being slow before a client gives up.
    let limits = HTTPServerLimits(
      connections: 64, idleTimeout: .seconds(600), transferTime: .seconds(600), handlerThreads: 2)
    let held = Mutex<[HTTPResponder]>([])
    let routes = [
      HTTPRoute(.get, "/") { _ in .text("ok") },
      // More than the sockets hold of it.
      HTTPRoute(.get, "/large") { _ in .text(String(repeating: "x", count: 2 << 20)) },
      HTTPRoute(.get, "/later", answeringLater: { _, responder in held.withLock { $0.append(responder) } }),
    ]
    try withServer(routes, limits: limits) { server in
      let working = try SocketClient(port: server.port, from: 2)
      try working.send("GET /later HTTP/1.1\r\nHost: x\r\n\r\n")
      wait(for: "the request") { held.withLock { !$0.isEmpty } }
      let hostile = try (0..<120).map { number in
        let client = try SocketClient(port: server.port, from: UInt8(2 + number % 2))
        if kind == "slow" { try client.send("GET / HTT") }
        if kind == "unread" { try? client.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n") }
        if kind == "idle", number < 50 { _ = try client.request("GET", "/") }
        return client
      }
      for _ in 0..<20 { #expect(try SocketClient(port: server.port, from: 4).request("GET", "/").status == 200) }
      let responders = held.withLock { $0 }
      for responder in responders { responder.respond(.text("done")) }
      #expect(try working.answer().body == "done")
      withExtendedLifetime(hostile) {}
    }
  }
}
