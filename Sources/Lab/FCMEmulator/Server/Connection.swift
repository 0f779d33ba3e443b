internal import CNghttp2
internal import COpenSSL
internal import Foundation
internal import Glibc

/// A client's connection: socket, TLS, HTTP/2 session and open streams. Only the emulator's thread uses it.
final class Connection {
  /// The bytes of the output buffer, in which many small frames leave as one TLS record.
  private static let outCapacity = 65_536
  /// The room that the buffer must have for another frame; else it is written first. A frame has at most 16 kB of payload.
  private static let largestFrame = 20_000

  let socket: Int32
  /// The server; it outlives its connections.
  private unowned let server: EmulatorServer
  private let tls: OpaquePointer?
  private(set) var session: OpaquePointer?
  private var isHandshaken: Bool
  private var interest: UInt32
  private let out = UnsafeMutablePointer<UInt8>.allocate(capacity: outCapacity)
  private var outCount = 0
  private var outOffset = 0
  /// The open streams' requests.
  private(set) var exchanges: [StreamExchange] = []

  /// Whether the server will write or close it at the end of the round.
  var isDirty = false
  /// Whether the server closes it at the end of the round.
  var isClosing = false
  /// Whether closing it resets the TCP connection.
  var closesWithReset = false

  // Requests of a connection repeat path and credentials, so their results are cached.
  private var lastPath: [UInt8] = []
  private var lastRoute = StreamExchange.Route.nothing
  private var lastAuthorization: [UInt8] = []
  private var lastExpiry: Date?

  /// Takes over an accepted socket. `tls` is nil for a plain one.
  init(socket: Int32, tls: OpaquePointer?, server: EmulatorServer) {
    self.socket = socket
    self.tls = tls
    self.server = server
    isHandshaken = tls == nil
    interest = EPOLLIN.rawValue
  }

  deinit {
    if closesWithReset {
      // With a linger time of zero the kernel sends RST instead of FIN.
      var now = linger(l_onoff: 1, l_linger: 0)
      setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }
    nghttp2_session_del(session)
    SSL_free(tls)
    close(socket)
    out.deallocate()
  }

  /// Releases all requests. Their delayed answers are dropped.
  func abandonExchanges() {
    for exchange in exchanges { exchange.connection = nil }
    exchanges = []
  }

  /// Reads the available bytes. Returns false once the connection is closed.
  func readAvailable(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Bool {
    guard let base = buffer.baseAddress else { return false }
    if !isHandshaken {
      switch handshake() {
      case .again: return true
      case .failed: return false
      case .done: isHandshaken = true
      }
    }
    if session == nil {
      guard startSession() else { return false }
      server.markDirty(self)
    }
    while true {
      let count = receive(base, buffer.count)
      if count < 0 { break }
      if count == 0 { return false }
      guard nghttp2_session_mem_recv(session, base, count) >= 0 else { return false }
      server.markDirty(self)
    }
    if interest & EPOLLOUT.rawValue != 0 { server.markDirty(self) }
    return true
  }

  /// Writes the session's output. Returns false once the connection is closed.
  func flush() -> Bool {
    guard let session else { return true }
    while true {
      if outOffset == outCount {
        outOffset = 0
        outCount = 0
        var bytes: UnsafePointer<UInt8>?
        while outCount + Self.largestFrame < Self.outCapacity {
          let count = nghttp2_session_mem_send(session, &bytes)
          if count == 0 { break }
          guard count > 0, let bytes, outCount + count <= Self.outCapacity else { return false }
          (out + outCount).update(from: bytes, count: count)
          outCount += count
        }
        if outCount == 0 {
          wait(for: EPOLLIN.rawValue)
          return nghttp2_session_want_read(session) != 0 || nghttp2_session_want_write(session) != 0
        }
      }
      let count = transmit(out + outOffset, outCount - outOffset)
      if count < 0 {
        wait(for: EPOLLIN.rawValue | EPOLLOUT.rawValue)
        return true
      }
      if count == 0 { return false }
      outOffset += count
    }
  }

  // MARK: - Socket and TLS

  private enum Handshake { case done, again, failed }

  private func handshake() -> Handshake {
    let result = SSL_accept(tls)
    if result == 1 {
      var name: UnsafePointer<UInt8>?
      var count: UInt32 = 0
      SSL_get0_alpn_selected(tls, &name, &count)
      // The emulator speaks HTTP/2 only.
      return count == 2 ? .done : .failed
    }
    let reason = SSL_get_error(tls, result)
    if reason == SSL_ERROR_WANT_READ { return .again }
    if reason == SSL_ERROR_WANT_WRITE {
      wait(for: EPOLLIN.rawValue | EPOLLOUT.rawValue)
      return .again
    }
    ERR_clear_error()
    return .failed
  }

  /// Returns the number of bytes read: 0 at the end of the connection, -1 if none are available.
  private func receive(_ buffer: UnsafeMutablePointer<UInt8>, _ capacity: Int) -> Int {
    if let tls {
      let count = SSL_read(tls, buffer, Int32(capacity))
      return count > 0 ? Int(count) : again(count)
    }
    let count = recv(socket, buffer, capacity, 0)
    return count >= 0 ? count : errno == EAGAIN || errno == EINTR ? -1 : 0
  }

  /// Returns the number of bytes written: 0 if the connection is closed, -1 if it accepts none now.
  private func transmit(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int {
    if let tls {
      let written = SSL_write(tls, bytes, Int32(count))
      return written > 0 ? Int(written) : again(written)
    }
    let written = send(socket, bytes, count, Int32(MSG_NOSIGNAL))
    return written >= 0 ? written : errno == EAGAIN || errno == EINTR ? -1 : 0
  }

  private func again(_ result: Int32) -> Int {
    let reason = SSL_get_error(tls, result)
    if reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE { return -1 }
    ERR_clear_error()
    return 0
  }

  private func wait(for events: UInt32) {
    guard events != interest else { return }
    interest = events
    server.watch(socket, events, isNew: false)
  }

  // MARK: - HTTP/2 session

  private func startSession() -> Bool {
    var callbacks: OpaquePointer?
    var options: OpaquePointer?
    guard nghttp2_session_callbacks_new(&callbacks) == 0, nghttp2_option_new(&options) == 0 else { return false }
    defer {
      nghttp2_session_callbacks_del(callbacks)
      nghttp2_option_del(options)
    }
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, Self.onBeginHeaders)
    nghttp2_session_callbacks_set_on_header_callback(callbacks, Self.onHeader)
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Self.onData)
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Self.onFrame)
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Self.onStreamClose)
    // firebase-admin for Node sends ":scheme: https:". Google accepts it; nghttp2 refuses it by default.
    nghttp2_option_set_no_http_messaging(options, 1)
    guard nghttp2_session_server_new2(&session, callbacks, Unmanaged.passUnretained(self).toOpaque(), options) == 0
    else { return false }
    let settings = [
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: UInt32(server.maxConcurrentStreams)
      ),
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: UInt32(StreamExchange.maxBody)),
      nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: 65_536),
    ]
    return nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count) == 0
      && nghttp2_session_set_local_window_size(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, 1 << 20) == 0
  }

  private func open(_ stream: Int32) -> Int32 {
    let exchange = server.freshExchange()
    exchange.reset(stream: stream, connection: self)
    exchange.position = exchanges.count
    exchanges.append(exchange)
    server.countStreams(exchanges.count)
    return nghttp2_session_set_stream_user_data(
      session, stream, Unmanaged.passUnretained(exchange).toOpaque())
  }

  private func header(
    _ exchange: StreamExchange, _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>
  ) {
    if is_(name, ":path") {
      if !value.elementsEqual(lastPath) {
        lastPath = Array(value)
        lastRoute = server.route(String(decoding: value, as: UTF8.self))
      }
      exchange.route = lastRoute
      if server.keepsRequests { exchange.path = String(decoding: value, as: UTF8.self) }
    } else if is_(name, ":method") {
      exchange.isPost = is_(value, "POST")
      exchange.isGet = is_(value, "GET")
    } else if is_(name, "authorization") {
      exchange.hasCredentials = true
      exchange.isAuthorized = isAuthorized(value)
    } else if is_(name, "content-type") {
      exchange.isJSON = is_(value, "application/json")
      if !exchange.isJSON {
        let type = String(decoding: value, as: UTF8.self).lowercased()
        exchange.contentType = type
        exchange.isJSON = type.hasPrefix("application/json;") || type == "application/json"
      }
    }
    if case .push = exchange.route, name.first != 0x3A {
      exchange.pushHeaders[String(decoding: name, as: UTF8.self)] = String(decoding: value, as: UTF8.self)
    }
    if server.keepsRequests, name.first != 0x3A {
      var text = String(decoding: value, as: UTF8.self)
      if is_(name, "authorization") {
        text = text.lowercased().hasPrefix("bearer ") ? "Bearer ***" : "***"
      } else if is_(name, "cookie") {
        text = "***"
      }
      exchange.headers.append((String(decoding: name, as: UTF8.self), text))
    }
  }

  private func isAuthorized(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
    if !value.elementsEqual(lastAuthorization) {
      lastAuthorization = Array(value)
      let text = String(decoding: value, as: UTF8.self)
      lastExpiry = text.lowercased().hasPrefix("bearer ") ? server.expiry(ofToken: String(text.dropFirst(7))) : nil
    }
    return lastExpiry.map { server.now < $0 } ?? false
  }

  /// Whether the bytes equal a text, without allocating a string.
  private func is_(_ bytes: UnsafeBufferPointer<UInt8>, _ text: StaticString) -> Bool {
    guard bytes.count == text.utf8CodeUnitCount, let base = bytes.baseAddress else { return false }
    return memcmp(base, text.utf8Start, bytes.count) == 0
  }

  private func closed(_ exchange: StreamExchange) {
    let last = exchanges.removeLast()
    if last !== exchange {
      exchanges[exchange.position] = last
      last.position = exchange.position
    }
    exchange.connection = nil
    server.release(exchange)
  }

  // MARK: - nghttp2's callbacks; the context is the connection, a stream's user data its exchange

  private static func connection(_ context: UnsafeMutableRawPointer?) -> Connection? {
    context.map { Unmanaged<Connection>.fromOpaque($0).takeUnretainedValue() }
  }

  private static func exchange(_ session: OpaquePointer?, _ stream: Int32) -> StreamExchange? {
    nghttp2_session_get_stream_user_data(session, stream).map {
      Unmanaged<StreamExchange>.fromOpaque($0).takeUnretainedValue()
    }
  }

  private static let onBeginHeaders: nghttp2_on_begin_headers_callback = { _, frame, context in
    guard let frame, let connection = connection(context) else { return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
    guard frame.pointee.hd.type == UInt8(NGHTTP2_HEADERS.rawValue),
      frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
    else { return 0 }
    return connection.open(frame.pointee.hd.stream_id)
  }

  private static let onHeader: nghttp2_on_header_callback = {
    session, frame, name, nameCount, value, valueCount, _, context in
    guard let frame, let connection = connection(context),
      let exchange = exchange(session, frame.pointee.hd.stream_id)
    else { return 0 }
    connection.header(
      exchange, UnsafeBufferPointer(start: name, count: nameCount),
      UnsafeBufferPointer(start: value, count: valueCount))
    return 0
  }

  private static let onData: nghttp2_on_data_chunk_recv_callback = { session, _, stream, bytes, count, _ in
    if let bytes, count > 0, let exchange = exchange(session, stream) { exchange.append(bytes, count) }
    return 0
  }

  private static let onFrame: nghttp2_on_frame_recv_callback = { session, frame, context in
    guard let frame, let connection = connection(context) else { return 0 }
    let header = frame.pointee.hd
    if header.type == UInt8(NGHTTP2_RST_STREAM.rawValue) { connection.server.countReset() }
    guard header.type == UInt8(NGHTTP2_HEADERS.rawValue) || header.type == UInt8(NGHTTP2_DATA.rawValue),
      header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0,
      let exchange = exchange(session, header.stream_id)
    else { return 0 }
    connection.server.handle(exchange)
    return 0
  }

  private static let onStreamClose: nghttp2_on_stream_close_callback = { session, stream, _, context in
    if let connection = connection(context), let exchange = exchange(session, stream) { connection.closed(exchange) }
    return 0
  }
}
