import CNghttp2
import COpenSSL
import Foundation
import Glibc
import VirtualPhone

// Decides how a request ends, and records it.
extension EmulatorServer {
  func freshExchange() -> StreamExchange { idle.popLast() ?? StreamExchange() }

  /// Recycles an exchange whose stream is closed. An exchange with a delayed answer is recycled after the delay.
  func release(_ exchange: StreamExchange) {
    if exchange.pending == nil { idle.append(exchange) }
  }

  /// Raises the highest number of streams that were open at once.
  func countStreams(_ open: Int) {
    ledger.update { if open > $0.maxStreams { $0.maxStreams = open } }
  }

  func countReset() {
    ledger.update { $0.streamsReset += 1 }
  }

  func expiry(ofToken token: String) -> Date? {
    configuration.acceptAnyToken ? .distantFuture : ledger.expiry(ofToken: token)
  }

  func route(_ path: String) -> StreamExchange.Route {
    if path == "/token" { return .token }
    if path == "/webhook" { return .webhook }
    if let endpoint = EmulatorControl.Endpoint(rawValue: path) { return .control(endpoint) }
    if path.hasPrefix(BrowserSubscription.path) {
      return .push(id: String(path.dropFirst(BrowserSubscription.path.count)))
    }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 5, parts[1] == "v1", parts[2] == "projects", parts[4] == "messages:send" else {
      return .nothing
    }
    return configuration.projects.firstIndex { $0 == parts[3] }.map { .send(project: $0) } ?? .unknownProject
  }

  /// Answers a complete request, now or after a delay.
  func handle(_ exchange: StreamExchange) {
    var delay = Duration.zero
    let outcome = decide(exchange, delay: &delay)
    if !exchange.route.isControl { record(exchange, outcome) }
    exchange.pending = outcome
    if delay > .zero {
      let (seconds, attoseconds) = delay.components
      let nanoseconds = UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
      delayed.insert(exchange, due: Self.monotonic() + nanoseconds)
    } else {
      finish(exchange)
    }
  }

  /// The outcome of a complete request, and the delay before it.
  func decide(_ exchange: StreamExchange, delay: inout Duration) -> StreamOutcome {
    switch exchange.route {
    case .send(let project):
      guard exchange.isPost else { return .answer(EmulatorAnswer(.notFound)) }
      guard exchange.isAuthorized else { return unauthorized(exchange) }
      guard !exchange.isTooLarge else {
        return .answer(
          .error(
            400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: \(StreamExchange.maxBody) bytes."))
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
          ledger.record(token: token)
          if configuration.countsTokens { ledger.count(token: token.string, status: 404) }
          return .answer(EmulatorAnswer(.unregistered))
        }
        let fault = ledger.fault(.send, token: token)
        delay = configuration.delay + fault.delay
        let outcome = Self.outcome(fault.action, project: project)
        if configuration.countsTokens, let token { ledger.count(token: token.string, status: outcome.status) }
        return outcome
      }
    case .unknownProject:
      return exchange.isAuthorized ? .answer(EmulatorAnswer(.notFound)) : unauthorized(exchange)
    case .token:
      guard exchange.isPost else { return .answer(EmulatorAnswer(.notFound)) }
      let fault = ledger.fault(.token, token: nil)
      delay = fault.delay
      if let action = fault.action { return Self.outcome(action, project: 0) }
      return .answer(token(exchange))
    case .webhook:
      guard exchange.isPost else { return .answer(EmulatorAnswer(.notFound)) }
      let fault = ledger.fault(.webhook, token: nil)
      delay = fault.delay
      return fault.action.map { Self.outcome($0, project: 0) } ?? .answer(EmulatorAnswer(status: 200, body: "{}\n"))
    case .push(let id):
      guard exchange.isPost else { return .answer(EmulatorAnswer(.notFound)) }
      return push(exchange, to: id, delay: &delay)
    case .control(let endpoint):
      guard endpoint.isPost ? exchange.isPost : exchange.isGet else { return .answer(EmulatorAnswer(.notFound)) }
      return .answer(
        control.answer(to: endpoint, body: UnsafeRawBufferPointer(start: exchange.body, count: exchange.bodyCount)))
    case .nothing:
      return .answer(EmulatorAnswer(.notFound))
    }
  }

  private func push(_ exchange: StreamExchange, to id: String, delay: inout Duration) -> StreamOutcome {
    let endpoint = pushService.endpoint(id)
    let verdict = pushService.verdict(
      on: Array(UnsafeBufferPointer(start: exchange.body, count: exchange.bodyCount)), to: id, exchange.pushHeaders,
      isGone: ledger.isUninstalled(endpoint), now: now)
    switch verdict {
    case .refused(let answer):
      if configuration.countsTokens { ledger.count(token: endpoint, status: answer.status) }
      return .answer(answer)
    case .taken(let taken):
      exchange.opened = taken.message
      if taken.message == nil { ledger.update { $0.notOpened += 1 } }
      let fault = ledger.fault(.push, address: id)
      delay = configuration.delay + fault.delay
      let outcome = fault.action.map { Self.outcome($0, project: 0) } ?? .answer(taken.answer)
      if configuration.countsTokens { ledger.count(token: endpoint, status: outcome.status) }
      return outcome
    }
  }

  func unauthorized(_ exchange: StreamExchange) -> StreamOutcome {
    // Google answers an unknown token and an expired one alike.
    .answer(.unauthenticated(reason: exchange.hasCredentials ? "ACCESS_TOKEN_EXPIRED" : "CREDENTIALS_MISSING"))
  }

  func token(_ exchange: StreamExchange) -> EmulatorAnswer {
    let body = Array(UnsafeBufferPointer(start: exchange.body, count: exchange.bodyCount))
    if let refusal = tokenEndpoint.refusal(contentType: exchange.contentType, body: body, now: now) { return refusal }
    let lifetime = configuration.accessTokenLifetime
    let token = ledger.issueToken(now: now, lifetime: lifetime)
    return EmulatorAnswer(
      status: 200,
      body: "{\"access_token\":\"\(token)\",\"expires_in\":\(lifetime.components.seconds),\"token_type\":\"Bearer\"}")
  }

  static func outcome(_ action: Fault.Action?, project: Int) -> StreamOutcome {
    switch action {
    case nil: .sent(project: project)
    case .answer(let answer): .answer(answer)
    case .resetConnection: .resetConnection
    case .resetStream: .resetStream
    case .hang: .hang
    case .brokenBody: .brokenBody(project: project)
    case .hangAfterHeaders: .hangAfterHeaders
    case .goAway: .goAway(project: project)
    case .lose: .lost(project: project)
    }
  }

  /// Counts a request, delivers its message to the phone, and stores it if requests are kept.
  func record(_ exchange: StreamExchange, _ outcome: StreamOutcome) {
    let status = outcome.status
    ledger.count(status: status)
    let body = UnsafeBufferPointer(start: exchange.body, count: exchange.bodyCount)
    let at = Int64(now.timeIntervalSince1970 * 1_000)
    switch exchange.route {
    case .send:
      if let phones, outcome.reachesDevice, let message = DeliveredMessage(body: body) {
        phones.deliver(message, at: at)
        deliveries?.add(body, token: message.token, at: at)
      }
    case .push(let id):
      if let phones, outcome.reachesDevice, let opened = exchange.opened, let message = DeliveredMessage(body: opened) {
        phones.deliver(message, at: at)
        deliveries?.add(opened, token: id, at: at)
      }
    default: break
    }
    guard keepsRequests else { return }
    if case .push = exchange.route {
      // The message as the browser decrypts it, because the encrypted body is unreadable.
      return record(exchange, status: status, body: exchange.opened ?? [], isJSON: true)
    }
    let isMessage = if case .send = exchange.route { true } else { exchange.route == .webhook }
    var cursor = JSONCursor(start: exchange.body, count: exchange.bodyCount)
    // An accepted message is JSON; a refused body may be anything.
    let isJSON = recorder != nil && isMessage && exchange.isJSON && (status == 200 || Self.isJSON(&cursor))
    record(exchange, status: status, body: exchange.route == .token ? [] : Array(body), isJSON: isJSON)
  }

  private func record(_ exchange: StreamExchange, status: Int, body: [UInt8], isJSON: Bool) {
    let request = RecordedRequest(
      time: now, path: exchange.path, status: status, headers: exchange.headers, body: body)
    if configuration.keepRequests > 0 { ledger.keep(request) }
    recorder?.add(request, bodyIsJSON: isJSON, now: Self.monotonic())
  }

  static func isJSON(_ cursor: inout JSONCursor) -> Bool {
    do throws(JSONFault) {
      _ = try cursor.anyValue(depth: 0)
      try cursor.finish()
      return true
    } catch {
      return false
    }
  }

  func flushRecord() {
    guard let recorder else { return }
    recorder.flush()
    if let failure = recorder.failure { ledger.update { $0.recordFailure = failure } }
  }
}

// Sends the answers.
extension EmulatorServer {
  func finish(_ exchange: StreamExchange) {
    let outcome = exchange.pending
    exchange.pending = nil
    guard let connection = exchange.connection, let outcome else {
      // The client is gone.
      idle.append(exchange)
      return
    }
    switch outcome {
    case .sent(let project), .lost(let project):
      submitName(exchange, project, connection)
    case .answer(let answer):
      exchange.appendAnswer(Array(answer.body.utf8))
      submit(exchange, answer.status, answer.headers, connection)
    case .brokenBody(let project):
      submitName(exchange, project, connection, broken: true)
      // A client that reads headers and reset at once may ignore the headers, so the reset is delayed.
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

  func submitName(_ exchange: StreamExchange, _ project: Int, _ connection: Connection, broken: Bool = false) {
    messagesSent += 1
    exchange.appendAnswer(namePrefixes[project])
    exchange.appendAnswer(Array(String(messagesSent).utf8))
    exchange.appendAnswer(Self.nameEnd)
    if broken { exchange.breakAnswer() }
    submit(exchange, 200, [], connection)
  }

  /// Nanoseconds between a broken answer's last byte and its reset.
  static let breakAfter: UInt64 = 50_000_000
  static let nameEnd = Array("\"\n}\n".utf8)

  func submit(_ exchange: StreamExchange, _ status: Int, _ headers: [(String, String)], _ connection: Connection) {
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
      // nghttp2 copies fields that are not constant before `submit` returns.
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

  /// Adds the remaining fields and submits the answer. It is recursive because each field's bytes are valid only within its closure.
  func submit(
    _ exchange: StreamExchange, _ fields: UnsafeMutableBufferPointer<nghttp2_nv>, _ count: Int,
    _ headers: ArraySlice<(String, String)>, _ connection: Connection
  ) {
    guard var (name, value) = headers.first else {
      var body = nghttp2_data_provider()
      body.source.ptr = Unmanaged.passUnretained(exchange).toOpaque()
      body.read_callback = StreamExchange.readAnswer
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
}
