import Dispatch
import Glibc
import Synchronization

/// Closes slow connections: a head or body that arrives byte by byte, or an answer that the client does not read.
/// libmicrohttpd's own time-out restarts with each byte.
final class ConnectionDeadlines: Sendable {
  private enum Phase {
    /// The connection waits for the next request.
    case waiting
    case receiving
    /// The request has arrived, and a handler processes it.
    case busy
    /// The client is reading the answer.
    case sending
  }

  private struct Entry {
    let socket: Int32
    var phase = Phase.waiting
    /// Nil while a handler has the request, and after the connection was shut down.
    var deadline: ContinuousClock.Instant?
  }

  private let idle: Duration
  private let transfer: Duration
  /// By the connection's address in memory.
  private let entries = Mutex<[UInt: Entry]>([:])
  private let timer = Mutex<(any DispatchSourceTimer)?>(nil)

  init(idle: Duration, transfer: Duration) {
    self.idle = idle
    self.transfer = transfer
  }

  /// How long a connection beyond its address's limit may take to send the request, which is then refused.
  private static let excess: Duration = .seconds(1)

  /// Starts the timer. Its interval is a quarter of the time for a transfer, at least 50 ms and at most 1 s.
  func start() {
    let (seconds, attoseconds) = transfer.components
    let pause = min(1_000, max(50, Int(seconds) * 250 + Int(attoseconds / 4_000_000_000_000_000)))
    timer.withLock { timer in
      let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "http-deadlines"))
      source.schedule(deadline: .now() + .milliseconds(pause), repeating: .milliseconds(pause))
      source.setEventHandler { [weak self] in self?.sweep(.now) }
      source.activate()
      timer = source
    }
  }

  func stop() { timer.withLock { $0.take()?.cancel() } }

  func opened(_ connection: Exchange.Connection, socket: Int32, isExcess: Bool) {
    let limit = isExcess ? min(transfer, Self.excess) : transfer
    entries.withLock { $0[connection.key] = Entry(socket: socket, deadline: .now + limit) }
  }

  /// libmicrohttpd calls this before it closes the socket. `sweep` holds the same lock, so it never uses a descriptor
  /// that has meanwhile been given to another connection or file.
  func closed(_ connection: Exchange.Connection) {
    entries.withLock { _ = $0.removeValue(forKey: connection.key) }
  }

  /// The request line has been read.
  func requestBegins(_ connection: Exchange.Connection) { set(connection, .receiving, .now + transfer) }

  /// The request is complete. Its handler has no deadline.
  func requestArrived(_ connection: Exchange.Connection) { set(connection, .busy, nil) }

  /// The answer is being sent.
  func answerBegins(_ connection: Exchange.Connection) { set(connection, .sending, .now + transfer) }

  /// The connection waits for the next request. It may be idle; then the request line must arrive in time.
  func requestEnded(_ connection: Exchange.Connection) { set(connection, .waiting, .now + idle + transfer) }

  private func set(_ connection: Exchange.Connection, _ phase: Phase, _ deadline: ContinuousClock.Instant?) {
    entries.withLock {
      $0[connection.key]?.phase = phase
      $0[connection.key]?.deadline = deadline
    }
  }

  /// Closes one of these connections to make room for another client: the one that has waited longest for a request,
  /// otherwise the one that has been receiving its request or sending its answer longest.
  func closeOne(of connections: [UInt]) {
    entries.withLock { entries in
      func longest(_ phase: Phase) -> UInt? {
        connections.filter { entries[$0]?.phase == phase && entries[$0]?.deadline != nil }
          .min { (entries[$0]?.deadline ?? .now) < (entries[$1]?.deadline ?? .now) }
      }
      guard let key = longest(.waiting) ?? longest(.receiving) ?? longest(.sending), let entry = entries[key] else {
        return
      }
      shutdown(entry.socket, Int32(SHUT_RDWR))
      entries[key]?.deadline = nil
    }
  }

  private func sweep(_ now: ContinuousClock.Instant) {
    entries.withLock { entries in
      for (key, entry) in entries {
        guard let deadline = entry.deadline, deadline <= now else { continue }
        // libmicrohttpd sees the end of the stream and closes the connection itself.
        shutdown(entry.socket, Int32(SHUT_RDWR))
        entries[key]?.deadline = nil
      }
    }
  }
}

/// Counts open connections by the peer's address, and marks those beyond the limit.
final class ConnectionsByAddress: Sendable {
  /// An IPv4 address, or the first 64 bits of an IPv6 address, because one host usually has a whole /64.
  struct Address: Hashable {
    let family: Int32
    let bits: UInt64

    var text: String { "\(family)/\(String(bits, radix: 16))" }

    /// Nil for other address families.
    init?(_ address: UnsafePointer<sockaddr>) {
      family = Int32(address.pointee.sa_family)
      switch family {
      case AF_INET:
        bits = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { UInt64($0.pointee.sin_addr.s_addr) }
      case AF_INET6:
        bits = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
          withUnsafeBytes(of: pointer.pointee.sin6_addr) { $0.loadUnaligned(as: UInt64.self) }
        }
      default: return nil
      }
    }
  }

  private struct State {
    var counts: [Address: Int] = [:]
    /// By the connection's address in memory.
    var connections: [UInt: (address: Address, isExcess: Bool)] = [:]
  }

  private let limit: Int
  private let state = Mutex(State())

  init(limit: Int) { self.limit = limit }

  /// A connection was opened. Returns whether it exceeds the limit.
  func opened(_ connection: UInt, from address: Address) -> Bool {
    state.withLock { state in
      let count = state.counts[address, default: 0] + 1
      state.counts[address] = count
      state.connections[connection] = (address, count > limit)
      return count > limit
    }
  }

  /// The connections of the address with the most connections. Empty unless the total exceeds `limit`.
  func mostCrowded(beyond limit: Int) -> [UInt] {
    state.withLock { state in
      guard state.connections.count > limit, let address = state.counts.max(by: { $0.value < $1.value })?.key else {
        return []
      }
      return state.connections.filter { $0.value.address == address }.map(\.key)
    }
  }

  func closed(_ connection: UInt) {
    state.withLock { state in
      guard let (address, _) = state.connections.removeValue(forKey: connection),
        let count = state.counts[address]
      else { return }
      state.counts[address] = count > 1 ? count - 1 : nil
    }
  }

  func isExcess(_ connection: UInt) -> Bool {
    state.withLock { $0.connections[connection]?.isExcess ?? false }
  }
}
