@testable import FCMEmulator
import Foundation
import HTTPTransport
import NudgeSchema
import ServiceKit
import Synchronization
import TestSupport
import Testing

@testable import Dispatcher

@Suite("What is checked right before a request leaves the process", .timeLimit(.minutes(2)))
struct FCMWireTests {
  private final class Bench: Sendable {
    let clock = HandClock()
    let http = StandInHTTP()
    let client: FCMClient
    let replies = Mutex<[SendReply]>([])

    init() throws {
      let emulator = try FCMEmulator()
      let account = try ServiceAccount(file: emulator.serviceAccountFile)
      client = FCMClient(
        accounts: [account], http: http, baseURL: "http://fcm", log: Logger(label: "fcm", sink: LogCapture().sink),
        monitor: nil, clocks: clock.clocks, shutDown: {})
    }

    var verdicts: [PushAnswer.Verdict] { replies.withLock { $0.map(\.answer.verdict) } }
    var sends: [HTTPRequest] { http.requests.filter { $0.url.hasSuffix("messages:send") } }

    func send(leaveBy: Milliseconds? = nil, lease: SendLease? = nil) {
      client.perform(
        SendRequest(
          id: 1, destination: .fcm(project: nil), subject: .init(userId: "ann", deviceId: "d", pushId: "p", attempt: 1),
          token: "t",
          body: [], leaveBy: leaveBy, lease: lease)
      ) { reply in self.replies.withLock { $0.append(reply) } }
    }
  }

  @Test("T2: a request that waited too long for an access token is not sent")
  func slowToken() throws {
    let bench = try Bench()
    bench.send(leaveBy: 2_000)
    bench.clock.steady.withLock { $0 = 2_001 }
    bench.http.answer = HTTPResponse(status: 200)
    bench.http.release(StandInHTTP.token("t1"))
    #expect(bench.verdicts == [.notSent] && bench.sends.isEmpty)
    #expect(bench.replies.withLock { $0[0].requests } == 0)
    bench.send(leaveBy: 2_001)
    #expect(bench.sends.count == 1)
  }

  @Test("P7: a request of a task that was given up meanwhile is not sent")
  func revoked() throws {
    let bench = try Bench()
    let lease = SendLease()
    bench.send(lease: lease)
    lease.revoke()
    bench.http.answer = HTTPResponse(status: 200)
    bench.http.release(StandInHTTP.token("t1"))
    #expect(bench.verdicts == [.notSent] && bench.sends.isEmpty)
  }

  @Test("T2: the second request after a 401 is subject to the same check")
  func secondRequest() throws {
    let bench = try Bench()
    bench.send(leaveBy: 2_000)
    bench.http.release(StandInHTTP.token("t1"))
    #expect(bench.sends.count == 1)
    bench.http.release(HTTPResponse(status: 401))
    bench.clock.steady.withLock { $0 = 2_001 }
    bench.http.release(StandInHTTP.token("t2"))
    #expect(bench.sends.count == 1 && bench.verdicts == [.notSent])
    #expect(bench.replies.withLock { $0[0].requests } == 1)
  }

  @Test("T2: a request that waits for a free stream is checked when one is free, and ends when its time is up")
  func noStream() throws {
    var configuration = FCMEmulatorConfiguration()
    configuration.keepRequests = 10
    configuration.faults = [Fault(tokenPrefix: "hang", action: .hang)]
    let emulator = try FCMEmulator(configuration)
    emulator.start()
    defer { emulator.stop() }
    let http = try HTTPClientGroup(
      HTTPClientConfiguration(caFile: emulator.caFile, maxConnectionsPerHost: 1, maxConcurrentStreams: 1))
    let client = FCMClient(
      accounts: [try ServiceAccount(file: emulator.serviceAccountFile)], http: http, baseURL: emulator.url,
      log: Logger(label: "fcm", sink: LogCapture().sink), timeout: .seconds(60), grace: .zero)
    defer { client.stop() }
    let replies = Mutex<[UInt64: PushAnswer.Verdict]>([:])
    func send(_ id: UInt64, _ token: String, leaveBy: Milliseconds?, lease: SendLease? = nil) {
      let body = Array(#"{"message":{"token":"\#(token)"}}"#.utf8)
      client.perform(
        SendRequest(
          id: id, destination: .fcm(project: nil),
          subject: .init(userId: "ann", deviceId: "d", pushId: "p\(id)", attempt: 1),
          token: token, body: body, leaveBy: leaveBy, lease: lease)
      ) { reply in replies.withLock { $0[reply.id] = reply.answer.verdict } }
    }
    send(1, "hang-1", leaveBy: nil)
    wait(for: "the first request") { !emulator.requests().filter { $0.path.hasSuffix("messages:send") }.isEmpty }
    let lease = SendLease()
    send(2, "soon", leaveBy: SystemClock.steadyMilliseconds() + 300)
    wait(for: "the end of its time") { replies.withLock { $0[2] } == .notSent }
    send(3, "mine", leaveBy: nil, lease: lease)
    lease.revoke()
    wait(for: "the end of its lease") { replies.withLock { $0[3] } == .notSent }
    #expect(emulator.requests().filter { $0.path.hasSuffix("messages:send") }.count == 1)
    #expect(replies.withLock { $0[1] } == nil)
  }
}

@Suite("Credential files that change", .timeLimit(.minutes(2)))
struct AccountFilesTests {
  @Test("a new file is used for the next request; a broken one keeps the former account, and is logged once")
  func reload() async throws {
    let first = try FCMEmulator()
    let second = try FCMEmulator()
    first.start()
    second.start()
    defer {
      first.stop()
      second.stop()
    }
    let directory = try TemporaryDirectory()
    let (file, authorities) = (directory.path + "/account.json", directory.path + "/ca.pem")
    func write(_ text: String, to path: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }
    func read(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
    try write(read(first.caFile) + read(second.caFile), to: authorities)
    try write(read(first.serviceAccountFile), to: file)

    let log = LogCapture()
    let logger = Logger(label: "fcm", sink: log.sink)
    var files = AccountFiles(paths: [file])
    files.markRead()
    let http = try HTTPClientGroup(HTTPClientConfiguration(caFile: authorities))
    let client = FCMClient(
      accounts: [try ServiceAccount(file: file)], http: http, baseURL: first.url, log: logger, grace: .zero)
    let connections = FCMConnections(client: client, http: http, files: files, log: logger)
    defer { client.stop() }
    func send() async {
      _ = await withCheckedContinuation { continuation in
        client.perform(
          SendRequest(
            id: 1, destination: .fcm(project: nil),
            subject: .init(userId: "ann", deviceId: "d", pushId: "p", attempt: 1), token: "t",
            body: Array(#"{"message":{"token":"t"}}"#.utf8))
        ) { continuation.resume(returning: $0) }
      }
    }
    await send()
    connections.reload()
    #expect(first.counters.tokensIssued == 1 && second.counters.tokensIssued == 0)

    try write("{", to: file)
    connections.reload()
    connections.reload()
    await send()
    #expect(log.entries.filter { $0.level == .error && $0.message.contains("former account stays") }.count == 1)
    #expect(first.counters.tokensIssued == 1 && second.counters.tokensIssued == 0)

    try write(read(second.serviceAccountFile), to: file)
    connections.reload()
    await send()
    #expect(second.counters.tokensIssued >= 1)
    #expect(log.entries.contains { $0.message == "FCM credentials were read again" })

    let other = try read(second.serviceAccountFile).replacing("\"nudge-demo\"", with: "\"another\"")
    try write(other, to: file)
    // A change is taken once the file has looked the same twice.
    connections.reload()
    connections.reload()
    #expect(log.entries.contains { $0.message.contains("a project that was not configured at the start") })
  }
}
