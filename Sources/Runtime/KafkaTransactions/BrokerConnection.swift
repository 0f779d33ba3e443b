import Foundation
import OAuthBearer
import PeerSockets
import Synchronization

/// A connection to a broker, with one request at a time.
final class BrokerConnection {
  private let stream: any ByteStream
  private let peer: BrokerAddress
  private let client: String
  private var correlation: Int32 = 0
  /// When the login is about to expire.
  private var expiry: Deadline?
  private var idleSince = Deadline(after: .zero)
  /// The broker's API versions and features when the connection was made.
  private(set) var versions = APIVersionsRequest.Answer(error: .none)
  /// Whether a request was not answered, or an answer not understood. Later bytes then cannot be matched to their requests.
  private var isBroken = false
  /// Until when the broker does not read from this connection, because the client exceeds a quota (KIP-219).
  private(set) var throttle = Deadline(after: .zero)

  /// The largest accepted answer. Answers about a few thousand partitions are below a tenth of it.
  static let maxAnswerBytes = 16 << 20
  /// The idle time after which the connection is checked before it is used again.
  private static let staleAfter: Duration = .seconds(1)
  /// The time after which a request without an answer makes the process check its other connections.
  private static let doubtfulAfter: Duration = .milliseconds(900)

  /// Connects, encrypts, logs in, and requests the broker's API versions.
  init(to peer: BrokerAddress, _ security: ConnectionSecurity, client: String, deadline: Deadline)
    throws(TransactionalProducerError)
  {
    let socket = try TCPSocket.connect(to: peer, deadline: deadline)
    if let tls = security.tls {
      stream = try TLSStream(socket, tls, peer: peer, deadline: deadline)
    } else {
      stream = socket
    }
    self.peer = peer
    self.client = client
    if let login = security.login { try logIn(login, deadline) }
    versions = try call(APIVersionsRequest(), deadline: deadline)
  }

  private func logIn(_ credentials: SASLCredentials, _ deadline: Deadline) throws(TransactionalProducerError) {
    let operation = "log in to \(peer) with \(credentials.mechanism)"
    let handshake = try call(SASLHandshakeRequest(mechanism: credentials.mechanism), deadline: deadline)
    guard handshake.error == .none else {
      throw TransactionalProducerError(
        .refused, operation,
        "\(handshake.error); the broker takes \(handshake.mechanisms.sorted().joined(separator: ", "))"
      )
    }
    var login: any SASLLogin
    do throws(BearerTokenError) {
      login = try credentials.makeLogin(deadline: deadline)
    } catch {
      throw TransactionalProducerError(error.isPassing ? .passing : .refused, operation, error.description)
    }
    var message: [UInt8]? = login.first
    while let next = message {
      let answer = try call(SASLAuthenticateRequest(message: next), deadline: deadline)
      guard answer.error == .none else {
        throw TransactionalProducerError(.refused, operation, "\(answer.error)\(answer.reason.map { ": \($0)" } ?? "")")
      }
      do throws(SASLError) {
        message = try login.answer(to: answer.message)
      } catch {
        throw TransactionalProducerError(.refused, operation, error.description)
      }
      // The broker closes a connection with an expired login at the next request, so the client reconnects before that.
      if answer.lifetime > 0 { expiry = Deadline(after: .milliseconds(answer.lifetime * 8 / 10)) }
    }
  }

  /// Whether the connection can be used for a request.
  var isUsable: Bool {
    if isBroken || expiry?.isPast ?? false { return false }
    return !idleSince.isPast || !stream.isStale
  }

  /// Sends a request and waits for its answer. It first waits until the connection is not throttled, because a broker that mutes the
  /// connection would answer no sooner.
  func call<R: WireRequest>(_ request: R, deadline: Deadline) throws(TransactionalProducerError) -> R.Answer {
    correlation &+= 1
    throttle.wait(atMost: deadline)
    isBroken = true
    try stream.write(WireFrame.encode(request, correlation: correlation, client: client), deadline: deadline)
    let sent = ContinuousClock.now
    let bytes: [UInt8]
    do throws(TransactionalProducerError) {
      bytes = try readFrame(R.name, deadline)
    } catch {
      // The cause that delayed this answer may delay others too.
      if deadline.isPast, .now - sent >= Self.doubtfulAfter { PeerSockets.doubt() }
      throw error
    }
    let answer: WireAnswer<R.Answer>
    do throws(WireError) {
      answer = try WireFrame.decode(R.self, bytes, correlation: correlation)
    } catch {
      throw TransactionalProducerError(
        .passing, "read the answer of \(peer) to \(R.name)", "it cannot be understood (\(error))")
    }
    isBroken = false
    idleSince = Deadline(after: Self.staleAfter)
    throttle = Deadline(after: answer.throttle)
    return answer.content
  }

  private func readFrame(_ name: String, _ deadline: Deadline) throws(TransactionalProducerError) -> [UInt8] {
    var bytes: [UInt8] = []
    var length: Int?
    while true {
      if length == nil, bytes.count >= 4 {
        let announced = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
        guard (4...Self.maxAnswerBytes).contains(announced) else {
          throw TransactionalProducerError(
            .passing, "read the answer of \(peer) to \(name)",
            "it says that it has \(announced) bytes; is this a Kafka listener, and security.protocol right?")
        }
        length = announced
      }
      let wanted = 4 + (length ?? 0)
      if let length, bytes.count == wanted { return Array(bytes.suffix(length)) }
      // Reads no more than the rest of the answer, and no more than one read usually returns.
      bytes += try stream.read(atMost: min(wanted - bytes.count, 64 << 10), deadline: deadline)
    }
  }
}

/// Encryption and login of the connections.
struct ConnectionSecurity {
  var tls: TLSContext?
  var login: SASLCredentials?
}

/// Bytes to and from a broker. Every call throws a `passing` error after its deadline or if the connection is lost.
protocol ByteStream: AnyObject {
  func write(_ bytes: [UInt8], deadline: Deadline) throws(TransactionalProducerError)
  /// Waits for at least one byte and returns at most `count` bytes.
  func read(atMost count: Int, deadline: Deadline) throws(TransactionalProducerError) -> [UInt8]
  /// Whether the peer has closed the connection or sent unexpected bytes.
  var isStale: Bool { get }
}

/// A connected, non-blocking TCP socket. It waits in poll with a deadline.
final class TCPSocket: ByteStream {
  private let descriptor: Int32
  private let peer: BrokerAddress

  /// Connects to the first address of the broker that accepts.
  static func connect(to peer: BrokerAddress, deadline: Deadline) throws(TransactionalProducerError) -> TCPSocket {
    var failure = TransactionalProducerError(.passing, "connect to \(peer)", "it has no address")
    let addresses = try NameLookup.resolve(peer, deadline: deadline)
    for (index, address) in addresses.enumerated() {
      do throws(TransactionalProducerError) {
        // Each address gets only its share of the time.
        let share = deadline.remaining / (addresses.count - index)
        return try TCPSocket(address, peer, deadline: min(deadline, Deadline(after: share)))
      } catch {
        failure = error
      }
    }
    throw failure
  }

  private init(_ address: SocketAddress, _ peer: BrokerAddress, deadline: Deadline) throws(TransactionalProducerError) {
    self.peer = peer
    descriptor = PeerSockets.make(family: address.family, type: streamSocket, protocol: 0)
    guard descriptor >= 0 else { throw Self.failure("connect to \(peer)") }
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    set(Int32(IPPROTO_TCP), TCP_NODELAY)
    let code = address.bytes.withUnsafeBytes { bytes in
      // The system wrote these bytes as a socket address.
      Foundation.connect(
        descriptor, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
    }
    if code == 0 { return }
    guard errno == EINPROGRESS || errno == EINTR else { throw Self.failure("connect to \(peer)") }
    try wait(for: POLLOUT, "connect to", deadline)
    var reason: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &reason, &size)
    if reason != 0 { throw Self.failure("connect to \(peer)", reason) }
  }

  deinit { if descriptor >= 0 { PeerSockets.close(descriptor) } }

  private func set(_ level: Int32, _ option: Int32) {
    var on: Int32 = 1
    setsockopt(descriptor, level, option, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  private static func failure(_ operation: String, _ code: Int32 = errno) -> TransactionalProducerError {
    TransactionalProducerError(.passing, operation, String(cString: strerror(code)))
  }

  private func wait(for event: Int32, _ verb: String, _ deadline: Deadline) throws(TransactionalProducerError) {
    var entry = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    while true {
      let count = poll(&entry, 1, deadline.milliseconds)
      if count > 0 { return }
      if count < 0 && errno != EINTR { throw Self.failure("\(verb) \(peer)") }
      if deadline.isPast { throw TransactionalProducerError(.passing, "\(verb) \(peer)", "it does not answer in time") }
    }
  }

  func write(_ bytes: [UInt8], deadline: Deadline) throws(TransactionalProducerError) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        send(descriptor, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count > 0 {
        sent += count
      } else if errno == EAGAIN || errno == EWOULDBLOCK {
        try wait(for: POLLOUT, "write to", deadline)
      } else if errno != EINTR {
        throw Self.failure("write to \(peer)")
      }
    }
  }

  func read(atMost count: Int, deadline: Deadline) throws(TransactionalProducerError) -> [UInt8] {
    while true {
      var got = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        got = recv(descriptor, buffer.baseAddress, count, 0)
        initialized = max(0, got)
      }
      if got > 0 { return bytes }
      if got == 0 { throw TransactionalProducerError(.passing, "read from \(peer)", "it closed the connection") }
      if errno == EAGAIN || errno == EWOULDBLOCK {
        try wait(for: POLLIN, "read from", deadline)
      } else if errno != EINTR {
        throw Self.failure("read from \(peer)")
      }
    }
  }

  var isStale: Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) != 0
  }
}

let streamSocket = Int32(SOCK_STREAM.rawValue)

/// A socket address for the system's calls.
struct SocketAddress: Sendable {
  let family: Int32
  let bytes: [UInt8]
}

/// The system's name lookup, with a time-out, which the system's function lacks.
enum NameLookup {
  /// The addresses of a host, in the order of preference. Literal addresses need no lookup.
  static func resolve(_ address: BrokerAddress, deadline: Deadline) throws(TransactionalProducerError)
    -> [SocketAddress]
  {
    if case .success(let found) = ask(address, flags: AI_NUMERICHOST) { return found }
    // The call cannot be cancelled, so it runs on its own thread, which ends when the call returns.
    let box = LookupBox()
    let thread = Thread { box.finish(ask(address, flags: 0)) }
    thread.name = "kafka-name-lookup"
    thread.stackSize = 512 << 10
    thread.start()
    guard let result = box.wait(until: deadline) else {
      throw TransactionalProducerError(.passing, "look up \(address.host)", "the name service does not answer")
    }
    return try result.get()
  }

  private final class LookupBox: Sendable {
    private let answer = Mutex<Result<[SocketAddress], TransactionalProducerError>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    func finish(_ result: Result<[SocketAddress], TransactionalProducerError>) {
      answer.withLock { $0 = result }
      done.signal()
    }

    func wait(until deadline: Deadline) -> Result<[SocketAddress], TransactionalProducerError>? {
      _ = done.wait(timeout: .now() + .milliseconds(Int(deadline.milliseconds)))
      return answer.withLock { $0 }
    }
  }

  private static func ask(_ address: BrokerAddress, flags: Int32) -> Result<[SocketAddress], TransactionalProducerError>
  {
    var hints = addrinfo()
    hints.ai_flags = flags | AI_NUMERICSERV
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = streamSocket
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(address.host, String(address.port), &hints, &list)
    guard code == 0 else {
      return .failure(
        TransactionalProducerError(.passing, "look up \(address.host)", String(cString: gai_strerror(code))))
    }
    defer { freeaddrinfo(list) }
    var found: [SocketAddress] = []
    var next = list
    while let entry = next?.pointee {
      if let bytes = entry.ai_addr {
        found.append(
          SocketAddress(
            family: entry.ai_family,
            bytes: Array(UnsafeRawBufferPointer(start: bytes, count: Int(entry.ai_addrlen)))))
      }
      next = entry.ai_next
    }
    return .success(found)
  }
}
