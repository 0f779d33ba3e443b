import FCMEmulator
import Foundation
import NudgeSchema
import TestSupport
import Testing

@testable import Dispatcher

@Suite("P4: every answer FCM can give is classified")
struct FCMAnswerTests {
  typealias Answer = PushAnswer
  typealias Name = EmulatorAnswer.Name
  static let now: Milliseconds = 784_111_777_000  // Sun, 06 Nov 1994 08:49:37 GMT

  private func classify(_ name: Name, retryAfter: String? = nil) -> Answer {
    let wire = EmulatorAnswer(name, retryAfter: retryAfter)
    return Answer(
      status: wire.status, retryAfter: wire.headers.first { $0.0 == "retry-after" }?.1, body: Array(wire.body.utf8),
      now: Self.now)
  }

  /// A row: what comes, and what is made of it.
  struct Row: Sendable {
    var name: Name
    var verdict: Answer.Verdict
    var status: Int
    var code: String

    init(_ name: Name, _ verdict: Answer.Verdict, _ status: Int, _ code: String) {
      self.name = name
      self.verdict = verdict
      self.status = status
      self.code = code
    }
  }

  static let rows: [Row] = [
    Row(.invalidToken, .invalidToken, 400, "INVALID_ARGUMENT"),
    Row(.invalidArgument, .rejected, 400, "INVALID_ARGUMENT"),
    Row(.tooLarge, .rejected, 400, "INVALID_ARGUMENT"),
    Row(.accessTokenExpired, .projectRefused, 401, "UNAUTHENTICATED"),
    Row(.thirdPartyAuthError, .platformRefused, 401, "THIRD_PARTY_AUTH_ERROR"),
    Row(.senderIDMismatch, .senderMismatch, 403, "SENDER_ID_MISMATCH"),
    Row(.permissionDenied, .projectRefused, 403, "PERMISSION_DENIED"),
    Row(.unregistered, .invalidToken, 404, "UNREGISTERED"),
    Row(.notFound, .projectRefused, 404, "NOT_FOUND"),
    Row(.quotaExceeded, .quotaExceeded(.project), 429, "QUOTA_EXCEEDED"),
    Row(.deviceQuotaExceeded, .quotaExceeded(.device), 429, "QUOTA_EXCEEDED"),
    Row(.internalError, .serverFailed, 500, "INTERNAL"),
    Row(.badGateway, .serverFailed, 502, "HTTP_502"),
    Row(.unavailable, .serverFailed, 503, "UNAVAILABLE"),
    Row(.gatewayTimeout, .serverFailed, 504, "HTTP_504"),
    Row(.unspecifiedError, .rejected, 400, "UNSPECIFIED_ERROR"),
  ]

  @Test("P4: each row of the table", arguments: rows)
  func table(row: Row) {
    let answer = classify(row.name)
    #expect(answer.verdict == row.verdict)
    #expect(answer.httpStatus == row.status)
    #expect(answer.errorCode == row.code)
    #expect(answer.isUnknown == (row.name == .unspecifiedError))
    #expect(answer.retryAfter == nil)
  }

  @Test("P4: the table above has every answer the emulator knows")
  func complete() { #expect(Set(Self.rows.map(\.name)) == Set(Name.allCases)) }

  @Test("P4: a 200 is sent, with FCM's name or, where the body was lost, without")
  func sent() {
    let name = "projects/p/messages/0:1"
    let whole = Answer(status: 200, retryAfter: nil, body: Array("{\"name\": \"\(name)\"}".utf8), now: 0)
    #expect(whole == Answer(.sent(name: name), httpStatus: 200))
    for body in ["", "{\"name\": \"proj", "<html>", "{\"name\": 3}"] {
      #expect(
        Answer(status: 200, retryAfter: nil, body: Array(body.utf8), now: 0)
          == Answer(.sent(name: nil), httpStatus: 200))
    }
  }

  @Test("P4: Retry-After is read as seconds or as a date, and ignored where it is neither")
  func retryAfter() {
    #expect(classify(.unavailable, retryAfter: "30").retryAfter == 30_000)
    #expect(classify(.quotaExceeded, retryAfter: "Sun, 06 Nov 1994 08:50:37 GMT").retryAfter == 60_000)
    #expect(classify(.unavailable, retryAfter: "soon").retryAfter == nil)
    let info = #"{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"7.5s"}]}}"#
    #expect(Answer(status: 503, retryAfter: nil, body: Array(info.utf8), now: 0).retryAfter == 7_500)
    #expect(Answer(status: 503, retryAfter: "9", body: Array(info.utf8), now: 0).retryAfter == 9_000)
  }

  @Test(
    "P4: unknown answers are treated by their HTTP class, and marked",
    arguments: [
      (204, Answer.Verdict.sent(name: nil)), (302, .projectRefused), (408, .serverFailed), (410, .rejected),
      (413, .rejected), (425, .serverFailed), (418, .rejected), (501, .serverFailed), (599, .serverFailed),
    ])
  func unknown(status: Int, verdict: Answer.Verdict) {
    let answer = Answer(status: status, retryAfter: nil, body: [], now: 0)
    #expect(answer.verdict == verdict)
    #expect(answer.isUnknown)
  }

  @Test("P4: a 404 or 403 with an unknown code prunes nothing")
  func unknownCodes() {
    let body =
      #"{"error":{"status":"NOT_FOUND","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"NEW_ONE"}]}}"#
    for status in [403, 404] {
      let answer = Answer(status: status, retryAfter: nil, body: Array(body.utf8), now: 0)
      #expect(answer.verdict == .projectRefused)
      #expect(answer.errorCode == "NEW_ONE")
      #expect(answer.isUnknown)
    }
  }

  @Test("P4: malformed error details are ignored")
  func oddBodies() {
    let bodies = [
      "", "{", "[]", "null", "{\"error\":3}", "{\"error\":{\"details\":{}}}", "{\"error\":{\"details\":[1,null,[]]}}",
      "{\"error\":{\"status\":\"<b>\",\"message\":7,\"details\":[{\"@type\":\"type.googleapis.com/google.rpc.BadRequest\",\"fieldViolations\":3}]}}",
      String(repeating: "[", count: 100_000), "{" + String(repeating: "\"a\":{", count: 50_000),
    ]
    for body in bodies {
      for status in [400, 401, 403, 404, 429, 500, 503] {
        let answer = Answer(status: status, retryAfter: nil, body: Array(body.utf8), now: 0)
        #expect(answer.errorCode == "HTTP_\(status)")
        #expect(answer.verdict != .invalidToken)
      }
    }
  }

  @Test("P4, P5: a device's quota stays the device's where the answer names its project, too")
  func deviceQuotaOfAProject() {
    func verdict(_ subject: String, _ description: String) -> Answer.Verdict {
      let body = #"""
        {"error":{"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure",
        "violations":[{"subject":"\#(subject)","description":"\#(description)"}]}]}}
        """#
      return Answer(status: 429, retryAfter: nil, body: Array(body.utf8), now: 0).verdict
    }
    #expect(verdict("project:demo", "Message rate of the device exceeded") == .quotaExceeded(.device))
    #expect(verdict("device:4711", "quota of a device in project demo") == .quotaExceeded(.device))
    #expect(verdict("project:demo", "Message rate exceeded") == .quotaExceeded(.project))
  }

  @Test("P4: the limit of Google's front end counts as the project's quota")
  func frontEndQuota() {
    let body =
      #"{"error":{"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED","metadata":{"quota_metric":"fcm.googleapis.com/send"}}]}}"#
    #expect(
      Answer(status: 429, retryAfter: nil, body: Array(body.utf8), now: 0).verdict == .quotaExceeded(.project))
    #expect(Answer(status: 429, retryAfter: nil, body: [], now: 0).verdict == .quotaExceeded(.device))
  }
}

@Suite("Retry-After (RFC 9110)")
struct RetryAfterTests {
  @Test(
    "P3: seconds, and HTTP dates in all three forms",
    arguments: [
      ("0", RetryAfter.seconds(0)), ("120", .seconds(120)), (" 5\t", .seconds(5)),
      ("99999999999999999999", .seconds(.max)),
      ("Sun, 06 Nov 1994 08:49:37 GMT", .date(784_111_777_000)),
      ("Sunday, 06-Nov-94 08:49:37 GMT", .date(784_111_777_000)),
      ("Sun Nov  6 08:49:37 1994", .date(784_111_777_000)),
      ("Sun Nov 16 08:49:37 1994", .date(784_975_777_000)),
      ("Saturday, 21-Nov-26 10:00:00 GMT", .date(1_795_255_200_000)),
    ])
  func reads(text: String, expected: RetryAfter) { #expect(RetryAfter(text) == expected) }

  @Test(
    "P3: anything else is ignored",
    arguments: [
      "", " ", "-1", "1.5", "+3", "soon", "10s", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 25:49:37 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT", "06 Nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov 6 08:49 1994", "٣", "1 2",
      "Sun, 06 Nov 1994 08:49:37 GMT GMT", "Sun, 06 Nov 1994 08:4:37 GMT",
    ])
  func refuses(text: String) { #expect(RetryAfter(text) == nil) }

  @Test("P3: a date in the past means no wait; the longest wait is a day")
  func bounds() {
    #expect(RetryAfter.date(1_000).wait(from: 2_000) == 0)
    #expect(RetryAfter.date(2_500).wait(from: 2_000) == 500)
    #expect(RetryAfter.seconds(.max).wait(from: 0) == 86_400_000)
    #expect(RetryAfter.date(.max).wait(from: 0) == 86_400_000)
  }
}

@Suite("FCM's name of a push")
struct FCMNameTests {
  private static let name = "projects/demo/messages/0:1500415314455276%31bd1c9631bd1c96"

  @Test(
    "an answer as FCM's documentation shows it is read, whatever space is in it",
    arguments: [
      #"{"name":"\#(name)"}"#, "{\n  \"name\": \"\(name)\"\n}\n", "\t{ \"name\" :\r\n\"\(name)\" }",
    ])
  func plain(body: String) { #expect(FCMErrorBody.name(in: Array(body.utf8)) == Self.name) }

  @Test("a name that is read is the one that Foundation reads, however the answer is damaged")
  func alike() throws {
    struct Answer: Decodable { let name: String }
    var random = SeededGenerator(announcedFor: "FCMNameTests")
    let bodies = [
      #"{"name":"\#(Self.name)"}"#, "{ \"name\" : \"a\" , \"x\": 1 }", #"{"name":"a\u0062"}"#, #"{"name":"é"}"#,
      #"{"name":""}"#, #"{"name":null}"#, #"{"name":"a","name":"b"}"#, #"{"name":"a"}{"#,
    ]
    var found = 0
    for _ in 0..<20_000 {
      var body = Array(bodies[random.below(bodies.count)].utf8)
      for _ in 0..<random.below(3) where !body.isEmpty {
        let place = random.below(body.count)
        switch random.below(3) {
        case 0: body[place] = UInt8(truncatingIfNeeded: random.next())
        case 1: body.remove(at: place)
        default: body.insert(body[random.below(body.count)], at: place)
        }
      }
      guard let name = FCMErrorBody.name(in: body) else { continue }
      found += 1
      let answer = try JSONDecoder().decode(Answer.self, from: Data(body))
      #expect(answer.name == name, "\(String(decoding: body, as: UTF8.self))")
    }
    #expect(found > 1_000)
  }
}
