import Dispatch
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer

/// Streams that a route has opened, in the order of their requests.
private final class Opened: Sendable {
  private let streams = Mutex<[HTTPStream]>([])
  private let ends = Atomic<Int>(0)
  let limit: Int
  let budget: HTTPStream.Budget

  init(limit: Int = 1 << 20, budget: HTTPStream.Budget = .init(limit: .max)) {
    self.limit = limit
    self.budget = budget
  }

  var route: HTTPRoute {
    HTTPRoute(
      .get, "/stream",
      answeringLater: { [self] _, responder in
        let stream = HTTPStream(limit: limit, budget: budget) { [self] in ends.add(1, ordering: .relaxed) }
        streams.withLock { $0.append(stream) }
        responder.respond(HTTPServerResponse(headers: [("Content-Type", "text/event-stream")], stream: stream))
      })
  }

  var all: [HTTPStream] { streams.withLock { $0 } }
  var ended: Int { ends.load(ordering: .relaxed) }

  func first() throws -> HTTPStream {
    wait(for: "a stream is open") { !all.isEmpty }
    return try #require(all.first)
  }
}

/// The pieces of a chunked body, decoded.
private func body(_ text: String) throws -> String {
  var rest = Substring(try #require(text.range(of: "\r\n\r\n").map { text[$0.upperBound...] }))
  var body = ""
  while let end = rest.range(of: "\r\n"), let size = Int(rest[..<end.lowerBound], radix: 16), size > 0 {
    let bytes = Array(rest[end.upperBound...].utf8)
    body += String(decoding: bytes[..<size], as: UTF8.self)
    rest = Substring(String(decoding: bytes[(size + 2)...], as: UTF8.self))
  }
  return body
}

@Suite("HTTP server: streams")
struct HTTPStreamTests {
  @Test(
    "pieces come in their order, while other requests are served; the end closes the connection, and is reported once")
  func order() throws {
    let opened = Opened()
    try withServer([opened.route, HTTPRoute(.get, "/other") { _ in .text("yes") }]) { server in
      let client = try SocketClient(port: server.port)
      try client.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
      let stream = try opened.first()
      var text = ""
      for number in 0..<200 {
        let piece = "piece \(number)\n" + String(repeating: "x", count: number * 7)
        text += piece
        #expect(stream.write(Array(piece.utf8)) == .taken)
        if number % 50 == 0 { #expect(try SocketClient(port: server.port).request("GET", "/other").body == "yes") }
      }
      stream.end(Array("last".utf8))
      #expect(stream.write([1]) == .ended)
      let received = try client.rest()
      #expect(received.contains("Connection: close") && received.contains("Content-Type: text/event-stream"))
      #expect(try body(received) == text + "last")
      wait(for: "the end is reported") { opened.ended == 1 }
      #expect(opened.budget.waiting == 0)
    }
  }

  @Test("HEAD has the headers and no stream; a client that left is noticed by what is written to it")
  func ends() throws {
    let opened = Opened()
    try withServer([opened.route]) { server in
      let answer = try SocketClient(port: server.port).request("HEAD", "/stream")
      #expect(answer.status == 200 && answer.headers["content-type"] == "text/event-stream")
      wait(for: "the stream of HEAD has ended") { opened.ended == 1 }
      do {
        let client = try SocketClient(port: server.port)
        try client.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
        wait(for: "a stream is open") { opened.all.count == 2 }
      }
      wait(for: "the client is found gone") {
        opened.all[1].write(Array(": beat\n\n".utf8))
        return opened.ended == 2
      }
      #expect(opened.all[1].write([1]) == .ended)
    }
  }

  @Test("what waits for a slow client is bounded; a cut keeps the piece that is half sent whole, and drops the others")
  func slow() throws {
    let opened = Opened(limit: 4 << 20)
    try withServer([opened.route]) { server in
      let client = try SocketClient(port: server.port)
      try client.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
      let stream = try opened.first()
      let piece = Array((String(repeating: "p", count: 99_999) + "\n").utf8)
      // More than the sockets' buffers hold.
      var taken = 0
      while stream.write(piece) == .taken, taken < 1_000 { taken += 1 }
      #expect(taken < 1_000 && stream.waiting <= 4 << 20)
      stream.cut(Array("reset\n".utf8))
      let lines = try body(client.rest()).split(separator: "\n")
      #expect(lines.last == "reset")
      #expect(lines.dropLast().allSatisfy { $0.utf8.count == 99_999 }, "no piece is cut")
      #expect(lines.count - 1 < taken, "what waited is dropped")
    }
  }

  @Test("all streams together have a budget: beyond it one in which nothing waits is still served")
  func budget() throws {
    let opened = Opened(budget: .init(limit: 10_000))
    let streams = [opened, opened].map { HTTPStream(limit: $0.limit, budget: $0.budget) }
    #expect(streams[0].write([UInt8](repeating: 1, count: 9_000)) == .taken)
    #expect(streams[0].write([UInt8](repeating: 1, count: 2_000)) == .full)
    #expect(streams[1].write([UInt8](repeating: 1, count: 2_000)) == .taken)
    #expect(streams[1].write([1]) == .full && opened.budget.waiting == 11_000)
    for stream in streams { stream.leave() }
    #expect(opened.budget.waiting == 0)
  }

  @Test("who writes faster than the client reads waits until it has taken enough, or the stream has ended")
  func waitsForRoom() {
    let day: Duration = .seconds(86_400)
    var buffer = [UInt8](repeating: 0, count: 2)
    let ends: [@Sendable (HTTPStream) -> Void] = [
      { $0.end() }, { $0.cut() }, { $0.leave() }, { $0.stopWaiting() },
    ]
    for end in ends {
      let stream = HTTPStream(limit: 10)
      stream.waitForRoom(for: 10, atMost: day)
      #expect(stream.write([UInt8](repeating: 1, count: 8)) == .taken && stream.write([1, 2, 3, 4, 5]) == .full)
      stream.waitForRoom(for: 2, atMost: day)
      stream.waitForRoom(for: 5, atMost: .milliseconds(1))
      let steps = Mutex<[String]>([])
      let ended = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        stream.waitForRoom(for: 5, atMost: day)
        steps.withLock { $0.append("room") }
        #expect(stream.write([1, 2, 3, 4, 5]) == .taken)
        stream.waitForRoom(for: 5, atMost: day)
        steps.withLock { $0.append("end") }
        // Also one that comes later.
        stream.waitForRoom(for: 5, atMost: day)
        ended.signal()
      }
      // Two bytes leave too little room.
      for _ in 0..<2 { #expect(buffer.withUnsafeMutableBytes { stream.take(into: $0) } == 2) }
      wait(for: "the writer has gone on") { stream.waiting == 9 }
      #expect(steps.withLock { $0 } == ["room"])
      end(stream)
      ended.wait()
      #expect(steps.withLock { $0 } == ["room", "end"])
    }
  }

  @Test("the memory of a buffer that is not used for now goes back, except for its first page")
  func givesBack() throws {
    let page = HTTPStream.pageSize
    let region = mmap(nil, 16 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    let start = try #require(region == MAP_FAILED ? nil : region)
    defer { munmap(start, 16 * page) }
    memset(start, 7, 16 * page)
    // As within libmicrohttpd's pool: neither begins nor ends at a page.
    let buffer = UnsafeMutableRawBufferPointer(start: start + 100, count: 15 * page)
    HTTPStream.giveBack(buffer)
    func zeros(_ range: Range<Int>) -> Int { range.count { start.load(fromByteOffset: $0, as: UInt8.self) == 0 } }
    #expect(zeros(0..<(2 * page)) == 0 && zeros((15 * page)..<(16 * page)) == 0, "what is outside, and the first page")
    #expect(zeros((2 * page)..<(15 * page)) == 13 * page)
    HTTPStream.giveBack(UnsafeMutableRawBufferPointer(start: start + 100, count: page))
    #expect(zeros(0..<(2 * page)) == 0)
  }

  @Test("a server with many open streams stops at once, and each ends whole")
  func stop() throws {
    let opened = Opened()
    let server = try HTTPServer(
      address: "127.0.0.1:0", routes: [opened.route], limits: HTTPServerLimits(connectionsPerAddress: 5))
    try server.start()
    var clients: [SocketClient] = []
    for number in 1...40 {
      clients.append(try SocketClient(port: server.port))
      try clients[number - 1].send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
      // Streams do not count among the connections of an address.
      wait(for: "a stream is open") { opened.all.count == number }
    }
    for stream in opened.all { stream.write(Array("hello".utf8)) }
    let begin = ContinuousClock.now
    server.stop()
    #expect(ContinuousClock.now - begin < .seconds(3))
    for client in clients { #expect(try body(client.rest()) == "hello") }
    #expect(opened.ended == 40)
  }

  @Test("pieces from many threads, with ends, cuts and clients that leave at any time: no stream hangs, none is lost")
  func threads() throws {
    var random = SeededGenerator(seed: 58)
    let opened = Opened(limit: 5_000)
    try withServer([opened.route]) { server in
      for round in 1...150 {
        var client: SocketClient? = try SocketClient(port: server.port)
        try client?.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
        wait(for: "a stream is open") { opened.all.count == round }
        let stream = opened.all[round - 1]
        let ending = random.below(3)
        DispatchQueue.concurrentPerform(iterations: 3) { thread in
          for number in 0..<20 { stream.write(Array("\(thread)-\(number);".utf8)) }
        }
        switch ending {
        case 0: stream.end()
        case 1: stream.cut(Array("cut".utf8))
        default: client = nil
        }
        if let client {
          let text = try body(client.rest())
          #expect(ending == 1 ? text.hasSuffix("cut") : text.split(separator: ";").count == 60, "round \(round)")
        }
        wait(for: "the stream has ended") {
          stream.write([0x3a])
          return opened.ended == round
        }
      }
      #expect(opened.budget.waiting == 0)
    }
  }
}
