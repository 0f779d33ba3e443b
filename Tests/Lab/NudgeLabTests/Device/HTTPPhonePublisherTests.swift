import Foundation
import HTTPServer
import NudgeSchema
import Synchronization
import TestSupport
import Testing

@testable import NudgeLab

@Suite("Virtual phones publish over HTTP", .timeLimit(.minutes(3)))
struct HTTPPhonePublisherTests {
  /// A request to the stand-in for ingest's API.
  private final class Desk: Sendable {
    struct Call {
      let credentials: String?
      let contentType: String?
      let lines: [String]
    }

    let calls = Mutex<[Call]>([])

    /// Accepts every event but those with `bad` in them.
    func answer(_ request: HTTPServerRequest) -> HTTPServerResponse {
      let lines = String(decoding: request.body, as: UTF8.self).split(separator: "\n").map(String.init)
      calls.withLock {
        $0.append(
          Call(
            credentials: request.headers["Authorization"], contentType: request.headers["Content-Type"], lines: lines))
      }
      let results = lines.enumerated().map { index, line in
        line.contains("bad")
          ? #"{"index":\#(index),"status":"rejected","code":"schema_violation","message":"no text"}"#
          : #"{"index":\#(index),"eventId":"e\#(index)","status":"accepted"}"#
      }
      return .json(
        bytes: Array(#"{"accepted":1,"rejected":1,"results":[\#(results.joined(separator: ","))]}"#.utf8), status: 207)
    }
  }

  private func results(_ publisher: HTTPPhonePublisher, count: Int) -> [String: String?] {
    var all: [String: String?] = [:]
    wait(for: "\(count) results", atMost: 20) {
      for result in publisher.results(waiting: .milliseconds(20)) { all[result.eventId] = .some(result.failure) }
      return all.count == count
    }
    return all
  }

  @Test("M8, M10: waiting events are one request with the key, and each has its own result")
  func publishes() throws {
    let desk = Desk()
    let server = try HTTPServer(
      address: "127.0.0.1:0", routes: [HTTPRoute(.post, "/v1/events") { desk.answer($0) }])
    try server.start()
    let publisher = try HTTPPhonePublisher(url: "http://\(server.boundAddress)/", credentials: "the-key")
    for (id, event) in [("a", #"{"n":1}"#), ("b", #"{"n":"bad"}"#), ("c", #"{"n":3}"#)] {
      publisher.publish(Array(event.utf8), id: id, to: .userEvents, key: "ann")
    }
    let results = results(publisher, count: 3)
    #expect(results["a"] == .some(nil))
    #expect(results["b"] == "schema_violation: no text")
    #expect(results["c"] == .some(nil))
    let calls = desk.calls.withLock { $0 }
    #expect(calls.count == 1)
    #expect(calls.first?.lines == [#"{"n":1}"#, #"{"n":"bad"}"#, #"{"n":3}"#])
    #expect(calls.first?.credentials == "Bearer the-key")
    #expect(calls.first?.contentType == "application/x-ndjson")
    publisher.close()
    server.stop()
  }

  @Test("an answer that is not the API's, and a missing answer, fail every event of the request")
  func fails() throws {
    let server = try HTTPServer(
      address: "127.0.0.1:0",
      routes: [HTTPRoute(.post, "/v1/events") { _ in .error(503, code: "unavailable", message: "Kafka is away") }])
    try server.start()
    let publisher = try HTTPPhonePublisher(url: "http://\(server.boundAddress)", credentials: "k")
    publisher.publish(Array("{}".utf8), id: "a", to: .userEvents, key: "ann")
    publisher.publish(Array("{}".utf8), id: "b", to: .userEvents, key: "ann")
    let refused = results(publisher, count: 2)
    #expect(refused.values.allSatisfy { $0?.hasPrefix("HTTP 503") == true }, "\(refused)")
    server.stop()
    publisher.publish(Array("{}".utf8), id: "c", to: .userEvents, key: "ann")
    let failure = results(publisher, count: 1)["c"] ?? nil
    #expect(failure != nil)
    publisher.close()
  }
}
