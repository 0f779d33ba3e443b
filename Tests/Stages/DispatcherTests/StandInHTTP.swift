import HTTPTransport
import NudgeSchema
import Synchronization

@testable import Dispatcher

/// Clocks set by hand.
final class HandClock: Sendable {
  let wall = Mutex<Milliseconds>(DispatcherBench.start)
  let steady = Mutex<Milliseconds>(1_000)

  var clocks: Clocks {
    Clocks(wall: { self.wall.withLock { $0 } }, steady: { self.steady.withLock { $0 } })
  }
}

/// Stands in for the HTTP clients: answers at once, or when it is told to.
final class StandInHTTP: HTTPSending {
  private struct Held {
    let completion: HTTPClient.Completion
  }
  private struct State {
    var answer: HTTPResponse?
    var requests: [HTTPRequest] = []
    var held: [Held] = []
  }
  private let state = Mutex(State())

  /// The answer to every request; nil: requests are held.
  var answer: HTTPResponse? {
    get { state.withLock { $0.answer } }
    set { state.withLock { $0.answer = newValue } }
  }

  var requests: [HTTPRequest] { state.withLock { $0.requests } }

  static func token(_ value: String) -> HTTPResponse {
    HTTPResponse(status: 200, body: Array(#"{"access_token":"\#(value)","expires_in":3600}"#.utf8))
  }

  func send(_ request: HTTPRequest, completion: @escaping HTTPClient.Completion) {
    let answer = state.withLock { state in
      state.requests.append(request)
      if state.answer == nil { state.held.append(Held(completion: completion)) }
      return state.answer
    }
    if let answer { completion(.success(answer)) }
  }

  func warmUp(_ url: String) {}

  /// Answers the requests that are held.
  func release(_ answer: HTTPResponse) {
    let held = state.withLock { state in
      defer { state.held = [] }
      return state.held
    }
    for held in held { held.completion(.success(answer)) }
  }
}
