import CMicroHTTPD
import Synchronization

/// One request and its answer. Only `answer` may be called from any thread; everything else runs on the server's own thread.
final class Exchange: Sendable {
  /// A connection of libmicrohttpd.
  struct Connection: @unchecked Sendable {
    /// Safe to send: other threads use it only to resume the connection, which libmicrohttpd allows, and only while the exchange is
    /// `waiting`, when libmicrohttpd keeps the connection.
    let pointer: OpaquePointer

    /// Identifies the connection while it is open.
    var key: UInt { UInt(bitPattern: pointer) }
  }

  /// Bytes of a refused body that are still read. Closing the connection at once would reset it, and the client might not see the answer.
  static let mostDiscarded = 8 << 20

  enum Phase: Sendable {
    /// The request line has been read.
    case begun
    /// A body is being read for this route.
    case receiving(Match, body: [UInt8])
    /// The body is being read and discarded; this answer follows.
    case discarding(HTTPServerResponse, discarded: Int)
    /// The handler is being called; the connection is not suspended yet.
    case handling
    /// The connection is suspended until there is an answer.
    case waiting(Connection)
    /// The answer has not been passed to libmicrohttpd yet.
    case answered(HTTPServerResponse)
    /// The answer has been passed on, or the connection is being closed.
    case ended
  }

  /// The matching route, and the request without its body.
  struct Match: Sendable {
    let route: HTTPRoute
    let bodyLimit: Int
    let method: HTTPMethod
    let target: RequestTarget
    let parameters: [String: String]
    let headers: HTTPHeaders
    let admitted: (any Sendable)?
  }

  let target: String
  /// The page's origin, where it is one that may call the server.
  let origin = Mutex<String?>(nil)
  /// Bytes of the body that are charged to the server's ``BodyBudget``.
  let charged = Atomic<Int>(0)
  /// Whether the connection ends with the answer.
  let closesConnection = Atomic<Bool>(false)
  /// The answer's body, where it is a stream.
  let stream = Mutex<HTTPStream?>(nil)
  private let phase = Mutex(Phase.begun)

  init(target: String) { self.target = target }

  /// Takes the phase and leaves `ended`; the caller sets the next phase.
  func take() -> Phase {
    phase.withLock { phase in
      defer { phase = .ended }
      return phase
    }
  }

  func set(_ next: Phase) { phase.withLock { $0 = next } }

  /// Suspends the connection, unless the handler has already answered; then returns that answer, which saves the suspension.
  func suspend(_ connection: Connection) -> HTTPServerResponse? {
    phase.withLock { phase in
      if case .answered(let response) = phase { return response }
      // Under the lock: a resume before the suspension would be lost, and the connection would hang.
      MHD_suspend_connection(connection.pointer)
      phase = .waiting(connection)
      return nil
    }
  }

  /// Sets the answer, if none has been set, and resumes the connection.
  func answer(_ response: HTTPServerResponse) {
    let isTaken = phase.withLock { phase in
      switch phase {
      case .handling:
        phase = .answered(response)
      case .waiting(let connection):
        phase = .answered(response)
        MHD_resume_connection(connection.pointer)
      case .begun, .receiving, .discarding, .answered, .ended:
        return false
      }
      return true
    }
    if !isTaken { response.stream?.leave() }
  }
}
