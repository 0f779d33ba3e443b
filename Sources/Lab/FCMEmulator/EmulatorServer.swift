internal import CNghttp2
internal import COpenSSL
internal import Dispatch
internal import Foundation
internal import Glibc
internal import Synchronization
internal import VirtualPhone

/// The emulator's thread: epoll over its listeners and connections, and what each request is answered with.
///
/// `@unchecked Sendable` because everything but `ledger`, `stopping`, `finished` and the wake-up descriptor is made by `init` and then used
/// by the thread that ``start()`` makes alone; those four are safe to share or never change.
final class EmulatorServer: @unchecked Sendable {
  let ledger: EmulatorLedger
  let maxConcurrentStreams: Int
  /// Whether requests are recorded to a file or kept in memory.
  let keepsRequests: Bool
  /// The time of day as of this round.
  private(set) var now = Date()

  private let configuration: FCMEmulatorConfiguration
  private let control: EmulatorControl
  private let tokenEndpoint: TokenEndpoint
  private let phones: PhoneBoard?
  private let deliveries: DeliveryLog?
  private let stopping = Atomic<Bool>(false)
  private let finished = DispatchGroup()
  private let poller: Int32
  private let wakeup: Int32
  private var listeners: [Listener]
  private let tls: OpaquePointer
  private let recorder: Recorder?

  private var connections: [Int32: Connection] = [:]
  private var dirty: [Connection] = []
  private var idle: [Exchange] = []
  private var delayed = DelayQueue()
  private var messagesSent = 0
  private let namePrefixes: [[UInt8]]
  private let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 65_536)

  init(
    _ configuration: FCMEmulatorConfiguration, ledger: EmulatorLedger, control: EmulatorControl,
    identity: EmulatorIdentity, tokenEndpoint: TokenEndpoint, phones: PhoneBoard?, deliveries: DeliveryLog?,
    listeners: [Listener]
  ) throws(FCMEmulatorError) {
    self.configuration = configuration
    self.ledger = ledger
    self.control = control
    self.tokenEndpoint = tokenEndpoint
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

  /// Ends the thread, all connections and the record file; returns when that is done.
  func stop() {
    stopping.store(true, ordering: .releasing)
    eventfd_write(wakeup, 1)
    finished.wait()
    // The thread is over, or never was: nobody else uses them. From here on connections are refused.
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

  /// One write a connection and round; then the connections that are over are closed.
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

  // MARK: - Requests

  func freshExchange() -> Exchange { idle.popLast() ?? Exchange() }

  /// Takes an exchange back once its stream is closed; one that waits for its delay comes back when that is over.
  func release(_ exchange: Exchange) {
    if exchange.pending == nil { idle.append(exchange) }
  }

  func noteStreams(_ open: Int) {
    ledger.update { if open > $0.maxStreams { $0.maxStreams = open } }
  }

  func noteReset() {
    ledger.update { $0.streamsReset += 1 }
  }

  func expiry(ofToken token: String) -> Date? {
    configuration.acceptAnyToken ? .distantFuture : ledger.expiry(ofToken: token)
  }

  func route(_ path: String) -> Exchange.Route {
    if path == "/token" { return .token }
    if let endpoint = EmulatorControl.Endpoint(rawValue: path) { return .control(endpoint) }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 5, parts[1] == "v1", parts[2] == "projects", parts[4] == "messages:send" else {
      return .nothing
    }
    return configuration.projects.firstIndex { $0 == parts[3] }.map { .send(project: $0) } ?? .unknownProject
  }

  /// A request has come whole: decides what becomes of it, now or after a delay.
  func handle(_ exchange: Exchange) {
    var delay = Duration.zero
    let outcome = decide(exchange, delay: &delay)
    if !exchange.route.isControl { record(exchange, status: outcome.status) }
    exchange.pending = outcome
    if delay > .zero {
      let (seconds, attoseconds) = delay.components
      let nanoseconds = UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
      delayed.insert(exchange, due: Self.monotonic() + nanoseconds)
    } else {
      finish(exchange)
    }
  }

  private func decide(_ exchange: Exchange, delay: inout Duration) -> Outcome {
    switch exchange.route {
    case .send(let project):
      guard exchange.isPost else { return .answer(FCMAnswer(.notFound)) }
      guard exchange.isAuthorized else { return unauthorized(exchange) }
      guard !exchange.isTooLarge else {
        return .answer(
          .error(
            400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: \(Exchange.maxBody) bytes."))
      }
      guard exchange.isJSON else {
        return .answer(
          .error(
            400, "INVALID_ARGUMENT", "Invalid JSON payload received. The content type must be application/json."))
      }
      switch MessageValidator.check(start: exchange.body, count: exchange.bodyCount) {
      case .refused(let answer): return .answer(answer)
      case .valid(let token, _):
        if let token, ledger.isUninstalled(token) {
          ledger.note(token: token)
          if configuration.countsTokens { ledger.count(token: token.string, status: 404) }
          return .answer(FCMAnswer(.unregistered))
        }
        let fault = ledger.fault(.send, token: token)
        delay = configuration.delay + fault.delay
        let outcome = Self.outcome(fault.action, project: project)
        if configuration.countsTokens, let token { ledger.count(token: token.string, status: outcome.status) }
        return outcome
      }
    case .unknownProject:
      return exchange.isAuthorized ? .answer(FCMAnswer(.notFound)) : unauthorized(exchange)
    case .token:
      guard exchange.isPost else { return .answer(FCMAnswer(.notFound)) }
      let fault = ledger.fault(.token, token: nil)
      delay = fault.delay
      if let action = fault.action { return Self.outcome(action, project: 0) }
      return .answer(token(exchange))
    case .control(let endpoint):
      guard endpoint.isPost ? exchange.isPost : exchange.isGet else { return .answer(FCMAnswer(.notFound)) }
      return .answer(
        control.answer(to: endpoint, body: UnsafeRawBufferPointer(start: exchange.body, count: exchange.bodyCount)))
    case .nothing:
      return .answer(FCMAnswer(.notFound))
    }
  }

  private func unauthorized(_ exchange: Exchange) -> Outcome {
    // Google says the same of a token that is unknown and of one that has expired.
    .answer(.unauthenticated(reason: exchange.hasCredentials ? "ACCESS_TOKEN_EXPIRED" : "CREDENTIALS_MISSING"))
  }

  private func token(_ exchange: Exchange) -> FCMAnswer {
    let body = Array(UnsafeBufferPointer(start: exchange.body, count: exchange.bodyCount))
    if let refusal = tokenEndpoint.refusal(contentType: exchange.contentType, body: body, now: now) { return refusal }
    let lifetime = configuration.accessTokenLifetime
    let token = ledger.issueToken(now: now, lifetime: lifetime)
    return FCMAnswer(
      status: 200,
      body: "{\"access_token\":\"\(token)\",\"expires_in\":\(lifetime.components.seconds),\"token_type\":\"Bearer\"}")
  }

  private static func outcome(_ action: Fault.Action?, project: Int) -> Outcome {
    switch action {
    case nil: .sent(project: project)
    case .answer(let answer): .answer(answer)
    case .resetConnection: .resetConnection
    case .resetStream: .resetStream
    case .hang: .hang
    case .brokenBody: .brokenBody(project: project)
    case .hangAfterHeaders: .hangAfterHeaders
    case .goAway: .goAway(project: project)
    }
  }

  private func record(_ exchange: Exchange, status: Int) {
    ledger.count(status: status)
    if let phones, status == 200, case .send = exchange.route,
      let message = DeliveredMessage(body: UnsafeBufferPointer(start: exchange.body, count: exchange.bodyCount))
    {
      let at = Int64(now.timeIntervalSince1970 * 1_000)
      phones.deliver(message, at: at)
      deliveries?.add(
        UnsafeBufferPointer(start: exchange.body, count: exchange.bodyCount), token: message.token, at: at)
    }
    guard keepsRequests else { return }
    let isMessage = if case .send = exchange.route { true } else { false }
    let body = UnsafeBufferPointer(start: exchange.body, count: exchange.bodyCount)
    let request = RecordedRequest(
      time: now, path: exchange.path, status: status, headers: exchange.headers,
      body: exchange.route == .token ? [] : Array(body))
    if configuration.keepRequests > 0 { ledger.keep(request) }
    guard let recorder else { return }
    var cursor = JSONCursor(start: exchange.body, count: exchange.bodyCount)
    // A message that was sent is JSON; what was refused may be anything.
    let isJSON = isMessage && exchange.isJSON && (status == 200 || Self.isJSON(&cursor))
    recorder.add(request, bodyIsJSON: isJSON, now: Self.monotonic())
  }

  private static func isJSON(_ cursor: inout JSONCursor) -> Bool {
    do throws(JSONFault) {
      _ = try cursor.anyValue(depth: 0)
      try cursor.finish()
      return true
    } catch {
      return false
    }
  }

  private func flushRecord() {
    guard let recorder else { return }
    recorder.flush()
    if let failure = recorder.failure { ledger.update { $0.recordFailure = failure } }
  }

  // MARK: - Answers

  private func finish(_ exchange: Exchange) {
    let outcome = exchange.pending
    exchange.pending = nil
    guard let connection = exchange.connection, let outcome else {
      // The client is gone; nobody waits for the answer.
      idle.append(exchange)
      return
    }
    switch outcome {
    case .sent(let project):
      submitName(exchange, project, connection)
    case .answer(let answer):
      exchange.appendAnswer(Array(answer.body.utf8))
      submit(exchange, answer.status, answer.headers, connection)
    case .brokenBody(let project):
      submitName(exchange, project, connection, broken: true)
      // Later, not at once: a client that reads the headers and the reset in one go need not have looked at the headers.
      exchange.pending = .resetStream
      delayed.insert(exchange, due: Self.monotonic() + Self.breakAfter)
    case .hangAfterHeaders:
      exchange.appendAnswer(Self.nameEnd)
      exchange.withholdAnswer()
      submit(exchange, 200, [], connection)
    case .goAway(let project):
      submitName(exchange, project, connection)
      nghttp2_submit_goaway(
        connection.session, UInt8(NGHTTP2_FLAG_NONE.rawValue), exchange.stream, NGHTTP2_NO_ERROR.rawValue, nil, 0)
    case .resetStream:
      nghttp2_submit_rst_stream(
        connection.session, UInt8(NGHTTP2_FLAG_NONE.rawValue), exchange.stream, NGHTTP2_INTERNAL_ERROR.rawValue)
    case .resetConnection:
      connection.isClosing = true
      connection.closesWithReset = true
    case .hang:
      return
    }
    markDirty(connection)
  }

  private func submitName(_ exchange: Exchange, _ project: Int, _ connection: Connection, broken: Bool = false) {
    messagesSent += 1
    exchange.appendAnswer(namePrefixes[project])
    exchange.appendAnswer(Array(String(messagesSent).utf8))
    exchange.appendAnswer(Self.nameEnd)
    if broken { exchange.breakAnswer() }
    submit(exchange, 200, [], connection)
  }

  /// Nanoseconds between a broken answer's last byte and its reset.
  private static let breakAfter: UInt64 = 50_000_000
  private static let nameEnd = Array("\"\n}\n".utf8)

  private func submit(_ exchange: Exchange, _ status: Int, _ headers: [(String, String)], _ connection: Connection) {
    withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: 8 + headers.count) { fields in
      var count = 0
      func add(_ name: StaticString, _ value: UnsafeBufferPointer<UInt8>, isConstant: Bool) {
        fields[count] = nghttp2_nv(
          name: UnsafeMutablePointer(mutating: name.utf8Start),
          value: UnsafeMutablePointer(mutating: value.baseAddress), namelen: name.utf8CodeUnitCount,
          valuelen: value.count,
          flags: UInt8(
            NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | (isConstant ? NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue : 0)))
        count += 1
      }
      func add(_ name: StaticString, _ value: StaticString) {
        add(name, UnsafeBufferPointer(start: value.utf8Start, count: value.utf8CodeUnitCount), isConstant: true)
      }
      var statusText = String(status)
      var length = String(exchange.answerCount)
      // nghttp2 copies what is not constant before `submit` returns.
      statusText.withUTF8 { statusBytes in
        length.withUTF8 { lengthBytes in
          add(":status", statusBytes, isConstant: false)
          if !headers.contains(where: { $0.0 == "content-type" }) {
            add("content-type", "application/json; charset=UTF-8")
          }
          add("vary", "Origin")
          add("server", "ESF")
          add("cache-control", "private")
          if configuration.sendsContentLength { add("content-length", lengthBytes, isConstant: false) }
          submit(exchange, UnsafeMutableBufferPointer(rebasing: fields[...]), count, headers[...], connection)
        }
      }
    }
  }

  /// Adds the remaining fields one by one, each alive while the next is added, and submits.
  private func submit(
    _ exchange: Exchange, _ fields: UnsafeMutableBufferPointer<nghttp2_nv>, _ count: Int,
    _ headers: ArraySlice<(String, String)>, _ connection: Connection
  ) {
    guard var (name, value) = headers.first else {
      var body = nghttp2_data_provider()
      body.source.ptr = Unmanaged.passUnretained(exchange).toOpaque()
      body.read_callback = Exchange.readAnswer
      nghttp2_submit_response(connection.session, exchange.stream, fields.baseAddress, count, &body)
      return
    }
    name.withUTF8 { nameBytes in
      value.withUTF8 { valueBytes in
        fields[count] = nghttp2_nv(
          name: UnsafeMutablePointer(mutating: nameBytes.baseAddress),
          value: UnsafeMutablePointer(mutating: valueBytes.baseAddress), namelen: nameBytes.count,
          valuelen: valueBytes.count, flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue))
        submit(exchange, fields, count + 1, headers.dropFirst(), connection)
      }
    }
  }

  // MARK: - Parts

  private static func monotonic() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  private static func makeTLS(_ identity: EmulatorIdentity) throws(FCMEmulatorError) -> OpaquePointer {
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
        // nghttp2 finds "h2" in the client's list; without it there is no connection.
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

extension Outcome {
  /// The status that goes on record; 0 when there will be none.
  fileprivate var status: Int {
    switch self {
    case .sent, .brokenBody, .hangAfterHeaders, .goAway: 200
    case .answer(let answer): answer.status
    case .resetConnection, .resetStream, .hang: 0
    }
  }
}
