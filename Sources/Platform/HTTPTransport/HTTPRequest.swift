/// One HTTP request. A value: the client copies what it needs when the transfer starts.
public struct HTTPRequest: Sendable {
  /// GET sends no body, POST sends the request's.
  public enum Method: Sendable, Hashable { case get, post }

  /// The method; default: `post`.
  public var method: Method
  /// The absolute URL, `https://…` or `http://…`.
  public var url: String
  /// Header fields in the order they are sent. Names and values must not contain line breaks or NUL; an empty value is sent
  /// as an empty field. The client sets `content-length`, `host` and the like.
  public var headers: [(String, String)]
  /// The body of a `post`.
  public var body: [UInt8]
  /// How long the request may take from `send` to the last byte of its answer, time spent waiting for a free stream included.
  /// 15 s by default: with 10 s FCM's slower answers came after the client had given up, and the push was sent twice.
  public var timeout: Duration
  /// Asked right before the request starts, and now and then while it waits for a free stream: false ends it as
  /// ``HTTPTransportError/Kind/withheld``. nil: it may start at any time. Called on the client's thread; must not block.
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
