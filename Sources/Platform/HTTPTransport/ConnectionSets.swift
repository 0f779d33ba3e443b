/// An open connection of a ``ConnectionSet``.
struct Connection {
  let socket: Int32
  /// When its last byte arrived, or when it was opened; on ``MonotonicClock``.
  var lastHeard: UInt64
  /// An answer over HTTP/2 came on it, so it can carry a probe beside its requests.
  var speaksHTTP2 = false
}

/// A connection on which nothing has arrived for some time although a request waits.
struct Doubt {
  let socket: Int32
  let origin: String
  /// On ``MonotonicClock``.
  let since: UInt64
  /// A request that any server answers at once. Absent if the connection is not known to carry a second request.
  let probe: Transfer?
}

/// The part of a URL that selects the connection.
enum Origin {
  /// Scheme, host and port as the URL spells them; without user, path and query, which may be secret.
  static func of(_ url: String) -> String {
    let bytes = Array(url.utf8)
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
      return ""
    }
    let authority = bytes[(colon + 3)...].prefix {
      $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
    }
    let host = authority.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false).last ?? []
    return (String(decoding: bytes[..<colon], as: UTF8.self) + "://" + String(decoding: host, as: UTF8.self))
      .lowercased()
  }
}

/// A client's sets of connections: which one a new request uses, when one is retired, and which are closed.
///
/// Owned by the client's thread.
struct ConnectionSets {
  /// Sets that accept new requests.
  private(set) var open: [ConnectionSet]
  /// Sets that are closed after their requests have finished.
  private(set) var draining: [ConnectionSet] = []

  private let configuration: HTTPClientConfiguration
  private let limit: Int
  /// Concurrent requests of one set. One stream is reserved for a probe.
  let streams: Int
  /// Requests finished on one connection after which its set is retired. It is low enough that the requests still in
  /// flight stay below the limit.
  private let retireAfter: Int
  private var made = 0
  private var openedBefore = 0
  /// Connections that were retired and closed without a failed request.
  private(set) var retired = 0

  init(_ configuration: HTTPClientConfiguration, maxRequests: Int, now: UInt64) throws(HTTPTransportError) {
    self.configuration = configuration
    limit = configuration.maxConnectionsPerHost
    streams = max(configuration.maxConcurrentStreams - 1, 1)
    retireAfter = maxRequests - configuration.maxConcurrentStreams
    open = []
    try add(now)
  }

  var all: [ConnectionSet] { draining.isEmpty ? open : draining + open }

  var isIdle: Bool { draining.isEmpty && open.allSatisfy { $0.inFlight == 0 } }

  /// When the next set becomes too old for new requests; nil if no set has a connection.
  var nextExpiry: UInt64? { open.filter { $0.inFlight > 0 || $0.opened > 0 }.map(\.expiresAt).min() }

  /// Requests on connections that may be dead. They do not count towards the limit.
  var doubted: Int { all.reduce(0) { $0 + ($1.doubts.isEmpty ? 0 : $1.inFlight) } }

  var openConnections: Int { all.reduce(0) { $0 + $1.connections.count } }

  var openedConnections: Int { all.reduce(openedBefore) { $0 + $1.opened } }

  /// The set with the fewest requests among those that may serve the URL's host. If all are busy and the limit allows,
  /// a new set is created. Nil if all are full.
  mutating func set(for url: String, now: UInt64) throws(HTTPTransportError) -> ConnectionSet? {
    let origin = open.contains { !$0.doubts.isEmpty } ? Origin.of(url) : nil
    var best: ConnectionSet?
    var usable = 0
    for set in open {
      if let origin, set.isDoubted(for: origin) { continue }
      usable += 1
      if set.inFlight < best?.inFlight ?? streams { best = set }
    }
    if usable < limit, best?.inFlight ?? streams > 0 {
      if origin != nil { for set in open where !set.doubts.isEmpty { set.isReplaced = true } }
      best = try add(now)
    }
    return best
  }

  @discardableResult
  private mutating func add(_ now: UInt64) throws(HTTPTransportError) -> ConnectionSet {
    let lifetime = Double(configuration.connectionLifetime.wholeNanoseconds)
    let age = UInt64(lifetime * (1 - 0.2 * min(max(configuration.lifetimeJitter(), 0), 1)))
    let set = try ConnectionSet(configuration, id: made, expiresAt: now + age)
    made += 1
    open.append(set)
    return set
  }

  /// Retires sets that are too old or have carried enough requests, doubted sets that were replaced, and sets whose
  /// doubt cannot end because no request waits on them.
  mutating func retireIfDue(_ now: UInt64, log: (String) -> Void) {
    for set in open {
      var reason: String?
      if set.busiest >= retireAfter {
        reason = "\(set.busiest) requests"
      } else if now >= set.expiresAt {
        reason = "its age"
      } else if set.doubts.isEmpty ? set.isReplaced : set.inFlight == 0 {
        reason = "a silence"
      }
      guard let reason else { continue }
      log("retiring \(set.connections.count) connections after \(reason)")
      retired += set.connections.count
      retire(set)
    }
  }

  /// Stops giving new requests to a set.
  mutating func retire(_ set: ConnectionSet) {
    guard let index = open.firstIndex(where: { $0 === set }) else { return }
    draining.append(open.remove(at: index))
  }

  mutating func closeDrained() {
    guard !draining.isEmpty else { return }
    draining.removeAll { set in
      guard set.inFlight == 0 else { return false }
      openedBefore += set.opened
      set.closeConnections()
      return true
    }
  }

  /// Closes all connections. All transfers must have been removed.
  mutating func closeAll() {
    for set in all {
      openedBefore += set.opened
      set.closeConnections()
    }
    open = []
    draining = []
  }
}
