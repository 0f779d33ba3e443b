import Foundation
import Kafka
import NudgeSchema
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer
@testable import Ingest
@testable import ServiceKit

@Suite("HTTP API: what is known of a person", .serialized)
struct PersonAPITests {
  /// An API with the stages behind it.
  private final class World {
    let api: APIUnderTest
    let pipeline: AnsweringPipeline

    init(_ arguments: [String] = ["--http-user-rate", "1000"]) throws {
      api = try APIUnderTest(arguments, topics: [.chatEvents, .userEvents, .banners])
      pipeline = AnsweringPipeline(api.broker)
    }

    deinit { pipeline.close() }

    func call(
      _ method: String, _ path: String, token: String, headers: [String] = [], body: String? = nil
    ) throws -> APIUnderTest.Answer {
      try api.call(
        method, path, headers: ["Authorization: Bearer \(token)"] + headers, bytes: body.map { Array($0.utf8) })
    }

    /// Changes preferences; the instance may have only just begun to read.
    func patch(
      _ body: String, user: String = "ann", type: String = "application/json"
    ) throws -> APIUnderTest.Answer {
      let token = try APIUnderTest.token(user: user)
      var answer = try call(
        "PATCH", "/v1/me/preferences", token: token, headers: ["Content-Type: \(type)"], body: body)
      let deadline = ContinuousClock.now + .seconds(20)
      while answer.status == 503, ContinuousClock.now < deadline {
        #expect(answer.headers["retry-after"] == "1")
        answer = try call(
          "PATCH", "/v1/me/preferences", token: token, headers: ["Content-Type: \(type)"], body: body)
      }
      return answer
    }
  }

  private struct Person: Decodable {
    struct Field<Value: Decodable>: Decodable {
      var value: Value?
      var source: String
    }
    struct Preferences: Decodable {
      var enabled: Field<Bool>
      var keywords: Field<[String]>
      var dailyAlerts: Field<Int>
    }
    struct Device: Decodable { var deviceId: String }
    var userId: String
    var preferences: Preferences
    var devices: [Device]
    var badge: Int
  }

  private func person(_ answer: APIUnderTest.Answer) throws -> Person {
    #expect(answer.status == 200, "\(answer.text)")
    return try JSONDecoder().decode(Person.self, from: Data(answer.text.utf8))
  }

  @Test("a change is answered with what is so then, and each later question knows it; a backend is told the same")
  func change() throws {
    let world = try World()
    let changed = try world.patch(#"{"enabled": false, "keywords": ["release"]}"#)
    #expect(changed.headers["cache-control"] == "no-store")
    let now = try person(changed)
    #expect(now.userId == "ann" && now.preferences.enabled.value == false && now.preferences.enabled.source == "person")
    #expect(now.preferences.keywords.value == ["release"] && now.preferences.dailyAlerts.source == "policy")
    let token = try APIUnderTest.token(user: "ann")
    for number in 0..<20 {
      let written = try person(try world.patch(#"{"keywords": {"add": ["w\#(number)"]}}"#))
      #expect(written.preferences.keywords.value?.last == "w\(number)")
      let asked = try person(try world.call("GET", "/v1/me", token: token))
      #expect(asked.preferences.keywords.value?.count == number + 2, "it knows what was accepted before")
    }
    let backend = try person(try world.call("GET", "/v1/users/ann", token: APIUnderTest.key))
    #expect(backend.userId == "ann" && backend.preferences.keywords.value?.count == 21)
    #expect(!world.pipeline.hasFailed)
    #expect(world.api.counter("nudge_person_questions_total", ["result": "answered"]) > 40)
    #expect(world.api.capture.entries.allSatisfy { !"\($0)".contains("release") && !"\($0)".contains("ann") })
  }

  @Test("a preference that nobody knows is refused by its name, with the one that was meant, and nothing changes")
  func unknownPreference() throws {
    let world = try World()
    _ = try person(try world.patch(#"{"keywords": ["before"]}"#))
    let cases = [
      (#""quietHour": {"start": "22:00", "end": "07:00"}"#, "preferences.quietHour", "quietHours"),
      (
        #""quietHours": {"start": "22:00", "end": "07:00", "timezone": "UTC"}"#, "preferences.quietHours.timezone",
        "timeZone"
      ),
      (#""muted": [{"conversationId": "c", "untill": 4102444800001}]"#, "preferences.muted[0].untill", "until"),
      (#""muted": {"add": [{"conversationID": "c"}]}"#, "preferences.muted.add[0].conversationID", "conversationId"),
      (#""mutedSenders": {"ad": ["ben"], "remove": []}"#, "preferences.mutedSenders.ad", "add"),
    ]
    for (field, path, meant) in cases {
      let answer = try world.patch("{\"keywords\": [\"after\"], \(field)}")
      #expect(answer.status == 400 && answer.body.code == "schema_violation", "\(path): \(answer.text)")
      #expect(answer.text.contains("\(path) is not a known field: did you mean \(meant)?"), "\(answer.text)")
    }
    #expect(try world.patch(#"{"colour": 1}"#).text.contains("use badgeMode, burstSeconds"))
    let now = try person(try world.call("GET", "/v1/me", token: try APIUnderTest.token(user: "ann")))
    #expect(now.preferences.keywords.value == ["before"])
  }

  @Test("an event with such a preference is published, and its result names the field; other events are not searched")
  func unknownFieldOfAnEvent() throws {
    let api = try APIUnderTest()
    let now = APIUnderTest.now()
    let start = #"{"schemaVersion":1,"occurredAt":\#(now),"userId":"ann","#
    let answer = try api.post(
      #"[\#(start)"eventId":"e1","type":"preferences.updated","preferences":{"quietHour":1,"locale":"C","enabled":true}},"#
        + #"\#(start)"eventId":"e2","type":"device.registered","deviceId":"d","token":"t","platform":"web","render":true},"#
        + #"\#(start)"eventId":"e3","type":"message.read","conversationId":"c","quietHour":1}]"#)
    #expect(answer.status == 202)
    #expect(
      answer.body.results?.map(\.ignored) == ["preferences.locale, preferences.quietHour", "render", nil],
      "\(answer.text)")
  }

  @Test("null is refused where it takes nothing away, by the names of the preferences, and nothing changes")
  func null() throws {
    let world = try World()
    _ = try person(try world.patch(#"{"keywords": ["before"], "dailyAlerts": 3}"#))
    let refused = try world.patch(
      #"{"locale":null,"timeZone":null,"maxAnalysesPerHour":null,"badgeMode":null,"quietHours":null,"keywords":["x"]}"#)
    #expect(refused.status == 400 && refused.body.code == "schema_violation")
    #expect(
      refused.body.message
        == "preferences.locale, preferences.timeZone, preferences.maxAnalysesPerHour, preferences.badgeMode: "
        + "must not be null; only dailyAlerts, digestTimes, quietHours may be. Leave out what stays as it is")
    #expect(try world.patch(#"{"muted": null}"#).status == 400)
    #expect(
      try world.patch(#"{"defaultLevels": {"direct": "all", "group": null}}"#).text
        .contains("preferences.defaultLevels.group: must not be null"))
    let now = try person(try world.patch(#"{"quietHours": null, "digestTimes": null, "dailyAlerts": null}"#))
    #expect(now.preferences.keywords.value == ["before"] && now.preferences.dailyAlerts.source == "policy")
  }

  @Test(
    "after names an event: a registration is known, although it comes by another way, and until then it is waited for")
  func after() throws {
    let world = try World()
    _ = try person(try world.patch(#"{"enabled": true}"#))
    world.pipeline.holdsClaims.store(true, ordering: .relaxed)
    let token = try APIUnderTest.token(user: "ann")
    let event =
      #"{"schemaVersion":1,"type":"device.registered","eventId":"r1","occurredAt":\#(APIUnderTest.now()),"#
      + #""userId":"ann","deviceId":"phone","token":"a-secret-token","platform":"ios"}"#
    #expect(try world.api.post(event, token: token).status == 202)
    #expect(try person(try world.call("GET", "/v1/me", token: token)).devices.isEmpty)
    let late = try world.call("GET", "/v1/me?after=r1", token: token)
    #expect(late.status == 503 && late.headers["retry-after"] == "1")
    let pipeline = world.pipeline
    DispatchQueue.global().asyncAfter(deadline: .now() + 0.3) { pipeline.holdsClaims.store(false, ordering: .relaxed) }
    let answer = try world.call("GET", "/v1/me?after=r1", token: token)
    #expect(try person(answer).devices.map(\.deviceId) == ["phone"] && !answer.text.contains("secret"))
  }

  @Test("a user gets what is theirs: whatever query, header or body names another, and a key's calls are a key's")
  func ownOnly() throws {
    let world = try World()
    _ = try person(try world.patch(#"{"keywords": ["anns own"]}"#))
    let ben = try APIUnderTest.token(user: "ben")
    for (query, status) in [
      ("", 404), ("?after=ann", 404), ("?userId=ann", 400), ("?sub=ann&id=ann", 400), ("?after=ann&userId=ann", 400),
    ] {
      let answer = try world.call(
        "GET", "/v1/me" + query, token: ben,
        headers: ["X-User-Id: ann", "Cookie: sub=ann", "X-Original-URL: /v1/users/ann"])
      #expect(answer.status == status && !answer.text.contains("anns own"))
    }
    for path in ["/v1/users/ann", "/v1/users/ben", "/v1/users/%61nn", "/v1/users/ann?after=x"] {
      #expect(try world.call("GET", path, token: ben).status == 403)
    }
    #expect(try world.call("GET", "/v1/me", token: APIUnderTest.key).status == 403)
    #expect(
      try world.call(
        "PATCH", "/v1/me/preferences", token: APIUnderTest.key, headers: ["Content-Type: application/json"], body: "{}"
      )
      .status == 403)
    // A body that would end the object it is put into, and begin another person's.
    for body in [
      #"{}, "userId": "ann""#, #"{}} {"userId":"ann""#, #"{"keywords":["x"]},"userId":"ann","preferences":{}"#, "",
      "[]",
      "null", "7", #""x""#, "{", "\u{0}", #"{"keywords":["x"]} {}"#,
    ] {
      let answer = try world.patch(body, user: "ben")
      #expect(answer.status == 400 && answer.body.code != nil, "\(body): \(answer.text)")
    }
    for other in [#""userId": "ann""#, #""type": "user.deleted""#] {
      #expect(try world.patch(#"{\#(other), "keywords": ["bens"]}"#, user: "ben").status == 400)
    }
    let named = try world.patch(#"{"keywords": ["bens"]}"#, user: "ben")
    #expect(try person(named).userId == "ben" && person(named).preferences.keywords.value == ["bens"])
    let ann = try person(try world.call("GET", "/v1/users/ann", token: APIUnderTest.key))
    #expect(ann.preferences.keywords.value == ["anns own"], "nobody else changed it")
    for token in [
      try APIUnderTest.token(user: "ann", expiresIn: -600), try APIUnderTest.token(user: "ann", audience: "another"),
      "x",
      "",
    ] {
      #expect(try world.call("GET", "/v1/me", token: token).status == 401)
      #expect(try world.call("GET", "/v1/users/ann", token: token).status == 401)
    }
  }

  @Test("a preference that breaks a rule is refused with its field, and changes nothing")
  func invalid() throws {
    let world = try World()
    _ = try person(try world.patch(#"{"keywords": ["kept"]}"#))
    let answer = try world.patch(#"{"quietHours": {"start": "25:00", "end": "07:00"}}"#)
    #expect(answer.status == 400 && answer.body.code == "schema_violation")
    #expect(answer.body.message?.contains("preferences.quietHours.start") == true)
    #expect(try world.patch(#"{"enabled": "yes"}"#).status == 400)
    #expect(try world.patch("{}", type: "text/plain").status == 415)
    #expect(
      try world.patch("{\"x\":\"" + String(repeating: "x", count: PersonEndpoint.changeBytes) + "\"}").status == 413)
    #expect(
      try person(try world.patch("{}", type: "application/merge-patch+json")).preferences.keywords.value == ["kept"])
  }

  @Test("who is unknown, or was erased, is not found; a registration brings them back")
  func erased() throws {
    let world = try World()
    _ = try person(try world.patch(#"{"keywords": ["gone"]}"#))
    #expect(try world.call("GET", "/v1/users/nobody", token: APIUnderTest.key).status == 404)
    let deletion =
      #"{"schemaVersion":1,"type":"user.deleted","eventId":"gone","occurredAt":\#(APIUnderTest.now()),"userId":"ann"}"#
    #expect(try world.api.post(deletion).status == 202)
    let token = try APIUnderTest.token(user: "ann")
    let answer = try world.call("GET", "/v1/me", token: token)
    #expect(answer.status == 404 && answer.body.code == "not_found" && !answer.text.contains("gone"))
    #expect(try world.call("GET", "/v1/users/ann", token: APIUnderTest.key).status == 404)
  }

  @Test("without an answer there is 503 with the time to come back; a bad id or after is 400; too many questions 429")
  func refusals() throws {
    let world = try World(["--http-user-rate", "1"])
    try wait(for: "answers are read", atMost: 20) {
      try world.call("GET", "/v1/users/ann", token: APIUnderTest.key).status == 404
    }
    world.pipeline.close()
    let began = ContinuousClock.now
    let none = try world.call("GET", "/v1/users/ann", token: APIUnderTest.key)
    #expect(none.status == 503 && none.headers["retry-after"] == "1" && none.body.code == "unavailable")
    #expect(began.duration(to: .now) < .seconds(8))
    let long = String(repeating: "x", count: 257)
    #expect(try world.call("GET", "/v1/users/\(long)", token: APIUnderTest.key).status == 400)
    #expect(try world.call("GET", "/v1/users/ann?after=", token: APIUnderTest.key).status == 400)
    #expect(try world.call("GET", "/v1/users/ann?after=\(long)", token: APIUnderTest.key).status == 400)
    #expect(try world.call("GET", "/v1/users/ann?after=%01", token: APIUnderTest.key).status == 400)
    #expect(try world.call("POST", "/v1/me", token: APIUnderTest.key, body: "").status == 405)
    // Ten events at once, of which a question takes five.
    let token = try APIUnderTest.token(user: "cem")
    var statuses: [Int] = []
    // One a second comes back while each waits for its answer.
    while statuses.count < 10, !statuses.contains(429) {
      statuses.append(try world.call("GET", "/v1/me", token: token).status)
    }
    #expect(statuses.contains(429), "\(statuses)")
    #expect(world.api.counter("nudge_person_questions_total", ["result": "unanswered"]) > 0)
  }

  @Test("an answer about somebody else than was asked for reaches nobody, nor one that nobody asked for")
  func forged() throws {
    let questions = PersonQuestions()
    let outcomes = Outcomes()
    #expect(questions.add("q", about: "ann", by: "uann", atMost: .seconds(600), outcomes.continuation))
    questions.take(PersonAnswered(userId: "ben", questionId: "q", person: "ben's", isBehind: false))
    questions.take(PersonAnswered(userId: "ann", questionId: "other", person: "x", isBehind: false))
    #expect(outcomes.all.isEmpty)
    questions.take(PersonAnswered(userId: "ann", questionId: "q", person: "ann's", isBehind: false))
    questions.take(PersonAnswered(userId: "ann", questionId: "q", person: "again", isBehind: false))
    #expect(outcomes.all == [.answered(person: "ann's", isBehind: false)])
    for number in 0..<PersonQuestions.waitingOfACaller {
      #expect(questions.add("\(number)", about: "ann", by: "uann", atMost: .seconds(600), outcomes.continuation))
    }
    #expect(!questions.add("more", about: "ann", by: "uann", atMost: .seconds(600), outcomes.continuation))
    #expect(questions.add("another", about: "ben", by: "uben", atMost: .seconds(600), outcomes.continuation))
    questions.close()
    #expect(outcomes.all.count == PersonQuestions.waitingOfACaller + 2 && !questions.isWaiting)
    #expect(!questions.add("late", about: "ann", by: "uann", atMost: .seconds(600), outcomes.continuation))
  }

  private final class Outcomes: Sendable {
    private let outcomes = Mutex<[PersonQuestions.Outcome]>([])
    var all: [PersonQuestions.Outcome] { outcomes.withLock { $0 } }
    var continuation: PersonQuestions.Continuation {
      .init { [self] outcome in outcomes.withLock { $0.append(outcome) } }
    }
  }
}
