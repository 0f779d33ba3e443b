import CMicroHTTPD
import Synchronization

/// Limits of a server. The defaults suit a service's own port.
public struct HTTPServerLimits: Sendable {
  /// The longest body in bytes, for routes without a limit of their own.
  public var bodySize: Int
  /// Bytes of all bodies that are being read or handled. Beyond that, requests get 503 before their body is read.
  public var bodyBudget: Int
  /// Open connections. Further ones wait in the system's queue. When the limit is nearly reached, a new connection replaces an idle one of
  /// the address that has the most, so that a few clients cannot lock out all others.
  public var connections: Int
  /// Connections of streams, in addition to those.
  public var streams: Int
  /// Open connections from one address (IPv6: one /64). Requests on further ones get 429, and idle ones are closed.
  public var connectionsPerAddress: Int
  /// A connection without traffic is closed after this time; whole seconds. A request that waits for its answer is not idle.
  public var idleTimeout: Duration
  /// How long a request may take to arrive, from its first line, and how long a client may take to read the answer. Slower connections are
  /// closed.
  public var transferTime: Duration
  /// Threads that run blocking handlers.
  public var handlerThreads: Int
  /// How long `stop` waits for requests in flight.
  public var drain: Duration

  /// Limits; the defaults suit a service's own port.
  public init(
    bodySize: Int = 1 << 20, bodyBudget: Int = 64 << 20, connections: Int = 1_024, streams: Int = 0,
    connectionsPerAddress: Int = .max,
    idleTimeout: Duration = .seconds(30), transferTime: Duration = .seconds(30), handlerThreads: Int = 4,
    drain: Duration = .seconds(5)
  ) {
    self.bodySize = bodySize
    self.bodyBudget = bodyBudget
    self.connections = connections
    self.streams = streams
    self.connectionsPerAddress = connectionsPerAddress
    self.idleTimeout = idleTimeout
    self.transferTime = transferTime
    self.handlerThreads = max(1, handlerThreads)
    self.drain = drain
  }
}

extension HTTPServerLimits {
  /// Above this number of connections, each new one replaces another.
  fileprivate var unhurriedConnections: Int { connections < 16 ? .max : connections - max(4, connections / 16) }
}

/// An HTTP/1.1 server: routes with handlers, on libmicrohttpd.
///
/// One thread with epoll reads and writes all connections. When a request is complete, it suspends the connection and passes the request to
/// a handler, either on a small thread pool or one that answers later. The answer resumes the connection. A proxy in front provides TLS.
///
/// A request whose end is ambiguous gets 400, and its connection is closed (``RequestFraming``). A connection is also closed after a
/// chunked body, because libmicrohttpd accepts chunk lines that end in LF alone.
public final class HTTPServer: Sendable {
  private struct Daemon: @unchecked Sendable {
    /// Safe to send: libmicrohttpd's daemons may be quiesced and stopped from any thread. `stop` removes it from the state, so that this
    /// happens only once.
    let pointer: OpaquePointer
  }

  private struct State: ~Copyable {
    var isStarted = false
    var socket: ListeningSocket?
    var daemon: Daemon?
  }

  private let address: String
  private let routes: [HTTPRoute]
  private let limits: HTTPServerLimits
  private let log: @Sendable (String) -> Void
  private let onAnswer: @Sendable (HTTPServerResponse) -> Void
  private let cors: CORSPolicy?
  private let deadlines: ConnectionDeadlines
  private let bodyBudget: BodyBudget
  private let connectionsByAddress: ConnectionsByAddress
  private let gate = RequestGate()
  private let streams = OpenStreams()
  private let threads: HandlerThreads
  private let state = Mutex(State())
  private let bound = Mutex<(address: String, port: Int)>(("", 0))

  /// A server that is not listening yet.
  /// - Parameters:
  ///   - address: `HOST:PORT`; port 0 lets the system choose; IPv6 in brackets.
  ///   - cors: The pages of other origins that may call the server; nil if none may.
  ///   - log: Receives messages for the operator, one line each.
  ///   - onAnswer: Called on the server's own thread for every answer, including those without a handler.
  /// - Throws: `HTTPServerError.invalidAddress`.
  public init(
    address: String, routes: [HTTPRoute], limits: HTTPServerLimits = HTTPServerLimits(), cors: CORSPolicy? = nil,
    log: @escaping @Sendable (String) -> Void = { _ in },
    onAnswer: @escaping @Sendable (HTTPServerResponse) -> Void = { _ in }
  ) throws(HTTPServerError) {
    _ = try ListeningSocket.split(address)
    self.address = address
    self.routes = routes
    self.limits = limits
    self.log = log
    self.onAnswer = onAnswer
    self.cors = cors
    deadlines = ConnectionDeadlines(idle: limits.idleTimeout, transfer: limits.transferTime)
    bodyBudget = BodyBudget(limit: limits.bodyBudget)
    connectionsByAddress = ConnectionsByAddress(limit: limits.connectionsPerAddress)
    threads = HandlerThreads(count: limits.handlerThreads)
  }

  /// The host and port of the listening socket; empty before the start.
  public var boundAddress: String { bound.withLock { $0.address } }

  /// The port of the listening socket; 0 before the start.
  public var port: Int { bound.withLock { $0.port } }

  /// Starts to listen and to serve.
  /// - Throws: `HTTPServerError` if the address is in use or not one of this machine's, or if the server was started before.
  public func start() throws(HTTPServerError) {
    let failure = state.withLock { state -> HTTPServerError? in
      guard !state.isStarted else { return .alreadyStarted }
      do throws(HTTPServerError) {
        let socket = try ListeningSocket(address)
        // Unretained: `stop`, which deinit calls at the latest, joins the daemon's thread before this object is destroyed.
        let context = Unmanaged.passUnretained(self).toOpaque()
        guard
          let daemon = nudge_mhd_start(
            socket.descriptor, UInt32(clamping: limits.connections + limits.streams),
            UInt32(clamping: limits.idleTimeout.components.seconds),
            Self.onRequest, Self.onRequestLine, Self.onCompleted, Self.onConnection, context)
        else { return .cannotStart(address: socket.address) }
        bound.withLock { $0 = (socket.address, socket.port) }
        state.isStarted = true
        state.daemon = Daemon(pointer: daemon)
        state.socket = consume socket
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw failure }
    threads.start()
    deadlines.start()
  }

  /// Refuses new connections, waits for requests in flight as long as the limits allow, answers the rest with 503, and ends. Does nothing
  /// if the server is not running.
  public func stop() {
    guard let daemon = state.withLock({ $0.daemon.take() }) else { return }
    gate.beginStopping()
    MHD_quiesce_daemon(daemon.pointer)
    state.withLock { $0.socket?.refuse() }
    streams.end()
    let isIdle = gate.waitUntilIdle(limits.drain)
    // Another request may come on an open connection even now; libmicrohttpd aborts the process if it stops with a suspended one.
    let unanswered = gate.close()
    if !isIdle { log("\(unanswered.count) requests were not answered within \(limits.drain); they get 503") }
    for exchange in unanswered { exchange.answer(Refusal.stopping) }
    // Gives libmicrohttpd time to write those answers.
    _ = gate.waitUntilIdle(.milliseconds(500))
    deadlines.stop()
    MHD_stop_daemon(daemon.pointer)
    // The daemon's thread uses the quiesced socket until here.
    state.withLock { $0.socket = nil }
    threads.end()
  }

  deinit { stop() }

  // MARK: Callbacks of libmicrohttpd, on its thread

  private static let onRequestLine:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) -> UnsafeMutableRawPointer? = {
      context, target, connection in
      guard let context else { return nil }
      let server = Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
      server.gate.enter()
      if let connection { server.deadlines.requestBegins(Exchange.Connection(pointer: connection)) }
      let exchange = Exchange(target: target.map { String(cString: $0) } ?? "")
      return Unmanaged.passRetained(exchange).toOpaque()
    }

  private static let onCompleted: MHD_RequestCompletedCallback = { context, connection, request, _ in
    guard let context, let request, let retained = request.pointee else { return }
    request.pointee = nil
    let exchange = Unmanaged<Exchange>.fromOpaque(retained).takeRetainedValue()
    let server = Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
    if let connection { server.deadlines.requestEnded(Exchange.Connection(pointer: connection)) }
    server.bodyBudget.release(exchange.charged.exchange(0, ordering: .relaxed))
    if let stream = exchange.stream.withLock({ $0.take() }) {
      server.streams.remove(stream)
      stream.leave()
    }
    server.gate.leave(exchange)
  }

  private static let onConnection: MHD_NotifyConnectionCallback = { context, pointer, _, event in
    guard let context, let pointer else { return }
    let server = Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
    let connection = Exchange.Connection(pointer: pointer)
    if event == .CONNECTION_NOTIFY_STARTED {
      let address = nudge_mhd_peer(pointer).flatMap { ConnectionsByAddress.Address($0) }
      let isExcess = address.map { server.connectionsByAddress.opened(connection.key, from: $0) } ?? false
      server.deadlines.opened(connection, socket: nudge_mhd_socket(pointer), isExcess: isExcess)
      let crowded = server.connectionsByAddress.mostCrowded(beyond: server.limits.unhurriedConnections)
      if !crowded.isEmpty { server.deadlines.closeOne(of: crowded) }
    } else {
      server.connectionsByAddress.closed(connection.key)
      server.deadlines.closed(connection)
    }
  }

  private static let onRequest: MHD_AccessHandlerCallback = {
    context, connection, _, method, version, data, size, request in
    guard let context, let connection, let method, let version, let size, let retained = request?.pointee else {
      return .NO
    }
    let server = Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
    let exchange = Unmanaged<Exchange>.fromOpaque(retained).takeUnretainedValue()
    let piece = UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : size.pointee)
    let line = RequestHead.RequestLine(method: method, version: version)
    let result = server.proceed(exchange, Exchange.Connection(pointer: connection), line, piece: piece)
    // The whole piece was used, or the connection is about to be closed.
    size.pointee = 0
    return result
  }

  // MARK: One exchange

  /// Advances an exchange. Called for the head, for each piece of the body, at the body's end, and again when there is an answer.
  private func proceed(
    _ exchange: Exchange, _ connection: Exchange.Connection, _ line: RequestHead.RequestLine,
    piece: UnsafeRawBufferPointer
  ) -> MHD_Result {
    switch exchange.take() {
    case .begun:
      return begin(exchange, connection, line)
    case .receiving(let match, var body):
      if piece.isEmpty { return handle(exchange, connection, match, body) }
      if body.count + piece.count > match.bodyLimit {
        exchange.set(.discarding(Refusal.tooLarge(limit: match.bodyLimit), discarded: body.count + piece.count))
      } else if !bodyBudget.charge(piece.count) {
        // The bytes read so far are dropped here.
        bodyBudget.release(exchange.charged.exchange(0, ordering: .relaxed))
        exchange.set(.discarding(Refusal.noRoom, discarded: body.count + piece.count))
      } else {
        exchange.charged.add(piece.count, ordering: .relaxed)
        body.append(contentsOf: piece)
        exchange.set(.receiving(match, body: body))
      }
      return .YES
    case .discarding(let response, let discarded):
      if piece.isEmpty { return send(response, of: exchange, on: connection) }
      guard discarded + piece.count <= Exchange.mostDiscarded else { return .NO }
      exchange.set(.discarding(response, discarded: discarded + piece.count))
      return .YES
    case .answered(let response):
      return send(response, of: exchange, on: connection)
    case .handling, .waiting, .ended:
      return .NO
    }
  }

  private func begin(
    _ exchange: Exchange, _ connection: Exchange.Connection, _ line: RequestHead.RequestLine
  ) -> MHD_Result {
    let head = RequestHead(of: connection, line)
    if let origin = cors?.origin(of: head.headers) { exchange.origin.withLock { $0 = origin } }
    let framing: RequestFraming
    switch head.framing {
    case .success(let found): framing = found
    case .failure(let fault):
      exchange.closesConnection.store(true, ordering: .relaxed)
      return send(Refusal.badFraming(fault), of: exchange, on: connection)
    }
    if framing == .chunked { exchange.closesConnection.store(true, ordering: .relaxed) }
    if connectionsByAddress.isExcess(connection.key) {
      exchange.closesConnection.store(true, ordering: .relaxed)
      let refusal = Refusal.tooManyConnections(limit: limits.connectionsPerAddress)
      return send(refusal, of: exchange, on: connection)
    }
    let method = HTTPMethod(rawValue: String(cString: line.method))
    let network = nudge_mhd_peer(connection.pointer).flatMap { ConnectionsByAddress.Address($0) }?.text ?? ""
    switch match(exchange.target, method: method, headers: head.headers, framing, network) {
    case .success(let match):
      var body: [UInt8] = []
      if let length = framing.length {
        // An answer before the body is read closes the connection.
        guard bodyBudget.hasRoom(for: length) else { return send(Refusal.noRoom, of: exchange, on: connection) }
        body.reserveCapacity(length)
      }
      exchange.set(.receiving(match, body: body))
      return .YES
    case .failure(let refusal):
      // A client that sent Expect waits for this answer. A very long body is not worth reading.
      if head.headers["Expect"] != nil || framing.length ?? 0 > Exchange.mostDiscarded {
        return send(refusal.response, of: exchange, on: connection)
      }
      exchange.set(.discarding(refusal.response, discarded: 0))
      return .YES
    }
  }

  private func match(
    _ target: String, method: HTTPMethod, headers: HTTPHeaders, _ framing: RequestFraming, _ network: String
  ) -> Result<Exchange.Match, Refusal> {
    guard let target = RequestTarget(target) else { return .failure(.badTarget) }
    var allowed: Set<String> = []
    for route in routes {
      guard let parameters = route.pattern.match(target.segments) else { continue }
      guard route.method == method || (method == .head && route.method == .get) else {
        allowed.insert(route.method.rawValue)
        if route.method == .get { allowed.insert(HTTPMethod.head.rawValue) }
        continue
      }
      var admitted: (any Sendable)?
      if let admit = route.admit {
        let head = HTTPServerRequestHead(
          method: method, path: target.path, headers: headers, bodyLength: framing == .none ? 0 : framing.length,
          remoteNetwork: network)
        switch admit(head) {
        case .admitted(let found): admitted = found
        case .refused(let response): return .failure(Refusal(response: response))
        }
      }
      if let refusal = route.refusal(of: target.query) { return .failure(refusal) }
      if framing != .none, framing != .length(0), !route.takes(contentType: headers["Content-Type"]) {
        return .failure(.wrongType(allowed: route.contentTypes))
      }
      let bodyLimit = route.bodyLimit ?? limits.bodySize
      if let length = framing.length, length > bodyLimit {
        return .failure(Refusal(response: Refusal.tooLarge(limit: bodyLimit)))
      }
      return .success(
        Exchange.Match(
          route: route, bodyLimit: bodyLimit, method: method, target: target, parameters: parameters, headers: headers,
          admitted: admitted))
    }
    if let cors, method.rawValue == "OPTIONS", !allowed.isEmpty, headers["Access-Control-Request-Method"] != nil,
      cors.origin(of: headers) != nil
    {
      return .failure(Refusal(response: cors.preflight(allowed)))
    }
    return .failure(allowed.isEmpty ? .notFound(target.path) : .wrongMethod(method, allowed: allowed.sorted()))
  }

  private func handle(
    _ exchange: Exchange, _ connection: Exchange.Connection, _ match: Exchange.Match, _ body: [UInt8]
  ) -> MHD_Result {
    let request = HTTPServerRequest(
      method: match.method, path: match.target.path, parameters: match.parameters, query: match.target.query,
      headers: match.headers, body: body, remoteAddress: RequestHead.peer(of: connection),
      admitted: match.admitted)
    deadlines.requestArrived(connection)
    exchange.set(.handling)
    call(match.route.answer, request, HTTPResponder(exchange))
    guard let answer = gate.awaitAnswer(of: exchange, on: connection) else { return .YES }
    _ = exchange.take()
    return send(answer, of: exchange, on: connection)
  }

  /// The responder is released after this call unless the handler keeps it.
  private func call(_ answer: HTTPRoute.Answer, _ request: HTTPServerRequest, _ responder: HTTPResponder) {
    switch answer {
    case .blocking(let handler): threads.run(inTurnOf: "") { responder.respond(handler(request)) }
    case .inTurn(let key, let handler): threads.run(inTurnOf: key(request)) { handler(request, responder) }
    case .later(let handler): handler(request, responder)
    }
  }

  private func send(
    _ answer: HTTPServerResponse, of exchange: Exchange, on connection: Exchange.Connection
  ) -> MHD_Result {
    guard let response = answer.native() else {
      answer.stream?.leave()
      return answer.headers.isEmpty ? .NO : send(Refusal.badAnswer, of: exchange, on: connection)
    }
    defer { MHD_destroy_response(response) }
    if let stream = answer.stream { begin(stream, of: exchange, on: connection) }
    for (name, value) in cors?.headers(for: exchange.origin.withLock { $0 }) ?? [] {
      MHD_add_response_header(response, name, value)
    }
    onAnswer(answer)
    deadlines.answerBegins(connection)
    if gate.isStopping || exchange.closesConnection.load(ordering: .relaxed) {
      MHD_add_response_header(response, "Connection", "close")
    }
    return MHD_queue_response(connection.pointer, UInt32(clamping: answer.status), response)
  }

  /// From here on the connection belongs to its stream and no longer counts for its address. The owner of the stream limits the streams per
  /// client.
  private func begin(_ stream: HTTPStream, of exchange: Exchange, on connection: Exchange.Connection) {
    exchange.closesConnection.store(true, ordering: .relaxed)
    exchange.stream.withLock { $0 = stream }
    connectionsByAddress.closed(connection.key)
    stream.begin(connection, deadlines)
    streams.add(stream)
  }
}
