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

  private let account: ServiceAccount
  private let baseURL: String
  private let timeout: Duration
  private let http: any HTTPSending
  private let tokens: AccessTokenSource
  private let pacer: SendPacer
  private let log: Logger
  private let now: @Sendable () -> Milliseconds
  private let shutDown: @Sendable () -> Void

  /// A client for the account's project, and for others the account may send to.
  ///
  /// - Parameters:
  ///   - http: is the client's own from here on; `stop` ends it.
  ///   - baseURL: without a path, `https://fcm.googleapis.com` unless it is an emulator's.
  ///   - timeout: how long a request may take, time spent waiting for a free stream included.
  ///   - maxPerMinute: requests a minute at most, FCM's quota of a project unless a part of it is to be left to others;
  ///     reached within a minute of the start (P5).
  ///   - grace: how long `stop` lets requests finish that are on the wire.
  public convenience init(
    account: ServiceAccount, http: HTTPClient, baseURL: String = FCMClient.googleURL, log: Logger,
    timeout: Duration = .seconds(15), maxPerMinute: Int = 600_000, grace: Duration = .seconds(1)
  ) {
    self.init(
      account: account, http: http, baseURL: baseURL, timeout: timeout, log: log,
      pacer: SendPacer(perMinute: maxPerMinute), now: { SystemClock.milliseconds() },
      shutDown: { http.shutdown(grace: grace) })
  }

  init(
    account: ServiceAccount, http: any HTTPSending, baseURL: String, timeout: Duration = .seconds(15), log: Logger,
    pacer: SendPacer,
    now: @escaping @Sendable () -> Milliseconds, shutDown: @escaping @Sendable () -> Void
  ) {
    self.account = account
    self.http = http
    self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
    self.timeout = timeout
    self.log = log
    self.pacer = pacer
    self.now = now
    self.shutDown = shutDown
    tokens = AccessTokenSource(account: account, http: http, log: log, now: now)
  }

  /// Sends a request; `reply` is called exactly once.
  public func perform(_ effect: SendRequest, reply: @escaping @Sendable (SendReply) -> Void) {
    pacer.enqueue { maySend in
      let started = self.now()
      let completion: @Sendable (FCMAnswer, Int) -> Void = { answer, requests in
        self.note(answer)
        reply(
          SendReply(id: effect.id, answer: answer, requests: requests, startedAt: started, finishedAt: self.now()))
      }
      if maySend {
        self.attempt(effect, requests: 0, completion: completion)
      } else {
        completion(FCMAnswer(.unreachable, errorCode: "shut_down"), 0)
      }
    }
  }

  /// Ends the HTTP client: what waits, here or there, and what comes later, is answered as not sent. Blocks for the
  /// grace at most.
  public func stop() {
    pacer.stop()
    shutDown()
  }

  /// Gets a token, sends, and once more with a new token where FCM says that this one is none. `requests` were made.
  private func attempt(
    _ effect: SendRequest, requests: Int, completion: @escaping @Sendable (FCMAnswer, _ requests: Int) -> Void
  ) {
    tokens.withToken { result in
      switch result {
      case .failure(let error):
        completion(
          FCMAnswer(.projectRefused, errorCode: error.kind.rawValue, retryAfter: error.retryAfter), requests)
      case .success(let token):
        self.http.send(self.request(effect, token: token)) { result in
          switch result {
          case .success(let response):
            let answer = FCMAnswer(
              status: response.status, retryAfter: response.headers["retry-after"], body: response.body,
              now: self.now())
            if response.status == 401, answer.verdict == .projectRefused, requests == 0 {
              self.tokens.invalidate(token)
              self.attempt(effect, requests: 1, completion: completion)
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

  private func request(_ effect: SendRequest, token: String) -> HTTPRequest {
    HTTPRequest(
      url: "\(baseURL)/v1/projects/\(Self.pathSegment(effect.projectId ?? account.projectId))/messages:send",
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
