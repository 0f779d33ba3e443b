import HTTPTransport
import NudgeSchema
import ServiceKit
import StreamRuntime
import Synchronization
import WebPush

/// Sends pushes to Web Push services (RFC 8030): encrypts the message for the subscription, signs with a VAPID key, and classifies the
/// answer.
///
/// It makes one request for an effect. If the service finds the message too long, it makes another with a shorter one; if the service
/// refuses a key while keys change, another with the next key. Every other repetition is the stage's decision.
final class WebPushClient: EffectPerformer {
  typealias Effect = SendRequest
  typealias Reply = SendReply

  /// The parts of a request that another attempt needs.
  private struct Attempt: Sendable {
    let effect: SendRequest
    let delivery: WebPushDelivery
    let endpoint: WebPushEndpoint
    let keys: WebPushKeys
    var body: [UInt8]
    var isShortened = false
    /// The VAPID keys that remain to be tried.
    var signers: [VAPIDKey]
    /// The number of requests so far.
    var requests = 0
  }

  private struct State {
    var signers: [VAPIDKey]
    var tokens: VAPIDTokens
    var memory = WebPushMemory()
  }

  private let rules: EndpointRules
  private let http: any WebPushSending
  private let services: WebPushServices
  private let monitor: WebPushMonitor?
  private let spans: (any SpanRecorder)?
  private let timeout: Duration
  private let log: Logger
  private let clocks: Clocks
  private let state: Mutex<State>

  /// - Parameters:
  ///   - signers: The VAPID keys, at least one. The first is for subscriptions with an unknown key.
  ///   - subject: How services can contact the operator.
  ///   - http: The HTTP client, which belongs to this client from now on; `stop` shuts it down.
  init(
    signers: [VAPIDKey], subject: String, rules: WebPushRules, http: any WebPushSending, log: Logger,
    monitor: WebPushMonitor? = nil, spans: (any SpanRecorder)? = nil, timeout: Duration = .seconds(10),
    clocks: Clocks = Clocks()
  ) {
    precondition(!signers.isEmpty, "a client needs a VAPID key")
    self.rules = rules.endpoints
    services = rules.services
    self.http = http
    self.monitor = monitor
    self.spans = spans
    self.timeout = timeout
    self.log = log
    self.clocks = clocks
    state = Mutex(State(signers: signers, tokens: VAPIDTokens(subject: subject)))
  }

  func perform(_ effect: SendRequest, reply: @escaping @Sendable (SendReply) -> Void) {
    let began = spans?.now() ?? 0
    let started = clocks.wall()
    let (attempt, unusable) = prepare(effect)
    let host = attempt.map { services.label(ofHost: $0.endpoint.host) } ?? WebPushServices.other
    let end: @Sendable (PushAnswer, Int) -> Void = { [self] answer, requests in
      report(answer, host)
      let result = SendReply(
        id: effect.id, answer: answer, requests: requests, startedAt: started, finishedAt: clocks.wall())
      monitor?.count(result, of: effect.messageAt, effect.priority, host: host)
      if let spans, let span = Span(result, to: effect, .webPush(host: host), from: began, until: spans.now()) {
        spans.record(span)
      }
      reply(result)
    }
    guard let attempt else { return end(PushAnswer(.rejected, errorCode: unusable?.rawValue), 0) }
    send(attempt, end)
  }

  /// Signs with other keys from now on. The first is for subscriptions with an unknown key. Requests in progress keep the former keys.
  func replace(_ signers: [VAPIDKey]) {
    precondition(!signers.isEmpty, "a client needs a VAPID key")
    state.withLock { $0.signers = signers }
  }

  func stop() { http.shutdown() }

  /// Why a request cannot be made.
  private enum Unusable: String, Error {
    case noSubscription = "no_subscription"
    case endpoint = "endpoint_not_allowed"
    case keys = "subscription_keys"
    case sealing = "sealing_failed"
  }

  /// The first attempt, or why no request can be made.
  private func prepare(_ effect: SendRequest) -> (Attempt?, Unusable?) {
    guard let delivery = effect.webPush else { return (nil, .noSubscription) }
    let subscription = delivery.subscription
    guard let endpoint = try? rules.endpoint(subscription.endpoint) else { return (nil, .endpoint) }
    guard let keys = try? WebPushKeys(p256dh: subscription.p256dh, auth: subscription.auth) else {
      return (nil, .keys)
    }
    guard let body = try? WebPushSealing.seal(effect.body, for: keys) else { return (nil, .sealing) }
    let signers = state.withLock { state in
      guard let known = state.memory.signer(of: endpoint.url) else { return state.signers }
      return state.signers.filter { $0.publicKey == known } + state.signers.filter { $0.publicKey != known }
    }
    return (
      Attempt(effect: effect, delivery: delivery, endpoint: endpoint, keys: keys, body: body, signers: signers), nil
    )
  }

  private func send(_ attempt: Attempt, _ end: @escaping @Sendable (PushAnswer, Int) -> Void) {
    guard attempt.effect.mayLeave(at: clocks.steady()) else { return end(PushAnswer(.notSent), attempt.requests) }
    guard let authorization = authorization(attempt) else {
      return end(PushAnswer(.projectRefused, errorCode: "vapid_signing"), attempt.requests)
    }
    http.send(request(attempt, authorization), to: attempt.endpoint.origin) { [self] result in
      switch result {
      case .failure(let error):
        let (answer, hasLeft) = PushAnswer.noWebPushAnswer(error)
        end(answer, attempt.requests + (hasLeft ? 1 : 0))
      case .success(let response): receive(response, attempt, end)
      }
    }
  }

  private func receive(
    _ response: HTTPResponse, _ attempt: Attempt, _ end: @escaping @Sendable (PushAnswer, Int) -> Void
  ) {
    var next = attempt
    next.requests += 1
    let meaning = WebPushAnswer(status: response.status)
    let now = clocks.wall()
    var answer = PushAnswer(
      webPush: meaning, status: response.status, retryAfter: response.headers["retry-after"], now: now)
    let origin = attempt.endpoint.origin
    switch meaning {
    case .sent:
      state.withLock { state in
        let signer = attempt.signers[0].publicKey
        state.memory.taken(
          by: origin, attempt.endpoint.url, signer: signer, isFirst: signer == state.signers[0].publicKey, now)
      }
    case .tooLong where !attempt.isShortened:
      next.isShortened = true
      if let message = attempt.delivery.shorter(), message.count < attempt.effect.body.count,
        let body = try? WebPushSealing.seal(message, for: attempt.keys)
      {
        next.body = body
        return send(next, end)
      }
    case .keyRefused:
      next.signers.removeFirst()
      if !next.signers.isEmpty { return send(next, end) }
      let isSubscriptions = state.withLock { state in
        // The service's clock may already be past the token's end.
        state.tokens.forget(origin)
        return state.memory.hasTaken(origin, now)
      }
      // A user can subscribe with somebody else's key, which must not delay the others.
      if isSubscriptions { answer.verdict = .subscriptionRefused }
    case .gone, .tooLong, .later, .rejected: break
    }
    end(answer, next.requests)
  }

  private func authorization(_ attempt: Attempt) -> String? {
    let now = clocks.wall() / 1_000
    return state.withLock {
      try? $0.tokens.authorization(for: attempt.endpoint.origin, by: attempt.signers[0], now: now)
    }
  }

  private func request(_ attempt: Attempt, _ authorization: String) -> HTTPRequest {
    let (effect, delivery) = (attempt.effect, attempt.delivery)
    let headers = WebPushHeaders(
      ttl: delivery.ttlSeconds, urgency: delivery.urgency, topic: delivery.topic, authorization: authorization)
    let request = HTTPRequest(
      url: attempt.endpoint.url, headers: headers.fields, body: attempt.body, timeout: timeout)
    return effect.held(request, by: clocks)
  }

  /// Logs what an operator must know, without any part of the request.
  private func report(_ answer: PushAnswer, _ host: String) {
    var facts: [String: LogValue] {
      ["host": .string(host), "status": .int(answer.httpStatus ?? 0), "code": .string(answer.errorCode ?? "")]
    }
    switch answer.verdict {
    case .projectRefused:
      log.limited("web-push-refused-\(host)", every: .seconds(10))?.error(
        "a push service refuses the VAPID key: check --vapid-key, --vapid-subject and the clock", facts)
    case .rejected, .subscriptionRefused:
      log.limited("web-push-rejected-\(host)", every: .seconds(10))?.warning("a push service refuses a push", facts)
    default: break
    }
  }
}

/// Facts about push services that are kept for a while, in bounded memory.
struct WebPushMemory {
  /// For this long after a service accepted a push, a refused key is attributed to the subscription.
  static let trust: Milliseconds = 60_000
  private static let capacity = 10_000

  private var takenAt: [String: Milliseconds] = [:]
  /// By the hash of an endpoint: the key that its service accepted, if it is not the first one.
  private var signers: [UInt64: String] = [:]

  /// The VAPID key of a subscription; nil if it is not known.
  func signer(of endpoint: String) -> String? { signers.isEmpty ? nil : signers[FNV1a.hash(endpoint)] }

  mutating func taken(by origin: String, _ endpoint: String, signer: String, isFirst: Bool, _ now: Milliseconds) {
    if takenAt.count >= Self.capacity { takenAt = takenAt.filter { now - $0.value < Self.trust } }
    if takenAt.count < Self.capacity || takenAt[origin] != nil { takenAt[origin] = now }
    guard !isFirst || !signers.isEmpty else { return }
    if signers.count >= 10 * Self.capacity { signers.removeAll() }
    signers[FNV1a.hash(endpoint)] = isFirst ? nil : signer
  }

  func hasTaken(_ origin: String, _ now: Milliseconds) -> Bool {
    takenAt[origin].map { abs(now - $0) < Self.trust } ?? false
  }
}

extension PushAnswer {
  /// Classifies an answer of a push service. An HTTP date in the header is relative to `now`. Only the status counts, because services word
  /// their errors in many ways.
  init(webPush answer: WebPushAnswer, status: Int, retryAfter header: String?, now: Milliseconds) {
    let verdict: Verdict =
      switch answer {
      // The answer's `Location` is not kept, because whoever knows it can delete the message.
      case .sent: .sent(name: nil)
      case .gone: .invalidToken
      case .tooLong, .rejected: .rejected
      // Services count per subscription.
      case .later: status == 429 ? .quotaExceeded(.device) : .serverFailed
      case .keyRefused: .projectRefused
      }
    let isSent = answer == .sent
    self.init(
      verdict, httpStatus: status, errorCode: isSent ? nil : "HTTP_\(status)",
      retryAfter: isSent ? nil : header.flatMap { RetryAfter($0)?.wait(from: now) })
  }

  /// Classifies a request to a push service without an answer, and whether it left the process. A forbidden address or an unusable URL is
  /// attributed to the subscription, not to the service.
  static func noWebPushAnswer(_ error: HTTPTransportError) -> (answer: PushAnswer, hasLeft: Bool) {
    switch error.kind {
    case .addressRefused: (PushAnswer(.rejected, errorCode: "address_refused"), false)
    case .invalidRequest: (PushAnswer(.rejected, errorCode: "invalid_request"), false)
    default: noAnswer(error)
    }
  }
}
