import CLibcurl
import Glibc

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

/// One libcurl multi handle: a connection to each host, and the requests that share it.
///
/// libcurl checks the age of idle connections only and does not count requests, so it would never replace a busy
/// connection. The client therefore retires a whole set: new requests use another set, and the old one is closed after
/// its requests have finished. No request fails. A set has only one connection to a host, so a probe for a doubted
/// connection cannot use another one.
///
/// Owned by the client's thread, which also receives libcurl's callbacks.
final class ConnectionSet {
  let multi: UnsafeMutableRawPointer
  /// Identifies the set, because its address may be reused.
  let id: Int
  /// The time from which it accepts no requests, on ``MonotonicClock``.
  let expiresAt: UInt64
  /// Requests on the wire.
  private(set) var inFlight = 0
  /// The sockets that libcurl waits for, and their events.
  private(set) var interests: [(socket: Int32, events: Int16)] = []
  /// When to call libcurl even if no socket is ready; nil for never.
  private(set) var timerDue: UInt64?
  /// All open connections.
  private(set) var connections: [Connection] = []
  /// Connections that may be dead; their hosts get no new requests in this set.
  private(set) var doubts: [Doubt] = []
  /// Whether another set replaces this one because of a doubt.
  var isReplaced = false
  /// Connections that the system has given up since the last call of ``takeDied()``, each with the milliseconds since
  /// the last data from the other side.
  private var died: [(port: Int?, silence: Int)] = []
  /// The number of sockets opened so far.
  private(set) var opened = 0
  /// Requests finished per connection, which is identified by its local port.
  private var finishedByPort: [(port: Int, count: Int)] = []
  /// The most requests finished on one connection of the set.
  private(set) var busiest = 0

  init(_ configuration: HTTPClientConfiguration, id: Int, expiresAt: UInt64) throws(HTTPTransportError) {
    guard let multi = curl_multi_init() else {
      throw HTTPTransportError(kind: .other, message: "libcurl cannot make a multi handle: out of memory")
    }
    self.multi = multi
    self.id = id
    self.expiresAt = expiresAt
    let context = Unmanaged.passUnretained(self).toOpaque()
    let codes = [
      nudge_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX)),
      nudge_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, 1),
      // Even with one request at a time, a probe needs a second stream.
      nudge_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, max(configuration.maxConcurrentStreams, 2)),
      nudge_multi_on_events(multi, ConnectionSet.socketChanged, ConnectionSet.timerChanged, context),
    ]
    if let failed = codes.first(where: { $0 != CURLM_OK }) {
      curl_multi_cleanup(multi)
      throw HTTPTransportError(
        kind: .other,
        message: "libcurl \(CurlLibrary.version.text) refuses an option: \(CurlLibrary.text(of: failed))")
    }
  }

  /// Closes the connections. Call it once, as the last method, after all transfers were removed, because libcurl would
  /// otherwise keep their pointers. `deinit` cannot do it: libcurl calls back while it closes sockets.
  func closeConnections() {
    curl_multi_cleanup(multi)
  }

  /// Puts a loaded transfer on the wire at the next call to ``drive(_:)``.
  func add(_ transfer: Transfer) -> CURLMcode {
    if transfer.connectionSet != id {
      let context = Unmanaged.passUnretained(self).toOpaque()
      nudge_easy_set_pointer(transfer.easy, CURLOPT_SOCKOPTDATA, context)
      nudge_easy_set_pointer(transfer.easy, CURLOPT_CLOSESOCKETDATA, context)
      transfer.connectionSet = id
    }
    let code = curl_multi_add_handle(multi, transfer.easy)
    if code == CURLM_OK { inFlight += 1 }
    return code
  }

  /// Removes a transfer, finished or not. Afterwards libcurl does not touch its bytes.
  func remove(_ transfer: Transfer) {
    if let port = transfer.localPort { countRequest(on: port) }
    curl_multi_remove_handle(multi, transfer.easy)
    inFlight -= 1
  }

  /// Lets libcurl work on a socket that is ready.
  func drive(_ socket: Int32, _ events: Int16) {
    var mask: Int32 = 0
    if events & Int16(POLLIN | POLLHUP) != 0 { mask |= CURL_CSELECT_IN }
    if events & Int16(POLLOUT) != 0 { mask |= CURL_CSELECT_OUT }
    if events & Int16(POLLERR | POLLNVAL) != 0 { mask |= CURL_CSELECT_ERR }
    var running: Int32 = 0
    curl_multi_socket_action(multi, socket, mask, &running)
  }

  /// Lets libcurl do what its own timers require, including the start of new transfers.
  func driveTimers(now: UInt64) {
    // Each call may make more work due at once, as a transfer goes from resolved to connected to sent. The loop is
    // bounded so that one busy set cannot keep the thread from its mailbox.
    for _ in 0..<4 {
      guard let due = timerDue, due <= now else { return }
      timerDue = nil
      var running: Int32 = 0
      curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running)
    }
  }

  /// Holds back small segments on all connections of the set, or releases them. The requests of a round then leave in a
  /// few full segments, for about half the CPU time of sending each by itself.
  func cork(_ on: Bool) {
    var value: Int32 = on ? 1 : 0
    for connection in connections {
      setsockopt(connection.socket, Int32(IPPROTO_TCP), TCP_CORK, &value, socklen_t(MemoryLayout<Int32>.size))
    }
  }

  // MARK: Silence

  /// Bytes arrived on a socket.
  func recordBytes(_ socket: Int32, now: UInt64) {
    guard let index = connections.firstIndex(where: { $0.socket == socket }) else { return }
    connections[index].lastHeard = now
    if !doubts.isEmpty { doubts.removeAll { $0.socket == socket } }
  }

  /// The connection with a local port.
  func connection(at port: Int) -> Connection? { connections.first { SocketOptions.localPort(of: $0.socket) == port } }

  /// An HTTP/2 answer came.
  func recordHTTP2(at port: Int) {
    // Most calls are for a connection that is already known to speak HTTP/2.
    guard connections.contains(where: { !$0.speaksHTTP2 }),
      let index = connections.firstIndex(where: { SocketOptions.localPort(of: $0.socket) == port })
    else { return }
    connections[index].speaksHTTP2 = true
  }

  func doubt(_ doubt: Doubt) { doubts.append(doubt) }

  /// Whether requests to a URL must not use this set.
  func isDoubted(for origin: String) -> Bool { doubts.contains { $0.origin == origin } }

  /// Shuts down a connection that libcurl still considers alive. libcurl notices the end and stops using the
  /// connection.
  func giveUp(_ doubt: Doubt) {
    doubts.removeAll { $0.socket == doubt.socket }
    shutdown(doubt.socket, Int32(SHUT_RDWR))
  }

  func takeDied() -> [(port: Int?, silence: Int)] {
    defer { died = [] }
    return died
  }

  private func countRequest(on port: Int) {
    if let index = finishedByPort.firstIndex(where: { $0.port == port }) {
      finishedByPort[index].count += 1
      busiest = max(busiest, finishedByPort[index].count)
    } else {
      finishedByPort.append((port, 1))
      busiest = max(busiest, 1)
    }
  }

  private static func from(_ context: UnsafeMutableRawPointer?) -> ConnectionSet? {
    context.map { Unmanaged<ConnectionSet>.fromOpaque($0).takeUnretainedValue() }
  }

  /// libcurl reports what it waits for on a socket.
  private static let socketChanged:
    @convention(c) (
      UnsafeMutableRawPointer?, curl_socket_t, Int32, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
    ) -> Int32 = { _, socket, what, context, _ in
      guard let set = from(context) else { return 0 }
      set.interests.removeAll { $0.socket == socket }
      if what != CURL_POLL_REMOVE {
        let events = (what & CURL_POLL_IN != 0 ? POLLIN : 0) | (what & CURL_POLL_OUT != 0 ? POLLOUT : 0)
        set.interests.append((socket, Int16(events)))
      }
      return 0
    }

  /// libcurl reports when to call it.
  private static let timerChanged: @convention(c) (UnsafeMutableRawPointer?, Int, UnsafeMutableRawPointer?) -> Int32 = {
    _, milliseconds, context in
    let now = MonotonicClock.now()
    from(context)?.timerDue = milliseconds < 0 ? nil : now + UInt64(milliseconds) * 1_000_000
    return 0
  }

  /// libcurl has created a socket.
  static let socketOpened: @convention(c) (UnsafeMutableRawPointer?, curl_socket_t, curlsocktype) -> Int32 = {
    context, socket, _ in
    SocketOptions.watchPeer(socket)
    if let set = from(context) {
      set.connections.append(Connection(socket: socket, lastHeard: MonotonicClock.now()))
      set.opened += 1
    }
    return Int32(CURL_SOCKOPT_OK)
  }

  /// libcurl no longer needs a socket. The client closes it.
  static let closeSocket: @convention(c) (UnsafeMutableRawPointer?, curl_socket_t) -> Int32 = { context, socket in
    if let set = from(context) {
      if let silence = SocketOptions.silence(ofDead: socket) {
        set.died.append((SocketOptions.localPort(of: socket), silence))
      }
      set.connections.removeAll { $0.socket == socket }
      set.doubts.removeAll { $0.socket == socket }
    }
    return close(socket)
  }
}
