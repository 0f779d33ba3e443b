import Glibc
import Synchronization

/// The process's TCP connections to its peers, and which of them are silent.
///
/// A connection can die silently: a firewall or NAT forgets it, a pod moves, a load balancer fails over. Its packets
/// are lost, while new connections work. The kernel gives up such a connection after a quarter of an hour, and a
/// library only after the time-out of each request. All libraries of the process open their sockets here. So one place
/// sees that a peer has owed an answer for too long, and that other connections may have died with that one.
public enum PeerSockets {
  /// If a peer's host does not acknowledge data or keepalive probes for this long, packets are lost and the connection
  /// ends. The host of a slow peer still acknowledges.
  static let unacknowledged: Duration = .seconds(4)
  /// A connection ends if nothing follows a request for this long, as measured by the checks.
  static let unanswered: Duration = .seconds(5)
  /// When one connection is given up, so are the others that have been silent for this long.
  static let doubtful: Duration = .seconds(2)

  private struct Open {
    /// Since when the peer has owed an answer, as measured by the checks; nil if it owes none.
    var owesSince: ContinuousClock.Instant?
  }

  private struct State {
    var open: [Int32: Open] = [:]
    /// Connections given up since the last check.
    var givenUp: [GivenUp] = []
  }

  private static let state = Mutex(State())

  // MARK: Opening and closing

  /// A new TCP socket that notices when its peer's host vanishes. A negative number means an error (`errno`).
  public static func make(family: Int32, type: Int32, protocol: Int32) -> Int32 {
    let descriptor = socket(family, type | Int32(SOCK_CLOEXEC.rawValue), `protocol`)
    guard descriptor >= 0 else { return descriptor }
    endWhenUnacknowledged(descriptor)
    state.withLock { $0.open[descriptor] = Open() }
    return descriptor
  }

  /// Closes a socket of `make`.
  @discardableResult
  public static func close(_ descriptor: Int32) -> Int32 {
    // Within the lock, so that `shutdown` cannot reach another socket that was given the same number.
    state.withLock { state in
      state.open[descriptor] = nil
      return Glibc.close(descriptor)
    }
  }

  private static func endWhenUnacknowledged(_ descriptor: Int32) {
    func set(_ level: Int32, _ option: Int32, _ value: Int32) {
      var value = value
      setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
    set(SOL_SOCKET, SO_KEEPALIVE, 1)
    let tcp = Int32(IPPROTO_TCP)
    set(tcp, TCP_KEEPIDLE, 3)
    set(tcp, TCP_KEEPINTVL, 1)
    set(tcp, TCP_USER_TIMEOUT, Int32(unacknowledged.components.seconds * 1000))
  }

  /// Makes the close a reset. A broker that holds a request back reads nothing meanwhile. It misses an orderly end, and sees a reset.
  private static func resetWhenClosed(_ descriptor: Int32) {
    var atOnce = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
  }

  // MARK: Silence

  /// A connection that was given up: the peer's address, and how long it was silent.
  public struct GivenUp: Sendable, Equatable {
    public let peer: String
    public let silence: Duration
  }

  /// Ends connections whose peers have owed an answer for `unanswered`, and with them all others that are as silent.
  /// The owners notice the closed connections and connect again. Call it about once per second.
  /// - Returns: The connections given up since the last check.
  public static func check(now: ContinuousClock.Instant = .now) -> [GivenUp] {
    state.withLock { state in
      var isDoubted = false
      for (descriptor, socket) in state.open {
        guard let traffic = Traffic(descriptor), traffic.owesAnswer else {
          state.open[descriptor]?.owesSince = nil
          continue
        }
        var since = socket.owesSince ?? now
        // Something arrived since then, so the answer owed now belongs to a later request.
        if now - traffic.sinceReceived > since { since = now }
        state.open[descriptor]?.owesSince = since
        if now - since >= unanswered { isDoubted = true }
      }
      if isDoubted { endSilent(&state) }
      defer { state.givenUp = [] }
      return state.givenUp
    }
  }

  /// A request got no answer in time. Ends the connections that have been silent for a while, because they may have
  /// died too.
  public static func doubt() { state.withLock { endSilent(&$0) } }

  private static func endSilent(_ state: inout State) {
    for descriptor in state.open.keys.sorted() {
      guard let traffic = Traffic(descriptor), traffic.sinceReceived >= doubtful else { continue }
      state.givenUp.append(GivenUp(peer: peer(of: descriptor), silence: traffic.sinceReceived))
      resetWhenClosed(descriptor)
      shutdown(descriptor, Int32(SHUT_RDWR))
    }
  }

  /// The kernel's statistics of an established connection.
  private struct Traffic {
    let sinceReceived: Duration
    /// Whether something was sent after the last data arrived.
    let owesAnswer: Bool

    /// Nil if the connection is not established or the system does not provide the statistics.
    init?(_ descriptor: Int32) {
      // The kernel's structure may be longer than the C library's header says.
      var info = [UInt8](repeating: 0, count: 256)
      var size = socklen_t(info.count)
      guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &size) == 0, size >= Self.segmentsSent + 4,
        info[0] == Self.established
      else { return nil }
      func field(_ place: Int) -> UInt32 {
        info.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: UInt32.self) }
      }
      let (sent, received) = (field(Self.lastDataSent), field(Self.lastDataReceived))
      sinceReceived = .milliseconds(Int64(received))
      // Both times have a resolution of some milliseconds. If they are equal, the answer may be the later of the two.
      owesAnswer = sent < received || field(Self.segmentsReceived) == 0 && field(Self.segmentsSent) > 0
    }

    // Offsets in `struct tcp_info` (linux/tcp.h), which only grows at its end.
    private static let lastDataSent = 44
    private static let lastDataReceived = 52
    private static let segmentsReceived = 152
    private static let segmentsSent = 156
    private static let established: UInt8 = 1
  }

  private static func peer(of descriptor: Int32) -> String {
    var address = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    var host = [CChar](repeating: 0, count: 64)
    var port = [CChar](repeating: 0, count: 8)
    let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getpeername(descriptor, $0, &size) == 0
          && getnameinfo(
            $0, size, &host, socklen_t(host.count), &port, socklen_t(port.count), NI_NUMERICHOST | NI_NUMERICSERV) == 0
      }
    }
    guard isKnown else { return "?" }
    func text(_ characters: [CChar]) -> String {
      String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    return "\(text(host)):\(text(port))"
  }
}
