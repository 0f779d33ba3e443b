import CMicroHTTPD
import Foundation

/// A response. The server adds Date, Content-Length and Connection, and omits the body in a response to HEAD.
public struct HTTPServerResponse: Sendable {
  /// The status, 200 to 599.
  public var status: Int
  /// The headers, sent in this order. If one has a control character, the client gets 500 instead of this response.
  public var headers: [(name: String, value: String)]
  public var body: [UInt8]
  /// A body that is sent as a stream, instead of `body`.
  public var stream: HTTPStream?
  /// The error code for metrics. It is not sent.
  public var reason: String?

  public init(status: Int = 200, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// A response whose body is a stream.
  public init(status: Int = 200, headers: [(name: String, value: String)] = [], stream: HTTPStream) {
    self.init(status: status, headers: headers)
    self.stream = stream
  }

  /// Encodes a value as JSON, with keys in alphabetical order. Returns a 500 if it cannot be encoded.
  public static func json(_ value: some Encodable, status: Int = 200) -> HTTPServerResponse {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return json(bytes: Array(try encoder.encode(value)), status: status)
    } catch {
      return .error(500, code: "internal", message: "the answer could not be written as JSON")
    }
  }

  /// Encoded JSON.
  public static func json(bytes: [UInt8], status: Int = 200) -> HTTPServerResponse {
    HTTPServerResponse(status: status, headers: [("Content-Type", "application/json")], body: bytes)
  }

  /// Plain text in UTF-8.
  public static func text(_ text: String, status: Int = 200) -> HTTPServerResponse {
    HTTPServerResponse(
      status: status, headers: [("Content-Type", "text/plain; charset=utf-8")], body: Array(text.utf8))
  }

  /// An error as `{"code", "message"}`: a code for programs, and a message that tells people the fix.
  /// - Parameter seconds: How long the client should wait before it asks again.
  public static func error(
    _ status: Int, code: String, message: String, retryAfter seconds: Int? = nil
  ) -> HTTPServerResponse {
    var response = json(ErrorBody(code: code, message: message), status: status)
    response.reason = code
    if let seconds { response.headers.append(("Retry-After", String(seconds))) }
    return response
  }

  private struct ErrorBody: Encodable {
    let code: String
    let message: String
  }
}

extension HTTPServerResponse {
  /// Makes libmicrohttpd's response, which the caller destroys. Returns nil if a header cannot be sent.
  func native() -> OpaquePointer? {
    // A line break would begin another header. libmicrohttpd would silently replace it, and send a wrong value.
    for (name, value) in headers where (name + value).utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
      return nil
    }
    var body = body
    guard
      let response = stream.map({ $0.response() })
        ?? MHD_create_response_from_buffer(body.count, &body, .RESPMEM_MUST_COPY)
    else { return nil }
    for (name, value) in headers where MHD_add_response_header(response, name, value) != .YES {
      MHD_destroy_response(response)
      return nil
    }
    return response
  }
}

/// Answers one request, once, from any thread. Releasing a responder without an answer sends 500.
public final class HTTPResponder: Sendable {
  private let exchange: Exchange

  init(_ exchange: Exchange) { self.exchange = exchange }

  /// Sends the response. Only the first call has an effect, and none has after the server has stopped.
  public func respond(_ response: HTTPServerResponse) { exchange.answer(response) }

  deinit {
    exchange.answer(.error(500, code: "internal", message: "the request was dropped without an answer"))
  }
}

/// The rules for requests of web pages from other origins (CORS): which origins may send requests, with which headers, and which headers of
/// responses they may read.
public struct CORSPolicy: Sendable {
  /// The origins, as browsers send them: `https://chat.example`.
  public var origins: Set<String>
  /// Headers that requests may contain.
  public var requestHeaders: [String]
  /// Headers of responses that pages may read.
  public var exposedHeaders: [String]
  /// How long a browser may remember the answer to a preflight, in seconds.
  public var maxAge = 600

  /// A policy for named origins.
  public init(
    origins: Set<String>, requestHeaders: [String] = [], exposedHeaders: [String] = []
  ) {
    self.origins = origins
    self.requestHeaders = requestHeaders
    self.exposedHeaders = exposedHeaders
  }

  /// The origin of a request; nil if it has none, or one that is not allowed.
  func origin(of headers: HTTPHeaders) -> String? {
    headers["Origin"].flatMap { origins.contains($0) ? $0 : nil }
  }

  /// The CORS headers of a response to a request from an origin, as `origin(of:)` returns it.
  func headers(for origin: String?) -> [(name: String, value: String)] {
    // Keeps caches from giving one origin's response to another.
    var headers = [(name: "Vary", value: "Origin")]
    guard let origin else { return headers }
    headers.append(("Access-Control-Allow-Origin", origin))
    if !exposedHeaders.isEmpty {
      headers.append(("Access-Control-Expose-Headers", exposedHeaders.joined(separator: ", ")))
    }
    return headers
  }

  /// The response to a preflight request for a path with these methods.
  func preflight(_ methods: Set<String>) -> HTTPServerResponse {
    HTTPServerResponse(
      status: 204,
      headers: [
        ("Access-Control-Allow-Methods", methods.sorted().joined(separator: ", ")),
        ("Access-Control-Allow-Headers", requestHeaders.joined(separator: ", ")),
        ("Access-Control-Max-Age", String(maxAge)),
      ])
  }
}
