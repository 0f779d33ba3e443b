import CMicroHTTPD
import Dispatch
import Synchronization

/// One request and its answer. Any thread may call `answer`; everything else runs on the server's own thread.
final class Exchange: Sendable {
  /// A connection of libmicrohttpd.
  struct Connection: @unchecked Sendable {
    /// Safe to send: other threads use it only to resume the connection, which libmicrohttpd allows, and only while the
    /// exchange is `waiting`, when libmicrohttpd keeps the connection.
    let pointer: OpaquePointer

    /// Identifies the connection while it is open.
    var key: UInt { UInt(bitPattern: pointer) }
  }

  /// Bytes of a refused body that are still read. If the server closed the connection at once, it would reset it, and
  /// the client might not see the answer.
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
    /// The connection is suspended until the handler answers.
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
  /// The page's origin if the policy allows it to call the server.
  let origin = Mutex<String?>(nil)
  /// Bytes of the body that are charged to the server's ``BodyBudget``.
  let charged = Atomic<Int>(0)
  /// Whether the connection ends with the answer.
  let closesConnection = Atomic<Bool>(false)
  /// The answer's body if it is a stream.
  let stream = Mutex<HTTPStream?>(nil)
  private let phase = Mutex(Phase.begun)

  init(target: String) { self.target = target }

  /// Returns the phase and sets it to `ended`. The caller sets the next phase.
  func take() -> Phase {
    phase.withLock { phase in
      defer { phase = .ended }
      return phase
    }
  }

  func set(_ next: Phase) { phase.withLock { $0 = next } }

  /// Suspends the connection. If the handler has already answered, returns that answer instead and saves the
  /// suspension.
  func suspend(_ connection: Connection) -> HTTPServerResponse? {
    phase.withLock { phase in
      if case .answered(let response) = phase { return response }
      // Holds the lock, because a resume before the suspension would be lost and the connection would hang.
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

/// Counts the requests in flight, so that a stop can wait for them and refuse those that take too long.
final class RequestGate: Sendable {
  private struct State {
    var isStopping = false
    var isClosed = false
    var waiting: [ObjectIdentifier: Exchange] = [:]
  }

  private let state = Mutex(State())
  private let inProgress = DispatchGroup()

  /// A request line has been read.
  func enter() { inProgress.enter() }

  /// The answer has been sent, or the connection has been closed.
  func leave(_ exchange: Exchange) {
    state.withLock { _ = $0.waiting.removeValue(forKey: ObjectIdentifier(exchange)) }
    inProgress.leave()
  }

  /// Suspends the exchange's connection until its answer is set. Returns the answer if the handler has already set it, or a refusal if the gate is closed.
  func awaitAnswer(of exchange: Exchange, on connection: Exchange.Connection) -> HTTPServerResponse? {
    state.withLock { state in
      if state.isClosed { exchange.answer(Refusal.stopping) }
      if let response = exchange.suspend(connection) { return response }
      state.waiting[ObjectIdentifier(exchange)] = exchange
      return nil
    }
  }

  /// Whether connections are closed after their answer.
  var isStopping: Bool { state.withLock { $0.isStopping } }

  func beginStopping() { state.withLock { $0.isStopping = true } }

  /// Whether all requests have ended within the time.
  func waitUntilIdle(_ limit: Duration) -> Bool {
    let (seconds, attoseconds) = limit.components
    let nanoseconds = Int(clamping: seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    return inProgress.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success
  }

  /// Closes the gate: later requests are refused, and no further connection is suspended. Returns the exchanges that wait for an answer.
  func close() -> [Exchange] {
    state.withLock { state in
      state.isClosed = true
      return Array(state.waiting.values)
    }
  }
}

/// The answer to a request that reaches no handler.
struct Refusal: Error {
  let response: HTTPServerResponse

  static let badTarget = Refusal(
    response: .error(400, code: "bad_request", message: "the path or query is not valid: check its percent escapes"))

  /// It has no headers, so it can always be sent.
  static let badAnswer = HTTPServerResponse(
    status: 500, body: Array(#"{"code":"internal","message":"the answer had an invalid header"}"#.utf8))

  static let stopping: HTTPServerResponse = {
    var response = HTTPServerResponse.error(
      503, code: "stopping", message: "the server is stopping: send the request again, to another instance")
    response.headers.append(("Retry-After", "1"))
    return response
  }()

  static let noRoom: HTTPServerResponse = {
    var response = HTTPServerResponse.error(
      503, code: "overloaded", message: "the server holds as many request bodies as it may: send the same again later")
    response.headers.append(("Retry-After", "1"))
    return response
  }()

  static func tooManyConnections(limit: Int) -> HTTPServerResponse {
    var response = HTTPServerResponse.error(
      429, code: "too_many_connections",
      message: "your address may have \(limit) connections open: close some, or send more requests on each")
    response.headers.append(("Retry-After", "1"))
    return response
  }

  static func badFraming(_ fault: RequestFraming.Fault) -> HTTPServerResponse {
    .error(400, code: "bad_request", message: "\(fault)")
  }

  static func notFound(_ path: String) -> Refusal {
    Refusal(response: .error(404, code: "not_found", message: "there is nothing at \(path)"))
  }

  static func wrongMethod(_ method: HTTPMethod, allowed: [String]) -> Refusal {
    let methods = allowed.joined(separator: ", ")
    var response = HTTPServerResponse.error(
      405, code: "method_not_allowed", message: "\(method.rawValue) is not allowed here: use \(methods)")
    response.headers.append(("Allow", methods))
    return Refusal(response: response)
  }

  /// Names at most five parameters, each cut to 64 characters.
  static func unknownQuery(_ names: [String], known: [String]) -> Refusal {
    let shown = names.prefix(5).map(\.shownName)
    let what = shown.count == 1 ? "is not a query parameter" : "are not query parameters"
    let rule = known.isEmpty ? "none is known here" : "known here: \(known.joined(separator: ", "))"
    return Refusal(
      response: .error(400, code: "bad_request", message: "\(shown.joined(separator: ", ")) \(what); \(rule)"))
  }

  static func wrongType(allowed: [String]) -> Refusal {
    Refusal(
      response: .error(
        415, code: "unsupported_media_type", message: "set Content-Type to \(allowed.joined(separator: " or "))"))
  }

  static func tooLarge(limit: Int) -> HTTPServerResponse {
    .error(413, code: "too_large", message: "the body may have at most \(limit) bytes: send less at once")
  }
}

extension String {
  /// A name that a client sent, as an answer shows it: without control characters, and cut to 64 others.
  package var shownName: String {
    String(
      String.UnicodeScalarView(unicodeScalars.filter { $0.properties.generalCategory != .control }.prefix(64)))
  }
}
