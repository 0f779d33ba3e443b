import HTTPTransport
import NudgeSchema
import ServiceKit
import StreamRuntime
import Synchronization

/// Sends escalations to the webhook: signs each request as the Standard Webhooks specification says, and classifies the answer. Its id is
/// the same in each attempt, so that the receiver tells a repeat.
final class WebhookClient: EffectPerformer {
  typealias Effect = SendRequest
  typealias Reply = SendReply

  private let url: String
  private let secrets: Mutex<WebhookSecrets>
  private let http: any HTTPSending
  private let monitor: WebhookMonitor?
  private let timeout: Duration
  private let log: Logger
  private let clocks: Clocks
  private let shutDown: @Sendable () -> Void

  init(
    url: String, secrets: WebhookSecrets, http: any HTTPSending, log: Logger, monitor: WebhookMonitor? = nil,
    timeout: Duration = .seconds(10), clocks: Clocks = Clocks(), shutDown: @escaping @Sendable () -> Void = {}
  ) {
    self.url = url
    self.secrets = Mutex(secrets)
    self.http = http
    self.monitor = monitor
    self.timeout = timeout
    self.log = log
    self.clocks = clocks
    self.shutDown = shutDown
  }

  /// Signs with other secrets from now on.
  func replace(_ secrets: WebhookSecrets) { self.secrets.withLock { $0 = secrets } }

  func perform(_ effect: SendRequest, reply: @escaping @Sendable (SendReply) -> Void) {
    let started = clocks.wall()
    http.send(request(effect, at: started)) { [self] result in
      let finished = clocks.wall()
      let (answer, requests): (PushAnswer, Int) =
        switch result {
        case .success(let response):
          (
            PushAnswer(webhookStatus: response.status, retryAfter: response.headers["retry-after"], now: finished), 1
          )
        case .failure(let error): Self.noAnswer(error)
        }
      note(answer)
      let result = SendReply(
        id: effect.id, answer: answer, requests: requests, startedAt: started, finishedAt: finished)
      monitor?.note(result)
      reply(result)
    }
  }

  private static func noAnswer(_ error: HTTPTransportError) -> (PushAnswer, Int) {
    let (answer, hasLeft) = PushAnswer.noAnswer(error)
    return (answer, hasLeft ? 1 : 0)
  }

  func stop() { shutDown() }

  private func request(_ effect: SendRequest, at now: Milliseconds) -> HTTPRequest {
    let timestamp = String(now / 1_000)
    let signature = secrets.withLock {
      $0.signature(id: effect.subject.pushId, timestamp: timestamp, body: effect.body)
    }
    var request = HTTPRequest(
      url: url,
      headers: [
        ("content-type", "application/json"), ("user-agent", "nudge"), ("webhook-id", effect.subject.pushId),
        ("webhook-timestamp", timestamp), ("webhook-signature", signature),
      ], body: effect.body, timeout: timeout)
    if effect.leaveBy != nil || effect.lease != nil {
      request.mayStart = { [clocks] in effect.mayLeave(at: clocks.steady()) }
    }
    return request
  }

  /// Logs what an operator must mend, without any part of the request.
  private func note(_ answer: PushAnswer) {
    switch answer.verdict {
    case .projectRefused, .rejected:
      log.limited("webhook-\(answer.errorCode ?? "")", every: .seconds(10))?.error(
        "the webhook refuses escalations: check --escalation-url and the receiver",
        ["status": .int(answer.httpStatus ?? 0), "code": .string(answer.errorCode ?? "")])
    default: break
    }
  }
}
