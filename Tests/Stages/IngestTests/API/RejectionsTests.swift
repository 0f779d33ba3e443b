import Foundation
import Kafka
import NudgeSchema
import TestSupport
import Testing

@testable import Ingest
@testable import ServiceKit

@Suite("Rejections in memory")
struct RejectionLogTests {
  /// A log whose lines are event ids.
  private struct Log {
    var log = RejectionLog()

    mutating func add(_ producer: String, _ eventId: String, at time: Milliseconds, _ partition: Int32, _ offset: Int64)
    {
      log.add(Array(eventId.utf8), of: producer, at: time, partition: partition, offset: offset)
    }

    func page(_ producer: String, _ since: RejectionLog.Since = .time(0)) -> (ids: [String], page: RejectionLog.Page) {
      let page = log.page(of: producer, since: since)
      return (page.lines.map { String(decoding: $0, as: UTF8.self) }, page)
    }
  }

  @Test("a producer gets its own, in order, and goes on where it was")
  func own() throws {
    var log = Log()
    log.log.advance(0, to: 5)
    log.log.advance(1, to: 0)
    log.add("chat", "a", at: 30, 0, 5)
    log.add("chat", "b", at: 10, 1, 0)
    log.add("other", "x", at: 20, 1, 1)
    let first = log.page("chat")
    #expect(first.ids == ["b", "a"])
    #expect(first.page.next == RejectionLog.Cursor(next: [0: 6, 1: 2]) && first.page.forgottenAt == nil)
    #expect(log.page("chat", .time(20)).ids == ["a"])
    #expect(log.page("nobody").ids.isEmpty)
    // An offset that was read before, as after a new consumer, is not there twice.
    log.add("chat", "a", at: 30, 0, 5)
    log.add("chat", "c", at: 5, 0, 6)
    let next = log.page("chat", .cursor(first.page.next))
    #expect(next.ids == ["c"])
    #expect(log.page("chat", .cursor(next.page.next)).ids.isEmpty)
    #expect(log.page("chat", .time(20)).ids == ["a"], "a clock that went back does not bring c along")
  }

  @Test("pages together have each rejection once, whatever the clocks say")
  func pages() throws {
    var random = SeededGenerator(seed: 11)
    var log = Log()
    for offset in 0..<Int64(RejectionLog.perProducer) {
      log.add("chat", "e\(offset)", at: Milliseconds(random.below(1_000)), Int32(random.below(3)), offset)
    }
    var seen: [String] = []
    var since = RejectionLog.Since.time(0)
    while true {
      let (ids, page) = log.page("chat", since)
      if ids.isEmpty { break }
      #expect(ids.count <= RejectionLog.page)
      seen += ids
      since = .cursor(try #require(RejectionLog.Cursor(page.next.text)))
    }
    #expect(seen.count == RejectionLog.perProducer && Set(seen).count == seen.count)
  }

  @Test("memory is bounded by producer and over all, in number and bytes; what is forgotten is said")
  func bounds() {
    var log = Log()
    for offset in 0..<Int64(RejectionLog.perProducer * 2) { log.add("flood", "e\(offset)", at: offset, 0, offset) }
    let page = log.page("flood").page
    #expect(page.forgottenAt ?? 0 >= Int64(RejectionLog.perProducer) / 2)
    #expect(log.page("flood").ids.first == "e\(page.forgottenAt.map { $0 + 1 } ?? -1)")
    for number in 0..<RejectionLog.producers {
      log.add("p\(number)", "e", at: 10_000 + Int64(number), 1, Int64(number))
    }
    #expect(log.page("flood").ids.isEmpty, "heard of longest ago")
    #expect(log.page("p0").ids.count == 1)
    // A megabyte each, 64 in all.
    let long = String(repeating: "x", count: 10_000)
    for offset in 0..<Int64(20_000) { log.add("p\(offset % 100)", long, at: 20_000 + offset, 2, offset) }
    #expect(log.log.keptBytes <= RejectionLog.bytes)
    for number in 0..<100 {
      let kept = log.page("p\(number)")
      #expect(kept.ids.reduce(0) { $0 + $1.utf8.count } <= RejectionLog.producerBytes && kept.page.forgottenAt != nil)
      #expect(kept.ids.count > 10, "the newest are kept")
    }
  }

  @Test("a cursor is read back, and other texts are none; since takes times and cursors")
  func cursors() {
    let cursor = RejectionLog.Cursor(next: [0: 17, 11: 0, 2: 9_000_000_000])
    #expect(cursor.text == "0-17.2-9000000000.11-0" && RejectionLog.Cursor(cursor.text) == cursor)
    for bad in ["", "0", "0-", "-1-2", "0-1.", "0-1.0-2", "a-b", "0-1-2", "0-99999999999999999999"] {
      #expect(RejectionLog.Cursor(bad) == nil, "\(bad)")
    }
    #expect(RejectionsEndpoint.since(nil, now: 3_600_001) == .time(1))
    #expect(RejectionsEndpoint.since("17", now: 0) == .time(17))
    #expect(RejectionsEndpoint.since("1970-01-01T00:00:01Z", now: 0) == .time(1_000))
    #expect(RejectionsEndpoint.since("0-17", now: 0) == .cursor(RejectionLog.Cursor(next: [0: 17])))
    #expect(RejectionsEndpoint.since("yesterday", now: 0) == nil)
  }
}

@Suite("HTTP API: GET /v1/rejections", .serialized)
struct RejectionsAPITests {
  /// Writes a dead letter as ingest does.
  private func refuse(
    _ api: APIUnderTest, _ eventId: String, of producer: String?,
    code: DeadLetterCode = .unknownConversation
  ) throws {
    let writer = try Producer(
      .producer(bootstrapServers: api.broker.bootstrapServers, transactionalID: nil),
      name: "refusing")
    defer { writer.close() }
    var headers: [Header] = [
      (RecordHeader.errorCode, Array(code.rawValue.utf8)),
      (RecordHeader.errorMessage, Array("nobody knows it".utf8)),
      (RecordHeader.originTopic, Array("chat.events".utf8)),
    ]
    if let producer { headers.append((RecordHeader.producer, Array(producer.utf8))) }
    try writer.produce(
      topic: try writer.topic(Topic.deadLetters.rawValue), partition: 0, key: Array("c-1".utf8),
      value: Array(APIUnderTest.message(eventId, text: "secret words").utf8), headers: headers)
    try writer.flush(timeout: .seconds(10))
  }

  private func ready() throws -> APIUnderTest {
    let api = try APIUnderTest(topics: [.chatEvents, .userEvents, .deadLetters])
    let deadline = ContinuousClock.now + .seconds(20)
    while try get(api, "").status == 503, ContinuousClock.now < deadline {
      Thread.sleep(forTimeInterval: 0.05)
    }
    return api
  }

  private func get(_ api: APIUnderTest, _ query: String, token: String? = APIUnderTest.key) throws
    -> APIUnderTest.Answer
  {
    try api.call(
      "GET", "/v1/rejections\(query)", headers: token.map { ["Authorization: Bearer \($0)"] } ?? [])
  }

  @Test("a backend gets its own rejections, without texts, and goes on with Nudge-Next")
  func own() throws {
    let api = try ready()
    try refuse(api, "e1", of: "chat")
    try refuse(api, "e2", of: "somebody-else")
    try refuse(api, "e3", of: nil)
    let first = try get(api, "?wait=20")
    #expect(first.status == 200 && first.headers["content-type"] == "application/x-ndjson")
    let lines = first.text.split(separator: "\n")
    #expect(
      lines.count == 1 && lines[0].contains(#""eventId":"e1""#)
        && lines[0].contains(#""code":"unknown_conversation""#))
    #expect(lines[0].contains(#""key":"c-1""#) && lines[0].contains(#""type":"message.created""#))
    #expect(!first.text.contains("secret"))
    let next = try #require(first.headers["nudge-next"])
    try refuse(api, "e4", of: "chat")
    let second = try get(api, "?since=\(next)&wait=20")
    #expect(second.text.contains("e4") && !second.text.contains("e1"))
    #expect(try get(api, "?since=\(try #require(second.headers["nudge-next"]))").text == "")
    #expect(
      api.counter(
        "nudge_producer_rejections_total", ["code": "unknown_conversation", "producer": "chat"])
        == 2)
  }

  @Test("a request waits until there is something, or its time is up")
  func longPoll() throws {
    let api = try ready()
    let start = ContinuousClock.now
    let empty = try get(api, "?wait=1")
    #expect(empty.status == 200 && empty.text == "" && start.duration(to: .now) >= .seconds(1))
    let client = try SocketClient(port: api.api.port)
    try client.send(
      "GET /v1/rejections?wait=20 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(APIUnderTest.key)\r\n\r\n"
    )
    try refuse(api, "e9", of: "chat")
    #expect(try client.answer().body.contains("e9"))
  }

  @Test("others are told nothing: no key, a user's token, a query that cannot be read")
  func refusals() throws {
    let api = try ready()
    #expect(try get(api, "", token: nil).status == 401)
    #expect(try get(api, "", token: try APIUnderTest.token()).status == 403)
    #expect(try get(api, "?since=yesterday").status == 400)
    for wait in ["26", "-1", "x"] { #expect(try get(api, "?wait=\(wait)").status == 400) }
  }

  @Test("the requests of one key that wait are bounded, and leave room for another's; so are those for decisions")
  func waiting() throws {
    let api = try APIUnderTest(
      topics: [.chatEvents, .userEvents, .deadLetters, .timeline, .decisions],
      keys: ["other": APIUnderTest.otherKey])
    wait(for: "the rejections to be read", atMost: 20) { (try? get(api, "").status) == 200 }
    let clients = try (0..<RejectionTail.waitersOfAProducer).map { _ in
      let client = try SocketClient(port: api.api.port)
      try client.send(
        "GET /v1/rejections?wait=25 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(APIUnderTest.key)\r\n\r\n")
      return client
    }
    wait(for: "all to wait") { (try? get(api, "?wait=1").status) == 429 }
    #expect(try get(api, "?wait=1").body.message?.contains("ask without wait") == true)
    #expect(try get(api, "").status == 200)
    #expect(try get(api, "?wait=1", token: APIUnderTest.otherKey).status == 200)
    try refuse(api, "e1", of: "chat")
    for client in clients { #expect(try client.answer().body.contains("e1")) }
    #expect(try get(api, "?wait=1").status == 200)

    func post(_ id: String, _ key: String) throws -> SocketClient {
      let client = try SocketClient(port: api.api.port)
      let body = APIUnderTest.message(id)
      try client.send(
        "POST /v1/events?wait=decision HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
          + "Authorization: Bearer \(key)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
      return client
    }
    // Nobody decides, so each waits for its two seconds, and the last ones come meanwhile.
    let count = DecisionTail.waitersOfACaller
    let posts = try (0..<count + 8).map { try post("d\($0)", APIUnderTest.key) }
    let others = try post("o", APIUnderTest.otherKey)
    let statuses = try posts.map { try $0.answer().status }
    #expect(statuses.count { $0 == 202 } == count && statuses.count { $0 == 429 } == 8)
    #expect(try others.answer().status == 202)
    #expect(try post("again", APIUnderTest.key).answer().status == 202)
  }

  @Test("where the topic cannot be read the API works all the same, and says so here")
  func unreadable() throws {
    let api = try APIUnderTest(missing: [.deadLetters])
    wait(for: "the topic to be missed", atMost: 20) {
      (try? get(api, "").body.message)?.contains("does not exist") == true
    }
    let answer = try get(api, "")
    #expect(
      answer.status == 503 && answer.body.code == "unavailable"
        && answer.headers["retry-after"] == "5")
    #expect(try api.post(APIUnderTest.message("e1")).status == 202)
  }

  @Test("a page of a named origin may call the API; its origin must be one")
  func origins() throws {
    let api = try APIUnderTest([
      "--http-cors-origins", "https://chat.example,http://localhost:5173",
    ])
    let answer = try api.call(
      "OPTIONS", "/v1/events",
      headers: ["Origin: http://localhost:5173", "Access-Control-Request-Method: POST"])
    #expect(
      answer.status == 204
        && answer.headers["access-control-allow-headers"]?.contains("Authorization") == true)
    let refused = try api.post("{}", token: nil, headers: ["Origin: https://chat.example"])
    #expect(
      refused.status == 401
        && refused.headers["access-control-allow-origin"] == "https://chat.example")
    for bad in ["*", "chat.example", "https://chat.example/", "https://", "ftp://chat.example"] {
      #expect(throws: (any Error).self, "\(bad)") {
        try APIUnderTest(["--http-cors-origins", bad])
      }
    }
  }

  @Test("wait=decision tells what the pipeline made of each event; the status is as ever")
  func decision() throws {
    let api = try APIUnderTest(topics: [.chatEvents, .userEvents, .deadLetters, .timeline, .decisions])
    let coder = RecordCoder()
    let writer = try Producer(
      .producer(bootstrapServers: api.broker.bootstrapServers, transactionalID: nil), name: "pipeline")
    defer { writer.close() }
    func write(_ topic: Topic, _ value: [UInt8], _ headers: [Header] = []) throws {
      try writer.produce(
        topic: try writer.topic(topic.rawValue), partition: 0, key: Array("k".utf8), value: value, headers: headers)
    }
    let client = try SocketClient(port: api.api.port)
    let body = "[\(APIUnderTest.message("e1", in: "lunch")),\(APIUnderTest.message("e2", in: "unknown"))]"
    try client.send(
      "POST /v1/events?wait=decision HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        + "Authorization: Bearer \(APIUnderTest.key)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    _ = try api.records(.chatEvents, count: 2)
    func source(_ key: String) -> RecordPosition {
      RecordPosition(
        topic: "chat.events", partition: Murmur2.partition(of: Array(key.utf8), count: 4), offset: 0)
    }
    let lunch = source("lunch")
    let envelope = Envelope(eventId: "e1", occurredAt: 1)
    let candidate = MessageCandidate(
      conversationId: "lunch", messageId: "m-e1", sender: Member(userId: "ann", displayName: "Ann"),
      conversation: CandidateConversation(kind: .direct, memberCount: 2, activeSpeakers: 1), title: "", body: "",
      recipients: [Recipient(userId: "bob", context: RecipientContext())])
    try write(
      .timeline, coder.encode(TimelineEvent(envelope, origin: Origin(lunch), source: lunch, .candidate(candidate))))
    try write(
      .decisions,
      coder.encode(
        Decision(
          envelope, origin: Origin(lunch), source: lunch,
          DecisionBody(
            userId: "bob", messageId: "m-e1", conversationId: "lunch", outcome: .suppress, reason: .noDevice, text: "t",
            badge: 1, mode: .live, decidedAt: 1))))
    let unknown = source("unknown")
    try write(
      .deadLetters, [],
      [
        (RecordHeader.errorCode, Array("unknown_conversation".utf8)),
        (RecordHeader.originTopic, Array("chat.events".utf8)),
        (RecordHeader.originPartition, Array("\(unknown.partition)".utf8)),
        (RecordHeader.originOffset, Array("0".utf8)),
      ])
    try writer.flush(timeout: .seconds(10))
    let answer = try client.answer()
    #expect(answer.status == 202)
    #expect(
      answer.body.contains(
        #""fate":{"complete":true,"decisions":[{"userId":"bob","outcome":"suppress","reason":"no_device"}]}"#),
      "\(answer.body)")
    #expect(answer.body.contains(#""code":"unknown_conversation""#))
    // The same again: it is known, and has the decision of the first.
    let retry = try api.call(
      "POST", "/v1/events?wait=decision",
      headers: ["Content-Type: application/json", "Authorization: Bearer \(APIUnderTest.key)"],
      bytes: Array(APIUnderTest.message("e1", in: "lunch").utf8))
    #expect(
      retry.text.contains(
        #""fate":{"complete":true,"known":true,"decisions":[{"userId":"bob","outcome":"suppress","reason":"no_device"}]}"#
      ),
      "\(retry.text)")
    // Nobody decides: the time is up.
    let start = ContinuousClock.now
    let late = try api.call(
      "POST", "/v1/events?wait=decision",
      headers: ["Content-Type: application/json", "Authorization: Bearer \(APIUnderTest.key)"],
      bytes: Array(APIUnderTest.message("e3").utf8))
    #expect(late.status == 202 && late.text.contains(#""complete":false"#))
    #expect(start.duration(to: .now) < .seconds(6))
    let wrong = try api.call(
      "POST", "/v1/events?wait=forever",
      headers: ["Content-Type: application/json", "Authorization: Bearer \(APIUnderTest.key)"],
      bytes: Array(APIUnderTest.message("e4").utf8))
    #expect(wrong.status == 400)
  }
}
