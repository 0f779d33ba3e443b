import Foundation
import HTTPServer
import Kafka
import NudgeSchema
import TestSupport
import Testing

@testable import Ingest
@testable import ServiceKit

@Suite("HTTP API: POST /v1/events", .serialized)
struct EventsAPITests {
  typealias Item = APIUnderTest.Body.Item

  @Test("M8: one event is acknowledged with 202 once Kafka has it, under its key and as it came")
  func one() throws {
    let api = try APIUnderTest()
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    let event = APIUnderTest.message("e1", in: "lunch")
    let answer = try api.post("  \(event)\n", headers: ["traceparent: \(trace)"])
    #expect(answer.status == 202)
    #expect(answer.headers["content-type"] == "application/json")
    #expect(answer.body.accepted == 1 && answer.body.rejected == 0)
    #expect(answer.body.results == [Item(index: 0, eventId: "e1", status: "accepted")])
    let records = try api.records(.chatEvents, count: 1)
    #expect(records.map(\.value) == [event])
    #expect(records.map(\.key) == ["lunch"])
    #expect(records.map(\.traceparent) == [trace])
    #expect(records.map(\.producer) == ["chat"])
    #expect(records.map(\.partition) == [Murmur2.partition(of: Array("lunch".utf8), count: 4)])
    #expect(api.counter("nudge_http_requests_total", ["status": "202", "reason": "accepted"]) == 1)
    #expect(api.counter("nudge_http_events_total", ["result": "accepted"]) == 1)
  }

  @Test("M8: an array may mix chat and user events; some refused is 207 with each one's code")
  func mixed() throws {
    let api = try APIUnderTest()
    let now = APIUnderTest.now()
    let events = [
      APIUnderTest.message("e1"), APIUnderTest.read("e2"),
      #"{"schemaVersion":1,"type":"no.such","eventId":"e3","occurredAt":1}"#,
      #"{"schemaVersion":2,"type":"message.read","eventId":"e4"}"#, "17",
      APIUnderTest.message("e6", at: now - 8 * 86_400_000), APIUnderTest.message("e7", at: now + 600_000),
      APIUnderTest.read("e8", by: ""), #"{"type":"message.read","eventId":"\#(String(repeating: "x", count: 200))"}"#,
    ]
    let answer = try api.post("\u{FEFF}[ \(events.joined(separator: " ,\n")) ]")
    #expect(answer.status == 207)
    #expect(answer.body.accepted == 2 && answer.body.rejected == 7)
    #expect(
      answer.body.results == [
        Item(index: 0, eventId: "e1", status: "accepted"), Item(index: 1, eventId: "e2", status: "accepted"),
        Item(index: 2, eventId: "e3", status: "rejected", code: "unknown_type"),
        Item(index: 3, eventId: "e4", status: "rejected", code: "unsupported_version"),
        Item(index: 4, eventId: nil, status: "rejected", code: "schema_violation"),
        Item(index: 5, eventId: "e6", status: "rejected", code: "too_old"),
        Item(index: 6, eventId: "e7", status: "rejected", code: "from_the_future"),
        Item(index: 7, eventId: "e8", status: "rejected", code: "schema_violation"),
        Item(index: 8, eventId: nil, status: "rejected", code: "schema_violation"),
      ])
    #expect(try api.records(.chatEvents, count: 1).map(\.value) == [events[0]])
    #expect(try api.records(.userEvents, count: 1).map(\.value) == [events[1]])
  }

  @Test("M8: NDJSON is an event a line; a line that is no JSON is refused by itself")
  func lines() throws {
    let api = try APIUnderTest()
    let body =
      Array("\(APIUnderTest.message("e1"))\r\n\n{\"broken\n\(APIUnderTest.read("e2"))\n".utf8)
      + Array("{\"eventId\":\"".utf8) + [0xff] + Array("\"}".utf8)
    let answer = try api.post(body, type: "application/x-ndjson; charset=utf-8")
    #expect(answer.status == 207)
    #expect(
      answer.body.results == [
        Item(index: 0, eventId: "e1", status: "accepted"),
        Item(index: 1, eventId: nil, status: "rejected", code: "invalid_json"),
        Item(index: 2, eventId: "e2", status: "accepted"),
        Item(index: 3, eventId: nil, status: "rejected", code: "invalid_utf8"),
      ])
  }

  @Test(
    "a body without an event that is accepted is 400, with a code",
    arguments: [
      ("", "invalid_json"), ("{", "invalid_json"), ("[1,]", "invalid_json"), ("[]", "schema_violation"),
      ("\"text\"", "schema_violation"), ("{}", "schema_violation"), ("\u{0}", "invalid_json"),
      (String(repeating: "[", count: 10_000), "invalid_json"), (#"[{"type":"message.read"},nonsense]"#, "invalid_json"),
    ])
  func nothingAccepted(body: String, code: String) throws {
    let answer = try Self.shared.value().post(body)
    #expect(answer.status == 400)
    #expect(answer.body.code == code && answer.body.message?.isEmpty == false)
    #expect(answer.body.accepted == 0 && answer.body.rejected == 1)
    #expect(answer.body.results?.map(\.code) == [code])
  }

  @Test("wrong paths, methods and types, and too much, each have their status, with code and message")
  func refusals() throws {
    let api = try Self.shared.value()
    let authorization = "Authorization: Bearer \(APIUnderTest.key)"
    func status(_ answer: APIUnderTest.Answer, _ status: Int, _ code: String) {
      #expect(answer.status == status)
      #expect(answer.body.code == code && answer.body.message?.isEmpty == false, "\(answer.text)")
    }
    status(try api.call("POST", "/v1/event", headers: [authorization]), 404, "not_found")
    let wrongMethod = try api.call("GET", "/v1/events", headers: [authorization])
    status(wrongMethod, 405, "method_not_allowed")
    #expect(wrongMethod.headers["allow"] == "POST")
    status(try api.post(Array("{}".utf8), type: "text/plain"), 415, "unsupported_media_type")
    status(try api.post(Array("{}".utf8), type: nil), 415, "unsupported_media_type")
    status(try api.post("{}", headers: ["Content-Encoding: br"]), 415, "unsupported_media_type")
    status(try api.post(String(repeating: " ", count: (1 << 20) + 1)), 413, "too_large")
    let event = #"{"type":"x"}"#
    let tooMany = Array(repeating: event, count: 1_001)
    status(try api.post("[\(tooMany.joined(separator: ","))]"), 413, "too_large")
    status(try api.post(tooMany.joined(separator: "\n"), type: "application/x-ndjson"), 413, "too_large")
    #expect(try api.post("[\(tooMany.dropLast().joined(separator: ","))]").status == 400)
  }

  @Test("M5: an event with cosmetic fields that do not fit is accepted, and its result names them")
  func cosmetic() throws {
    let api = try APIUnderTest()
    let answer = try api.post(
      #"[{"schemaVersion":1,"type":"device.registered","eventId":"e1","occurredAt":\#(APIUnderTest.now()),"userId":"ann","#
        + #""deviceId":"d","token":"t","platform":"web","locale":"C","appVersion":7},\#(APIUnderTest.read("e2"))]"#)
    #expect(answer.status == 202)
    #expect(
      answer.body.results == [
        Item(index: 0, eventId: "e1", status: "accepted", ignored: "appVersion, locale"),
        Item(index: 1, eventId: "e2", status: "accepted"),
      ])
  }

  @Test("an event as large as the body may be is accepted")
  func large() throws {
    let api = try Self.shared.value()
    let event = APIUnderTest.message("large", text: String(repeating: "x", count: 65_536))
    // 15 of them stay below 1 MiB, and one record with unknown fields fills it.
    #expect(try api.post("[\(Array(repeating: event, count: 15).joined(separator: ","))]").status == 202)
    let padding = String(repeating: "y", count: (1 << 20) - event.utf8.count - 7)
    let padded = event.dropLast() + #","p":"\#(padding)"}"#
    #expect(padded.utf8.count == 1 << 20)
    #expect(try api.post(String(padded)).status == 202)
  }

  @Test("gzip is inflated, within the body's limit; broken gzip is 400")
  func gzip() throws {
    let api = try Self.shared.value()
    let headers = ["Content-Encoding: gzip"]
    #expect(try api.post(Zipped.of(APIUnderTest.message("zipped")), headers: headers).status == 202)
    let bomb = try Zipped.of(String(repeating: " ", count: 64 << 20))
    #expect(bomb.count < 1 << 20)
    let answer = try api.post(bomb, headers: headers)
    #expect(answer.status == 413 && answer.body.code == "too_large")
    #expect(try api.post("{}", headers: headers).body.code == "invalid_encoding")
    #expect(try api.post(Array(Zipped.of("{}").dropLast(5)), headers: headers).status == 400)
  }

  @Test("Expect: 100-continue is answered before the body, with what is wrong or with 100")
  func expect() throws {
    let api = try Self.shared.value()
    func begin(_ length: Int, _ token: String) throws -> SocketClient {
      let client = try SocketClient(port: api.api.port)
      try client.send(
        "POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer \(token)\r\n"
          + "Content-Length: \(length)\r\nExpect: 100-continue\r\n\r\n")
      return client
    }
    #expect(try begin(100, "wrong").answer().status == 401)
    #expect(try begin(2 << 20, APIUnderTest.key).answer().status == 413)
    let event = APIUnderTest.message("continued")
    let client = try begin(event.utf8.count, APIUnderTest.key)
    #expect(try client.answer(hasBody: false).status == 100)
    try client.send(event)
    #expect(try client.answer().status == 202)
  }

  // MARK: Who

  @Test("without credentials, or with wrong ones, it is 401 before anything else is said")
  func unauthorized() throws {
    let api = try Self.shared.value()
    for token in [nil, "", "wrong", String(APIUnderTest.key.dropLast()), APIUnderTest.key + "x", "a.b.c"] {
      let answer = try api.post("{", token: token)
      #expect(answer.status == 401)
      #expect(answer.body.code == "unauthorized")
      #expect(answer.headers["www-authenticate"] == "Bearer")
    }
    #expect(try api.call("POST", "/v1/events", headers: ["Authorization: Basic \(APIUnderTest.key)"]).status == 401)
    #expect(try api.post("{", headers: ["X: y"]).status == 400)
    let lowercase = ["Authorization: bearer   \(APIUnderTest.key)", "Content-Type: application/json"]
    #expect(try api.call("POST", "/v1/events", headers: lowercase, bytes: Array("{".utf8)).status == 400)
    let log = api.capture.entries.map { "\($0)" }.joined()
    #expect(!log.contains(APIUnderTest.key) && !log.contains("a.b.c"))
  }

  @Test("M10: a token lets its user send their own user events and messages, nothing else")
  func users() throws {
    let api = try APIUnderTest()
    for token in [
      try APIUnderTest.token(), try APIUnderTest.token(pem: TokenVectors.rsaPrivate, kid: "rsa-1"),
      try APIUnderTest.token(kid: nil), try APIUnderTest.token(expiresIn: -30), try APIUnderTest.token(notBeforeIn: 30),
    ] {
      #expect(try api.post(APIUnderTest.read("own"), token: token).status == 202)
    }
    let token = try APIUnderTest.token()
    #expect(try api.post(APIUnderTest.message("own"), token: token).status == 202)
    let others = [
      APIUnderTest.read("x", by: "bob"), APIUnderTest.message("x", from: "bob"), APIUnderTest.read("x", by: "Ann"),
      #"{"schemaVersion":1,"type":"conversation.updated","eventId":"x","occurredAt":\#(APIUnderTest.now()),"#
        + #""conversationId":"c","kind":"group","members":[{"userId":"ann","displayName":"Ann"}]}"#,
      "\(APIUnderTest.message("x").dropLast()),\(#""conversation":{"kind":"direct","members":[]}}"#)",
      "\(APIUnderTest.message("x").dropLast()),\(#""sender":{"displayName":"Bob"}}"#)",
      #"{"schemaVersion":1,"type":"message.deleted","eventId":"x","occurredAt":\#(APIUnderTest.now()),"#
        + #""conversationId":"c","messageId":"m"}"#,
      #"{"schemaVersion":1,"type":"conversation.member_added","eventId":"x","occurredAt":\#(APIUnderTest.now()),"#
        + #""conversationId":"c","userId":"ann"}"#,
      // Erasure is a backend's, or an operator's.
      #"{"schemaVersion":1,"type":"user.deleted","eventId":"x","occurredAt":\#(APIUnderTest.now()),"userId":"ann"}"#,
      #"{"schemaVersion":1,"type":"conversation.deleted","eventId":"x","occurredAt":\#(APIUnderTest.now()),"#
        + #""conversationId":"c"}"#,
    ]
    for other in others {
      let answer = try api.post(other, token: token)
      #expect(answer.status == 403, "\(other)")
      #expect(answer.body.code == "forbidden")
      #expect(answer.body.results == [Item(index: 0, eventId: "x", status: "rejected", code: "forbidden")])
      let mixed = try api.post("[\(other),\(APIUnderTest.read("mine"))]", token: token)
      #expect(mixed.status == 207)
      #expect(mixed.body.results?.map(\.code) == ["forbidden", nil])
    }
    #expect(try api.post("{}", token: token).status == 400)
    #expect(try api.records(.chatEvents, count: 1).map(\.value).filter { !$0.contains(#""eventId":"own""#) } == [])
  }

  @Test("events carry the name of their API key, and are counted by it; a user's events carry none, and count together")
  func producers() throws {
    let api = try APIUnderTest()
    #expect(try api.post("[\(APIUnderTest.read("a")),{}]").status == 207)
    #expect(try api.post(APIUnderTest.read("b"), token: APIUnderTest.token()).status == 202)
    let records = try api.records(.userEvents, count: 2)
    #expect(records.map { $0.producer ?? "none" }.sorted() == ["chat", "none"])
    let counted = { api.counter("nudge_http_producer_events_total", ["producer": $0, "result": $1]) }
    #expect(counted("chat", "published") == 1 && counted("chat", "schema_violation") == 1)
    #expect(counted("users", "published") == 1)
  }

  @Test("M10: a token is refused that is expired, not yet valid, for another, by another, or signed otherwise")
  func tokens() throws {
    let api = try Self.shared.value()
    let header = #"{"alg":"none","typ":"JWT"}"#
    let claims = #"{"iss":"\#(APIUnderTest.issuer)","sub":"ann","aud":"nudge","exp":4000000000}"#
    let unsigned = "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(claims.utf8)))."
    let refused = [
      unsigned, try HMACToken.signed(claims, secret: TokenVectors.rsaPublic),
      try HMACToken.signed(claims, secret: TokenVectors.keySet),
      try APIUnderTest.token(expiresIn: -120), try APIUnderTest.token(expiresIn: nil),
      try APIUnderTest.token(notBeforeIn: 120), try APIUnderTest.token(audience: "somebody"),
      try APIUnderTest.token(issuer: "https://evil.example"), try APIUnderTest.token(issuer: nil),
      try APIUnderTest.token(user: nil), try APIUnderTest.token(user: ""), try APIUnderTest.token(kid: "rsa-1"),
      try APIUnderTest.token() + "x", try APIUnderTest.token(kid: "unknown"),
    ]
    for (index, token) in refused.enumerated() {
      let answer = try api.post(APIUnderTest.read("e"), token: token)
      #expect(answer.status == 401, "token \(index)")
    }
  }

  // MARK: How much

  @Test("over a caller's rate it is 429 with the seconds to wait; others are not held up")
  func rate() throws {
    let api = try APIUnderTest(["--http-rate", "2"])
    let full = (0..<RequestBody.maxEvents).map { APIUnderTest.read("a\($0)") }.joined(separator: ",")
    #expect(try api.post("[\(full)]").status == 202)
    // Their places are free ten seconds later.
    let twenty = (0..<20).map { APIUnderTest.read("d\($0)") }.joined(separator: ",")
    let answer = try api.post("[\(twenty)]")
    #expect(answer.status == 429)
    #expect(answer.body.code == "rate_limited")
    #expect(answer.headers["retry-after"].flatMap { Int($0) }.map { (1...10).contains($0) } == true)
    #expect(try api.post(APIUnderTest.read("d"), token: APIUnderTest.token()).status == 202)
    wait(for: "the caller to be let in again") {
      (try? api.post(APIUnderTest.read("d")).status) == 202
    }
    #expect(api.counter("nudge_http_requests_total", ["status": "429", "reason": "rate_limited"]) >= 1)
  }

  @Test("M10: users have a rate of their own: a burst of ten times as many, then 429; backends are not held up")
  func userRate() throws {
    let api = try APIUnderTest(["--http-user-rate", "2"])
    let token = try APIUnderTest.token()
    let reads = { (count: Int) in "[\((0..<count).map { APIUnderTest.read("r\($0)") }.joined(separator: ","))]" }
    #expect(try api.post(reads(20), token: token).status == 202)
    let answer = try api.post(reads(1), token: token)
    #expect(answer.status == 429 && answer.body.code == "rate_limited")
    #expect(answer.body.message?.contains("--http-user-rate") == true)
    #expect(try api.post(reads(1), token: APIUnderTest.token(user: "bob")).status == 403)
    for _ in 0..<5 { #expect(try api.post(reads(30)).status == 202) }
    wait(for: "the user to be let in again") { (try? api.post(reads(1), token: token).status) == 202 }
  }

  @Test(
    "M10: a phone's clock that runs ahead refuses nothing: its times are those of the arrival; a backend's is held to 5 minutes"
  )
  func fastPhone() throws {
    let api = try APIUnderTest()
    let token = try APIUnderTest.token()
    let began = APIUnderTest.now()
    let device =
      #"{"schemaVersion":1,"type":"device.registered","eventId":"d","occurredAt":"2031-01-01T00:00:00Z","userId":"ann","#
      + #""deviceId":"phone","token":"secret","platform":"ios"}"#
    let ahead: [Int64] = [8_000, 60_000, 600_000, 90 * 86_400_000]
    let events = ahead.map { APIUnderTest.message("far-\($0)", at: began + $0) } + [device]
    #expect(try api.post("[\(events.joined(separator: ","))]", token: token).status == 202)
    #expect(try api.post(APIUnderTest.message("past", at: began - 5_000), token: token).status == 202)
    let end = APIUnderTest.now()
    let written = try api.records(.chatEvents, count: 5) + api.records(.userEvents, count: 1)
    struct Timed: Decodable { let eventId: String, occurredAt: Int64 }
    let times = try written.map { try JSONDecoder().decode(Timed.self, from: Data($0.value.utf8)) }
    #expect(times.count == 6)
    for time in times {
      #expect(time.eventId == "past" ? time.occurredAt == began - 5_000 : (began...end).contains(time.occurredAt))
    }
    #expect(written.allSatisfy { $0.caller == "user" })
    #expect(try api.post(APIUnderTest.message("far", at: began + 60_000)).status == 202)
    #expect(try api.post(APIUnderTest.message("far", at: began + 600_000)).body.code == "from_the_future")
  }

  @Test(
    "M10: of a user's event only known fields are published, and every field that is known; a backend's goes as it came"
  )
  func knownFields() throws {
    let api = try APIUnderTest(["--http-user-rate", "1000", "--http-user-bytes", "10000"])
    let coder = RecordCoder()
    var sent: [String: UserEvent] = [:]
    for file in Repository.files(in: Repository.file("Schemas/user.events/examples"), withExtension: "json") {
      var event = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
      guard let user = event["userId"] as? String, event["type"] as? String != "user.deleted" else { continue }
      event["occurredAt"] = APIUnderTest.now() - 1_000
      event["eventId"] = "e-\(sent.count)"
      event["junk"] = String(repeating: "x", count: 20_000)
      if var preferences = event["preferences"] as? [String: Any] {
        preferences["junk"] = [1, 2, 3]
        event["preferences"] = preferences
      }
      let bytes = [UInt8](try JSONSerialization.data(withJSONObject: event))
      guard let decoded = try? coder.decode(UserEvent.self, from: bytes), (try? decoded.validate()) != nil else {
        continue
      }
      sent["e-\(sent.count)"] = decoded
      #expect(try api.post(bytes, token: APIUnderTest.token(user: user)).status == 202)
    }
    #expect(sent.count > 9)
    let records = try api.records(.userEvents, count: sent.count)
    #expect(
      records.count == sent.count && records.allSatisfy { !$0.value.contains("junk") && $0.value.utf8.count < 4_000 })
    for record in records {
      let event = try coder.decode(UserEvent.self, from: Array(record.value.utf8))
      #expect(event == sent[event.envelope.eventId])
    }
    let message = APIUnderTest.message("m").dropLast() + #","junk":"x","mentions":["ben"],"replyTo":"m-0"}"#
    #expect(try api.post(String(message), token: APIUnderTest.token()).status == 202)
    let posted = try #require(try api.records(.chatEvents, count: 1).first)
    #expect(!posted.value.contains("junk") && posted.value.contains("ben") && posted.value.contains("m-0"))
  }

  @Test(
    "M10: a user's junk is refused by its size: 64 KiB an event, 256 KiB at once, and a batch of more events than the burst"
  )
  func junk() throws {
    let api = try APIUnderTest()
    let token = try APIUnderTest.token()
    func event(_ id: String, _ bytes: Int) -> String {
      APIUnderTest.message(id).dropLast() + #","junk":"\#(String(repeating: "x", count: bytes))"}"#
    }
    let huge = try (0..<6).map { try api.post(event("huge\($0)", 960_000), token: token) }
    #expect(huge.allSatisfy { $0.status == 429 && $0.body.code == "rate_limited" })
    #expect(
      huge[0].body.message?.contains("--http-user-bytes") == true && huge[0].body.message?.contains("262144") == true)
    let large = try api.post("[\(event("large", 70_000)),\(APIUnderTest.read("small"))]", token: token)
    #expect(large.status == 207 && large.body.results?.map(\.code) == ["too_large", nil])
    let many = (0..<1_000).map { #"{"type":"message.read","eventId":"\#($0)"}"# }.joined(separator: ",")
    let batch = try api.post("[\(many)]", token: APIUnderTest.token(user: "ben"))
    #expect(batch.status == 429 && batch.body.message?.contains("send at most 50 at once") == true)
    #expect(batch.headers["retry-after"] != nil)
    // Zipped junk is counted by what it inflates to.
    let zipped = try api.post(
      Zipped.of(event("zip", 900_000)), token: APIUnderTest.token(user: "cid"),
      headers: ["Content-Encoding: gzip"])
    #expect(zipped.status == 429)
    #expect(try api.records(.chatEvents, count: 0).isEmpty)
    // Over and over, what the door takes stays within the rate.
    let sent = try (0..<40).map {
      try api.post(event("more\($0)", 50_000), token: APIUnderTest.token(user: "dan")).status
    }
    #expect(sent.count { $0 == 202 || $0 == 403 } <= 7 && sent.last == 429)
    #expect(try api.post(event("backend", 900_000)).status == 202)
  }

  @Test("while Kafka is away it is 503 in time, what waits is bounded with 429, and once it is back all is well")
  func brokerAway() throws {
    var limits = EventProducer.Limits()
    limits.acknowledgement = .seconds(6)
    limits.pendingEvents = 2
    // One handler takes requests in their order, so the batch has its places before the others ask.
    let api = try APIUnderTest(
      limits: limits, server: HTTPServerLimits(bodySize: 1 << 20, connections: 512, handlerThreads: 1))
    #expect(try api.post(APIUnderTest.read("before")).status == 202)
    try api.broker.brokerDown()
    let began = ContinuousClock.now
    let client = try SocketClient(port: api.api.port)
    let events = "[\(APIUnderTest.read("lost1")),{},\(APIUnderTest.read("lost2"))]"
    try client.send(
      "POST /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(APIUnderTest.key)\r\n"
        + "Content-Type: application/json\r\nContent-Length: \(events.utf8.count)\r\n\r\n\(events)")
    wait(for: "the bound", atMost: 6) {
      guard let full = try? api.post(APIUnderTest.read("more")), full.status == 429 else { return false }
      return full.body.code == "too_many_requests" && full.headers["retry-after"] == "1"
    }
    let answer = try client.answer()
    let elapsed = began.duration(to: .now)
    #expect(answer.status == 503)
    #expect(answer.headers["retry-after"].flatMap { Int($0) } != nil)
    let body = try JSONDecoder().decode(APIUnderTest.Body.self, from: Data(answer.body.utf8))
    #expect(body.code == "unavailable" && body.accepted == 0 && body.rejected == 1)
    #expect(body.results?.map(\.status) == ["unknown", "rejected", "unknown"])
    #expect(elapsed < .seconds(15))
    try api.broker.brokerUp()
    wait(for: "Kafka to be found again", atMost: 30) { (try? api.post(APIUnderTest.read("after")).status) == 202 }
  }

  @Test("clients that are silent, slow, or never finish are cut off, and cost the others nothing")
  func slow() throws {
    let api = try APIUnderTest(
      server: HTTPServerLimits(
        bodySize: 1 << 20, connections: 512, idleTimeout: .seconds(2), transferTime: .seconds(1), handlerThreads: 1))
    let head =
      "POST /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(APIUnderTest.key)\r\n"
      + "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
    let beginnings = ["", "POST /v1", head, head + "["]
    let clients = try (0..<300).map { number in
      let client = try SocketClient(port: api.api.port)
      try client.send(beginnings[number % beginnings.count])
      return client
    }
    for number in 0..<20 {
      let began = ContinuousClock.now
      #expect(try api.post(APIUnderTest.read("e\(number)")).status == 202)
      #expect(began.duration(to: .now) < .seconds(1))
    }
    // One client sends byte by byte, which no idle timeout would end.
    let trickle = try SocketClient(port: api.api.port)
    try trickle.send(head)
    wait(for: "the slow client to be cut off") { (try? trickle.send(" ")) == nil }
    for client in clients { #expect(try client.isClosedByPeer()) }
  }

  // MARK: Keys that change

  @Test("files of keys are read again when they change; half a file changes nothing")
  func reload() throws {
    let api = try APIUnderTest()
    let file = URL(fileURLWithPath: api.directory.path + "/keys")
    let other = "another-key-with-more-than-32-characters"
    try Data("chat \(APIUnderTest.key)\nnew \(other)\n".utf8).write(to: file)
    wait(for: "the new key") { (try? api.post("{", token: other).status) == 400 }
    #expect(try api.post("{").status == 400)
    try Data("new \(other)\nchat short".utf8).write(to: file)
    api.api.reload()
    #expect(try api.post("{").status == 400)
    #expect(api.capture.entries.contains { $0.level == .error && $0.message.contains("stay in force") })
    try Data("new \(other)\n".utf8).write(to: file)
    api.api.reload()
    #expect(try api.post("{").status == 401)
    #expect(try api.post("{", token: other).status == 400)
    #expect(try api.post(APIUnderTest.read("e"), token: APIUnderTest.token()).status == 202)
    try Data(TokenVectors.rsaPublic.utf8).write(to: URL(fileURLWithPath: api.directory.path + "/jwks"))
    wait(for: "the new token keys") {
      (try? api.post(APIUnderTest.read("e"), token: APIUnderTest.token()).status) == 401
    }
  }

  // MARK: Documents

  @Test("schemas and the description are there without credentials")
  func documents() throws {
    let api = try Self.shared.value()
    struct List: Decodable {
      struct Entry: Decodable { let type: String, topic: String, url: String }
      let schemas: [Entry]
    }
    let list = try JSONDecoder().decode(List.self, from: Data(api.call("GET", "/v1/schemas").text.utf8))
    #expect(list.schemas.map(\.type) == (ChatEventBody.types + UserEventBody.types).map(\.rawValue))
    for entry in list.schemas {
      let schema = try api.call("GET", entry.url)
      #expect(schema.status == 200)
      #expect(schema.text == EventSchemas.schema(of: entry.type))
    }
    #expect(try api.call("GET", "/v1/schemas/no.such").status == 404)
    #expect(try api.call("POST", "/v1/schemas").status == 405)
    let description = try api.call("GET", "/v1/openapi.json")
    #expect(description.status == 200)
    #expect(description.headers["content-type"] == "application/json")
    #expect(try JSONSerialization.jsonObject(with: Data(description.text.utf8)) is [String: Any])
  }

  /// For tests that leave nothing behind: one for all of them, because each costs a broker.
  private static let shared = SharedAPI()
}

/// An API that is made when it is first asked for.
private final class SharedAPI: @unchecked Sendable {
  /// Safe to share: the suite is serialized, so one test at a time uses it.
  private var api: APIUnderTest?

  func value() throws -> APIUnderTest {
    if let api { return api }
    let made = try APIUnderTest()
    api = made
    return made
  }
}
