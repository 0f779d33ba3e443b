import Dispatch
import Synchronization

/// The severity of a line of the client's log.
public enum HTTPClientLogLevel: Sendable, Hashable {
  /// Connections were retired or replaced.
  case debug
  case info
  /// A silent connection was given up.
  case notice
  /// A condition that the operator should change.
  case warning
}

/// Counters of a client.
public struct HTTPClientStatistics: Sendable, Equatable {
  /// Connections open now, including retired ones that still drain.
  public internal(set) var openConnections = 0
  /// Requests on the wire now.
  public internal(set) var inFlight = 0
  /// Requests waiting for a free stream now.
  public internal(set) var queued = 0
  /// Requests for which memory is allocated now, whether or not they are on the wire.
  public internal(set) var transfers = 0
  /// Requests accepted since the start.
  public internal(set) var requests = 0
  /// Requests that ended with an answer.
  public internal(set) var responses = 0
  /// Requests that ended with an error.
  public internal(set) var failures = 0
  /// Connections opened since the start.
  public internal(set) var openedConnections = 0
  /// Connections closed because of their age or number of requests, without a failed request.
  public internal(set) var retiredConnections = 0
  /// Silent connections given up since the start. Their requests failed.
  public internal(set) var silentConnections = 0
}

/// A multiplexed HTTP/2 client: many requests at a time over few connections, on libcurl's multi interface.
///
/// One thread of the client does all I/O. `send` may be called from any thread and only passes the work on. Completions
/// are called on the client's thread, one at a time and exactly once for each request, so they must be short and must
/// not block. A request that is refused (`queueFull` or `shutDown`) completes on the caller's thread before `send`
/// returns. A completion may call `send`.
///
/// If a reused connection is closed before the first byte of the answer, libcurl repeats the request by itself, within
/// the request's time-out. This cannot be turned off, so the server may receive a request twice that was sent once.
///
/// It follows no redirects, keeps no cookies, verifies certificates and host names, and speaks TLS 1.2 or newer.
public final class HTTPClient: Sendable {
  /// Called once, with the answer or the error.
  public typealias Completion = @Sendable (Result<HTTPResponse, HTTPTransportError>) -> Void

  private let loop: TransferLoop

  /// Starts a client.
  ///
  /// - Parameters:
  ///   - configuration: Connections and limits.
  ///   - log: Receives occasional lines, on any thread; never a URL's query, a header or a body.
  /// - Throws: ``HTTPTransportError`` of kind `invalidRequest` if the configuration is invalid, `other` if libcurl does not start.
  public init(
    _ configuration: HTTPClientConfiguration,
    log: @escaping @Sendable (HTTPClientLogLevel, String) -> Void = { _, _ in }
  ) throws(HTTPTransportError) {
    loop = try TransferLoop(configuration, log: log)
    log(.info, "HTTP client on libcurl \(Self.libcurlVersion)")
    if Self.resetsFinishedStreams {
      log(
        .warning,
        "libcurl \(Self.libcurlVersion) may reset streams that ended well, so that servers close the connection after 1,000 "
          + "requests; connections are retired before that. Install libcurl 8.14 or newer to save the reconnects")
    }
    loop.start()
  }

  deinit {
    loop.requestShutdown(grace: .zero)
  }

  public func send(_ request: HTTPRequest, completion: @escaping Completion) {
    loop.submit(Submission(request: request, completion: completion))
  }

  /// Ends the client. It refuses new requests, fails waiting ones with `shutDown`, waits `grace` for those on the wire,
  /// and fails the rest with `cancelled`. It returns when every completion was called and all connections are closed;
  /// if called from a completion it returns at once. A second call waits for the first.
  public func shutdown(grace: Duration) {
    loop.requestShutdown(grace: grace)
    loop.waitUntilFinished()
  }

  /// The counters after the client thread's last round.
  public var statistics: HTTPClientStatistics { loop.statistics }

  /// The version of the libcurl in use, such as `8.14.1`.
  public static var libcurlVersion: String { CurlLibrary.version.text }

  /// Whether this libcurl may reset streams that ended normally. A server with protection against rapid resets closes a
  /// connection after some number of them (nghttp2: 1,000).
  public static var resetsFinishedStreams: Bool { CurlLibrary.version.number < CurlLibrary.firstWithoutResets }
}

extension HTTPClient {
  /// Sends a request and blocks until it ends, at most for the request's time-out. Do not call it in a completion,
  /// because it would block the thread that receives the answer.
  public func response(to request: HTTPRequest) -> Result<HTTPResponse, HTTPTransportError> {
    let answer = Mutex<Result<HTTPResponse, HTTPTransportError>?>(nil)
    let done = DispatchSemaphore(value: 0)
    send(request) { result in
      answer.withLock { $0 = result }
      done.signal()
    }
    done.wait()
    return answer.withLock { $0 }
      ?? .failure(HTTPTransportError(kind: .cancelled, message: "no answer", responseStarted: false))
  }
}

/// How an ``HTTPClient`` connects, and its limits.
public struct HTTPClientConfiguration: Sendable {
  /// The protocol for `http://` URLs. `https://` uses HTTP/2 if the server offers it, and HTTP/1.1 otherwise.
  public enum PlainProtocol: Sendable, Hashable {
    /// HTTP/1.1.
    case http1
    /// HTTP/2 without negotiation (h2c with prior knowledge).
    case http2PriorKnowledge
  }

  /// The addresses to which the client connects.
  public enum Addresses: Sendable, Hashable {
    /// Any address, through the proxy that the environment names, if it names one.
    case any
    /// Public addresses only, without a proxy. The address is checked whenever a connection is opened, whatever name
    /// led to it. It is for URLs that a person chose, which must not reach this host or its network. See
    /// ``PublicAddress``.
    case publicOnly
  }

  /// A PEM file with the certificate authorities to trust; nil for the system's.
  public var caFile: String?
  /// Connections to one host at a time. While a retired set of connections drains, its successor may have as many
  /// again.
  public var maxConnectionsPerHost: Int
  /// Requests on one connection at a time. FCM allows 100 and answers more with GOAWAY.
  public var maxConcurrentStreams: Int
  /// Concurrent requests of all hosts together; nil for as many as the connections to one host carry.
  public var maxInFlight: Int?
  /// Requests that may wait for a free stream. Further ones fail at once as `queueFull`.
  public var maxQueued: Int
  /// The time limit for establishing a connection, including TLS.
  public var connectTimeout: Duration
  /// The greatest age at which a connection accepts new requests. FCM ends connections at about 3,600 s; stay below
  /// that.
  public var connectionLifetime: Duration
  /// Returns a number in 0..<1 for each set of connections. The lifetime is shortened by up to a fifth accordingly, so
  /// that clients that started together do not all reconnect together.
  public var lifetimeJitter: @Sendable () -> Double
  /// Requests after which a connection is retired. Nil means unlimited, or 900 if ``HTTPClient/resetsFinishedStreams``.
  /// It must exceed ``maxConcurrentStreams``.
  public var maxRequestsPerConnection: Int?
  /// How long a connection may be silent while a request waits on it. Then a probe is sent on it (`GET /`, which any
  /// server answers at once), and new requests use another connection. If the probe gets no answer within the same
  /// time, the connection and its requests are given up.
  public var silence: Duration
  /// How long libcurl's memory for an unused request (about 90 KB) is kept; in some cases up to twice as long.
  public var idleTransferLifetime: Duration
  /// The most bytes of an answer's body that are kept. A longer body ends the transfer.
  public var maxResponseBytes: Int
  /// The names of the answer's header fields to return.
  public var keptHeaders: [String]
  /// The protocol for `http://` URLs.
  public var plainProtocol: PlainProtocol
  /// The addresses to which the client may connect.
  public var addresses: Addresses

  /// A configuration for FCM; see the properties for meaning and units.
  public init(
    caFile: String? = nil, maxConnectionsPerHost: Int = 2, maxConcurrentStreams: Int = 100, maxInFlight: Int? = nil,
    maxQueued: Int = 10_000, connectTimeout: Duration = .seconds(5), connectionLifetime: Duration = .seconds(3_300),
    lifetimeJitter: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
    maxRequestsPerConnection: Int? = nil, silence: Duration = .seconds(3),
    idleTransferLifetime: Duration = .seconds(30), maxResponseBytes: Int = 64 * 1024,
    keptHeaders: [String] = ["retry-after"], plainProtocol: PlainProtocol = .http2PriorKnowledge,
    addresses: Addresses = .any
  ) {
    self.caFile = caFile
    self.maxConnectionsPerHost = maxConnectionsPerHost
    self.maxConcurrentStreams = maxConcurrentStreams
    self.maxInFlight = maxInFlight
    self.maxQueued = maxQueued
    self.connectTimeout = connectTimeout
    self.connectionLifetime = connectionLifetime
    self.lifetimeJitter = lifetimeJitter
    self.maxRequestsPerConnection = maxRequestsPerConnection
    self.silence = silence
    self.idleTransferLifetime = idleTransferLifetime
    self.maxResponseBytes = maxResponseBytes
    self.keptHeaders = keptHeaders
    self.plainProtocol = plainProtocol
    self.addresses = addresses
  }
}

/// Several ``HTTPClient``s, each with its own thread and connections, for more requests than one core can handle.
/// Requests are distributed round-robin. A group of one client behaves like that client.
public final class HTTPClientGroup: Sendable {
  private let clients: [HTTPClient]
  private let turn = Atomic<Int>(0)

  /// Starts the clients.
  ///
  /// - Parameters:
  ///   - count: The number of clients; at least 1.
  ///   - configuration: Limits of all clients together. Connections are divided among them, at least one each.
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

  /// Opens a connection from each client to the URL's host before the first request. Each client requests the URL once
  /// and ignores the answer.
  public func warmUp(_ url: String) {
    for client in clients { client.send(HTTPRequest(method: .get, url: url)) { _ in } }
  }

  /// Ends all clients at the same time, each as ``HTTPClient/shutdown(grace:)`` does.
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
