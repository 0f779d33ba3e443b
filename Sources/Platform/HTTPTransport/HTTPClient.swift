internal import CLibcurl

/// The severity of a line of the client's log.
public enum HTTPClientLogLevel: Sendable, Hashable {
  /// Connections retired and replaced.
  case debug
  case info
  /// A connection over which nothing came was given up.
  case notice
  /// A condition that the operator should change.
  case warning
}

/// Counters of a client.
public struct HTTPClientStatistics: Sendable, Equatable {
  /// Connections open now, retired ones that still drain included.
  public internal(set) var openConnections = 0
  /// Requests on the wire now.
  public internal(set) var inFlight = 0
  /// Requests waiting for a free stream now.
  public internal(set) var queued = 0
  /// Requests for which memory is allocated now, on the wire or not.
  public internal(set) var transfers = 0
  /// Requests taken since the start.
  public internal(set) var requests = 0
  /// Requests that ended with an answer.
  public internal(set) var responses = 0
  /// Requests that ended with an error.
  public internal(set) var failures = 0
  /// Connections opened since the start.
  public internal(set) var openedConnections = 0
  /// Connections closed in good order because of their age or number of requests.
  public internal(set) var retiredConnections = 0
  /// Connections given up since the start because nothing came over them; their requests failed.
  public internal(set) var silentConnections = 0
}

/// A multiplexed HTTP/2 client: many requests at a time over few connections, on libcurl's multi interface.
///
/// One thread of the client's own does all I/O; `send` only hands it work, from any thread. Completions are called on that
/// thread, one at a time and exactly once for each request: they must be short and must not block. (A request that is refused,
/// `queueFull` or `shutDown`, completes on the caller's thread before `send` returns.) A completion may call `send`.
///
/// libcurl repeats a request by itself, within the request's time-out, if a reused connection is closed before the first byte of the
/// answer. That cannot be turned off: the server may receive a request twice that was sent once.
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
    loop.submit([Submission(request: request, completion: completion)])
  }

  /// Passes several requests to the client's thread at once, which is cheaper than one by one.
  public func send(_ batch: [(request: HTTPRequest, completion: Completion)]) {
    loop.submit(batch.map { Submission(request: $0.request, completion: $0.completion) })
  }

  /// Ends the client: refuses new requests, fails waiting ones with `shutDown`, waits `grace` for those on the wire, then fails the rest
  /// with `cancelled`. Returns when every completion has been called and all connections are closed (or at once, if called from a
  /// completion). A second call waits for the first.
  public func shutdown(grace: Duration) {
    loop.requestShutdown(grace: grace)
    loop.waitUntilFinished()
  }

  /// The counters as of the client thread's last round.
  public var statistics: HTTPClientStatistics { loop.statistics }

  /// The version of the libcurl in use, such as `8.14.1`.
  public static var libcurlVersion: String { CurlLibrary.version.text }

  /// Whether this libcurl may reset streams that have ended normally. A server with protection against rapid resets closes the connection
  /// after some number of them (nghttp2: 1,000).
  public static var resetsFinishedStreams: Bool { CurlLibrary.version.number < CurlLibrary.firstWithoutResets }
}
