import Foundation
import HTTPTransport
import NudgeSchema
import ServiceKit
import StreamRuntime
import Synchronization

/// The webhook as a service: its client and its secrets, which are read again when their file changes.
final class Webhook: Service {
  private struct State {
    var file: WatchedFile
    /// The error that was already reported; nil if the file is in use.
    var fault: String?
  }

  let name = "webhook connections"
  let client: WebhookClient
  private let http: HTTPClientGroup
  private let log: Logger
  private let state: Mutex<State>

  /// Checks the file for changes.
  private let timer = RepeatingTimer("webhook-secrets", every: .seconds(5))
  /// Longer answers are useless, because only the status counts.
  private static let maxResponseBytes = 4_096

  /// Nil if no webhook is configured.
  ///
  /// - Throws: `SettingsError` if the URL or the secrets cannot be used.
  static func make(_ context: ServiceContext) throws -> Webhook? {
    let values = context.values
    let (url, path) = (values[DispatcherSettings.escalationURL], values[DispatcherSettings.escalationSecretFile])
    guard let url else {
      guard path == nil else { throw SettingsError("--escalation-secret-file: it needs --escalation-url") }
      return nil
    }
    guard let path else {
      throw SettingsError("--escalation-url: it needs --escalation-secret-file, with which requests are signed")
    }
    let allowsPrivate = values[DispatcherSettings.escalationAllowPrivate]
    try WebhookAddress.check(url, allowsPrivate: allowsPrivate)
    let authorities = values[DispatcherSettings.escalationCertificateAuthorities]
    if let authorities, !FileManager.default.isReadableFile(atPath: authorities) {
      throw SettingsError("--escalation-ca-file: \(authorities) cannot be read; it must be a PEM file")
    }
    return try Webhook(
      url: url, secretFile: path, certificateAuthorities: authorities, allowsPrivate: allowsPrivate,
      log: context.logger.with(label: "dispatcher.webhook"), monitor: WebhookMonitor(metrics: context.metrics))
  }

  init(
    url: String, secretFile: String, certificateAuthorities: String?, allowsPrivate: Bool, log: Logger,
    monitor: WebhookMonitor? = nil
  ) throws {
    var file = WatchedFile(path: secretFile)
    let secrets: WebhookSecrets
    do {
      secrets = try WebhookSecrets(contents: try file.changed(force: true) ?? [], name: secretFile)
    } catch let error as FileFailure {
      throw SettingsError("--escalation-secret-file: \(error.description)")
    }
    let http = try HTTPClientGroup(
      HTTPClientConfiguration(
        caFile: certificateAuthorities, maxResponseBytes: Self.maxResponseBytes,
        addresses: allowsPrivate ? .any : .publicOnly))
    client = WebhookClient(
      url: url, secrets: secrets, http: http, log: log, monitor: monitor,
      shutDown: { http.shutdown(grace: .seconds(1)) })
    self.http = http
    self.log = log
    state = Mutex(State(file: file))
  }

  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) {
    timer.start { [weak self] in self?.reload() }
  }

  /// Uses the file's secrets if it has changed. A file that cannot be used changes nothing.
  func reload() {
    state.withLock { state in
      let path = state.file.path
      do {
        guard let contents = try state.file.changed(force: state.fault != nil) else { return }
        client.replace(try WebhookSecrets(contents: contents, name: path))
        state.fault = nil
        log.notice("the webhook's secrets were read again", ["file": .string(path)])
      } catch {
        let fault = "\(error)"
        guard state.fault != fault else { return }
        state.fault = fault
        log.error(
          "the webhook's secrets cannot be read again; the former ones stay in use",
          ["file": .string(path), "reason": .string(fault)])
      }
    }
  }

  func stop() {
    timer.stop()
    http.shutdown(grace: .zero)
  }
}

/// The rules for the webhook's URL. The address of a name is checked for each connection, because it may change.
enum WebhookAddress {
  /// - Parameter allowsPrivate: Whether names of this host and its network are allowed.
  /// - Throws: `SettingsError`, which says what is wrong with the URL.
  static func check(_ text: String, allowsPrivate: Bool) throws(SettingsError) {
    if let fault = fault(of: text, allowsPrivate: allowsPrivate) {
      throw SettingsError("--escalation-url: \(fault); a URL such as https://pager.example.com/nudge is expected")
    }
  }

  private static func fault(of text: String, allowsPrivate: Bool) -> String? {
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }),
      let url = URLComponents(string: text), let host = url.host, !host.isEmpty
    else { return "it is no URL" }
    guard url.scheme?.lowercased() == "https" else { return "only https is allowed" }
    guard url.user == nil, url.password == nil else { return "it must not hold a user or password" }
    guard url.fragment == nil else { return "it must not have a fragment" }
    let labels = host.lowercased().split(separator: ".", omittingEmptySubsequences: false)
    guard
      labels.allSatisfy({ label in
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
          && label.utf8.allSatisfy {
            $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") || (0x30...0x39).contains($0)
              || (0x61...0x7A).contains($0)
          }
      }), let last = labels.last
    else { return "its host is no name" }
    // Resolvers treat 127.1, 2130706433 and 0x7f000001 as addresses.
    if last.utf8.allSatisfy({ (0x30...0x39).contains($0) }) || last.hasPrefix("0x") {
      return "its host is an address; a name is needed"
    }
    if !allowsPrivate {
      if last == "localhost" { return "it is this host" }
      if labels.count == 1 { return "its host is a name of the own network (--escalation-allow-private allows it)" }
    }
    return nil
  }
}

/// The secrets that sign requests to the webhook. Each is on its own line in the form of the Standard Webhooks specification: `whsec_` and
/// 24 to 64 bytes in Base64. With two secrets, a receiver can change from one to the other.
struct WebhookSecrets: Sendable, Equatable {
  static let prefix = "whsec_"
  static let most = 4

  let keys: [[UInt8]]

  /// - Throws: `SettingsError`, which names the file and the line, but none of its content.
  init(contents: [UInt8], name: String) throws(SettingsError) {
    var keys: [[UInt8]] = []
    let lines = String(decoding: contents, as: UTF8.self).split(whereSeparator: \.isNewline)
    for (number, line) in lines.enumerated() {
      let text = line.trimmingCharacters(in: .whitespaces)
      if text.isEmpty || text.hasPrefix("#") { continue }
      guard text.hasPrefix(Self.prefix), let key = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
        (24...64).contains(key.count)
      else {
        throw SettingsError(
          "--escalation-secret-file \(name), line \(number + 1): it is no secret; "
            + "printf 'whsec_%s\\n' \"$(openssl rand -base64 32)\" makes one")
      }
      keys.append([UInt8](key))
    }
    guard (1...Self.most).contains(keys.count) else {
      throw SettingsError(
        "--escalation-secret-file \(name): it has \(keys.count) secrets; 1 to \(Self.most) are allowed")
    }
    self.keys = keys
  }

  /// The signature header of a request: for each secret a signature over id, time and body.
  func signature(id: String, timestamp: String, body: [UInt8]) -> String {
    let message = Array("\(id).\(timestamp).".utf8) + body
    return keys.map { "v1," + Data(HMACSHA256.of(message, key: $0)).base64EncodedString() }.joined(separator: " ")
  }
}

/// Sends escalations to the webhook. Each request is signed as the Standard Webhooks specification requires, and its answer is classified.
/// All attempts have the same id, so that the receiver recognises a repeat.
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
      report(answer)
      let result = SendReply(
        id: effect.id, answer: answer, requests: requests, startedAt: started, finishedAt: finished)
      monitor?.record(result)
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
    let request = HTTPRequest(
      url: url,
      headers: [
        ("content-type", "application/json"), ("user-agent", "nudge"), ("webhook-id", effect.subject.pushId),
        ("webhook-timestamp", timestamp), ("webhook-signature", signature),
      ], body: effect.body, timeout: timeout)
    return effect.held(request, by: clocks)
  }

  /// Logs what an operator must fix, without any part of the request.
  private func report(_ answer: PushAnswer) {
    switch answer.verdict {
    case .projectRefused, .rejected:
      log.limited("webhook-\(answer.errorCode ?? "")", every: .seconds(10))?.error(
        "the webhook refuses escalations: check --escalation-url and the receiver",
        ["status": .int(answer.httpStatus ?? 0), "code": .string(answer.errorCode ?? "")])
    default: break
    }
  }
}

extension PushAnswer {
  /// Classifies an answer of the webhook. An error that an operator can fix (address, rights) stops all requests until it is fixed, so that
  /// no escalation is lost. A redirection is such an error, because redirections are not followed.
  init(webhookStatus status: Int, retryAfter header: String?, now: Milliseconds) {
    let verdict: Verdict =
      switch status {
      case 200..<300: .sent(name: nil)
      case 408, 425: .serverFailed
      case 429: .quotaExceeded(.device)
      case 300..<400, 401, 403, 404, 407, 410: .projectRefused
      case 400..<500: .rejected
      default: .serverFailed
      }
    let isSent = (200..<300).contains(status)
    self.init(
      verdict, httpStatus: status, errorCode: isSent ? nil : "HTTP_\(status)",
      retryAfter: isSent ? nil : header.flatMap { RetryAfter($0)?.wait(from: now) })
  }
}

/// Counts the webhook's answers.
final class WebhookMonitor: Sendable {
  private let answers: [String: Counter]
  private let seconds: Histogram

  init(metrics: MetricsRegistry) {
    answers = Dictionary(
      uniqueKeysWithValues: PushAnswer.verdictNames.map {
        (
          $0,
          metrics.counter(
            "nudge_webhook_answers_total", help: "Answers of the escalation webhook, by verdict.",
            labels: ["verdict": $0])
        )
      })
    seconds = metrics.histogram(
      "nudge_webhook_request_seconds", help: "From a request to the escalation webhook to its answer, in seconds.")
  }

  func record(_ reply: SendReply) {
    answers[reply.answer.verdictName]?.increment()
    if reply.requests > 0 { seconds.observe(Double(reply.finishedAt - reply.startedAt) / 1000) }
  }
}
