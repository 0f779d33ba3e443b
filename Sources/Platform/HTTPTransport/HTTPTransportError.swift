internal import CLibcurl

/// A request got no answer.
public struct HTTPTransportError: Error, Sendable, CustomStringConvertible {
  /// Kinds of failures that callers handle differently.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The host was not found or refused the connection.
    case connectionFailed
    /// None of the host's addresses is one that ``HTTPClientConfiguration/addresses`` allows.
    case addressRefused
    /// The TLS handshake failed: a certificate that is not trusted, another host's, or no common protocol.
    case tls
    /// ``HTTPRequest/timeout`` passed.
    case timedOut
    /// The connection or the stream was closed before an answer began.
    case reset
    /// The body exceeded ``HTTPClientConfiguration/maxResponseBytes``; only ever a ``HTTPResponse/transferError``.
    case responseTooLarge
    /// The client was shut down and the request did not end within its grace.
    case cancelled
    /// The client was shut down before the request was started.
    case shutDown
    /// More requests wait than ``HTTPClientConfiguration/maxQueued`` allows.
    case queueFull
    /// ``HTTPRequest/mayStart`` said no before the request was started.
    case withheld
    /// The URL or a header cannot be sent.
    case invalidRequest
    /// Anything else; `message` has libcurl's words.
    case other
  }

  public let kind: Kind
  /// libcurl's `CURLcode`; 0 when the client itself refused or ended the request.
  public let curlCode: Int
  /// The failure and, if known, the fix. Never contains a header or a body.
  public let message: String
  /// Whether at least a status line has been received.
  public let responseStarted: Bool
  /// Whether the server may have acted on the request: its bytes may have left before the failure. A resend must then be
  /// recognisable by the server or by the device.
  public let mayHaveBeenDelivered: Bool

  /// Makes an error; the defaults are those of a request that never left.
  public init(
    kind: Kind, curlCode: Int = 0, message: String, responseStarted: Bool = false, mayHaveBeenDelivered: Bool = false
  ) {
    self.kind = kind
    self.curlCode = curlCode
    self.message = message
    self.responseStarted = responseStarted
    self.mayHaveBeenDelivered = mayHaveBeenDelivered
  }

  /// Whether a later retry of the request may succeed; false once part of an answer has been received.
  public var isRetriable: Bool {
    if responseStarted { return false }
    switch kind {
    case .connectionFailed, .timedOut, .reset, .queueFull: return true
    // An interrupted handshake is a network problem; a refused certificate needs the operator.
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
    // 16, 52, 55, 56, 92: the connection was closed during a request, including streams that a GOAWAY refused; libcurl does not
    // repeat those. 18 is the same after the body has begun.
    case CURLE_HTTP2, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2_STREAM, CURLE_PARTIAL_FILE:
      self = .reset
    case CURLE_FILESIZE_EXCEEDED:
      self = .responseTooLarge
    default:
      self = .other
    }
  }
}
