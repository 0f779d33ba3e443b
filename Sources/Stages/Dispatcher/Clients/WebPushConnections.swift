import HTTPTransport
import NudgeSchema
import ServiceKit
import Synchronization

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

  private enum Choice {
    case own(HTTPClient)
    case shared(HTTPClient)
    case none(HTTPTransportError)
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
    switch state.withLock({ choose(&$0, origin) }) {
    case .own(let client):
      client.send(request) { [self] result in
        state.withLock { $0.hosts[origin]?.inFlight -= 1 }
        completion(result)
      }
    case .shared(let client):
      client.send(request) { [self] result in
        state.withLock { $0.sharing[origin] = $0.sharing[origin].flatMap { $0 > 1 ? $0 - 1 : nil } }
        completion(result)
      }
    case .none(let error): completion(.failure(error))
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

  private func choose(_ state: inout State, _ origin: String) -> Choice {
    if state.isShutDown { return .none(HTTPTransportError(kind: .shutDown, message: "the client was shut down")) }
    state.uses += 1
    do throws(HTTPTransportError) {
      if state.hosts[origin] == nil {
        if state.hosts.count >= maxHosts {
          let idle = state.hosts.filter { $0.value.inFlight == 0 }
          guard let oldest = idle.min(by: { $0.value.usedAt < $1.value.usedAt })?.key else {
            return try share(&state, origin)
          }
          // It ends by itself, because it has no requests in flight.
          state.hosts[oldest] = nil
        }
        state.hosts[origin] = Host(client: try makeClient())
      }
    } catch {
      return .none(error)
    }
    guard let client = state.hosts[origin]?.client else { preconditionFailure("the host was just added") }
    state.hosts[origin]?.inFlight += 1
    state.hosts[origin]?.usedAt = state.uses
    return .own(client)
  }

  private func share(_ state: inout State, _ origin: String) throws(HTTPTransportError) -> Choice {
    if state.shared == nil { state.shared = try makeClient() }
    guard let client = state.shared, state.sharing[origin, default: 0] < Self.maxSharing else {
      return .none(HTTPTransportError(kind: .queueFull, message: "too many push services are busy"))
    }
    state.sharing[origin, default: 0] += 1
    return .shared(client)
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
