import Foundation
import Kafka
import NudgeSchema
import TestSupport
import Testing

@testable import Ingest
@testable import ServiceKit

@Suite("HTTP API: GET /v1/live with an API key", .serialized)
struct DecisionStreamTests {
  private func decide(_ api: APIUnderTest, _ numbers: Range<Int>, for user: String, padding: Int = 0) throws {
    let writer = try Producer(
      .producer(bootstrapServers: api.broker.bootstrapServers, transactionalID: nil), name: "analyzer")
    defer { writer.close() }
    let key = Array(user.utf8)
    for number in numbers {
      try writer.produce(
        topic: try writer.topic(Topic.decisions.rawValue), partition: Murmur2.partition(of: key, count: 4), key: key,
        value: Array(
          #"{"type":"decision","userId":"\#(user)","n":\#(number),"p":"\#(String(repeating: "x", count: padding))"}"#
            .utf8),
        headers: [])
    }
    try writer.flush(timeout: .seconds(10))
  }

  private func numbers(_ client: LiveClient) throws -> [Int] {
    struct Decision: Decodable { var n: Int }
    return try client.sent.events.filter { $0.name == "decision" }.map {
      try JSONDecoder().decode(Decision.self, from: Data($0.data.utf8)).n
    }
  }

  private func ready(_ topics: [Topic] = [.chatEvents, .userEvents, .banners, .decisions]) throws -> APIUnderTest {
    try APIUnderTest(topics: topics)
  }

  private func open(
    _ api: APIUnderTest, query: String = "", after id: String? = nil, key: String = APIUnderTest.key
  ) throws -> LiveClient {
    let client = try LiveClient(api, token: key, query: query, after: id)
    try client.read { !$0.lastId.isEmpty }
    return client
  }

  @Test(
    "decisions come as they are made, of all people or of one; a client goes on where it was, without gap or repeat")
  func decisions() throws {
    let api = try ready()
    let (all, one) = (try open(api), try open(api, query: "?userId=ben"))
    try decide(api, 0..<5, for: "ann")
    try decide(api, 5..<8, for: "ben")
    try all.read { $0.events.count == 8 }
    try one.read { $0.events.count == 3 }
    #expect(try numbers(all).sorted() == Array(0..<8) && numbers(one) == [5, 6, 7])
    // Cut off after any event, it continues there.
    try decide(api, 8..<40, for: "ann")
    try decide(api, 40..<60, for: "cem")
    var (seen, last) = (try numbers(all), all.sent.lastId)
    for _ in 0..<60 where seen.count < 60 {
      let client = try open(api, after: last)
      let wanted = min(60 - seen.count, 7)
      try client.read { $0.events.count >= wanted }
      seen += try numbers(client)
      last = client.sent.lastId
    }
    #expect(seen.sorted() == Array(0..<60), "each once")
    #expect(api.capture.entries.allSatisfy { !"\($0)".contains(APIUnderTest.key) })
  }

  @Test("a client that reads slowly is waited for, and gets each decision once")
  func slow() throws {
    let api = try ready()
    let client = try open(api)
    // Some megabytes: more than may wait for it.
    try decide(api, 0..<3_000, for: "ann", padding: 2_000)
    try client.read { $0.events.count == 3_000 }
    #expect(try numbers(client) == Array(0..<3_000))
  }

  @Test("a place that is none, or is ahead of the topic, is a reset; a user's token never gets decisions")
  func places() throws {
    let api = try ready()
    try decide(api, 0..<3, for: "ann")
    for id in ["x", "0-999999", "0-1.0-2"] {
      let client = try LiveClient(api, token: APIUnderTest.key, after: id)
      try client.read { !$0.events.isEmpty }
      #expect(client.sent.events.map(\.name) == ["reset"] && client.sent.events[0].data.contains("unknown_id"))
    }
    try wait(for: "streams are served", atMost: 20) {
      let probe = try LiveClient(api, token: APIUnderTest.token(user: "ann"))
      try probe.read { !$0.lastId.isEmpty || !probe.head.isEmpty && !probe.head.contains(" 200 ") }
      return probe.head.contains(" 200 ")
    }
    let own = try LiveClient(api, token: APIUnderTest.token(user: "ann"), query: "?userId=ann")
    try own.read { !$0.lastId.isEmpty }
    try decide(api, 3..<5, for: "ann")
    let backend = try open(api, after: "0-0.1-0.2-0.3-0")
    try backend.read { $0.events.count == 5 }
    #expect(own.sent.events.isEmpty)
  }

  @Test("a backend whose connections broke gets new streams at once, not when the old ones are next written to")
  func brokenConnections() throws {
    let api = try ready()
    do {
      let clients = try (0..<DecisionStreams.Limits().streamsOfAKey).map { _ in try open(api) }
      #expect(clients.allSatisfy { $0.head.contains(" 200 ") })
      // They go with this scope, and their connections with them.
    }
    // Far below the 15 s between two comments.
    try wait(for: "a new stream", atMost: 8) {
      let client = try LiveClient(api, token: APIUnderTest.key)
      try client.read { !$0.lastId.isEmpty || !client.head.isEmpty && !client.head.contains(" 200 ") }
      return client.head.contains(" 200 ")
    }
  }

  @Test("a key has so many streams, another key its own; keys that change end all of them")
  func limits() throws {
    let api = try ready()
    let clients = try (0..<DecisionStreams.Limits().streamsOfAKey).map { _ in try open(api) }
    let refused = try api.call("GET", "/v1/live", headers: ["Authorization: Bearer \(APIUnderTest.key)"])
    #expect(refused.status == 429 && refused.body.code == "too_many_streams" && refused.headers["retry-after"] != nil)
    try Data("other \(APIUnderTest.otherKey)\n".utf8).write(
      to: URL(fileURLWithPath: api.directory.path + "/keys"))
    for client in clients {
      try client.readToEnd()
      #expect(client.sent.events.map(\.name) == ["end"])
    }
    let gone = try api.call("GET", "/v1/live", headers: ["Authorization: Bearer \(APIUnderTest.key)"])
    #expect(gone.status == 401)
    _ = try open(api, key: APIUnderTest.otherKey)
  }
}
