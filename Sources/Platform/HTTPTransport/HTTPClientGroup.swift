internal import Dispatch
internal import Synchronization

/// Several ``HTTPClient``s side by side, each with a thread and connections of its own, for more requests than one core can
/// carry. Requests go to them in turn. As one client where there is one.
public final class HTTPClientGroup: Sendable {
  private let clients: [HTTPClient]
  private let turn = Atomic<Int>(0)

  /// Starts the clients.
  ///
  /// - Parameters:
  ///   - count: how many; at least 1.
  ///   - configuration: what all of them together may hold; connections are shared out, at least one each.
  ///   - log: gets a line now and then, on any thread; what concerns the library, once.
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
          if number == 0 || level == .debug { log(level, line) }
        })
    }
    self.clients = clients
  }

  /// Sends a request by the client whose turn it is.
  public func send(_ request: HTTPRequest, completion: @escaping HTTPClient.Completion) {
    let turn = UInt(bitPattern: self.turn.wrappingAdd(1, ordering: .relaxed).oldValue)
    let number = Int(turn % UInt(clients.count))
    clients[number].send(request, completion: completion)
  }

  /// Opens a connection of each client to the host of a URL, ahead of the first request: asks for the URL once by each, and
  /// looks at no answer.
  public func warmUp(_ url: String) {
    for client in clients { client.send(HTTPRequest(method: .get, url: url)) { _ in } }
  }

  /// Ends all clients at once, each as ``HTTPClient/shutdown(grace:)`` does.
  public func shutdown(grace: Duration) {
    DispatchQueue.concurrentPerform(iterations: clients.count) { clients[$0].shutdown(grace: grace) }
  }

  /// What all of them are doing and have done.
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
    }
  }
}
