import Foundation
import HTTPTransport
import NudgeSchema
import ServiceKit
import Synchronization
import TestSupport

@testable import Dispatcher
@testable import WebPush

/// A browser's side of subscriptions.
struct Subscriber {
  let key: [UInt8]
  let secret: [UInt8]
  let p256dh: String
  var auth: String { Base64URL.encode(secret) }

  init() throws {
    key = try P256.randomScalar()
    secret = Array(try P256.randomScalar().prefix(16))
    p256dh = Base64URL.encode(try P256.publicKey(of: key))
  }

  func subscription(_ endpoint: String = "https://updates.push.services.mozilla.com/wpush/v2/secret")
    -> WebPushSubscription
  {
    WebPushSubscription(endpoint: endpoint, p256dh: p256dh, auth: auth)
  }

  /// The messages that http-ece reads in sealed bodies; nil where it is not installed.
  func opened(_ bodies: [[UInt8]]) throws -> [[UInt8]?]? {
    guard PythonJudge.isInstalled else { return nil }
    let script = """
      import sys, base64, http_ece
      from cryptography.hazmat.primitives.asymmetric import ec
      unb64 = lambda t: base64.urlsafe_b64decode(t + '=' * (-len(t) % 4))
      for line in open(sys.argv[1]):
          key, auth, body = map(unb64, line.split())
          key = ec.derive_private_key(int.from_bytes(key, 'big'), ec.SECP256R1())
          text = http_ece.decrypt(body, private_key=key, auth_secret=auth, version='aes128gcm')
          print(base64.urlsafe_b64encode(text).rstrip(b'=').decode())
      """
    let lines = bodies.map { [key, secret, $0].map { Base64URL.encode($0) }.joined(separator: " ") }
    let (status, texts) = try PythonJudge.run(script, lines.joined(separator: "\n"))
    return status == 0 ? bodies.indices.map { texts.indices.contains($0) ? Base64URL.decode(texts[$0]) : nil } : []
  }
}

extension WebPushRules {
  /// Every public host.
  static let open = WebPushRules(endpoints: EndpointRules(), services: WebPushServices(salt: 1))
}

extension DispatcherBench {
  /// A push to a subscription.
  static func webPush(
    _ id: String, user: String = "ann", to subscription: WebPushSubscription, kind: Push.Kind = .message,
    presentation: Presentation = .alert, platform: Platform = .web, version: Int64 = 1, body: String = "Hello"
  ) -> Push {
    var push = push(id, user: user, kind: kind, presentation: presentation, version: version, body: body)
    push.targets = [PushTarget(deviceId: "browser", webPush: subscription, version: version, platform: platform)]
    return push
  }
}

/// Stands in for the connections to push services: answers in the order of a list, then always with its last entry.
final class StandInPushService: WebPushSending {
  private struct State {
    var answers: [Result<HTTPResponse, HTTPTransportError>]
    var requests: [(request: HTTPRequest, origin: String)] = []
  }
  private let state: Mutex<State>

  init(_ statuses: Int..., retryAfter: String? = nil) {
    let headers = HTTPResponse.Headers(retryAfter.map { [("retry-after", $0)] } ?? [])
    state = Mutex(State(answers: statuses.map { .success(HTTPResponse(status: $0, headers: headers)) }))
  }

  init(failing error: HTTPTransportError) { state = Mutex(State(answers: [.failure(error)])) }

  var requests: [(request: HTTPRequest, origin: String)] { state.withLock { $0.requests } }

  /// Answers with these from now on.
  func answer(_ statuses: Int...) {
    state.withLock { $0.answers = statuses.map { .success(HTTPResponse(status: $0)) } }
  }

  func send(_ request: HTTPRequest, to origin: String, completion: @escaping HTTPClient.Completion) {
    let answer = state.withLock { state in
      state.requests.append((request, origin))
      return state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0]
    }
    completion(answer)
  }

  func shutdown() {}
}

/// Keeps spans.
final class SpanCapture: SpanRecorder {
  private let kept = Mutex<[Span]>([])
  var spans: [Span] { kept.withLock { $0 } }
  func now() -> UInt64 { SystemClock.nanoseconds() }
  func record(_ span: Span) { kept.withLock { $0.append(span) } }
}
