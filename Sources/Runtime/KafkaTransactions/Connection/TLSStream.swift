internal import COpenSSL
import Foundation

/// An encrypted connection. OpenSSL works on memory buffers; the socket below waits, with deadlines.
final class TLSStream: ByteStream {
  private let socket: TCPSocket
  private let context: TLSContext
  private let session: OpaquePointer
  /// Encrypted bytes from and to the broker; owned by the session.
  private let incoming: OpaquePointer
  private let outgoing: OpaquePointer
  private let peer: BrokerAddress

  /// Performs the handshake and verifies the broker.
  init(_ socket: TCPSocket, _ context: TLSContext, peer: BrokerAddress, deadline: Deadline)
    throws(TransactionalProducerError)
  {
    self.socket = socket
    self.context = context
    self.peer = peer
    let operation = "encrypt the connection to \(peer)"
    guard let session = SSL_new(context.pointer) else { throw TLSContext.failure(operation) }
    guard let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()) else {
      SSL_free(session)
      throw TLSContext.failure(operation)
    }
    (self.session, self.incoming, self.outgoing) = (session, incoming, outgoing)
    SSL_set_bio(session, incoming, outgoing)
    SSL_set_connect_state(session)
    let isAddress = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), peer.host) == 1
    ERR_clear_error()
    if isAddress && !context.settings.verifiesHost {
      X509_VERIFY_PARAM_set1_ip(SSL_get0_param(session), nil, 0)
    }
    if !isAddress {
      if context.settings.verifiesHost { SSL_set1_host(session, peer.host) }
      peer.host.withCString {
        _ = SSL_ctrl(session, Self.setServerName, 0, UnsafeMutableRawPointer(mutating: $0))
      }
    }
    try shakeHands(operation, deadline)
  }

  deinit { SSL_free(session) }

  // SSL_CTRL_SET_TLSEXT_HOSTNAME, a macro that Swift does not import.
  private static let setServerName: Int32 = 55

  private func shakeHands(_ operation: String, _ deadline: Deadline) throws(TransactionalProducerError) {
    while true {
      ERR_clear_error()
      let code = SSL_do_handshake(session)
      let error = code == 1 ? SSL_ERROR_NONE : SSL_get_error(session, code)
      if code != 1 && error != SSL_ERROR_WANT_READ {
        let verdict = SSL_get_verify_result(session)
        let reason: TransactionalProducerError
        if verdict != Int(X509_V_OK) {
          let text = String(cString: X509_verify_cert_error_string(verdict))
          reason = TransactionalProducerError(
            .refused, operation,
            "the broker's certificate is not accepted (\(text)): see ssl.ca.location and the broker's name")
          ERR_clear_error()
        } else {
          reason = TLSContext.failure(operation)
        }
        // Sends the alert to the broker, if possible.
        try? sendPending(deadline)
        throw reason
      }
      try sendPending(deadline)
      if code == 1 { return }
      try receive(deadline)
    }
  }

  private func sendPending(_ deadline: Deadline) throws(TransactionalProducerError) {
    let count = BIO_ctrl_pending(outgoing)
    guard count > 0 else { return }
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = max(0, Int(BIO_read(outgoing, buffer.baseAddress, Int32(clamping: count))))
    }
    try socket.write(bytes, deadline: deadline)
  }

  private func receive(_ deadline: Deadline) throws(TransactionalProducerError) {
    let bytes = try socket.read(atMost: 32 << 10, deadline: deadline)
    guard BIO_write(incoming, bytes, Int32(bytes.count)) == Int32(bytes.count) else {
      throw TLSContext.failure("read from \(peer)", kind: .passing)
    }
  }

  func write(_ bytes: [UInt8], deadline: Deadline) throws(TransactionalProducerError) {
    var done = 0
    while done < bytes.count {
      ERR_clear_error()
      let count = bytes.withUnsafeBytes {
        // In steps, to keep the buffer of unsent encrypted bytes small.
        SSL_write(session, $0.baseAddress! + done, Int32(min($0.count - done, 256 << 10)))
      }
      if count > 0 {
        done += Int(count)
        try sendPending(deadline)
        continue
      }
      guard SSL_get_error(session, count) == SSL_ERROR_WANT_READ else {
        throw TLSContext.failure("write to \(peer)", kind: .passing)
      }
      try sendPending(deadline)
      try receive(deadline)
    }
  }

  func read(atMost count: Int, deadline: Deadline) throws(TransactionalProducerError) -> [UInt8] {
    while true {
      ERR_clear_error()
      var got: Int32 = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        got = SSL_read(session, buffer.baseAddress, Int32(clamping: count))
        initialized = max(0, Int(got))
      }
      if got > 0 { return bytes }
      switch SSL_get_error(session, got) {
      case SSL_ERROR_WANT_READ:
        try sendPending(deadline)
        try receive(deadline)
      case SSL_ERROR_ZERO_RETURN:
        throw TransactionalProducerError(.passing, "read from \(peer)", "it closed the connection")
      default:
        // TLS 1.3: the broker's request for a client certificate fails after the handshake.
        throw TLSContext.failure("read from \(peer)", kind: .passing, else: "the connection is broken")
      }
    }
  }

  var isStale: Bool {
    // Session tickets arrive unrequested; they are read with the next answer.
    guard socket.isStale else { return false }
    do throws(TransactionalProducerError) {
      try receive(Deadline(after: .zero))
    } catch {
      return true
    }
    ERR_clear_error()
    var byte: UInt8 = 0
    let code = SSL_peek(session, &byte, 1)
    return code > 0 || SSL_get_error(session, code) != SSL_ERROR_WANT_READ
  }
}
