import CMicroHTTPD
import Synchronization

/// One request and its answer. All but `answer` is called on the server's own thread, one call at a time.
final class Exchange: Sendable {
  /// A connection of libmicrohttpd.
  struct Connection: @unchecked Sendable {
    /// Safe to pass on: other threads use it only to resume, which libmicrohttpd allows, and only while the exchange is `waiting`,
    /// during which libmicrohttpd keeps the connection.
    let pointer: OpaquePointer

    /// Identifies the connection while it is open.
    var key: UInt { UInt(bitPattern: pointer) }
  }

  /// What is refused is still read, up to this, so that the peer sees the answer instead of a reset connection.
  static let mostDiscarded = 8 << 20

  enum Phase: Sendable {
    /// The request line has been read.
    case begun
    /// A body is being read for this route.
    case receiving(Match, body: [UInt8])
    /// A body is being read and thrown away; then the answer is this.
    case discarding(HTTPServerResponse, discarded: Int)
    /// The handler has been called, or is about to be; the connection is not suspended yet.
    case handling
    /// The connection is suspended until there is an answer.
    case waiting(Connection)
    /// There is an answer, not yet given to libmicrohttpd.
    case answered(HTTPServerResponse)
    /// Nothing more to do.
    case ended
  }

  /// A route that fits, and what is known of the request before its body.
  struct Match: Sendable {
    let route: Route
    let bodyLimit: Int
    let method: HTTPMethod
    let target: RequestTarget
    let parameters: [String: String]
    let headers: HTTPHeaders
    let admitted: (any Sendable)?
  }

  let target: String
  /// Bytes of the body that are charged to the server's ``BodyBudget``.
  let charged = Atomic<Int>(0)
  /// Whether the connection ends with the answer.
  let closesConnection = Atomic<Bool>(false)
  private let phase = Mutex(Phase.begun)

  init(target: String) { self.target = target }

  /// The phase, and `ended` in its place; the caller sets what follows.
  func take() -> Phase {
    phase.withLock { phase in
      defer { phase = .ended }
      return phase
    }
  }

  func set(_ next: Phase) { phase.withLock { $0 = next } }

  /// Suspends the connection, unless the answer came while its handler was called; then that is returned, and much work is saved.
  func suspend(_ connection: Connection) -> HTTPServerResponse? {
    phase.withLock { phase in
      if case .answered(let response) = phase { return response }
      // Within the lock, so that nobody can resume it before: it would never wake again.
      MHD_suspend_connection(connection.pointer)
      phase = .waiting(connection)
      return nil
    }
  }

  /// Gives the answer, if one is still awaited, and lets libmicrohttpd go on with the connection.
  func answer(_ response: HTTPServerResponse) {
    phase.withLock { phase in
      switch phase {
      case .handling:
        phase = .answered(response)
      case .waiting(let connection):
        phase = .answered(response)
        MHD_resume_connection(connection.pointer)
      case .begun, .receiving, .discarding, .answered, .ended:
        break
      }
    }
  }
}
