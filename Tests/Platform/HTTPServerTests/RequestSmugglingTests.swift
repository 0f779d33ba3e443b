import CMicroHTTPD
import HTTPServer
import Synchronization
import TestSupport
import Testing

/// A request whose end two recipients could read differently.
struct AmbiguousRequest: CustomTestStringConvertible {
  let testDescription: String
  /// All of it, before the request that it smuggles; `TARGET` stands for method and path.
  let text: String

  /// A request with these header lines, `\r\n` included in each.
  init(_ lines: String, body: String = "0\r\n\r\n", version: String = "HTTP/1.1", head end: String = "\r\n") {
    testDescription = lines.debugDescription + (version == "HTTP/1.1" ? "" : " with \(version)")
    text = "TARGET \(version)\r\nHost: x\r\n\(lines)\(end)\(body)"
  }

  init(_ name: String, text: String) {
    testDescription = name
    self.text = text
  }

  static let all: [AmbiguousRequest] =
    [
      // RFC 9112, 6.1: two ways of framing.
      AmbiguousRequest("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
      AmbiguousRequest("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
      AmbiguousRequest("transfer-encoding: chunked\r\ncontent-length: 0\r\n"),
      AmbiguousRequest("Content-Length: 5\r\nTransfer-Encoding: identity\r\n"),
      AmbiguousRequest("Transfer-Encoding: chunked\r\n", version: "HTTP/1.0"),
      // 6.3: several lengths.
      AmbiguousRequest("Content-Length: 0\r\nContent-Length: 5\r\n"),
      AmbiguousRequest("Content-Length: 5\r\nX: y\r\nContent-Length: 0\r\n"),
      AmbiguousRequest("Content-Length: 5\r\nContent-Length: 5\r\n"),
    ]
    // Lengths that are no number to some, and another number to others.
    + [
      "+0", "+5", "-0", "-5", "0x5", "5, 5", "5, 6", "5,6", "5 6", "5;a=b", "", " ", "1e1", "5.0", "\u{665}",
      "\u{b}5", "5\u{b}",
      "00000000000000000005", "five", "5\u{0} 6", "5\r 6",
    ].map { AmbiguousRequest("Content-Length: \($0)\r\n") }
    + (LibraryVersion.trimsTabs ? [] : [AmbiguousRequest("Content-Length: \t5\r\n")])
    + [
      "identity", "gzip, chunked", "chunked, identity", "chunked, chunked", "identity, chunked", "\u{b}chunked",
      "xchunked", "\"chunked\"", "chunked;q=1", "", "chunked,", "chunked\u{0}", "chunked\rX: y",
    ].map { AmbiguousRequest("Transfer-Encoding: \($0)\r\n") }
    + [
      AmbiguousRequest("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"),
      AmbiguousRequest("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n"),
      AmbiguousRequest("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
      // 5.1: blanks before the colon, or in front of the name.
      AmbiguousRequest("Transfer-Encoding : chunked\r\n"),
      AmbiguousRequest("Transfer-Encoding\t: chunked\r\n"),
      AmbiguousRequest("Content-Length : 5\r\n"),
      AmbiguousRequest("Content Length: 5\r\n"),
      AmbiguousRequest("X y\u{b}: 5\r\n"),
      AmbiguousRequest(": 5\r\n"),
      // 5.2: folded lines.
      AmbiguousRequest("Transfer-Encoding:\r\n chunked\r\n"),
      AmbiguousRequest("Transfer-Encoding: chunked\r\n , identity\r\n"),
      AmbiguousRequest("Content-Length: 5\r\n 6\r\n"),
      AmbiguousRequest("Content-Length: 0\r\n\t5\r\n"),
      AmbiguousRequest("X: a\r\n b\r\n"),
      AmbiguousRequest("X: a\r\n Transfer-Encoding: chunked\r\n"),
      AmbiguousRequest("X: a\r\n \r\n"),
      AmbiguousRequest(
        "a folded first line", text: "TARGET HTTP/1.1\r\n Transfer-Encoding: chunked\r\nHost: x\r\n\r\n0\r\n\r\n"),
      // 2.2: line ends.
      AmbiguousRequest("X: a\nTransfer-Encoding: chunked\r\n"),
      AmbiguousRequest("Content-Length: 5\n"),
      AmbiguousRequest("X: a\rTransfer-Encoding: chunked\r\n"),
      AmbiguousRequest("X: a\u{0}b\r\n"),
      AmbiguousRequest("X: a\r\n", head: "\n"),
      AmbiguousRequest("a request line that ends in LF", text: "TARGET HTTP/1.1\nHost: x\r\n\r\n"),
      AmbiguousRequest("only LF", text: "TARGET HTTP/1.1\nHost: x\nContent-Length: 5\n\n0\r\n\r\n"),
      AmbiguousRequest("Host: y\r\n"),
    ]
}

/// The libmicrohttpd that the tests run with: 0.9.75 of Debian 12, or 1.0 as in the image.
private enum LibraryVersion {
  static let trimsTabs = String(cString: MHD_get_version()).hasPrefix("1.")
}

@Suite("HTTP server: request smuggling")
struct RequestSmugglingTests {
  private static let limits = HTTPServerLimits(handlerThreads: 1)

  private func withCountingServer(_ body: (_ port: Int, _ served: borrowing Atomic<Int>) throws -> Void) throws {
    let served = ServedRequests()
    let routes = [
      HTTPRoute(.post, "/echo") { request in
        served.count.add(1, ordering: .relaxed)
        return HTTPServerResponse(body: request.body)
      },
      HTTPRoute(.get, "/smuggled") { _ in
        served.count.add(1, ordering: .relaxed)
        return .text("smuggled")
      },
    ]
    try withServer(routes, limits: Self.limits) { server in try body(server.port, served.count) }
  }

  /// The number of requests that reached a handler.
  private final class ServedRequests: Sendable {
    let count = Atomic<Int>(0)
  }

  @Test(
    "a request whose end could be read in two ways gets 400, and nothing after it is served",
    arguments: AmbiguousRequest.all)
  func refused(_ request: AmbiguousRequest) throws {
    try withCountingServer { port, served in
      for target in ["POST /echo", "GET /echo", "PUT /echo", "POST /nowhere", "DELETE /smuggled"] {
        let client = try SocketClient(port: port)
        let text = request.text.replacing("TARGET", with: target)
        try client.send(text + "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.answer().status == 400, "\(target)")
        // libmicrohttpd 0.9.75 writes the head of its own refusals twice, so there may be more than that one answer.
        #expect(try !client.rest().contains("smuggled"), "\(target)")
      }
      #expect(served.load(ordering: .relaxed) == 0)
    }
  }

  /// RFC 9112 lets tabs surround a value, and libmicrohttpd 1.0 takes them away before we see them; others know no coding of that name.
  @Test(
    "a coding beside a tab is refused, or is the last request of its connection",
    arguments: ["\tchunked", " \tchunked", "chunked\t"])
  func tabs(_ coding: String) throws {
    try withCountingServer { port, served in
      let client = try SocketClient(port: port)
      try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \(coding)\r\n\r\n0\r\n\r\n")
      try? client.send("GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n")
      let expected = LibraryVersion.trimsTabs ? 200 : 400
      #expect(try client.answer().status == expected)
      #expect(try !client.rest().contains("smuggled"))
      #expect(served.load(ordering: .relaxed) == (LibraryVersion.trimsTabs ? 1 : 0))
    }
  }

  @Test("a length that no integer holds gets 413, and nothing after it is served")
  func overlong() throws {
    try withCountingServer { port, served in
      let client = try SocketClient(port: port)
      try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n")
      try? client.send("GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(try client.answer().status == 413)
      #expect(try !client.rest().contains("smuggled"))
      #expect(served.load(ordering: .relaxed) == 0)
    }
  }

  @Test(
    "the connection ends with a chunked body, so what some would take for the next request is not served",
    arguments: ["0\r\n\r\n", "5\nabcde\n0\n\n", "5;\nxx\r\nabc\r\n0\r\n\r\n", "0\r\nX: y\nZ: a\r\n\r\n"])
  func chunked(_ body: String) throws {
    try withCountingServer { port, served in
      let client = try SocketClient(port: port)
      try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\(body)")
      try? client.send("GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect([200, 400].contains(try client.answer().status))
      #expect(try client.isClosedByPeer())
      #expect(served.load(ordering: .relaxed) <= 1)
    }
  }

  @Test("requests that all read alike are served, several on a connection")
  func served() throws {
    try withCountingServer { port, served in
      let client = try SocketClient(port: port)
      for lines in ["Content-Length: 3\r\n", "Content-Length:3\r\n", "content-length:    003\r\nX:\r\nY:  \t a \r\n"] {
        try client.send("POST /echo HTTP/1.1\r\nHost: x\r\n\(lines)\r\nabc")
        #expect(try client.answer().body == "abc")
      }
      try client.send("GET /smuggled?a=%20b&c HTTP/1.1\r\nHost: x\r\nCookie: a=b; c=\"d\"\r\n\r\n")
      #expect(try client.answer().body == "smuggled")
      try client.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:  Chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
      #expect(try client.answer().body == "abc")
      #expect(served.load(ordering: .relaxed) == 5)
    }
    try withCountingServer { port, _ in
      let client = try SocketClient(port: port)
      try client.send("GET /smuggled HTTP/1.0\r\n\r\n")
      #expect(try client.answer().body == "smuggled")
      // A head that arrives in pieces, and is longer than libmicrohttpd's first buffer.
      let slow = try SocketClient(port: port)
      try slow.send("GET /smuggled HTTP/1.1\r\nHost: x\r")
      try slow.send("\n")
      for number in 0..<18 { try slow.send("X-\(number): \(String(repeating: "v", count: 1_000))\r\n") }
      try slow.send("\r\n")
      #expect(try slow.answer().body == "smuggled")
    }
  }
}
