import OAuthBearer

/// A connection to a broker, one request at a time.
final class BrokerConnection {
  private let stream: any ByteStream
  private let peer: BrokerAddress
  private let client: String
  private var correlation: Int32 = 0
  /// When the login is no longer good, or nearly.
  private var expiry: Deadline?
  private var idleSince = Deadline(after: .zero)
  /// What the broker speaks.
  private(set) var versions = APIVersionsRequest.Answer(error: .none)
  /// A request was not answered, or an answer not understood: later bytes cannot be matched to their requests.
  private var isBroken = false
  /// Until then the broker does not read from this connection: the client is over a quota (KIP-219).
  private(set) var throttle = Deadline(after: .zero)

  /// An answer larger than this is refused: those of a few thousand partitions are below a tenth of it.
  static let maxAnswerBytes = 16 << 20
  /// After this much idleness it is looked whether the broker has closed the connection.
  private static let staleAfter: Duration = .seconds(1)

  /// Connects, encrypts, logs in, and asks what the broker speaks.
  init(to peer: BrokerAddress, _ security: ConnectionSecurity, client: String, deadline: Deadline) throws(SinkError) {
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

  private func logIn(_ credentials: SASLCredentials, _ deadline: Deadline) throws(SinkError) {
    let operation = "log in to \(peer) with \(credentials.mechanism)"
    let handshake = try call(SASLHandshakeRequest(mechanism: credentials.mechanism), deadline: deadline)
    guard handshake.error == .none else {
      throw SinkError(
        .refused, operation,
        "\(handshake.error); the broker takes \(handshake.mechanisms.sorted().joined(separator: ", "))"
      )
    }
    var login: any SASLLogin
    do throws(BearerTokenError) {
      login = try credentials.makeLogin(deadline: deadline)
    } catch {
      throw SinkError(error.isPassing ? .passing : .refused, operation, error.description)
    }
    var message: [UInt8]? = login.first
    while let next = message {
      let answer = try call(SASLAuthenticateRequest(message: next), deadline: deadline)
      guard answer.error == .none else {
        throw SinkError(.refused, operation, "\(answer.error)\(answer.reason.map { ": \($0)" } ?? "")")
      }
      do throws(SASLError) {
        message = try login.answer(to: answer.message)
      } catch {
        throw SinkError(.refused, operation, error.description)
      }
      // The broker closes a connection whose login has expired at its next request: a new one is made before.
      if answer.lifetime > 0 { expiry = Deadline(after: .milliseconds(answer.lifetime * 8 / 10)) }
    }
  }

  /// Whether a request may be sent on it.
  var isUsable: Bool {
    if isBroken || expiry?.isPast ?? false { return false }
    return !idleSince.isPast || !stream.isStale
  }

  /// Sends a request and waits for its answer. First waits until the connection is not throttled; a broker that mutes the
  /// connection would answer no sooner.
  func call<R: WireRequest>(_ request: R, deadline: Deadline) throws(SinkError) -> R.Answer {
    correlation &+= 1
    throttle.wait(atMost: deadline)
    isBroken = true
    try stream.write(WireFrame.encode(request, correlation: correlation, client: client), deadline: deadline)
    let bytes = try readFrame(R.name, deadline)
    let answer: WireAnswer<R.Answer>
    do throws(WireError) {
      answer = try WireFrame.decode(R.self, bytes, correlation: correlation)
    } catch {
      throw SinkError(.passing, "read the answer of \(peer) to \(R.name)", "it cannot be understood (\(error))")
    }
    isBroken = false
    idleSince = Deadline(after: Self.staleAfter)
    throttle = Deadline(after: answer.throttle)
    return answer.content
  }

  private func readFrame(_ name: String, _ deadline: Deadline) throws(SinkError) -> [UInt8] {
    var bytes: [UInt8] = []
    var length: Int?
    while true {
      if length == nil, bytes.count >= 4 {
        let told = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
        guard (4...Self.maxAnswerBytes).contains(told) else {
          throw SinkError(
            .passing, "read the answer of \(peer) to \(name)",
            "it says that it has \(told) bytes; is this a Kafka listener, and security.protocol right?")
        }
        length = told
      }
      let wanted = 4 + (length ?? 0)
      if let length, bytes.count == wanted { return Array(bytes.suffix(length)) }
      // No more than what is due: nothing else was asked for. And no more at once than has a chance to be there.
      bytes += try stream.read(atMost: min(wanted - bytes.count, 64 << 10), deadline: deadline)
    }
  }
}

/// How a sink's connections are encrypted and logged in.
struct ConnectionSecurity {
  var tls: TLSContext?
  var login: SASLCredentials?
}
