import Foundation
import Kafka
import NudgeSchema
import TestSupport
import Testing

@testable import HTTPServer
@testable import Ingest
@testable import ServiceKit

@Suite("HTTP API: GET /v1/live", .serialized)
struct LiveAPITests {
  private func ready(_ arguments: [String] = [], live: LiveStreams.Limits? = nil) throws -> APIUnderTest {
    let api = try APIUnderTest(arguments, live: live, topics: [.chatEvents, .userEvents, .banners])
    let token = try APIUnderTest.token()
    try wait(for: "streams are served", atMost: 20) {
      try api.call("HEAD", "/v1/live", headers: ["Authorization: Bearer \(token)"]).status == 200
        && api.call("GET", "/v1/live?deviceId=%01", headers: ["Authorization: Bearer \(token)"]).status == 400
        && probe(api, token)
    }
    return api
  }

  /// Whether a stream can be opened.
  private func probe(_ api: APIUnderTest, _ token: String) throws -> Bool {
    let client = try LiveClient(api, token: token)
    try client.read { !$0.lastId.isEmpty || !client.head.isEmpty && !client.head.contains(" 200 ") }
    return client.head.contains(" 200 ")
  }

  private func banner(_ api: APIUnderTest, _ number: Int, for user: String, padding: Int = 0) throws {
    try record(
      api, for: user,
      #"{"type":"banner","userId":"\#(user)","n":\#(number),"p":"\#(String(repeating: "x", count: padding))"}"#)
  }

  private func record(_ api: APIUnderTest, for user: String, _ value: String) throws {
    let writer = try Producer(
      .producer(bootstrapServers: api.broker.bootstrapServers, transactionalID: nil), name: "analyzer")
    defer { writer.close() }
    let key = Array(user.utf8)
    try writer.produce(
      topic: try writer.topic(Topic.banners.rawValue), partition: Murmur2.partition(of: key, count: 4), key: key,
      value: Array(value.utf8), headers: [])
    try writer.flush(timeout: .seconds(10))
  }

  @Test("a user gets their banners as they come, goes on where they were, and never gets another's")
  func banners() throws {
    let api = try ready()
    let ann = try LiveClient(api, token: APIUnderTest.token(user: "ann"))
    let bob = try LiveClient(api, token: APIUnderTest.token(user: "bob"), query: "?userId=ann&deviceId=x")
    try ann.read { !$0.lastId.isEmpty }
    try bob.read { !$0.lastId.isEmpty }
    #expect(
      ann.head.contains("Content-Type: text/event-stream") && ann.head.contains("X-Accel-Buffering: no")
        && ann.head.contains("Cache-Control: no-store"))
    try banner(api, 1, for: "ann")
    try banner(api, 2, for: "bob")
    try ann.read { $0.events.count == 1 }
    try bob.read { $0.events.count == 1 }
    #expect(ann.sent.events[0].name == "banner" && ann.sent.events[0].data.contains(#""n":1,"#))
    #expect(bob.sent.events[0].data.contains(#""userId":"bob","n":2,"#))
    // What came while nobody was there.
    try banner(api, 3, for: "ann")
    try banner(api, 4, for: "ann")
    let back = try LiveClient(api, token: APIUnderTest.token(user: "ann"), after: ann.sent.lastId)
    try back.read { $0.events.count == 2 }
    #expect(back.sent.events.map { $0.data.contains(#""n":3,"#) } == [true, false])
    let place = try #require(ann.sent.lastId.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
    let asked = try LiveClient(api, token: APIUnderTest.token(user: "ann"), query: "?lastEventId=\(place)")
    try asked.read { $0.events.count == 2 }
    #expect(asked.sent.events == back.sent.events)
    #expect(api.metrics.exposition().contains("nudge_live_streams"))
    #expect(api.capture.entries.allSatisfy { !"\($0)".contains("Bearer") && !"\($0)".contains("eyJ") })
  }

  @Test(
    "D22: a stream that answers banners is reported as its device's, another is not; what answers nothing is refused")
  func answering() throws {
    let api = try ready()
    let token = try APIUnderTest.token(user: "ann")
    for query in ["answers=true", "answers=yes&deviceId=phone", "answers=&deviceId=phone"] {
      let answer = try api.call("GET", "/v1/live?" + query, headers: ["Authorization: Bearer \(token)"])
      #expect(answer.status == 400 && answer.body.code == "bad_request", "\(query)")
    }
    let silent = try LiveClient(api, token: token, query: "?deviceId=laptop&answers=false")
    try silent.read { !$0.lastId.isEmpty }
    let phone = try LiveClient(api, token: token, query: "?deviceId=phone&answers=true")
    try phone.read { !$0.lastId.isEmpty }
    let report = try #require(try api.records(.userEvents, count: 1).first)
    #expect(report.key == "ann" && report.caller == nil)
    let event = try JSONDecoder().decode(UserEvent.self, from: Data(report.value.utf8))
    try event.validate()
    guard case .activity(let activity) = event.body else {
      Issue.record("\(report.value)")
      return
    }
    #expect((activity.userId, activity.deviceId) == ("ann", "phone"))
    #expect(activity.live == true && activity.state == .idle && activity.tabId != nil)
    #expect(try api.records(.userEvents, count: 1).count == 1)
  }

  @Test("what is no longer in memory is read from the topic")
  func backfill() throws {
    var limits = LiveStreams.Limits()
    limits.ring = 4_000
    let api = try ready(live: limits)
    let ann = try LiveClient(api, token: APIUnderTest.token(user: "ann"))
    try ann.read { !$0.lastId.isEmpty }
    let start = ann.sent.lastId
    for number in 0..<20 { try banner(api, number, for: "ann", padding: 900) }
    try ann.read { $0.events.count == 20 }
    let back = try LiveClient(api, token: APIUnderTest.token(user: "ann"), after: start)
    try back.read { $0.events.count >= 20 }
    #expect(back.sent.events == ann.sent.events)
  }

  @Test("a token is needed, of a user: not in the query, none that has expired, no backend's key")
  func refusals() throws {
    let api = try ready()
    let token = try APIUnderTest.token(user: "ann")
    for query in ["?token=\(token)", "?access_token=\(token)", "?deviceId=d&authorization=Bearer%20\(token)"] {
      let answer = try api.call("GET", "/v1/live" + query)
      #expect(answer.status == 401 && answer.headers["www-authenticate"] == "Bearer")
    }
    func status(_ headers: [String], _ query: String = "") throws -> Int {
      try api.call("GET", "/v1/live" + query, headers: headers).status
    }
    #expect(try status(["Authorization: Bearer \(APIUnderTest.key)"], "?userId=") == 400)
    #expect(try status(["Authorization: Bearer \(APIUnderTest.key)x"]) == 401)
    #expect(try status(["Authorization: Bearer \(APIUnderTest.token(expiresIn: -600))"]) == 401)
    #expect(try status(["Authorization: Bearer \(APIUnderTest.token(audience: "another"))"]) == 401)
    #expect(try status(["Authorization: Bearer \(APIUnderTest.token(user: ""))"]) == 401)
    #expect(try status(["Cookie: token=\(token)"]) == 401)
    #expect(try status(["Authorization: Bearer \(token)"], "?deviceId=") == 400)
    #expect(try status(["Authorization: Bearer \(token)"], "?deviceId=" + String(repeating: "x", count: 4_000)) == 400)
    #expect(try api.call("POST", "/v1/live", headers: ["Authorization: Bearer \(token)"], bytes: []).status == 405)
  }

  @Test("a token that expires, and keys that are taken away, end the stream after an event")
  func expiry() throws {
    let api = try ready()
    let short = try LiveClient(api, token: APIUnderTest.token(user: "ann", expiresIn: 2))
    try short.readToEnd()
    #expect(short.sent.events == [.init(name: "end", data: #"{"reason":"expired"}"#, id: short.sent.lastId)])
    let revoked = try LiveClient(api, token: APIUnderTest.token(user: "ann"))
    try revoked.read { !$0.lastId.isEmpty }
    try Data(TokenVectors.rsaPublic.utf8).write(to: URL(fileURLWithPath: api.directory.path + "/jwks"))
    try revoked.readToEnd()
    #expect(revoked.sent.events.map(\.name) == ["end"])
    let again = try api.call("GET", "/v1/live", headers: ["Authorization: Bearer \(APIUnderTest.token(user: "ann"))"])
    #expect(again.status == 401)
  }

  @Test("a user has so many streams, others are served meanwhile, and streams of clients that left make room")
  func limits() throws {
    let api = try ready(["--live-user-streams", "3"])
    let token = try APIUnderTest.token(user: "flood")
    var clients: [LiveClient] = []
    for _ in 0..<3 {
      let client = try LiveClient(api, token: token)
      try client.read { !$0.lastId.isEmpty }
      clients.append(client)
    }
    let refused = try api.call("GET", "/v1/live", headers: ["Authorization: Bearer \(token)"])
    #expect(refused.status == 429 && refused.body.code == "too_many_streams" && refused.headers["retry-after"] != nil)
    #expect(try probe(api, APIUnderTest.token(user: "other")))
    clients = []
    // Each try writes to those that are counted, and so finds them gone.
    try wait(for: "there is room", atMost: 20) { try probe(api, token) }
  }

  /// A browser on a page of the API's origin, and live.js as a script of it.
  private func page(_ api: APIUnderTest) throws -> (browser: HeadlessBrowser, module: String) {
    let browser = try HeadlessBrowser(width: 400, height: 300)
    try browser.open("http://127.0.0.1:\(api.api.port)/v1/openapi.json")
    let module = try String(contentsOf: Repository.file("Schemas/app/web/live.js"), encoding: .utf8)
    return (browser, module.replacing("export async", with: "async"))
  }

  @Test(
    "the web's side (Schemas/app/web/live.js) gets what comes, and after a break what came meanwhile",
    .enabled(if: HeadlessBrowser.missing == nil, "\(HeadlessBrowser.missing ?? "")"))
  func web() throws {
    let api = try ready()
    let (browser, module) = try page(api)
    _ = try browser.evaluate(
      """
      \(module)
      window.events = []; window.states = []; window.tokens = 0;
      window.begin = () => {
        window.end = new AbortController();
        live("/v1/live?deviceId=web%201", {
          token: async () => window.tokens++ ? "\(APIUnderTest.token(user: "ann"))"
            : "\(APIUnderTest.token(user: "ann", expiresIn: 4))",
          take: (name, data) => window.events.push([name, data.n ?? data.reason]), changed: (is) => window.states.push(is),
          signal: window.end.signal,
        });
      };
      window.begin();
      1
      """)
    try browser.wait(until: "window.states.includes(true)")
    wait(for: "the stream is counted") { api.metrics.exposition().contains("nudge_live_streams 1") }
    func expect(banners count: Int) throws {
      try browser.wait(until: "window.events.filter((it) => it[0] === 'banner').length === \(count)")
    }
    try banner(api, 1, for: "ann")
    try expect(banners: 1)
    // The token expires, and something comes before there is another stream.
    try browser.wait(until: "window.events.some((it) => it[0] === 'end')")
    for number in 2...4 { try banner(api, number, for: "ann") }
    try expect(banners: 4)
    let text = try browser.evaluate("JSON.stringify(window.events.filter((it) => it[0] === 'banner'))") as? String
    #expect(text == #"[["banner",1],["banner",2],["banner",3],["banner",4]]"#)
    #expect(try browser.evaluate("window.tokens") as? Int == 2)
    _ = try browser.evaluate("window.end.abort(), 1")
    try browser.wait(until: "window.states.at(-1) === false")
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
  }

  @Test(
    "D22: the web's side answers the banners that the page has shown, where the stream says so",
    .enabled(if: HeadlessBrowser.missing == nil, "\(HeadlessBrowser.missing ?? "")"))
  func webAnswers() throws {
    let api = try ready()
    let (browser, module) = try page(api)
    _ = try browser.evaluate(
      """
      \(module)
      window.taken = []; window.states = []; window.end = new AbortController();
      for (const query of ["deviceId=quiet", "answers=true&deviceId=web%201"]) {
        live("/v1/live?" + query, {
          token: async () => "\(APIUnderTest.token(user: "ann"))", changed: (is) => window.states.push(is), signal: window.end.signal,
          take: async (name, data) => { window.taken.push(data.messageId); return data.messageId !== "hidden"; },
        });
      }
      1
      """)
    try browser.wait(until: "window.states.filter((it) => it).length === 2")
    wait(for: "the streams are counted") { api.metrics.exposition().contains("nudge_live_streams 2") }
    for (id, push) in [("hidden", #","pushId":"p0""#), ("none", ""), ("shown", #","pushId":"p1""#)] {
      try record(
        api, for: "ann",
        #"{"type":"banner","userId":"ann","conversationId":"c1","messageId":"\#(id)"\#(push)}"#)
    }
    try browser.wait(until: "window.taken.length === 6")
    // The report of the stream, and one answer.
    var written: [UserEvent] = []
    try wait(for: "the answer", atMost: 20) {
      written = try api.records(.userEvents, count: 2).map {
        try JSONDecoder().decode(UserEvent.self, from: Data($0.value.utf8))
      }
      return written.count >= 2
    }
    let answers = written.compactMap { event -> NotificationReport? in
      if case .notificationReceived(let report) = event.body { report } else { nil }
    }
    #expect(
      answers == [
        NotificationReport(
          userId: "ann", deviceId: "web 1", pushId: "p1", conversationId: "c1", messageId: "shown", banner: true)
      ])
    _ = try browser.evaluate("window.end.abort(), 1")
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
  }

  @Test("a stop ends all streams with an event, within the time of a stop")
  func stop() throws {
    let api = try ready()
    let clients = try (0..<20).map { try LiveClient(api, token: APIUnderTest.token(user: "user-\($0)")) }
    for client in clients { try client.read { !$0.lastId.isEmpty } }
    let begin = ContinuousClock.now
    api.api.stop()
    #expect(ContinuousClock.now - begin < .seconds(8))
    for client in clients {
      try client.readToEnd()
      #expect(client.sent.events.map(\.data) == [#"{"reason":"stopping"}"#] && client.sent.retry ?? 0 >= 500)
    }
  }
}
