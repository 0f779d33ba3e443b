@testable import FCMEmulator
import Foundation
import HTTPTransport
import NudgeSchema
import ServiceKit
import Synchronization
import TestSupport
import Testing

@testable import Dispatcher

@Suite("Connections to Web Push services", .serialized)
struct WebPushConnectionsTests {
  private func request(_ emulator: FCMEmulator, _ number: Int = 0) -> HTTPRequest {
    HTTPRequest(
      url: emulator.url + "/v1/projects/nudge-demo/messages:send",
      headers: [("content-type", "application/json"), ("authorization", "Bearer \(emulator.issueAccessToken())")],
      body: Array(#"{"message":{"token":"device-\#(number)"}}"#.utf8), timeout: .seconds(20))
  }

  private final class Answers: Sendable {
    private let kept = Mutex<[Result<HTTPResponse, HTTPTransportError>]>([])
    var all: [Result<HTTPResponse, HTTPTransportError>] { kept.withLock { $0 } }
    func add(_ answer: Result<HTTPResponse, HTTPTransportError>) { kept.withLock { $0.append(answer) } }
    var statuses: [Int] { all.compactMap { try? $0.get().status } }
    var kinds: [HTTPTransportError.Kind] {
      all.compactMap { if case .failure(let error) = $0 { error.kind } else { nil } }
    }
  }

  @Test("issue 57: a host that hangs with all its requests holds up no other")
  func hanging() async throws {
    let slow = try FCMEmulator(FCMEmulatorConfiguration(faults: [Fault(action: .hang)]))
    let quick = try FCMEmulator()
    slow.start()
    quick.start()
    defer {
      slow.stop()
      quick.stop()
    }
    // Both emulators have a certificate authority of their own.
    let folder = try TemporaryDirectory()
    let authorities = try [slow, quick].map { try String(contentsOfFile: $0.caFile, encoding: .utf8) }.joined()
    try Data(authorities.utf8).write(to: URL(fileURLWithPath: folder.path + "/ca.pem"))
    let connections = WebPushConnections(
      HTTPClientConfiguration(caFile: folder.path + "/ca.pem", maxConnectionsPerHost: 4))
    defer { connections.shutdown() }
    let (hung, answered) = (Answers(), Answers())
    for number in 0..<1_000 { connections.send(request(slow, number), to: slow.url) { hung.add($0) } }
    for number in 0..<500 { connections.send(request(quick, number), to: quick.url) { answered.add($0) } }
    wait(for: "the quick host has answered") { answered.all.count == 500 }
    #expect(answered.statuses.count == 500, "\(answered.kinds)")
    #expect(hung.all.isEmpty)
  }

  @Test(
    "issue 57: hosts are without number, clients are not: an idle one gives its place away, and busy ones are left alone"
  )
  func bounded() async throws {
    let hanging = try (0..<2).map { _ in try FCMEmulator(FCMEmulatorConfiguration(faults: [Fault(action: .hang)])) }
    let quick = try (0..<4).map { _ in try FCMEmulator() }
    for emulator in hanging + quick { emulator.start() }
    defer { for emulator in hanging + quick { emulator.stop() } }
    let folder = try TemporaryDirectory()
    let authorities = try (hanging + quick).map { try String(contentsOfFile: $0.caFile, encoding: .utf8) }.joined()
    try Data(authorities.utf8).write(to: URL(fileURLWithPath: folder.path + "/ca.pem"))
    let connections = WebPushConnections(HTTPClientConfiguration(caFile: folder.path + "/ca.pem"), maxHosts: 2)
    let (hung, answered) = (Answers(), Answers())
    // One place stays for all quick hosts.
    connections.send(request(hanging[0]), to: hanging[0].url) { hung.add($0) }
    for (number, emulator) in (quick + quick).enumerated() {
      connections.send(request(emulator, number), to: emulator.url) { answered.add($0) }
      wait(for: "host \(number) has answered") { answered.all.count == number + 1 }
    }
    #expect(answered.statuses.count == 8, "\(answered.kinds)")
    // No place is left: further hosts share a client, and each has few requests there.
    connections.send(request(hanging[1]), to: hanging[1].url) { hung.add($0) }
    for number in 0..<30 { connections.send(request(quick[0], number), to: quick[0].url) { answered.add($0) } }
    wait(for: "the shared client has answered") { answered.all.count == 38 }
    #expect(answered.kinds.allSatisfy { $0 == .queueFull } && answered.statuses.count >= 8 + 16, "\(answered.kinds)")
    #expect(hung.all.isEmpty)
    connections.shutdown()
    wait(for: "what hangs has ended") { hung.all.count == 2 }
    connections.send(request(quick[0]), to: quick[0].url) { hung.add($0) }
    #expect(hung.kinds.last == .shutDown)
  }

  @Test("issue 57: a name that leads to this host is not connected to, and a redirect is not followed")
  func privateAddress() async throws {
    let emulator = try FCMEmulator()
    emulator.start()
    defer { emulator.stop() }
    let connections = WebPushConnections(
      HTTPClientConfiguration(caFile: emulator.caFile, addresses: .publicOnly))
    defer { connections.shutdown() }
    let answers = Answers()
    connections.send(request(emulator), to: emulator.url) { answers.add($0) }
    wait(for: "the request has ended") { answers.all.count == 1 }
    #expect(answers.kinds == [.addressRefused])
    #expect(emulator.requests().isEmpty)
  }
}
