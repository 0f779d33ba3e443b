internal import Dispatch
internal import Synchronization

/// Several ``HTTPClient``s side by side, each with a thread and connections of its own, for more requests than one core can
/// carry. Requests are distributed round-robin. With one client this is the same as that client.
public final class HTTPClientGroup: Sendable {
  private let clients: [HTTPClient]
  private let turn = Atomic<Int>(0)

  /// Starts the clients.
  ///
  /// - Parameters:
  ///   - count: The number of clients; at least 1.
  ///   - configuration: Limits of all clients together; connections are divided, at least one each.
  ///   - log: Receives occasional lines, on any thread; lines about the library only once.
  /// - Throws: as ``HTTPClient/init(_:log:)``.
  public init(
    _ configuration: HTTPClientConfiguration, count: Int = 1,
    log: @escaping @Sendable (HTTPClientLogLevel, String) -> Void = { _, _ in }
  ) throws(HTTPTransportError) {
    let count = max(count, 1)
    var share = configuration
    share.maxConnectionsPerHost = max((configuration.maxConnectionsPerHost + count - 1) / count, 1)
    share.maxInFlight = configuration.maxInFlight.map { max(($0 + count - 1) / count, 1) }
    share.maxQueued = (configuration.maxQueued + count - 1) / count
    var clients: [HTTPClient] = []
    for number in 0..<count {
      clients.append(
        try HTTPClient(share) { level, line in
          if number == 0 || level == .debug || level == .notice { log(level, line) }
        })
    }
    self.clients = clients
  }

  /// Sends a request with the next client.
  public func send(_ request: HTTPRequest, completion: @escaping HTTPClient.Completion) {
    let turn = UInt(bitPattern: self.turn.wrappingAdd(1, ordering: .relaxed).oldValue)
    let number = Int(turn % UInt(clients.count))
    clients[number].send(request, completion: completion)
  }

  /// Opens a connection from each client to the URL's host before the first request: each requests the URL once and ignores
  /// the answer.
  public func warmUp(_ url: String) {
    for client in clients { client.send(HTTPRequest(method: .get, url: url)) { _ in } }
  }

  /// Ends all clients at once, each as ``HTTPClient/shutdown(grace:)`` does.
  public func shutdown(grace: Duration) {
    DispatchQueue.concurrentPerform(iterations: clients.count) { clients[$0].shutdown(grace: grace) }
  }

  /// The sum of the clients' counters.
  public var statistics: HTTPClientStatistics {
    clients.reduce(into: HTTPClientStatistics()) { sum, client in
      let one = client.statistics
      sum.openConnections += one.openConnections
      sum.inFlight += one.inFlight
      sum.queued += one.queued
      sum.transfers += one.transfers
      sum.requests += one.requests
      sum.responses += one.responses
      sum.failures += one.failures
      sum.openedConnections += one.openedConnections
      sum.retiredConnections += one.retiredConnections
      sum.silentConnections += one.silentConnections
    }
  }
}
