/// The protocol of an answer.
public enum HTTPVersion: Sendable, Hashable {
  /// HTTP/1.0 or HTTP/1.1.
  case http1
  /// HTTP/2.
  case http2
  /// Something newer.
  case other
}

/// Whether two ASCII texts are the same but for case.
private func equalIgnoringCase(_ a: String, _ b: String) -> Bool {
  func lower(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
  return a.utf8.count == b.utf8.count && zip(a.utf8, b.utf8).allSatisfy { lower($0) == lower($1) }
}

/// An answer whose status line and headers arrived whole.
///
/// The body may be incomplete. The status tells what the server did, so a failure of the connection afterwards does not turn the answer
/// into an error: after a 200 the push counts as sent.
public struct HTTPResponse: Sendable {
  /// Header fields of an answer, looked up without regard to case.
  public struct Headers: Sendable {
    /// The fields that were kept, names as the configuration spells them.
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
  /// The header fields named in ``HTTPClientConfiguration/keptHeaders`` that the answer had.
  public let headers: Headers
  /// The body; its beginning if ``incompleteBody`` is set.
  public let body: [UInt8]
  /// The protocol of the answer.
  public let httpVersion: HTTPVersion
  /// Why the body is incomplete: the connection broke, the time-out passed, or the body exceeded
  /// ``HTTPClientConfiguration/maxResponseBytes``. Nil for a complete answer.
  public let transferError: HTTPTransportError?

  /// Whether ``body`` lacks its end; ``transferError`` says why.
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
