internal import CLibcurl

/// One HTTP request. The client copies what it needs when the transfer starts.
public struct HTTPRequest: Sendable {
  /// GET sends no body, POST sends the request's.
  public enum Method: Sendable, Hashable { case get, post }

  /// The method; default: `post`.
  public var method: Method
  /// The absolute URL, `https://…` or `http://…`.
  public var url: String
  /// Header fields in the order in which they are sent. Names and values must not contain line breaks or NUL. An empty
  /// value is sent as an empty field. The client sets `content-length`, `host` and the like.
  public var headers: [(String, String)]
  /// The body of a `post`.
  public var body: [UInt8]
  /// The time limit from `send` to the last byte of the answer, including the wait for a free stream. The default is 15
  /// s: with 10 s, slow answers of FCM came after the client had given up, and pushes were sent twice.
  public var timeout: Duration
  /// Asked repeatedly while the request waits for a free stream or a connection, and once more right before its first
  /// byte is written. If it returns false, the request ends as ``HTTPTransportError/Kind/withheld``. Nil if the request
  /// may start at any time. It is called on the client's thread and must not block.
  public var mayStart: (@Sendable () -> Bool)?

  /// Makes a request; see the properties for the meaning of each part.
  public init(
    method: Method = .post, url: String, headers: [(String, String)] = [], body: [UInt8] = [],
    timeout: Duration = .seconds(15), mayStart: (@Sendable () -> Bool)? = nil
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeout = timeout
    self.mayStart = mayStart
  }
}

/// The protocol of an answer.
public enum HTTPVersion: Sendable, Hashable {
  /// HTTP/1.0 or HTTP/1.1.
  case http1
  /// HTTP/2.
  case http2
  /// Something newer.
  case other
}

/// Whether two ASCII texts are equal without regard to case.
private func equalIgnoringCase(_ a: String, _ b: String) -> Bool {
  func lower(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
  return a.utf8.count == b.utf8.count && zip(a.utf8, b.utf8).allSatisfy { lower($0) == lower($1) }
}

/// An answer whose status line and headers arrived completely.
///
/// The body may be incomplete. The status shows what the server did, so a later failure of the connection does not turn
/// the answer into an error: after a 200 the push counts as sent.
public struct HTTPResponse: Sendable {
  /// Header fields of an answer, looked up without regard to case.
  public struct Headers: Sendable {
    /// The fields that were kept, with names as in the configuration.
    public let fields: [(name: String, value: String)]

    /// Makes a set of header fields.
    public init(_ fields: [(name: String, value: String)] = []) {
      self.fields = fields
    }

    /// The value of the first field with this name in any case; nil if the answer lacks it or it was not kept.
    public subscript(name: String) -> String? {
      fields.first { equalIgnoringCase($0.name, name) }?.value
    }
  }

  /// The final status, 200–599.
  public let status: Int
  /// The answer's header fields that ``HTTPClientConfiguration/keptHeaders`` names.
  public let headers: Headers
  /// The body, or only its beginning if ``incompleteBody`` is true.
  public let body: [UInt8]
  /// The protocol of the answer.
  public let httpVersion: HTTPVersion
  /// Why the body is incomplete: the connection broke, the time-out passed, or the body exceeded
  /// ``HTTPClientConfiguration/maxResponseBytes``. Nil for a complete answer.
  public let transferError: HTTPTransportError?

  /// Whether the end of ``body`` is missing; ``transferError`` says why.
  public var incompleteBody: Bool { transferError != nil }

  /// Makes a response, for tests of code that takes one.
  public init(
    status: Int, headers: Headers = Headers(), body: [UInt8] = [], httpVersion: HTTPVersion = .http2,
    transferError: HTTPTransportError? = nil
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.httpVersion = httpVersion
    self.transferError = transferError
  }
}

/// A request got no answer.
public struct HTTPTransportError: Error, Sendable, CustomStringConvertible {
  /// Kinds of failures that callers handle differently.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The host was not found or refused the connection.
    case connectionFailed
    /// ``HTTPClientConfiguration/addresses`` allows none of the host's addresses.
    case addressRefused
    /// The TLS handshake failed: the certificate is not trusted or is for another host, or there is no common protocol.
    case tls
    /// ``HTTPRequest/timeout`` passed.
    case timedOut
    /// The connection or the stream was closed before an answer began.
    case reset
    /// The body exceeded ``HTTPClientConfiguration/maxResponseBytes``. Only ``HTTPResponse/transferError`` has this
    /// kind.
    case responseTooLarge
    /// The client was shut down and the request did not end within its grace.
    case cancelled
    /// The client was shut down before the request was started.
    case shutDown
    /// More requests wait than ``HTTPClientConfiguration/maxQueued`` allows.
    case queueFull
    /// ``HTTPRequest/mayStart`` returned false before a byte of the request was written.
    case withheld
    /// The URL or a header cannot be sent.
    case invalidRequest
    /// Another failure; `message` has libcurl's text.
    case other
  }

  public let kind: Kind
  /// libcurl's `CURLcode`; 0 if the client itself refused or ended the request.
  public let curlCode: Int
  /// The failure and, if known, the fix. Never contains a header or a body.
  public let message: String
  /// Whether at least a status line has been received.
  public let responseStarted: Bool
  /// Whether the server may have acted on the request, because its bytes may have left before the failure. The server
  /// or the device must then be able to recognise a repetition.
  public let mayHaveBeenDelivered: Bool

  /// Creates an error. The defaults are those of a request that was never sent.
  public init(
    kind: Kind, curlCode: Int = 0, message: String, responseStarted: Bool = false, mayHaveBeenDelivered: Bool = false
  ) {
    self.kind = kind
    self.curlCode = curlCode
    self.message = message
    self.responseStarted = responseStarted
    self.mayHaveBeenDelivered = mayHaveBeenDelivered
  }

  /// ``HTTPRequest/mayStart`` returned false.
  static let withheld = HTTPTransportError(kind: .withheld, message: "the request may no longer be started")

  /// Whether a later retry of the request may succeed; false once part of an answer has been received.
  public var isRetriable: Bool {
    if responseStarted { return false }
    switch kind {
    case .connectionFailed, .timedOut, .reset, .queueFull: return true
    // An interrupted handshake is a network problem. A refused certificate needs the operator.
    case .tls: return curlCode == Int(CURLE_SSL_CONNECT_ERROR.rawValue)
    case .addressRefused, .responseTooLarge, .cancelled, .shutDown, .withheld, .invalidRequest, .other: return false
    }
  }

  /// Kind, libcurl's code and message in one line.
  public var description: String {
    curlCode == 0 ? "\(kind.rawValue): \(message)" : "\(kind.rawValue) (libcurl \(curlCode)): \(message)"
  }
}

extension HTTPTransportError.Kind {
  /// The kind of a libcurl result that is not `CURLE_OK`.
  init(_ code: CURLcode) {
    switch code {
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT, CURLE_BAD_FUNCTION_ARGUMENT:
      self = .invalidRequest
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED:
      self = .connectionFailed
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
      CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH:
      self = .tls
    case CURLE_OPERATION_TIMEDOUT:
      self = .timedOut
    // 16, 52, 55, 56, 92: the connection was closed during a request, including streams that a GOAWAY refused, which
    // libcurl does not repeat. 18 is the same after the body has begun.
    case CURLE_HTTP2, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2_STREAM, CURLE_PARTIAL_FILE:
      self = .reset
    case CURLE_FILESIZE_EXCEEDED:
      self = .responseTooLarge
    default:
      self = .other
    }
  }
}
