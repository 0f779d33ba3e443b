import Dispatch
public import HTTPTransport
import NudgeSchema
public import ServiceKit
import Synchronization

/// The service that opens and closes the connections to FCM. At the start it also fetches an access token for each project, so that the
/// first push waits for neither. The first push reports a failure at the start. While the service runs, it reads changed credential files
/// again.
final class FCMConnections: Service {
  let name = "fcm connections"
  private let client: FCMClient
  private let http: HTTPClientGroup
  private let log: Logger
  private let files: Mutex<AccountFiles>
  /// Checks credential files for changes.
  private let timer = RepeatingTimer("fcm-credentials", every: .seconds(5))

  init(client: FCMClient, http: HTTPClientGroup, files: AccountFiles, log: Logger) {
    self.client = client
    self.http = http
    self.log = log
    self.files = Mutex(files)
  }

  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) {
    client.warmUp()
    timer.start { [weak self] in self?.reload() }
  }

  /// Reads changed files and uses their accounts. An unusable file changes nothing.
  func reload() {
    for change in files.withLock({ $0.changes() }) {
      switch change {
      case .account(let account, let path):
        if client.replace(account) {
          log.notice(
            "FCM credentials were read again",
            ["file": .string(path), "project": .string(account.projectId), "key": .string(account.privateKeyId)])
        } else {
          log.error(
            "FCM credentials are for a project that was not configured at the start; restart to use it; the former account stays in use",
            ["file": .string(path), "project": .string(account.projectId)])
        }
      case .unusable(let path, let reason):
        log.error(
          "FCM credentials cannot be read again; the former account stays in use",
          ["file": .string(path), "reason": .string(reason)])
      }
    }
  }

  /// Closes the connections at once, because the stream threads have stopped and have the answers for which they waited.
  func stop() {
    timer.stop()
    http.shutdown(grace: .zero)
  }
}

/// Checks whether FCM accepts requests for a project. It gets an access token, and has FCM only validate a message to an invalid
/// registration token, so nothing is sent. The answer "invalid token" shows that everything else is right.
struct FCMCheck: Sendable {
  let account: ServiceAccount
  let client: FCMClient
  /// `--check` must end within 10 s.
  var timeout: DispatchTimeInterval = .seconds(8)

  /// The problem, and where to fix it.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The result in a few words. Blocks until FCM has answered, for `timeout` at most. Throws `Failure` if the project may not send.
  func check() throws -> String {
    let request = SendRequest(
      id: 0, destination: .fcm(project: account.projectId),
      subject: .init(userId: "check", deviceId: "check", pushId: "check", attempt: 1), token: "nudge-check",
      body: Array(#"{"validate_only":true,"message":{"token":"nudge-check"}}"#.utf8))
    let box = Answer()
    client.perform(request) { box.set($0.answer) }
    guard box.wait(timeout), let answer = box.value else {
      throw Failure(description: "no answer from FCM for \(account); check --fcm-url and the network")
    }
    return try verdict(answer)
  }

  private func verdict(_ answer: PushAnswer) throws -> String {
    let code = (answer.errorCode ?? "") + (answer.httpStatus.map { ", HTTP \($0)" } ?? "")
    func fail(_ fix: String) -> Failure { Failure(description: "\(account): \(code): \(fix)") }
    switch answer.verdict {
    case .sent, .invalidToken, .rejected, .senderMismatch, .subscriptionRefused: return "\(account) may send"
    case .quotaExceeded: return "\(account) may send; its quota is used up at the moment"
    case .projectRefused:
      switch (answer.errorCode ?? "", answer.httpStatus ?? 0) {
      case (AccessTokenError.Kind.refused.rawValue, _):
        throw fail(
          "Google's token server refuses the account: does its key \(account.privateKeyId) still exist (console.cloud.google.com, "
            + "IAM, Service accounts, Keys), and is this machine's clock right?")
      case (AccessTokenError.Kind.unreachable.rawValue, _):
        throw fail("the token server \(account.tokenServer) cannot be reached; check the network and --fcm-ca-file")
      case (_, 403):
        throw fail(
          "enable the Firebase Cloud Messaging API of \(account.projectId), and give the account the role Firebase Cloud "
            + "Messaging API Admin (console.cloud.google.com, IAM)")
      case (_, 404): throw fail("there is no project \(account.projectId) at --fcm-url; check both")
      case ("tls", _): throw fail("the certificate is not trusted; check --fcm-url and --fcm-ca-file")
      default: throw fail("FCM refuses the credentials; make a new key in the Firebase console, Service accounts")
      }
    case .platformRefused: throw fail("FCM's key for APNs or Web Push is wrong: Firebase console, Cloud Messaging")
    case .serverFailed, .unreachable, .notSent:
      throw fail("FCM cannot be reached, or fails; check --fcm-url and the network")
    }
  }
}

/// Passes an answer to the thread that waits for it.
private final class Answer: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)
  private let answer = Mutex<PushAnswer?>(nil)

  var value: PushAnswer? { answer.withLock { $0 } }

  func set(_ value: PushAnswer) {
    answer.withLock { $0 = value }
    semaphore.signal()
  }

  func wait(_ timeout: DispatchTimeInterval) -> Bool { semaphore.wait(timeout: .now() + timeout) == .success }
}

/// Counts FCM's answers, and makes the service not ready while FCM refuses one of its projects (P6).
public final class FCMMonitor: Sendable {
  /// The monitor's part of readiness.
  public static let part = "fcm"

  private let readiness: HealthChecks
  /// Projects that FCM refuses, with error code and status.
  private let refusals = Mutex<[String: String]>([:])
  private let deliveries: DeliveryMonitor
  private let answers: [String: Counter]
  private let unknown: Counter
  private let requests: Counter
  private let seconds: Histogram

  /// A monitor that registers its metrics and sets its part of readiness. The part is ready until FCM refuses a project.
  /// - Parameter deliveries: The metrics that are common to all push services.
  init(metrics: MetricsRegistry, readiness: HealthChecks, deliveries: DeliveryMonitor) {
    self.readiness = readiness
    self.deliveries = deliveries
    answers = Dictionary(
      uniqueKeysWithValues: PushAnswer.verdictNames.map {
        (
          $0,
          metrics.counter("nudge_fcm_answers_total", help: "Answers to requests, by verdict.", labels: ["verdict": $0])
        )
      })
    unknown = metrics.counter(
      "nudge_fcm_unknown_answers_total",
      help: "Answers that FCM's documentation does not have, treated by their HTTP class.")
    requests = metrics.counter("nudge_fcm_requests_total", help: "Requests made to FCM.")
    seconds = metrics.histogram(
      "nudge_fcm_request_seconds", help: "From a request to its answer, in seconds, time in queues included.")
    readiness.set(Self.part, .ready)
  }

  /// Registers gauges of a client's connections and requests.
  public static func watch(_ http: HTTPClientGroup, metrics: MetricsRegistry) {
    metrics.gauge("nudge_fcm_connections", help: "Connections open to FCM and its token server.") {
      Double(http.statistics.openConnections)
    }
    metrics.gauge("nudge_fcm_requests_in_flight", help: "Requests on the wire.") { Double(http.statistics.inFlight) }
    metrics.gauge("nudge_fcm_requests_queued", help: "Requests waiting for a free stream.") {
      Double(http.statistics.queued)
    }
  }

  /// Counts a reply.
  ///
  /// - Parameters:
  ///   - messageAt: When the push's message was written; nil for a push without a message.
  ///   - priority: The priority of the push's message.
  ///   - project: The project, for readiness; nil if it has no account of its own.
  func record(
    _ reply: SendReply, of messageAt: Milliseconds? = nil, _ priority: Priority = .high, project: String?
  ) {
    answers[reply.answer.verdictName]?.increment()
    requests.increment(by: reply.requests)
    if reply.answer.isUnknown { unknown.increment() }
    if reply.requests > 0 { seconds.observe(Double(reply.finishedAt - reply.startedAt) / 1000) }
    deliveries.count(reply, of: messageAt, priority)
    guard let project else { return }
    switch reply.answer.verdict {
    case .projectRefused: setRefusal(of: project, reply.answer)
    // These verdicts do not show whether FCM refuses the project.
    case .serverFailed, .unreachable, .quotaExceeded, .notSent: break
    default: setRefusal(of: project, nil)
    }
  }

  /// Records whether FCM refuses a project, and passes changes on to readiness in their order.
  private func setRefusal(of project: String, _ answer: PushAnswer?) {
    refusals.withLock { refusals in
      guard (refusals[project] != nil) != (answer != nil) else { return }
      refusals[project] = answer.map { answer in
        "\(answer.errorCode ?? "unknown")" + (answer.httpStatus.map { " (HTTP \($0))" } ?? "")
      }
      let list = refusals.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
      readiness.set(
        Self.part,
        refusals.isEmpty
          ? .ready
          : .notReady(
            "FCM refuses the project \(list); its pushes wait. Check --fcm-credentials, the project and --fcm-url"))
    }
  }
}
