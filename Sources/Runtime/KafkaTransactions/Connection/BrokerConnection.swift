import OAuthBearer
import PeerSockets

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
        let told = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
        guard (4...Self.maxAnswerBytes).contains(told) else {
          throw TransactionalProducerError(
            .passing, "read the answer of \(peer) to \(name)",
            "it says that it has \(told) bytes; is this a Kafka listener, and security.protocol right?")
        }
        length = told
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
