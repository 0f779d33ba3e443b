import CNghttp2
import COpenSSL
import Dispatch
import Foundation
import Glibc
import Synchronization

/// The emulator's thread: an epoll loop over its listeners and connections that decides and sends the answers.
///
/// `@unchecked Sendable`: `ledger`, `stopping`, `finished` and the wake-up descriptor are safe to share or never change. After `init`,
/// only the thread that ``start()`` creates uses the rest.
final class EmulatorServer: @unchecked Sendable {
  let ledger: EmulatorLedger
  let maxConcurrentStreams: Int
  /// Whether requests are recorded to a file or kept in memory.
  let keepsRequests: Bool
  /// The wall clock at the start of this round.
  private(set) var now = Date()

  let configuration: FCMEmulatorConfiguration
  let control: EmulatorControl
  let tokenEndpoint: TokenEndpoint
  let pushService: PushService
  let phones: PhoneBoard?
  let deliveries: DeliveryLog?
  private let stopping = Atomic<Bool>(false)
  private let finished = DispatchGroup()
  private let poller: Int32
  private let wakeup: Int32
  private var listeners: [Listener]
  private let tls: OpaquePointer
  let recorder: Recorder?

  private var connections: [Int32: Connection] = [:]
  private var dirty: [Connection] = []
  var idle: [StreamExchange] = []
  var delayed = DelayQueue()
  var messagesSent = 0
  let namePrefixes: [[UInt8]]
  private let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 65_536)

  init(
    _ configuration: FCMEmulatorConfiguration, ledger: EmulatorLedger, control: EmulatorControl,
    identity: EmulatorIdentity, tokenEndpoint: TokenEndpoint, pushService: PushService, phones: PhoneBoard?,
    deliveries: DeliveryLog?,
    listeners: [Listener]
  ) throws(FCMEmulatorError) {
    self.configuration = configuration
    self.ledger = ledger
    self.control = control
    self.tokenEndpoint = tokenEndpoint
    self.pushService = pushService
    self.phones = phones
    self.deliveries = deliveries
    self.listeners = listeners
    maxConcurrentStreams = configuration.maxConcurrentStreams
    keepsRequests = configuration.recordFile != nil || configuration.keepRequests > 0
    namePrefixes = configuration.projects.map { Array("{\n  \"name\": \"projects/\($0)/messages/0:".utf8) }
    recorder = try configuration.recordFile.map { (path) throws(FCMEmulatorError) in try Recorder(path: path) }
    tls = try Self.makeTLS(identity)
    poller = epoll_create1(Int32(EPOLL_CLOEXEC))
    wakeup = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
    guard poller >= 0, wakeup >= 0 else {
      throw FCMEmulatorError("cannot make an epoll instance: \(String(cString: strerror(errno)))")
    }
    watch(wakeup, EPOLLIN.rawValue, isNew: true)
    for listener in listeners { watch(listener.socket, EPOLLIN.rawValue, isNew: true) }
  }

  deinit {
    SSL_CTX_free(tls)
    close(poller)
    close(wakeup)
    buffer.deallocate()
  }

  // MARK: - Any thread

  func start() {
    finished.enter()
    let thread = Thread { [self] in
      run()
      finished.leave()
    }
    thread.name = "fcm-emulator"
    thread.start()
  }

  /// Ends the thread, closes all connections, and completes the record file before it returns.
  func stop() {
    stopping.store(true, ordering: .releasing)
    eventfd_write(wakeup, 1)
    finished.wait()
    // The thread has ended or never ran, so nothing else uses them. Clients can no longer connect.
    listeners = []
  }

  // MARK: - The emulator's thread

  private func run() {
    // OpenSSL writes with `write`, which raises SIGPIPE on a closed connection.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)

    var events = [epoll_event](repeating: epoll_event(), count: 256)
    while !stopping.load(ordering: .acquiring) {
      let count = epoll_wait(poller, &events, Int32(events.count), timeout())
      now = configuration.now()
      for index in 0..<max(Int(count), 0) { ready(events[index].data.fd) }
      while let exchange = delayed.popDue(Self.monotonic()) { finish(exchange) }
      finishRound()
      if let due = recorder?.flushDue, due <= Self.monotonic() { flushRecord() }
    }
    flushRecord()
    for connection in connections.values { connection.abandonExchanges() }
    connections = [:]
    dirty = []
  }

  private func timeout() -> Int32 {
    let due = min(delayed.nextDue ?? .max, recorder?.flushDue ?? .max)
    if due == .max { return -1 }
    let now = Self.monotonic()
    return due <= now ? 0 : Int32((due - now + 999_999) / 1_000_000)
  }

  private func ready(_ socket: Int32) {
    if let connection = connections[socket] {
      if !connection.readAvailable(into: buffer) {
        connection.isClosing = true
        markDirty(connection)
      }
    } else if let listener = listeners.first(where: { $0.socket == socket }) {
      accept(listener)
    }
  }

  private func accept(_ listener: Listener) {
    while true {
      let socket = Glibc.accept(listener.socket, nil, nil)
      guard socket >= 0 else { return }
      _ = fcntl(socket, F_SETFL, O_NONBLOCK)
      _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
      var on: Int32 = 1
      setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
      var session: OpaquePointer?
      if listener.isTLS {
        session = SSL_new(tls)
        guard session != nil, SSL_set_fd(session, socket) == 1 else {
          SSL_free(session)
          close(socket)
          continue
        }
      }
      connections[socket] = Connection(socket: socket, tls: session, server: self)
      watch(socket, EPOLLIN.rawValue, isNew: true)
      ledger.update { $0.connections += 1 }
    }
  }

  /// Writes once for each connection of the round, then closes the finished ones.
  private func finishRound() {
    // Closing or writing makes no other connection dirty, so one pass is enough.
    for connection in dirty {
      connection.isDirty = false
      if connection.isClosing || !connection.flush() {
        connection.abandonExchanges()
        connections[connection.socket] = nil
      }
    }
    dirty.removeAll(keepingCapacity: true)
  }

  func markDirty(_ connection: Connection) {
    guard !connection.isDirty else { return }
    connection.isDirty = true
    dirty.append(connection)
  }

  func watch(_ socket: Int32, _ events: UInt32, isNew: Bool) {
    var event = epoll_event()
    event.events = events
    event.data.fd = socket
    epoll_ctl(poller, isNew ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event)
  }

  // MARK: - Parts

  static func monotonic() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  static func makeTLS(_ identity: EmulatorIdentity) throws(FCMEmulatorError) -> OpaquePointer {
    guard let context = SSL_CTX_new(TLS_server_method()) else { throw .openSSL("setting up TLS") }
    guard nudge_ssl_ctx_set_min_version(context, TLS1_2_VERSION) == 1,
      SSL_CTX_use_certificate(context, identity.serverCertificate.handle) == 1,
      SSL_CTX_use_PrivateKey(context, identity.serverKey.handle) == 1
    else {
      SSL_CTX_free(context)
      throw .openSSL("setting up TLS")
    }
    nudge_ssl_ctx_set_partial_writes(context)
    SSL_CTX_set_alpn_select_cb(
      context,
      { _, out, outCount, offered, offeredCount, _ in
        // The client must offer "h2"; otherwise the handshake fails.
        var chosen: UnsafeMutablePointer<UInt8>?
        guard nghttp2_select_next_protocol(&chosen, outCount, offered, offeredCount) == 1 else {
          return SSL_TLSEXT_ERR_ALERT_FATAL
        }
        out?.pointee = UnsafePointer(chosen)
        return SSL_TLSEXT_ERR_OK
      }, nil)
    return context
  }
}

extension StreamOutcome {
  /// The recorded status; 0 for no answer.
  var status: Int {
    switch self {
    case .sent, .lost, .brokenBody, .hangAfterHeaders, .goAway: 200
    case .answer(let answer): answer.status
    case .resetConnection, .resetStream, .hang: 0
    }
  }

  /// Whether the message of a request with this outcome is delivered.
  var reachesDevice: Bool { if case .lost = self { false } else { status == 200 || status == 201 } }
}

/// An owned listening socket.
final class Listener: Sendable {
  let socket: Int32
  let isTLS: Bool
  /// The port, also if the system chose it.
  let port: UInt16

  init(_ address: FCMEmulatorAddress, isTLS: Bool) throws(FCMEmulatorError) {
    self.isTLS = isTLS
    let place = "\(address.host):\(address.port)"
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = address.port.bigEndian
    guard inet_pton(AF_INET, address.host, &name.sin_addr) == 1 else {
      throw FCMEmulatorError("cannot listen on \(place): give an IPv4 address and a port, such as 127.0.0.1:0")
    }
    socket = Glibc.socket(
      AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var on: Int32 = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let handle = socket
    let isListening = withUnsafeMutablePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { general in
        bind(handle, general, size) == 0 && listen(handle, 4_096) == 0 && getsockname(handle, general, &size) == 0
      }
    }
    port = UInt16(bigEndian: name.sin_port)
    guard isListening else {
      let reason = String(cString: strerror(errno))
      close(socket)
      throw FCMEmulatorError("cannot listen on \(place): \(reason); port 0 lets the system choose a free one")
    }
  }

  deinit {
    close(socket)
  }
}

/// Exchanges with delayed answers, as a binary heap with the earliest first.
struct DelayQueue {
  private var heap: [(due: UInt64, order: UInt64, exchange: StreamExchange)] = []
  private var inserted: UInt64 = 0

  /// When the next exchange is due, on the loop's clock in nanoseconds. Absent if the queue is empty.
  var nextDue: UInt64? { heap.first?.due }

  mutating func insert(_ exchange: StreamExchange, due: UInt64) {
    inserted += 1
    heap.append((due, inserted, exchange))
    var child = heap.count - 1
    while child > 0, isBefore(child, (child - 1) / 2) {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// Removes and returns the next exchange that is due.
  mutating func popDue(_ now: UInt64) -> StreamExchange? {
    guard let first = heap.first, first.due <= now else { return nil }
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      let left = 2 * parent + 1
      guard left < heap.count else { break }
      let child = left + 1 < heap.count && isBefore(left + 1, left) ? left + 1 : left
      guard isBefore(child, parent) else { break }
      heap.swapAt(child, parent)
      parent = child
    }
    return first.exchange
  }

  /// Whether the exchange at `a` comes first. Exchanges with equal times keep their order of insertion.
  private func isBefore(_ a: Int, _ b: Int) -> Bool {
    (heap[a].due, heap[a].order) < (heap[b].due, heap[b].order)
  }
}
