import Foundation
public import HTTPTransport
import NudgeSchema
public import ServiceKit
public import StreamRuntime
import Synchronization

/// Sends the dispatcher's requests to FCM's HTTP v1 API (P1): gets an access token, sends, and classifies the answer (P4).
///
/// It makes one request for an effect, or two if FCM refuses the access token. Every other repetition is the stage's decision, because the
/// stage's state has the waiting pushes. A request that cannot leave in time is answered as `notSent`. Replies come on the HTTP client's
/// thread, or on the caller's if nothing can be sent.
public final class FCMClient: EffectPerformer {
  /// A request of the stage.
  public typealias Effect = SendRequest
  public typealias Reply = SendReply

  /// Google's address of FCM.
  public static let googleURL = "https://fcm.googleapis.com"

  /// A project's service account and its access tokens.
  private struct Project: Sendable {
    let account: ServiceAccount
    let tokens: AccessTokenSource
  }

  private struct Projects: Sendable {
    /// The project of devices that name none. Its account is also used for projects without an account.
    let own: String
    var byId: [String: Project] = [:]
  }

  private let projects: Mutex<Projects>
  private let baseURL: String
  private let server: ServerName
  private let timeout: Duration
  private let http: any HTTPSending
  private let monitor: FCMMonitor?
  private let spans: (any SpanRecorder)?
  private let log: Logger
  private let clocks: Clocks
  private let shutDown: @Sendable () -> Void

  /// A client for the projects of service accounts.
  ///
  /// - Parameters:
  ///   - accounts: The accounts, one for each project. Empty if all devices have subscriptions. Devices without a project belong to the
  ///     first account's project.
  ///   - http: The HTTP client, which belongs to this client from now on; `stop` shuts it down.
  ///   - baseURL: The URL without a path: `https://fcm.googleapis.com`, or an emulator's.
  ///   - monitor: Counts answers and reports refusals.
  ///   - spans: Records requests whose push is traced.
  ///   - timeout: How long a request may take, including the wait for a free stream.
  ///   - grace: How long `stop` waits for requests on the wire.
  public convenience init(
    accounts: [ServiceAccount], http: HTTPClientGroup, baseURL: String = FCMClient.googleURL, log: Logger,
    monitor: FCMMonitor? = nil, spans: (any SpanRecorder)? = nil, timeout: Duration = .seconds(15),
    grace: Duration = .seconds(1)
  ) {
    self.init(
      accounts: accounts, http: http, baseURL: baseURL, timeout: timeout, log: log, monitor: monitor, spans: spans,
      clocks: Clocks(), shutDown: { http.shutdown(grace: grace) })
  }

  init(
    accounts: [ServiceAccount], http: any HTTPSending, baseURL: String, timeout: Duration = .seconds(15), log: Logger,
    monitor: FCMMonitor?, spans: (any SpanRecorder)? = nil, clocks: Clocks, shutDown: @escaping @Sendable () -> Void
  ) {
    var projects = Projects(own: accounts.first?.projectId ?? "")
    for account in accounts {
      projects.byId[account.projectId] = Project(
        account: account, tokens: AccessTokenSource(account: account, http: http, log: log, clocks: clocks))
    }
    self.projects = Mutex(projects)
    self.http = http
    self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
    server = ServerName(self.baseURL)
    self.timeout = timeout
    self.log = log
    self.monitor = monitor
    self.spans = spans
    self.clocks = clocks
    self.shutDown = shutDown
  }

  /// The project of a request, with its id if it has its own account.
  private func project(_ id: String?) -> (Project, String?)? {
    projects.withLock { projects in
      let wanted = id ?? projects.own
      if let project = projects.byId[wanted] { return (project, wanted) }
      guard let own = projects.byId[projects.own] else { return nil }
      return (own, nil)
    }
  }

  /// Sends a request; `reply` is called exactly once.
  public func perform(_ effect: SendRequest, reply: @escaping @Sendable (SendReply) -> Void) {
    let began = spans?.now() ?? 0
    let started = clocks.wall()
    guard let (project, configured) = self.project(effect.fcmProject) else {
      let answer = PushAnswer(.rejected, errorCode: DispatcherRules.projectNotAllowed)
      return reply(
        SendReply(id: effect.id, answer: answer, requests: 0, startedAt: started, finishedAt: clocks.wall()))
    }
    let end: @Sendable (PushAnswer, Int) -> Void = { answer, requests in
      self.report(answer, of: effect)
      let result = SendReply(
        id: effect.id, answer: answer, requests: requests, startedAt: started,
        finishedAt: self.clocks.wall())
      self.monitor?.record(result, of: effect.messageAt, effect.priority, project: configured)
      if let spans = self.spans, let span = Span(result, to: effect, .fcm(self.server), from: began, until: spans.now())
      {
        spans.record(span)
      }
      reply(result)
    }
    var effect = effect
    if let sealed = effect.sealed {
      guard let body = sealed.sealed(into: effect.body) else {
        return end(PushAnswer(.rejected, errorCode: "sealing_keys"), 0)
      }
      effect.body = body
    }
    attempt(effect, project, requests: 0, completion: end)
  }

  /// Gets access tokens and opens connections before the first push.
  public func warmUp() {
    let projects = projects.withLock { Array($0.byId.values) }
    guard !projects.isEmpty else { return }
    http.warmUp(baseURL + "/")
    for project in projects { project.tokens.withToken { _ in } }
  }

  /// Uses another account for its project from now on. Requests in flight keep the former one. Returns false if the project has no account
  /// here.
  func replace(_ account: ServiceAccount) -> Bool {
    let tokens = AccessTokenSource(account: account, http: http, log: log, clocks: clocks)
    return projects.withLock { projects in
      guard projects.byId[account.projectId] != nil else { return false }
      projects.byId[account.projectId] = Project(account: account, tokens: tokens)
      return true
    }
  }

  /// Shuts the HTTP client down. Waiting and later requests are answered as not sent. It blocks at most for the grace period.
  public func stop() { shutDown() }

  /// Gets an access token and sends. If FCM refuses the token, it sends again with a new one. `requests` is the number of requests so far.
  private func attempt(
    _ effect: SendRequest, _ project: Project, requests: Int,
    completion: @escaping @Sendable (PushAnswer, _ requests: Int) -> Void
  ) {
    project.tokens.withToken { result in
      switch result {
      case .failure(let error):
        let answer = PushAnswer(.projectRefused, errorCode: error.kind.rawValue, retryAfter: error.retryAfter)
        completion(answer, requests)
      case .success(let token): self.send(effect, project, token, requests: requests, completion: completion)
      }
    }
  }

  private func send(
    _ effect: SendRequest, _ project: Project, _ token: String, requests: Int,
    completion: @escaping @Sendable (PushAnswer, _ requests: Int) -> Void
  ) {
    // The wait for the token may have been long.
    guard effect.mayLeave(at: clocks.steady()) else {
      completion(PushAnswer(.notSent), requests)
      return
    }
    http.send(request(effect, project, token: token)) { result in
      switch result {
      case .success(let response):
        let answer = PushAnswer(
          status: response.status, retryAfter: response.headers["retry-after"], body: response.body,
          now: self.clocks.wall())
        if response.status == 401, answer.verdict == .projectRefused, requests == 0 {
          project.tokens.invalidate(token)
          self.attempt(effect, project, requests: 1, completion: completion)
        } else {
          completion(answer, requests + 1)
        }
      case .failure(let error):
        let (answer, hasLeft) = PushAnswer.noAnswer(error)
        completion(answer, requests + (hasLeft ? 1 : 0))
      }
    }
  }

  private func request(_ effect: SendRequest, _ project: Project, token: String) -> HTTPRequest {
    let projectId = PercentEncoding.segment(effect.fcmProject ?? project.account.projectId)
    let request = HTTPRequest(
      url: "\(baseURL)/v1/projects/\(projectId)/messages:send",
      headers: [("authorization", "Bearer \(token)"), ("content-type", "application/json")], body: effect.body,
      timeout: timeout)
    return effect.held(request, by: clocks)
  }

  /// Logs what an operator must know, without any part of the request.
  private func report(_ answer: PushAnswer, of request: SendRequest) {
    let log = log.with(request.traceparent.flatMap { TraceContext(traceparent: $0) })
    switch answer.verdict {
    case .projectRefused, .platformRefused, .senderMismatch, .rejected:
      log.limited("refused-\(answer.errorCode ?? "")", every: .seconds(10))?.error(
        "FCM refuses: check project, credentials and the request", Self.metadata(answer))
    case _ where answer.isUnknown:
      log.limited("unknown", every: .seconds(10))?.warning(
        "FCM gave an answer that its documentation does not have", Self.metadata(answer))
    default: break
    }
  }

  private static func metadata(_ answer: PushAnswer) -> [String: LogValue] {
    ["status": .int(answer.httpStatus ?? 0), "code": .string(answer.errorCode ?? "")]
  }
}

extension SendRequest {
  /// The FCM project of the destination; nil for the dispatcher's own.
  var fcmProject: String? { if case .fcm(let project) = destination { project } else { nil } }
}

extension PushAnswer {
  /// Classifies a request without an answer, and whether it left the process.
  static func noAnswer(_ error: HTTPTransportError) -> (answer: PushAnswer, hasLeft: Bool) {
    switch error.kind {
    case .connectionFailed: (PushAnswer(.unreachable, errorCode: "connection_failed"), true)
    case .timedOut: (PushAnswer(.unreachable, errorCode: "timed_out"), true)
    case .reset: (PushAnswer(.unreachable, errorCode: "connection_reset"), true)
    case .cancelled: (PushAnswer(.unreachable, errorCode: "cancelled"), true)
    case .other, .responseTooLarge: (PushAnswer(.unreachable, errorCode: "transport_error", isUnknown: true), true)
    // An interrupted handshake is a network problem. A certificate that is not trusted needs the operator.
    case .tls: (PushAnswer(error.isRetriable ? .unreachable : .projectRefused, errorCode: "tls"), true)
    case .addressRefused: (PushAnswer(.projectRefused, errorCode: "address_refused"), false)
    case .shutDown: (PushAnswer(.unreachable, errorCode: "shut_down"), false)
    case .withheld: (PushAnswer(.notSent), false)
    case .queueFull: (PushAnswer(.unreachable, errorCode: "queue_full"), false)
    case .invalidRequest: (PushAnswer(.projectRefused, errorCode: "invalid_request"), false)
    }
  }
}

extension Span {
  /// The service that receives a request.
  enum PushService {
    /// The host and port of FCM.
    case fcm(ServerName)
    /// The name of a known host, or a common word for all others.
    case webPush(host: String)

    fileprivate var name: String {
      switch self {
      case .fcm: "POST messages:send"
      case .webPush: "POST web push"
      }
    }

    fileprivate var prefix: String {
      switch self {
      case .fcm: "nudge.fcm"
      case .webPush: "nudge.web_push"
      }
    }
  }

  /// A request with its answer; nil if its push is not traced. The attributes have only values from fixed sets, because the services' own
  /// texts may repeat a token.
  init?(
    _ reply: SendReply, to request: SendRequest, _ service: PushService, from start: UInt64, until end: UInt64
  ) {
    guard let parent = request.traceparent.flatMap({ TraceContext(traceparent: $0) }), parent.isSampled else {
      return nil
    }
    var random = SystemRandomNumberGenerator()
    var attributes: [(name: String, value: Value)] = [
      ("http.request.method", .string("POST")), ("nudge.stage", .string("dispatcher")),
      ("\(service.prefix).verdict", .string(reply.answer.verdictName)),
      ("\(service.prefix).attempt", .int(Int64(request.subject.attempt))),
      ("\(service.prefix).requests", .int(Int64(reply.requests))),
    ]
    if let status = reply.answer.httpStatus { attributes.append(("http.response.status_code", .int(Int64(status)))) }
    switch service {
    case .fcm(let server):
      attributes += [("server.address", .string(server.host)), ("server.port", .int(Int64(server.port)))]
    case .webPush(let host): attributes.append(("server.address", .string(host)))
    }
    let isSent: Bool = if case .sent = reply.answer.verdict { true } else { false }
    self.init(
      parent.child(using: &random), parent: parent.span, name: service.name, kind: .client, start: start,
      end: end, attributes: attributes, failure: isSent ? nil : reply.answer.verdictName)
  }
}

/// Host and port of FCM's URL, for spans. A login in the URL is left out.
struct ServerName: Equatable {
  let host: String
  let port: Int

  init(_ url: String) {
    let parts = URLComponents(string: url)
    host = parts?.host ?? ""
    port = parts?.port ?? (parts?.scheme == "http" ? 80 : 443)
  }
}
