@testable import FCMEmulator
import Foundation
import HTTPTransport
import Synchronization

/// A running emulator and a client that trusts it.
struct Bench {
  let emulator: FCMEmulator
  let client: HTTPClient
  let token: String

  init(
    emulator configuration: FCMEmulatorConfiguration = FCMEmulatorConfiguration(),
    client adjust: (inout HTTPClientConfiguration) -> Void = { _ in }
  ) throws {
    emulator = try FCMEmulator(configuration)
    emulator.start()
    var settings = HTTPClientConfiguration(caFile: emulator.caFile)
    adjust(&settings)
    client = try HTTPClient(settings)
    token = emulator.issueAccessToken()
  }

  var sendURL: String { emulator.url + "/v1/projects/nudge-demo/messages:send" }

  func message(
    to device: String = "device", base: String? = nil, timeout: Duration = .seconds(15)
  ) -> HTTPRequest {
    HTTPRequest(
      url: (base ?? emulator.url) + "/v1/projects/nudge-demo/messages:send",
      headers: [("authorization", "Bearer \(token)"), ("content-type", "application/json")],
      body: Array(#"{"message":{"token":"\#(device)","notification":{"title":"Ada","body":"Hello"}}}"#.utf8),
      timeout: timeout)
  }

  func end() {
    client.shutdown(grace: .seconds(5))
    emulator.stop()
  }
}

typealias Answer = Result<HTTPResponse, HTTPTransportError>

extension HTTPClient {
  /// Sends one request and waits for its end.
  func answer(to request: HTTPRequest) async -> Answer {
    await withCheckedContinuation { continuation in
      send(request) { continuation.resume(returning: $0) }
    }
  }

  /// Sends requests one after the other, and waits for the end of all.
  func answers(to requests: [HTTPRequest]) async -> [Answer] {
    let collector = Collector(expecting: requests.count)
    for request in requests { send(request) { collector.add($0) } }
    return await collector.all()
  }
}

/// Gathers results from the client's thread.
final class Collector: Sendable {
  private struct State {
    var answers: [Answer] = []
    var waiter: CheckedContinuation<[Answer], Never>?
  }

  private let state = Mutex(State())
  private let expected: Int

  init(expecting expected: Int) {
    self.expected = expected
  }

  var count: Int { state.withLock { $0.answers.count } }

  func add(_ answer: Answer) {
    let (waiter, answers) = state.withLock { state -> (CheckedContinuation<[Answer], Never>?, [Answer]) in
      state.answers.append(answer)
      guard state.answers.count == expected else { return (nil, []) }
      defer { state.waiter = nil }
      return (state.waiter, state.answers)
    }
    waiter?.resume(returning: answers)
  }

  func all() async -> [Answer] {
    await withCheckedContinuation { continuation in
      let done = state.withLock { state -> [Answer]? in
        if state.answers.count >= expected { return state.answers }
        state.waiter = continuation
        return nil
      }
      if let done { continuation.resume(returning: done) }
    }
  }
}

extension Answer {
  var status: Int? { if case .success(let response) = self { response.status } else { nil } }
  var failure: HTTPTransportError? { if case .failure(let error) = self { error } else { nil } }
}
