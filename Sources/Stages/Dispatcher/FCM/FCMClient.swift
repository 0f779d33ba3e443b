public import HTTPTransport
import NudgeSchema
public import ServiceKit
public import StreamRuntime

/// Sends the dispatcher's requests to FCM's HTTP v1 API (P1): access token, request, answer by the table (P4).
///
/// It makes one request an effect, two where FCM no longer takes the access token; every other "again" is the stage's to
/// say, because it is in its state that what waits survives. Replies come on the HTTP client's thread, or on the caller's
/// where nothing can be sent.
public final class FCMClient: EffectPerformer {
  /// What it is asked for.
  public typealias Effect = SendRequest
  /// What it answers.
  public typealias Reply = SendReply

  /// Google's address of FCM.
  public static let googleURL = "https://fcm.googleapis.com"

  /// A project's service account, its access tokens, and what is left of its quota.
  private struct Project: Sendable {
    let account: ServiceAccount
    let tokens: AccessTokenSource
    let pacer: SendPacer
  }

  /// The project of devices that name none, and the account for projects nobody configured.
  private let own: Project
  private let projects: [String: Project]
  private let baseURL: String
  private let timeout: Duration
  private let http: any HTTPSending
  private let monitor: FCMMonitor?
  private let spans: (any SpanRecorder)?
  private let log: Logger
  private let now: @Sendable () -> Milliseconds
  private let shutDown: @Sendable () -> Void

  /// A client for the projects of service accounts.
  ///
  /// - Parameters:
  ///   - accounts: one for each project, at least one; the first one's project is that of devices that name none.
  ///   - http: is the client's own from here on; `stop` ends it.
  ///   - baseURL: without a path, `https://fcm.googleapis.com` unless it is an emulator's.
  ///   - monitor: counts the answers, and says when FCM refuses.
  ///   - spans: takes those of requests whose push's trace is recorded.
  ///   - maxPerMinute: requests a minute at most, FCM's quota of a project, of which `setShare` says the part.
  ///   - rampUp: how long after the start that rate is reached (P5).
  ///   - timeout: how long a request may take, time spent waiting for a free stream included.
  ///   - grace: how long `stop` lets requests finish that are on the wire.
  public convenience init(
    accounts: [ServiceAccount], http: HTTPClientGroup, baseURL: String = FCMClient.googleURL, log: Logger,
    monitor: FCMMonitor? = nil, spans: (any SpanRecorder)? = nil, maxPerMinute: Int = 600_000,
    rampUp: Duration = .seconds(60),
    timeout: Duration = .seconds(15),
    grace: Duration = .seconds(1)
  ) {
    self.init(
      accounts: accounts, http: http, baseURL: baseURL, timeout: timeout, log: log, monitor: monitor,
      spans: spans, makePacer: { SendPacer(perMinute: maxPerMinute, rampUp: rampUp.milliseconds) },
      now: { SystemClock.milliseconds() },
      shutDown: { http.shutdown(grace: grace) })
  }

  init(
    accounts: [ServiceAccount], http: any HTTPSending, baseURL: String, timeout: Duration = .seconds(15), log: Logger,
    monitor: FCMMonitor?, spans: (any SpanRecorder)? = nil, makePacer: () -> SendPacer,
    now: @escaping @Sendable () -> Milliseconds, shutDown: @escaping @Sendable () -> Void
  ) {
    precondition(!accounts.isEmpty, "a client needs a service account")
    var projects: [String: Project] = [:]
    for account in accounts {
      projects[account.projectId] = Project(
        account: account, tokens: AccessTokenSource(account: account, http: http, log: log, now: now),
        pacer: makePacer())
    }
    self.projects = projects
    // Made of the same accounts.
    own =
      projects[accounts[0].projectId]
      ?? Project(
        account: accounts[0], tokens: AccessTokenSource(account: accounts[0], http: http, log: log, now: now),
        pacer: makePacer())
    self.http = http
    self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
    self.timeout = timeout
    self.log = log
    self.monitor = monitor
    self.spans = spans
    self.now = now
    self.shutDown = shutDown
  }

  /// Sends a request; `reply` is called exactly once.
  public func perform(_ effect: SendRequest, reply: @escaping @Sendable (SendReply) -> Void) {
    let project = effect.projectId.flatMap { projects[$0] } ?? own
    let isConfigured = effect.projectId.map { projects[$0] != nil } ?? true
    let began = spans?.now() ?? 0
    project.pacer.enqueue { maySend in
      let started = self.now()
      let completion: @Sendable (FCMAnswer, Int) -> Void = { answer, requests in
        self.note(answer)
        if answer.verdict == .quotaExceeded(.project) { project.pacer.halve() }
        let result = SendReply(
          id: effect.id, answer: answer, requests: requests, startedAt: started, finishedAt: self.now())
        self.monitor?.note(
          result, of: effect.messageAt, project: isConfigured ? project.account.projectId : nil)
        if let spans = self.spans, let span = Span(result, to: effect, from: began, until: spans.now()) {
          spans.record(span)
        }
        reply(result)
      }
      if maySend {
        self.attempt(effect, project, requests: 0, completion: completion)
      } else {
        completion(FCMAnswer(.unreachable, errorCode: "shut_down"), 0)
      }
    }
  }

  /// Gets access tokens and opens connections ahead of the first push.
  public func warmUp() {
    http.warmUp(baseURL + "/")
    for project in projects.values { project.tokens.withToken { _ in } }
  }

  /// This instance has this part of the partitions, 0 to 1, and may use this part of the project's quota.
  public func setShare(_ share: Double) { for project in projects.values { project.pacer.setShare(share) } }

  /// Ends the HTTP client: what waits, here or there, and what comes later, is answered as not sent. Blocks for the
  /// grace at most.
  public func stop() {
    for project in projects.values { project.pacer.stop() }
    shutDown()
  }

  /// Gets a token, sends, and once more with a new token where FCM says that this one is none. `requests` were made.
  private func attempt(
    _ effect: SendRequest, _ project: Project, requests: Int,
    completion: @escaping @Sendable (FCMAnswer, _ requests: Int) -> Void
  ) {
    project.tokens.withToken { result in
      switch result {
      case .failure(let error):
        completion(
          FCMAnswer(.projectRefused, errorCode: error.kind.rawValue, retryAfter: error.retryAfter), requests)
      case .success(let token):
        self.http.send(self.request(effect, project, token: token)) { result in
          switch result {
          case .success(let response):
            let answer = FCMAnswer(
              status: response.status, retryAfter: response.headers["retry-after"], body: response.body,
              now: self.now())
            if response.status == 401, answer.verdict == .projectRefused, requests == 0 {
              project.tokens.invalidate(token)
              self.attempt(effect, project, requests: 1, completion: completion)
            } else {
              completion(answer, requests + 1)
            }
          case .failure(let error):
            let (answer, hasLeft) = FCMAnswer.noAnswer(error)
            completion(answer, requests + (hasLeft ? 1 : 0))
          }
        }
      }
    }
  }

  private func request(_ effect: SendRequest, _ project: Project, token: String) -> HTTPRequest {
    HTTPRequest(
      url: "\(baseURL)/v1/projects/\(Self.pathSegment(effect.projectId ?? project.account.projectId))/messages:send",
      headers: [("authorization", "Bearer \(token)"), ("content-type", "application/json")], body: effect.body,
      timeout: timeout)
  }

  /// Project ids come with device registrations: nothing in one may reach beyond its place in the URL.
  private static func pathSegment(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var escaped: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): escaped.append(byte)
      default: escaped += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: escaped, as: UTF8.self)
  }

  /// What an operator must know of, without a word of the request.
  private func note(_ answer: FCMAnswer) {
    switch answer.verdict {
    case .projectRefused, .platformRefused, .senderMismatch, .rejected:
      log.limited("refused-\(answer.errorCode ?? "")", every: .seconds(10))?.error(
        "FCM refuses: check project, credentials and the request", Self.metadata(answer))
    case _ where answer.isUnknown:
      log.limited("unknown", every: .seconds(10))?.warning(
        "FCM gave an answer its documentation does not have", Self.metadata(answer))
    default: break
    }
  }

  private static func metadata(_ answer: FCMAnswer) -> [String: LogValue] {
    ["status": .int(answer.httpStatus ?? 0), "code": .string(answer.errorCode ?? "")]
  }
}

extension FCMAnswer {
  /// Classifies a request without an answer, and whether it was made at all.
  static func noAnswer(_ error: HTTPTransportError) -> (answer: FCMAnswer, hasLeft: Bool) {
    switch error.kind {
    case .connectionFailed: (FCMAnswer(.unreachable, errorCode: "connection_failed"), true)
    case .timedOut: (FCMAnswer(.unreachable, errorCode: "timed_out"), true)
    case .reset: (FCMAnswer(.unreachable, errorCode: "connection_reset"), true)
    case .cancelled: (FCMAnswer(.unreachable, errorCode: "cancelled"), true)
    case .other, .responseTooLarge: (FCMAnswer(.unreachable, errorCode: "transport_error", isUnknown: true), true)
    // A handshake that broke off is the network's fault; a certificate that is not trusted is no push's.
    case .tls: (FCMAnswer(error.isRetriable ? .unreachable : .projectRefused, errorCode: "tls"), true)
    case .shutDown: (FCMAnswer(.unreachable, errorCode: "shut_down"), false)
    case .queueFull: (FCMAnswer(.unreachable, errorCode: "queue_full"), false)
    case .invalidRequest: (FCMAnswer(.projectRefused, errorCode: "invalid_request"), false)
    }
  }
}
