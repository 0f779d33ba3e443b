import Foundation
import HTTPTransport
import NudgeSchema
import ServiceKit
import Synchronization
import WebPush

/// Sends requests to push services. Tests replace the connections by a stand-in.
protocol WebPushSending: Sendable {
  /// - Parameters:
  ///   - origin: The URL's origin.
  ///   - completion: Called exactly once, on any thread.
  func send(_ request: HTTPRequest, to origin: String, completion: @escaping HTTPClient.Completion)

  /// Fails waiting and later requests.
  func shutdown()
}

/// Connections to push services. Each host has an HTTP client with its own thread and limits, so that a host that is slow, hangs or fails
/// does not delay the others. The number of clients is bounded, because the users of an app choose the endpoints. An idle client is
/// replaced by one for the next host. While all are busy, further hosts share one client, with few requests each.
final class WebPushConnections: WebPushSending {
  private struct Host {
    let client: HTTPClient
    var inFlight = 0
    /// A counter of uses: the smallest value was used longest ago.
    var usedAt: UInt64 = 0
  }

  private struct State {
    var hosts: [String: Host] = [:]
    var shared: HTTPClient?
    /// Requests in flight to hosts that share a client.
    var sharing: [String: Int] = [:]
    var uses: UInt64 = 0
    var isShutDown = false
  }

  private struct Choice {
    let client: HTTPClient
    let isShared: Bool
  }

  /// The most hosts with their own client.
  private static let maxHosts = 32
  /// Concurrent requests to a host that shares a client.
  private static let maxSharing = 16

  private let configuration: HTTPClientConfiguration
  private let maxHosts: Int
  private let state = Mutex(State())

  init(_ configuration: HTTPClientConfiguration, maxHosts: Int = WebPushConnections.maxHosts) {
    self.configuration = configuration
    self.maxHosts = maxHosts
  }

  func send(_ request: HTTPRequest, to origin: String, completion: @escaping HTTPClient.Completion) {
    let choice: Choice
    do throws(HTTPTransportError) {
      choice = try state.withLock { (state) throws(HTTPTransportError) -> Choice in
        try choose(&state, origin)
      }
    } catch {
      return completion(.failure(error))
    }
    choice.client.send(request) { [self] result in
      state.withLock { state in
        if choice.isShared {
          state.sharing[origin] = state.sharing[origin].flatMap { $0 > 1 ? $0 - 1 : nil }
        } else {
          state.hosts[origin]?.inFlight -= 1
        }
      }
      completion(result)
    }
  }

  /// The number of the clients' open connections, for metrics.
  var openConnections: Int {
    let clients = state.withLock { $0.hosts.values.map(\.client) + [$0.shared].compactMap { $0 } }
    return clients.reduce(0) { $0 + $1.statistics.openConnections }
  }

  func shutdown() {
    let clients = state.withLock { state in
      state.isShutDown = true
      return state.hosts.values.map(\.client) + [state.shared].compactMap { $0 }
    }
    for client in clients { client.shutdown(grace: .zero) }
  }

  private func choose(_ state: inout State, _ origin: String) throws(HTTPTransportError) -> Choice {
    if state.isShutDown { throw HTTPTransportError(kind: .shutDown, message: "the client was shut down") }
    if state.hosts[origin] == nil, state.hosts.count >= maxHosts {
      let idle = state.hosts.filter { $0.value.inFlight == 0 }
      guard let oldest = idle.min(by: { $0.value.usedAt < $1.value.usedAt })?.key else {
        return try share(&state, origin)
      }
      // It ends by itself, because it has no requests in flight.
      state.hosts[oldest] = nil
    }
    var host = if let known = state.hosts[origin] { known } else { Host(client: try makeClient()) }
    state.uses += 1
    host.inFlight += 1
    host.usedAt = state.uses
    state.hosts[origin] = host
    return Choice(client: host.client, isShared: false)
  }

  private func share(_ state: inout State, _ origin: String) throws(HTTPTransportError) -> Choice {
    if state.shared == nil { state.shared = try makeClient() }
    guard let client = state.shared, state.sharing[origin, default: 0] < Self.maxSharing else {
      throw HTTPTransportError(kind: .queueFull, message: "too many push services are busy")
    }
    state.sharing[origin, default: 0] += 1
    return Choice(client: client, isShared: true)
  }

  private func makeClient() throws(HTTPTransportError) -> HTTPClient {
    // Without a log, because a line may contain an address.
    try HTTPClient(configuration)
  }
}

/// Counts the answers of push services by host name.
final class WebPushMonitor: Sendable {
  private struct Host {
    let answers: [String: Counter]
    let requests: Counter
    let seconds: Histogram
  }

  private let hosts: [String: Host]
  /// The metrics that are common to all push services.
  private let deliveries: DeliveryMonitor?

  /// - Parameter names: The names of hosts, without the one for all others.
  init(metrics: MetricsRegistry, names: [String], deliveries: DeliveryMonitor? = nil) {
    self.deliveries = deliveries
    hosts = Dictionary(
      uniqueKeysWithValues: (names + [WebPushServices.other]).map { name in
        let answers = PushAnswer.verdictNames.map { verdict in
          (
            verdict,
            metrics.counter(
              "nudge_web_push_answers_total", help: "Answers of Web Push services, by host and verdict.",
              labels: ["host": name, "verdict": verdict])
          )
        }
        return (
          name,
          Host(
            answers: Dictionary(uniqueKeysWithValues: answers),
            requests: metrics.counter(
              "nudge_web_push_requests_total", help: "Requests made to Web Push services, by host.",
              labels: ["host": name]),
            seconds: metrics.histogram(
              "nudge_web_push_request_seconds",
              help: "From a request to a Web Push service to its answer, in seconds, time in queues included, by host.",
              labels: ["host": name]))
        )
      })
  }

  /// Counts a reply. `messageAt` and `priority` are as in `FCMMonitor`.
  func count(_ reply: SendReply, of messageAt: Milliseconds?, _ priority: Priority, host: String) {
    let host = hosts[host] ?? hosts[WebPushServices.other]
    host?.answers[reply.answer.verdictName]?.increment()
    host?.requests.increment(by: reply.requests)
    if reply.requests > 0 { host?.seconds.observe(Double(reply.finishedAt - reply.startedAt) / 1000) }
    deliveries?.count(reply, of: messageAt, priority)
  }
}

/// Sending to Web Push subscriptions with the configured keys and rules.
struct WebPushSender {
  let client: WebPushClient
  let files: VAPIDKeyFiles
  let rules: WebPushRules
  /// The public keys.
  let keys: [String]
  let subject: String

  /// Longer answers are useless, because only the status counts.
  private static let maxResponseBytes = 16_384
  /// Connections to a host, each with up to 100 concurrent requests over HTTP/2.
  private static let connections = 4

  /// Nil if no VAPID key is configured.
  ///
  /// - Throws: `SettingsError` if a key or the subject cannot be used.
  static func make(
    _ context: ServiceContext, deliveries: DeliveryMonitor, spans: (any SpanRecorder)?
  ) throws -> WebPushSender? {
    let values = context.values
    let log = context.logger.with(label: "dispatcher.web-push")
    let signers: [VAPIDKey]
    let paths = VAPIDKey.paths(values[DispatcherSettings.vapidKey] ?? "")
    // Before the keys are read, so that a change in between is found later.
    let files = VAPIDKeyFiles.watched(paths)
    do { signers = try VAPIDKey.keys(inFiles: paths) } catch {
      throw SettingsError("--vapid-key: \(error.description)")
    }
    guard !signers.isEmpty else {
      log.notice(
        "no VAPID key is set: pushes to Web Push subscriptions end as cancelled (no_vapid_key); nudge vapid makes one, "
          + "--vapid-key names its file")
      return nil
    }
    let authorities = values[DispatcherSettings.webPushCertificateAuthorities]
    if let authorities, !FileManager.default.isReadableFile(atPath: authorities) {
      throw SettingsError("--web-push-ca-file: \(authorities) cannot be read; it must be a PEM file")
    }
    let endpoints = WebPushSettings.rules(values)
    let isRestricted = endpoints.hosts.isEmpty && !endpoints.allowsPrivateAddresses
    let rules = WebPushRules(
      endpoints: endpoints, services: WebPushServices(hosts: endpoints.hosts, salt: .random(in: .min ... .max)))
    let subject = subject(of: values)
    let connections = WebPushConnections(
      HTTPClientConfiguration(
        caFile: authorities, maxConnectionsPerHost: Self.connections, maxQueued: 2_000,
        maxResponseBytes: maxResponseBytes, plainProtocol: .http1, addresses: isRestricted ? .publicOnly : .any))
    context.metrics.gauge("nudge_web_push_connections", help: "Connections open to Web Push services.") {
      Double(connections.openConnections)
    }
    let client = WebPushClient(
      signers: signers, subject: subject, rules: rules, http: connections, log: log,
      monitor: WebPushMonitor(metrics: context.metrics, names: rules.services.patterns, deliveries: deliveries),
      spans: spans)
    return WebPushSender(
      client: client, files: VAPIDKeyFiles(files: files, keys: signers, log: log) { client.replace($0) }, rules: rules,
      keys: signers.map(\.publicKey), subject: subject)
  }

  /// How services can contact the operator. Some refuse a token without it.
  private static func subject(of values: SettingsValues) -> String {
    if let subject = values[DispatcherSettings.vapidSubject] { return subject }
    if let link = values[DispatcherSettings.webLink], let host = URLComponents(string: link)?.host {
      return "https://\(host)"
    }
    return "mailto:nudge@\(ProcessInfo.processInfo.hostName)"
  }
}

/// The files of `--vapid-key` as a service. They are read again when they change, so that keys are rotated without a restart.
final class VAPIDKeyFiles: Service {
  private struct State {
    var files: [WatchedFile]
    /// The keys in use.
    var publicKeys: [String]
    /// The error that was already reported; nil if the files are in use.
    var fault: String?
  }

  let name = "vapid keys"
  private let paths: [String]
  private let log: Logger
  private let use: @Sendable ([VAPIDKey]) -> Void
  private let state: Mutex<State>
  /// Checks the files for changes.
  private let timer = RepeatingTimer("vapid-keys", every: .seconds(5))

  /// - Parameters:
  ///   - files: Their state before `keys` were read from them.
  ///   - use: Receives the keys to use from then on.
  init(files: [WatchedFile], keys: [VAPIDKey], log: Logger, use: @escaping @Sendable ([VAPIDKey]) -> Void) {
    paths = files.map(\.path)
    self.log = log
    self.use = use
    state = Mutex(State(files: files, publicKeys: keys.map(\.publicKey)))
  }

  /// The files, with their current content marked as read.
  static func watched(_ paths: [String]) -> [WatchedFile] {
    paths.map { path in
      var file = WatchedFile(path: path)
      _ = try? file.changed(force: true)
      return file
    }
  }

  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) {
    timer.start { [weak self] in self?.reload() }
  }

  /// Uses the keys of the files if one has changed. Files that cannot be used change nothing.
  func reload() {
    state.withLock { state in
      var hasChanged = state.fault != nil
      for index in state.files.indices {
        // A file that cannot be read counts as changed too.
        do { if try state.files[index].changed(force: false) != nil { hasChanged = true } } catch { hasChanged = true }
      }
      guard hasChanged else { return }
      do throws(VAPIDKey.Invalid) {
        let keys = try VAPIDKey.keys(inFiles: paths)
        state.fault = nil
        let publicKeys = keys.map(\.publicKey)
        guard publicKeys != state.publicKeys else { return }
        state.publicKeys = publicKeys
        use(keys)
        log.notice("VAPID keys were read again", ["keys": .string(publicKeys.joined(separator: ", "))])
      } catch {
        let fault = error.description
        guard state.fault != fault else { return }
        state.fault = fault
        log.error("VAPID keys cannot be read again; the former ones stay in use", ["reason": .string(fault)])
      }
    }
  }

  func stop() { timer.stop() }
}
