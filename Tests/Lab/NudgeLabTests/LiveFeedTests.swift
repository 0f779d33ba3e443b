import Foundation
import HTTPServer
import NudgeClient
import Synchronization
import TestSupport
import Testing

@testable import NudgeLab

@Suite("A phone's live stream")
struct LiveFeedTests {
  /// The requests that came, and the stream of the last one.
  private final class Streams: Sendable {
    struct State {
      var heads: [(path: String, last: String?, authorization: String?)] = []
      var stream: HTTPStream?
    }
    let state = Mutex(State())
    var count: Int { state.withLock { $0.heads.count } }

    func open(_ request: HTTPServerRequest) -> HTTPServerResponse {
      let stream = HTTPStream(limit: 1 << 20)
      state.withLock {
        $0.heads.append(
          (
            request.query["answers"] == "true" ? request.query["deviceId"] ?? "" : "", request.headers["Last-Event-ID"],
            request.headers["Authorization"]
          ))
        $0.stream = stream
      }
      return HTTPServerResponse(headers: [("Content-Type", "text/event-stream")], stream: stream)
    }
  }

  private func badge(_ number: Int, id: String) -> [UInt8] {
    let data = #"{"schemaVersion":1,"type":"badge","userId":"ann","badge":\#(number),"conversations":[]}"#
    return Array("event: badge\nid: \(id)\ndata: \(data)\n\n".utf8)
  }

  @Test("what the stream brings comes, cut anywhere; a stream that ended is opened again where it was")
  func goesOn() throws {
    let streams = Streams()
    let server = try HTTPServer(
      address: "127.0.0.1:0",
      routes: [HTTPRoute(.get, "/v1/live", answeringLater: { $1.respond(streams.open($0)) })])
    try server.start()
    defer { server.stop() }
    let feed = try LiveFeed(url: "http://127.0.0.1:\(server.port)", token: "a.b.c", deviceId: "ann/phone")
    defer { feed.close() }
    wait(for: "the stream") { feed.isLive }
    #expect(streams.state.withLock { $0.heads[0].path } == "ann/phone")
    #expect(streams.state.withLock { $0.heads[0].authorization } == "Bearer a.b.c")
    var seen: [Int] = []
    func take() {
      for case .badge(let badge) in feed.take() { seen.append(badge.badge) }
    }
    let bytes = Array("retry: 50\n\n".utf8) + badge(1, id: "0-1") + badge(2, id: "0-2")
    for byte in bytes { streams.state.withLock { _ = $0.stream?.write([byte]) } }
    wait(for: "two badges") {
      take(); return seen.count == 2
    }
    _ = streams.state.withLock { $0.stream?.end() }
    wait(for: "another stream") { streams.count == 2 && feed.isLive }
    #expect(streams.state.withLock { $0.heads[1].last } == "0-2")
    streams.state.withLock { _ = $0.stream?.write(badge(3, id: "0-3")) }
    wait(for: "the third") {
      take(); return seen.count == 3
    }
    #expect(seen == [1, 2, 3])
  }
}
