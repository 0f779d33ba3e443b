import Foundation
import Glibc
import Synchronization

/// A proxy between a service and a broker that passes bytes at once, late, or not at all. Its own thread does the work; any thread
/// may change its mode.
final class ChaosProxy: Sendable {
  /// How bytes pass.
  enum Condition: Equatable, Sendable {
    case open
    /// Later by this many milliseconds, each way.
    case delayed(Int)
    /// They wait, as do new connections.
    case cut
    /// They pass one way only: no request reaches the broker, or no answer the service, which does not know what became of its requests.
    case oneWay(without: Way)
    /// They pass, except requests that only a coordinator answers. These wait, with everything behind them on their connections,
    /// as if the coordinator were on a broker that is away and the partitions' leaders on another.
    case without(KafkaCoordinator)
  }

  /// A direction of bytes.
  enum Way: String, CaseIterable, Sendable {
    case requests, answers
  }

  /// It cannot listen.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  fileprivate struct Orders {
    var condition = Condition.open
    var isDropping = false
    var isSilencing = false
  }

  /// Its port on 127.0.0.1.
  let port: UInt16
  private let orders = Mutex(Orders())
  /// A byte written to it wakes the thread.
  private let waker: Int32

  /// Listens on a port that the system chooses, and connects each client to port `target` of 127.0.0.1.
  init(to target: UInt16) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    var ends: [Int32] = [-1, -1]
    guard listener >= 0, pipe(&ends) == 0 else {
      throw Failure(description: "no sockets for a proxy: \(String(cString: strerror(errno)))")
    }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    var address = Self.loopback(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    guard isListening else { throw Failure(description: "a proxy cannot listen: \(String(cString: strerror(errno)))") }
    port = UInt16(bigEndian: address.sin_port)
    waker = ends[1]
    let wakened = ends[0]
    // The thread ends with this object.
    let thread = Thread { [weak self] in
      var traffic = ProxyTraffic(listener: listener, wakened: wakened, target: target)
      while let orders = self?.take() {
        if orders.isSilencing { traffic.silence() }
        traffic.turn(orders.condition, dropping: orders.isDropping)
      }
      traffic.close()
    }
    thread.name = "chaos-proxy-\(port)"
    thread.start()
  }

  deinit {
    wake()
    close(waker)
  }

  /// Sets the mode for all connections.
  func set(_ condition: Condition) {
    orders.withLock { $0.condition = condition }
    wake()
  }

  /// Closes all connections and drops the bytes they hold.
  func drop() {
    orders.withLock { $0.isDropping = true }
    wake()
  }

  /// From now on nothing passes on the connections of now, either way, and neither side is told. New connections work, as behind a NAT
  /// or firewall that forgets connections.
  func silence() {
    orders.withLock { $0.isSilencing = true }
    wake()
  }

  private func wake() {
    var byte: UInt8 = 0
    // A full pipe wakes as well.
    _ = write(waker, &byte, 1)
  }

  private func take() -> Orders {
    orders.withLock { orders in
      defer { (orders.isDropping, orders.isSilencing) = (false, false) }
      return orders
    }
  }

  /// An address on this machine.
  static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return address
  }
}

/// Bytes that pass from one socket to another.
private struct ProxyDirection {
  let from: Int32
  let to: Int32
  /// Finds requests in them; used from client to broker only.
  private var requests = KafkaRequestScanner()
  /// Bytes held until the coordinator is back; nothing more is read meanwhile.
  private var heldBack: [UInt8]?
  /// The approximate number of bytes to hold; beyond it the sender waits.
  static let capacity = 4 << 20
  private var waiting: [(bytes: [UInt8], start: Int, due: Int)] = []
  private var size = 0
  private(set) var hasEnded = false

  init(from: Int32, to: Int32) { (self.from, self.to) = (from, to) }

  var wantsToRead: Bool { !hasEnded && size < Self.capacity && heldBack == nil }
  /// When the next bytes are due; nil: none wait.
  var due: Int? { waiting.first?.due }
  var isDone: Bool { hasEnded && waiting.isEmpty }

  mutating func read(into buffer: UnsafeMutableRawBufferPointer, due: Int, without coordinator: KafkaCoordinator?) {
    let count = recv(from, buffer.baseAddress, buffer.count, 0)
    if count > 0 {
      let bytes = Array(buffer.prefix(count))
      let passing = requests.scan(bytes, for: coordinator) ?? count
      if passing < count { heldBack = Array(bytes[passing...]) }
      if passing > 0 { waiting.append((Array(bytes.prefix(passing)), 0, due)) }
      size += count
    } else if count == 0 || errno != EAGAIN {
      hasEnded = true
    }
  }

  /// Releases the bytes held for a coordinator.
  mutating func release(due: Int) {
    guard let bytes = heldBack else { return }
    heldBack = nil
    waiting.append((bytes, 0, due))
  }

  /// Writes the bytes that are due. False if the other side has closed.
  mutating func write(now: Int) -> Bool {
    while let first = waiting.first, first.due <= now {
      let count = first.bytes.withUnsafeBytes {
        send(to, $0.baseAddress.map { $0 + first.start }, first.bytes.count - first.start, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return errno == EAGAIN }
      size -= count
      if first.start + count == first.bytes.count {
        waiting.removeFirst()
      } else {
        waiting[0].start += count
      }
    }
    return true
  }
}

/// A proxy's connections. One thread uses it.
private struct ProxyTraffic {
  private let listener: Int32
  private let wakened: Int32
  private let target: UInt16
  private var connections: [(there: ProxyDirection, back: ProxyDirection)] = []
  /// Connections on which nothing passes any more. The kernel still acknowledges what is sent on them.
  private var silent: [(there: ProxyDirection, back: ProxyDirection)] = []
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  init(listener: Int32, wakened: Int32, target: UInt16) {
    (self.listener, self.wakened, self.target) = (listener, wakened, target)
  }

  private static func now() -> Int { Int(DispatchTime.now().uptimeNanoseconds / 1_000_000) }

  mutating func silence() {
    silent += connections
    connections.removeAll()
  }

  /// Waits for an event and handles it.
  mutating func turn(_ condition: ChaosProxy.Condition, dropping: Bool) {
    if dropping {
      for connection in connections { close(connection.there) }
      connections.removeAll()
    }
    guard condition != .cut else {
      var poll = [pollfd(fd: wakened, events: Int16(POLLIN), revents: 0)]
      _ = Glibc.poll(&poll, 1, 1_000)
      return drainWaker()
    }
    let delay = if case .delayed(let milliseconds) = condition { milliseconds } else { 0 }
    let coordinator: KafkaCoordinator? = if case .without(let coordinator) = condition { coordinator } else { nil }
    let blocked: ChaosProxy.Way? = if case .oneWay(let way) = condition { way } else { nil }
    if coordinator == nil { for index in connections.indices { connections[index].there.release(due: Self.now()) } }
    var polls = [
      pollfd(fd: wakened, events: Int16(POLLIN), revents: 0), pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
    ]
    let now = Self.now()
    var timeout = 1_000
    for connection in connections {
      for (direction, other, way) in [
        (connection.there, connection.back, ChaosProxy.Way.requests), (connection.back, connection.there, .answers),
      ] {
        var events = direction.wantsToRead && way != blocked ? POLLIN : 0
        if let due = other.due {
          if due <= now { events |= POLLOUT } else { timeout = min(timeout, due - now) }
        }
        // Leave out idle sockets: their hang-up alone would wake the thread repeatedly.
        polls.append(pollfd(fd: events == 0 ? -1 : direction.from, events: Int16(events), revents: 0))
      }
    }
    _ = Glibc.poll(&polls, nfds_t(polls.count), Int32(timeout))
    // Apply the mode before passing more bytes.
    guard polls[0].revents == 0 else { return drainWaker() }
    let due = Self.now() + delay
    buffer.withUnsafeMutableBytes { buffer in
      for index in connections.indices {
        if polls[2 + index * 2].revents != 0 {
          connections[index].there.read(into: buffer, due: due, without: coordinator)
        }
        if polls[3 + index * 2].revents != 0 { connections[index].back.read(into: buffer, due: due, without: nil) }
      }
    }
    let time = Self.now()
    var kept: [(there: ProxyDirection, back: ProxyDirection)] = []
    for var connection in connections {
      let isAlive = connection.there.write(now: time) && connection.back.write(now: time)
      if isAlive && !connection.there.isDone && !connection.back.isDone {
        kept.append(connection)
      } else {
        close(connection.there)
      }
    }
    connections = kept
    if polls[1].revents != 0 { accept() }
  }

  private func drainWaker() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(wakened, &bytes, bytes.count) > 0 {}
  }

  private mutating func accept() {
    let client = Glibc.accept(listener, nil, nil)
    guard client >= 0 else { return }
    _ = fcntl(client, F_SETFD, FD_CLOEXEC)
    let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = ChaosProxy.loopback(target)
    let isConnected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        // On loopback connect answers at once, even with a refusal.
        connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard server >= 0, isConnected, [client, server].allSatisfy({ fcntl($0, F_SETFL, O_NONBLOCK) == 0 })
    else {
      Glibc.close(client)
      if server >= 0 { Glibc.close(server) }
      return
    }
    var one: Int32 = 1
    for end in [client, server] {
      setsockopt(end, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }
    connections.append((ProxyDirection(from: client, to: server), ProxyDirection(from: server, to: client)))
  }

  private func close(_ direction: ProxyDirection) {
    Glibc.close(direction.from)
    Glibc.close(direction.to)
  }

  mutating func close() {
    for connection in connections + silent { close(connection.there) }
    connections.removeAll()
    Glibc.close(listener)
    Glibc.close(wakened)
  }
}
