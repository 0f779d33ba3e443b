/// How an ``HTTPClient`` connects and what it may hold.
public struct HTTPClientConfiguration: Sendable {
  /// How `http://` URLs are spoken to. `https://` is HTTP/2 where the server offers it, HTTP/1.1 elsewhere.
  public enum PlainProtocol: Sendable, Hashable {
    /// HTTP/1.1.
    case http1
    /// HTTP/2 without asking first (h2c with prior knowledge).
    case http2PriorKnowledge
  }

  /// The addresses that it connects to.
  public enum Addresses: Sendable, Hashable {
    /// Any, by way of the proxy that the environment names, if it names one.
    case any
    /// Public ones only, each checked when a connection is opened, whatever name led to it, and without a proxy: a URL that a person
    /// chose must not reach this host or its network. See ``PublicAddress``.
    case publicOnly
  }

  /// A PEM file with the certificate authorities to trust; nil for the system's.
  public var caFile: String?
  /// Connections to one host at a time; while one set of connections is retired and drains, its successor may hold as many again.
  public var maxConnectionsPerHost: Int
  /// Requests on one connection at a time. FCM allows 100 and answers more with GOAWAY.
  public var maxConcurrentStreams: Int
  /// Requests on the wire at a time, all hosts together; nil: as many as the connections to one host carry.
  public var maxInFlight: Int?
  /// Requests that may wait for a free stream; further ones fail at once as `queueFull`.
  public var maxQueued: Int
  /// The time a connection may take to stand, TLS included.
  public var connectTimeout: Duration
  /// The greatest age of a connection that takes new requests. FCM ends connections at about 3,600 s; stay below.
  public var connectionLifetime: Duration
  /// A number in 0..<1, asked once for each set of connections: the lifetime is shortened by up to a fifth of itself, so
  /// that many clients started together do not all reconnect together.
  public var lifetimeJitter: @Sendable () -> Double
  /// Requests after which a connection is retired; nil: unlimited, or 900 where ``HTTPClient/resetsFinishedStreams``.
  /// Must exceed ``maxConcurrentStreams``.
  public var maxRequestsPerConnection: Int?
  /// How long a connection may give no byte while a request on it waits, before it is doubted: a probe goes out on it (`GET /`, which
  /// any server answers at once), and requests that start meanwhile use another connection. A connection that does not answer the probe
  /// within the same time is given up, with the requests on it.
  public var silence: Duration
  /// How long libcurl's memory for a request (about 90 KB) is kept while fewer are on the wire than were; up to twice as long.
  public var idleTransferLifetime: Duration
  /// The most bytes of an answer's body that are kept; a longer one ends the transfer.
  public var maxResponseBytes: Int
  /// Names of the header fields of an answer that are handed on.
  public var keptHeaders: [String]
  /// How to speak to `http://` URLs.
  public var plainProtocol: PlainProtocol
  /// Which addresses it connects to.
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
