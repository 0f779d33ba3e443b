@testable import FCMEmulator
import Foundation
import HTTPTransport
import Testing

@Suite("Faults on request", .timeLimit(.minutes(2)))
struct FaultTests {
  /// FCM's table: status and FCM code of each answer; nil where it has none.
  static let table: [(EmulatorAnswer.Name, Int, String?, String?)] = [
    (.invalidToken, 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"),
    (.invalidArgument, 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"), (.tooLarge, 400, "INVALID_ARGUMENT", nil),
    (.accessTokenExpired, 401, "UNAUTHENTICATED", nil),
    (.thirdPartyAuthError, 401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR"),
    (.senderIDMismatch, 403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH"),
    (.permissionDenied, 403, "PERMISSION_DENIED", nil), (.unregistered, 404, "NOT_FOUND", "UNREGISTERED"),
    (.notFound, 404, "NOT_FOUND", nil), (.quotaExceeded, 429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"),
    (.deviceQuotaExceeded, 429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"), (.internalError, 500, "INTERNAL", "INTERNAL"),
    (.badGateway, 502, nil, nil), (.unavailable, 503, "UNAVAILABLE", "UNAVAILABLE"), (.gatewayTimeout, 504, nil, nil),
    (.unspecifiedError, 400, "INVALID_ARGUMENT", "UNSPECIFIED_ERROR"),
  ]

  @Test("Every row of FCM's table can be had, by the token's prefix, with its status, code and Retry-After")
  func answers() async throws {
    #expect(Self.table.count == EmulatorAnswer.Name.allCases.count)
    let date = "Wed, 21 Oct 2026 07:28:00 GMT"
    let desk = try Desk(
      FCMEmulatorConfiguration(
        faults: Self.table.map {
          Fault(tokenPrefix: $0.0.rawValue + "-", action: .answer(EmulatorAnswer($0.0, retryAfter: date)))
        }))
    for (name, status, text, code) in Self.table {
      let response = try await desk.message(to: name.rawValue + "-1").get()
      #expect(response.status == status, "\(name)")
      #expect(response.headers["retry-after"] == date)
      #expect(response.headers["content-length"] == "\(response.body.count)")
      if let text {
        let error = try ErrorBody(response)
        #expect(error.error.code == status)
        #expect(error.error.status == text, "\(name)")
        #expect(error.fcmCode == code, "\(name)")
        #expect((error.violation?.field == "message.token") == (name == .invalidToken), "\(name)")
      } else {
        #expect(response.headers["content-type"]?.hasPrefix("text/html") == true)
        #expect(response.body.first == UInt8(ascii: "<"))
      }
    }
    #expect(try await desk.message(to: "device").get().status == 200)
    desk.end()
  }

  @Test("Faults are replaced while it runs, by HTTP; what cannot be used is refused and changes nothing")
  func control() async throws {
    let desk = try Desk(FCMEmulatorConfiguration(countsTokens: true))
    func control(_ body: String) async throws -> HTTPResponse {
      try await desk.post(desk.emulator.url + "/emulator/faults", Array(body.utf8), headers: []).get()
    }
    #expect(try await desk.message(to: "gone-1").get().status == 200)
    let set = try await control(
      #"{"seed": 7, "faults": [{"tokenPrefix": "gone-", "answer": "UNREGISTERED"}, {"ratio": 0.5, "answer": "UNAVAILABLE"}]}"#
    )
    #expect(set.status == 200 && String(decoding: set.body, as: UTF8.self) == "{\"faults\":2}\n")
    #expect(try await desk.message(to: "gone-1").get().status == 404)
    for (faults, reason) in [
      (#"{"faults": [{"answer": "MAYBE"}]}"#, "no answer is called MAYBE"), (#"{"faults": [{"ratio": 2}]}"#, "ratio"),
      (#"{"faults": [{"delayMs": -1}]}"#, "negative"), ("[]", "error"),
    ] {
      let refused = try await control(faults)
      #expect(refused.status == 400)
      #expect(String(decoding: refused.body, as: UTF8.self).contains(reason), "\(faults)")
    }
    #expect(try await desk.message(to: "gone-1").get().status == 404)
    // The same seed makes the same choice.
    func half() async throws -> [Int] {
      _ = try await control(#"{"seed": 11, "faults": [{"ratio": 0.5, "answer": "UNAVAILABLE"}]}"#)
      var statuses: [Int] = []
      for _ in 0..<40 { statuses.append(try await desk.message(to: "t").get().status) }
      return statuses
    }
    let first = try await half()
    #expect(try await half() == first && Set(first) == [200, 503])
    _ = try await control(#"{"faults": []}"#)
    #expect(try await desk.message(to: "gone-1").get().status == 200)
    // Messages by token; who steers is not counted.
    let request = HTTPRequest(method: .get, url: desk.emulator.url + "/emulator/tokens")
    let answer = await withCheckedContinuation { continuation in
      desk.client.send(request) { continuation.resume(returning: $0) }
    }
    let counts = try JSONSerialization.jsonObject(with: Data(try answer.get().body)) as? [String: [String: Int]]
    #expect(counts?["gone-1"] == ["200": 2, "404": 2])
    #expect(counts?["t"]?.values.reduce(0, +) == 80)
    #expect(desk.emulator.counters.requests == 84)
    desk.end()
  }

  @Test("An answer may stop behind its headers: the client's own time ends it")
  func hangAfterHeaders() async throws {
    let desk = try Desk(FCMEmulatorConfiguration(faults: [Fault(times: 1, action: .hangAfterHeaders)]))
    let start = ContinuousClock.now
    let result = await desk.message(to: "t", timeout: .milliseconds(400))
    #expect(ContinuousClock.now - start >= .milliseconds(350))
    // The headers said 200: it was sent, whatever happened to the body.
    #expect(try result.get().status == 200)
    #expect(try result.get().incompleteBody)
    #expect(try await desk.message(to: "t").get().status == 200)
    desk.end()
  }

  @Test("What is wrong with a request is said before a fault strikes")
  func order() async throws {
    let desk = try Desk(
      FCMEmulatorConfiguration(faults: [Fault(times: 1, action: .answer(EmulatorAnswer(.unavailable)))]))
    #expect(try await desk.send("{}").status == 400)
    #expect(try await desk.message(to: "t").get().status == 503)
    #expect(try await desk.message(to: "t").get().status == 200)
    desk.end()
  }

  @Test("skip and times bound a fault, delays add up with what follows, and faults can be replaced")
  func bounds() async throws {
    let desk = try Desk(
      FCMEmulatorConfiguration(faults: [
        Fault(tokenPrefix: "slow-", delay: .milliseconds(120)),
        Fault(skip: 2, times: 2, action: .answer(EmulatorAnswer(.internalError))),
      ]))
    var statuses: [Int] = []
    for _ in 0..<6 { statuses.append(try await desk.message(to: "t").get().status) }
    #expect(statuses == [200, 200, 500, 500, 200, 200])
    desk.emulator.setFaults([
      Fault(tokenPrefix: "slow-", delay: .milliseconds(120)), Fault(action: .answer(EmulatorAnswer(.unavailable))),
    ])
    let start = ContinuousClock.now
    #expect(try await desk.message(to: "slow-1").get().status == 503)
    #expect(ContinuousClock.now - start >= .milliseconds(120))
    desk.emulator.setFaults([])
    #expect(try await desk.message(to: "t").get().status == 200)
    desk.end()
  }

  @Test("A ratio is kept, and the same seed strikes the same requests")
  func ratio() async throws {
    var runs: [[Int]] = []
    for seed: UInt64 in [7, 7, 8] {
      let desk = try Desk(
        FCMEmulatorConfiguration(
          faults: [Fault(ratio: 0.2, action: .answer(EmulatorAnswer(.unavailable)))], seed: seed))
      var statuses: [Int] = []
      for _ in 0..<500 { statuses.append(try await desk.message(to: "t").get().status) }
      // 100 expected; six standard deviations.
      #expect((46...154).contains(statuses.filter { $0 == 503 }.count))
      runs.append(statuses)
      desk.end()
    }
    #expect(runs[0] == runs[1])
    #expect(runs[0] != runs[2])
  }

  @Test("Resets, hangs and broken bodies strike their own request; a request that hangs is counted without a status")
  func violence() async throws {
    let desk = try Desk(
      FCMEmulatorConfiguration(faults: [
        Fault(tokenPrefix: "reset-", action: .resetConnection), Fault(tokenPrefix: "stream-", action: .resetStream),
        Fault(tokenPrefix: "hang-", action: .hang), Fault(tokenPrefix: "broken-", action: .brokenBody),
      ]))
    async let hung = desk.message(to: "hang-1", timeout: .milliseconds(200))
    #expect(await desk.message(to: "stream-1").failed)
    #expect(try await desk.message(to: "broken-1").get().incompleteBody)
    #expect(await hung.failed)
    #expect(await desk.message(to: "reset-1").failed)
    #expect(try await desk.message(to: "t").get().status == 200)
    // libcurl sends a request again by itself when a connection used before goes away under it, so this may be more.
    #expect(desk.emulator.counters.byStatus[0, default: 0] >= 3)
    desk.end()
  }

  @Test("The token endpoint can be down, with an answer of one's own")
  func tokenServerDown() async throws {
    let desk = try Desk(
      FCMEmulatorConfiguration(faults: [
        Fault(endpoint: .token, times: 1, action: .answer(EmulatorAnswer(status: 503, body: "down")))
      ]))
    let first = try await TokenTests.post(desk, "")
    #expect(first.status == 503)
    #expect(String(decoding: first.body, as: UTF8.self) == "down")
    #expect(try await TokenTests.post(desk, "").status == 400)
    #expect(try await desk.message(to: "t").get().status == 200)
    desk.end()
  }

  @Test("A file of faults is read; a name it does not know is an error that lists those it does")
  func file() throws {
    let text = #"""
      {"seed": 7, "faults": [
        {"tokenPrefix": "gone-", "answer": "UNREGISTERED"},
        {"ratio": 0.2, "answer": "UNAVAILABLE", "retryAfter": "5", "times": 1000, "skip": 3},
        {"delayMs": 50}, {"action": "brokenBody"},
        {"endpoint": "token", "status": 418, "body": "tea", "headers": {"x-a": "b"}}]}
      """#
    let file = try JSONDecoder().decode(FaultFile.self, from: Data(text.utf8))
    #expect(file.seed == 7)
    #expect(file.faults.count == 5)
    #expect(file.faults[0].tokenPrefix == "gone-")
    #expect(file.faults[1].ratio == 0.2)
    #expect(file.faults[1].times == 1_000)
    #expect(file.faults[1].skip == 3)
    #expect(file.faults[2].delay == .milliseconds(50))
    #expect(file.faults[2].action == nil)
    if case .brokenBody = file.faults[3].action {} else { Issue.record("brokenBody was not read") }
    if case .answer(let answer) = file.faults[4].action {
      #expect(answer.status == 418)
      #expect(answer.body == "tea")
      #expect(answer.headers.map(\.0) == ["x-a"])
    } else {
      Issue.record("the answer was not read")
    }
    for bad in [#"{"faults":[{"answer":"GONE"}]}"#, #"{"faults":[{"action":"explode"}]}"#] {
      let error = #expect(throws: FCMEmulatorError.self) {
        try JSONDecoder().decode(FaultFile.self, from: Data(bad.utf8))
      }
      #expect(error?.description.contains("known:") == true)
    }
  }
}

extension Result {
  var failed: Bool { if case .failure = self { true } else { false } }
}
