@testable import FCMEmulator
import Foundation
import HTTPTransport
import NudgeSchema
import ServiceKit
import Synchronization
import TestSupport
import Testing

@testable import Dispatcher

/// An emulator, a client against it, and what was replied.
private final class FCMBench: Sendable {
  let emulator: FCMEmulator
  let client: FCMClient
  let log: LogCapture
  let health = HealthChecks()
  let metrics = MetricsRegistry()
  private let replies = Mutex<[SendReply]>([])

  init(
    _ configuration: FCMEmulatorConfiguration = FCMEmulatorConfiguration(), trustsEmulator: Bool = true,
    timeout: Duration = .seconds(15), loops: Int = 1
  ) throws {
    var configuration = configuration
    configuration.keepRequests = 1_000
    emulator = try FCMEmulator(configuration)
    emulator.start()
    log = LogCapture()
    let http = try HTTPClientGroup(
      HTTPClientConfiguration(caFile: trustsEmulator ? emulator.caFile : nil), count: loops)
    client = FCMClient(
      accounts: [try ServiceAccount(file: emulator.serviceAccountFile)], http: http, baseURL: emulator.url,
      log: Logger(label: "fcm", sink: log.sink),
      monitor: FCMMonitor(metrics: metrics, readiness: health, deliveries: DeliveryMonitor(metrics: metrics)),
      timeout: timeout, grace: .zero)
  }

  deinit {
    client.stop()
    emulator.stop()
  }

  func send(
    _ id: UInt64, token: String? = nil, project: String? = nil, messageAt: Milliseconds? = nil,
    priority: Priority = .high
  ) {
    var push = DispatcherBench.push("p\(id)")
    push.targets[0].token = token ?? "token-\(id)"
    let message = FCMMessage(push: push, target: push.targets[0], occurredAt: 0, hash: DispatcherRules.sha256)
    send(
      SendRequest(
        id: id, destination: .fcm(project: project),
        subject: .init(userId: "ann", deviceId: "phone", pushId: "p\(id)", attempt: 1),
        token: push.targets[0].address, body: message.encoded() ?? [], messageAt: messageAt,
        priority: priority))
  }

  func send(_ request: SendRequest) {
    client.perform(request) { reply in self.replies.withLock { $0.append(reply) } }
  }

  /// Waits for this many replies; returns them by id.
  func replies(_ count: Int, within deadline: Duration = .seconds(30)) async throws -> [SendReply] {
    let end = ContinuousClock.now + deadline
    while true {
      // Other suites may block this task's thread for longer than the deadline: look once more after it.
      let isLast = ContinuousClock.now >= end
      let all = replies.withLock { $0 }
      if all.count >= count { return all.sorted { $0.id < $1.id } }
      if isLast { break }
      try await Task.sleep(for: .milliseconds(5))
    }
    Issue.record("only \(replies.withLock { $0.count }) of \(count) replies came")
    return []
  }

  /// Replies in the order they came.
  var arrived: [SendReply] { replies.withLock { $0 } }

  var sends: [RecordedRequest] { emulator.requests().filter { $0.path.hasSuffix("messages:send") } }
}

@Suite("P1: requests to FCM, against the emulator")
struct FCMClientTests {
  @Test("P1: from the account file to FCM's name of the push, and nothing secret is logged")
  func sends() async throws {
    let bench = try FCMBench()
    bench.send(1)
    let reply = try #require(try await bench.replies(1).first)
    guard case .sent(let name?) = reply.answer.verdict else {
      Issue.record("\(reply)")
      return
    }
    #expect(name.hasPrefix("projects/"))
    #expect(reply.requests == 1)
    #expect(reply.startedAt <= reply.finishedAt)
    let request = try #require(bench.sends.first)
    let body = String(decoding: request.body, as: UTF8.self)
    #expect(body.contains("\"token\":\"token-1\""))
    #expect(request.headers.contains { $0.name == "content-type" && $0.value == "application/json" })
    for entry in bench.log.entries {
      #expect(!"\(entry)".contains("token-1") && !"\(entry)".contains("Hello") && !"\(entry)".contains("Bearer"))
    }
  }

  @Test("P2: FCM accepts the message of every kind of push", arguments: Platform.everyOne)
  func validates(platform: Platform) async throws {
    let bench = try FCMBench()
    var id: UInt64 = 0
    for kind in [Push.Kind.message, .badge, .read] {
      for presentation in [Presentation.alert, .silent, .badge] {
        for length in [10, 10_000] {
          id += 1
          var push = DispatcherBench.push(
            "p\(id)", kind: kind, presentation: presentation, platform: platform,
            body: String(repeating: "é\"\u{1}👩‍👩‍👦", count: length))
          push.imageUrl = "https://example.org/a.png"
          push.messageId = String(repeating: "m", count: length == 10 ? 10 : 256)
          let message = FCMMessage(
            push: push, target: push.targets[0], occurredAt: 0, hash: DispatcherRules.sha256)
          bench.send(
            SendRequest(
              id: id, destination: .fcm(project: nil),
              subject: .init(userId: "ann", deviceId: "d", pushId: "p", attempt: 1), token: "t",
              body: try #require(message.encoded())))
        }
      }
    }
    for reply in try await bench.replies(Int(id)) { #expect(reply.answer.httpStatus == 200, "request \(reply.id)") }
  }

  @Test("P1: a hundred requests at once share one access token, fetched once")
  func oneToken() async throws {
    var configuration = FCMEmulatorConfiguration()
    configuration.faults = [Fault(endpoint: .token, delay: .milliseconds(200))]
    let bench = try FCMBench(configuration)
    for id in 1...100 { bench.send(UInt64(id)) }
    let replies = try await bench.replies(100)
    #expect(replies.allSatisfy { $0.answer.httpStatus == 200 })
    #expect(bench.emulator.counters.tokensIssued == 1)
  }

  @Test("P1: after a warm-up the first push needs neither an access token nor a connection, on any thread")
  func warmUp() async throws {
    let bench = try FCMBench(loops: 3)
    bench.client.warmUp()
    let end = ContinuousClock.now + .seconds(30)
    func isWarm() -> Bool {
      let counters = bench.emulator.counters
      return counters.tokensIssued == 1 && counters.connections == 3 && counters.byStatus[404] == 3
    }
    while !isWarm(), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
    #expect(isWarm())
    for id in 1...30 { bench.send(UInt64(id)) }
    #expect(try await bench.replies(30).allSatisfy { $0.answer.isSent })
    #expect(bench.emulator.counters.tokensIssued == 1)
    // The token came over one of the three: nobody has opened another.
    #expect(bench.emulator.counters.connections == 3)
    #expect(bench.metrics.exposition().contains("nudge_fcm_requests_total 30\n"))
  }

  @Test("P4: 401 for an expired token: one refresh for all requests in flight, and each is sent once more")
  func refreshes() async throws {
    var configuration = FCMEmulatorConfiguration()
    configuration.faults = [
      Fault(times: 20, delay: .milliseconds(50), action: .answer(EmulatorAnswer(.accessTokenExpired)))
    ]
    let bench = try FCMBench(configuration)
    for id in 1...20 { bench.send(UInt64(id)) }
    let replies = try await bench.replies(20)
    #expect(replies.allSatisfy { $0.answer.httpStatus == 200 })
    #expect(replies.allSatisfy { $0.requests == 2 })
    #expect(bench.emulator.counters.tokensIssued == 2)
  }

  @Test("P4: a second 401 refuses the project, and there is no third request")
  func secondRefusal() async throws {
    var configuration = FCMEmulatorConfiguration()
    configuration.faults = [Fault(action: .answer(EmulatorAnswer(.accessTokenExpired)))]
    let bench = try FCMBench(configuration)
    bench.send(1)
    let reply = try #require(try await bench.replies(1).first)
    #expect(reply.answer.verdict == .projectRefused)
    #expect(reply.answer.httpStatus == 401)
    #expect(reply.requests == 2)
    #expect(bench.sends.count == 2)
    #expect(bench.log.entries.contains { $0.level == .error })
  }

  @Test(
    "P6: the service is not ready while FCM refuses the project, and says why; answers are counted")
  func readiness() async throws {
    var configuration = FCMEmulatorConfiguration()
    configuration.faults = [
      Fault(times: 2, action: .answer(EmulatorAnswer(.permissionDenied))),
      Fault(times: 1, action: .answer(EmulatorAnswer(.unavailable))),
      Fault(times: 1, action: .answer(EmulatorAnswer(.unspecifiedError))),
    ]
    let bench = try FCMBench(configuration)
    #expect(bench.health.isReady)
    for id in 1...3 {
      bench.send(UInt64(id), messageAt: 0)
      _ = try await bench.replies(id)
      #expect(bench.health.reasons["fcm"]?.contains("PERMISSION_DENIED (HTTP 403)") == true)
    }
    bench.send(4, messageAt: 0)
    _ = try await bench.replies(4)
    bench.send(5, messageAt: SystemClock.milliseconds() - 2_000, priority: .medium)
    _ = try await bench.replies(5)
    bench.send(6)
    _ = try await bench.replies(6)
    #expect(bench.health.isReady)
    let text = bench.metrics.exposition()
    #expect(text.contains("nudge_fcm_answers_total{verdict=\"project_refused\"} 2"))
    #expect(text.contains("nudge_fcm_answers_total{verdict=\"server_failed\"} 1"))
    #expect(text.contains("nudge_fcm_unknown_answers_total 1"))
    // Only what was sent, and tells of a message.
    #expect(text.contains("nudge_end_to_end_seconds_count{priority=\"medium\"} 1\n"))
    #expect(text.contains("nudge_end_to_end_seconds_count{priority=\"high\"} 0\n"))
    #expect(text.contains("nudge_end_to_end_seconds_bucket{priority=\"medium\",le=\"1\"} 0"))
  }

  @Test("P4: 401 because of APNs' key refreshes nothing")
  func thirdParty() async throws {
    var configuration = FCMEmulatorConfiguration()
    configuration.faults = [Fault(action: .answer(EmulatorAnswer(.thirdPartyAuthError)))]
    let bench = try FCMBench(configuration)
    bench.send(1)
    let reply = try #require(try await bench.replies(1).first)
    #expect(reply.answer.verdict == .platformRefused)
    #expect(reply.requests == 1)
    #expect(bench.emulator.counters.tokensIssued == 1)
  }

  @Test("P6: while the token server is down nothing is sent, every request is answered, and one fetch is made")
  func tokenServerDown() async throws {
    var configuration = FCMEmulatorConfiguration()
    configuration.faults = [
      Fault(
        endpoint: .token, delay: .milliseconds(100),
        action: .answer(EmulatorAnswer(status: 503, headers: [("retry-after", "20")])))
    ]
    let bench = try FCMBench(configuration)
    for id in 1...10 { bench.send(UInt64(id)) }
    let replies = try await bench.replies(10)
    #expect(replies.allSatisfy { $0.answer.verdict == .projectRefused && $0.requests == 0 })
    #expect(replies.allSatisfy { $0.answer.errorCode == "access_token_unreachable" })
    #expect(replies.allSatisfy { ($0.answer.retryAfter ?? 0) >= 20_000 })
    #expect(bench.sends.isEmpty)
    #expect(bench.emulator.requests().count == 1)
  }

  @Test("P6: an account that the token server refuses is logged with what to check")
  func refusedAccount() async throws {
    var configuration = FCMEmulatorConfiguration()
    configuration.faults = [
      Fault(
        endpoint: .token, action: .answer(EmulatorAnswer(status: 400, body: "{\"error\":\"invalid_grant\"}")))
    ]
    let bench = try FCMBench(configuration)
    bench.send(1)
    let reply = try #require(try await bench.replies(1).first)
    #expect(reply.answer.errorCode == "access_token_refused")
    #expect(
      bench.log.entries.contains { $0.message.contains("invalid_grant") && $0.message.contains("--fcm-credentials") })
  }

  @Test("P4: slow answers delay no other request")
  func slow() async throws {
    var configuration = FCMEmulatorConfiguration()
    configuration.faults = [Fault(tokenPrefix: "slow", action: .hang)]
    let bench = try FCMBench(configuration)
    bench.send(1, token: "slow")
    for id in 2...20 { bench.send(UInt64(id)) }
    _ = try await bench.replies(19)
    // The one that hangs may have run out of time meanwhile, but not before the others were answered.
    let first = bench.arrived.prefix(19)
    #expect(first.map(\.id).sorted() == Array(2...20))
    #expect(first.allSatisfy { $0.answer.httpStatus == 200 })
  }

  @Test("P4: a reset stream and a truncated body: a lost request is distinguished from one that was sent")
  func broken() async throws {
    var configuration = FCMEmulatorConfiguration()
    configuration.faults = [
      Fault(tokenPrefix: "stream", action: .resetStream), Fault(tokenPrefix: "body", action: .brokenBody),
    ]
    let bench = try FCMBench(configuration)
    bench.send(1, token: "stream")
    _ = try await bench.replies(1)
    bench.send(2, token: "body")
    let replies = try await bench.replies(2)
    #expect(replies[0].answer.verdict == .unreachable)
    #expect(replies[0].answer.errorCode == "connection_reset")
    #expect(replies[1].answer.verdict == .sent(name: nil))
    #expect(replies.allSatisfy { $0.requests == 1 })
  }

  @Test("P4: each row of the table over the wire, a 502 in HTML and a Retry-After date included")
  func wholeTable() async throws {
    var configuration = FCMEmulatorConfiguration()
    let names = EmulatorAnswer.Name.allCases
    configuration.faults = names.map {
      // The year 2126: as far ahead as any wait is believed, whenever this runs.
      Fault(
        tokenPrefix: $0.rawValue + "-",
        action: .answer(EmulatorAnswer($0, retryAfter: "Mon, 21 Oct 2126 07:28:00 GMT")))
    }
    let bench = try FCMBench(configuration)
    for (id, name) in names.enumerated() { bench.send(UInt64(id), token: name.rawValue + "-1") }
    for (reply, name) in zip(try await bench.replies(names.count), names) {
      let wire = EmulatorAnswer(name)
      let expected = PushAnswer(status: wire.status, retryAfter: nil, body: Array(wire.body.utf8), now: 0)
      #expect(reply.answer.verdict == expected.verdict, "\(name)")
      #expect(reply.answer.errorCode == expected.errorCode, "\(name)")
      #expect(reply.answer.retryAfter == 86_400_000, "\(name)")
    }
  }

  @Test(
    "P4: a missing body, slow answers, a GOAWAY: nothing is lost, and nothing that was sent is sent again")
  func trouble() async throws {
    var configuration = FCMEmulatorConfiguration()
    configuration.faults = [
      Fault(tokenPrefix: "hang-", action: .hangAfterHeaders), Fault(tokenPrefix: "away-", times: 1, action: .goAway),
      Fault(tokenPrefix: "slow-", delay: .milliseconds(300)),
    ]
    let bench = try FCMBench(configuration, timeout: .seconds(2))
    bench.send(1, token: "hang-1")
    bench.send(2, token: "slow-1")
    for id in 3...60 { bench.send(UInt64(id)) }
    for reply in try await bench.replies(60) {
      // FCM's word came with the headers; only the name of the push is lost.
      #expect(reply.answer.isSent && reply.requests == 1, "\(reply.id)")
      if reply.id == 1 { #expect(reply.answer.verdict == .sent(name: nil)) }
    }
    bench.send(61, token: "away-1")
    _ = try await bench.replies(61)
    for id in 62...80 { bench.send(UInt64(id)) }
    for reply in try await bench.replies(80).dropFirst(60) {
      #expect(reply.answer.isSent || reply.answer.verdict == .unreachable, "\(reply.id)")
    }
    #expect(Set(bench.sends.filter { $0.status == 200 }.map(\.body)).count >= 61)
  }

  @Test("P6: an untrusted certificate refuses the project; nothing is sent")
  func untrusted() async throws {
    let bench = try FCMBench(trustsEmulator: false)
    bench.send(1)
    let reply = try #require(try await bench.replies(1).first)
    #expect(reply.answer.verdict == .projectRefused)
    #expect(reply.requests == 0)
    #expect(bench.emulator.requests().isEmpty)
  }

  @Test(
    "P6: an unknown project is refused and blames no token; its name cannot leave its place in the URL")
  func wrongProject() async throws {
    let bench = try FCMBench()
    bench.send(1, project: "another")
    bench.send(2, project: "../../token?x=")
    let replies = try await bench.replies(2)
    #expect(replies.allSatisfy { $0.answer.verdict == .projectRefused && $0.answer.httpStatus == 404 })
    #expect(bench.emulator.requests().contains { $0.path.contains("%2E%2E%2F") })
  }

  @Test("P8: after stop every request is answered as not sent")
  func stopped() async throws {
    let bench = try FCMBench()
    bench.send(1)
    _ = try await bench.replies(1)
    bench.client.stop()
    bench.send(2)
    let reply = try #require(try await bench.replies(2).last)
    #expect(reply.answer.errorCode == "shut_down")
    #expect(reply.requests == 0)
  }

  @Test("P8: a request in flight at stop is answered as possibly sent")
  func stoppedInAir() async throws {
    var configuration = FCMEmulatorConfiguration()
    configuration.faults = [Fault(action: .hang)]
    let bench = try FCMBench(configuration)
    bench.send(1)
    let end = ContinuousClock.now + .seconds(30)
    while bench.sends.isEmpty, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
    bench.client.stop()
    let reply = try #require(try await bench.replies(1).first)
    #expect(reply.answer.verdict == .unreachable)
    #expect(reply.requests == 1)
  }
}
