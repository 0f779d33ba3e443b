/// A complete request with its body.
public struct HTTPServerRequest: Sendable {
  /// The method as sent: HEAD stays HEAD on a route for GET.
  public let method: HTTPMethod
  /// The path as sent, with percent escapes and without the query.
  public let path: String
  /// The decoded value of each `{name}` in the route's pattern.
  public let parameters: [String: String]
  /// The decoded query by name. The last value of a repeated name counts.
  public let query: [String: String]
  /// The headers in the order they came.
  public let headers: HTTPHeaders
  /// The body, at most as long as the route allows.
  public let body: [UInt8]
  /// The address and port of the client or of the proxy in front: `127.0.0.1:40022`.
  public let remoteAddress: String
  /// The value from the route's `admit`; nil if the route has no `admit`.
  public let admitted: (any Sendable)?
}

/// A request before its body.
public struct HTTPServerRequestHead: Sendable {
  /// The method as sent.
  public let method: HTTPMethod
  /// The path as sent.
  public let path: String
  /// The headers in the order they came.
  public let headers: HTTPHeaders
  /// The length of the body from the head; nil if the body is chunked.
  public let bodyLength: Int?
  /// The client's IPv4 address, or the /64 of its IPv6 address; empty if unknown. A proxy in front counts as one
  /// network.
  public let remoteNetwork: String
}

/// The decision of a route's `admit`.
public enum HTTPAdmission: Sendable {
  /// Read the body. The value becomes the request's `admitted`.
  case admitted((any Sendable)?)
  /// Answer the request without reading its body into memory.
  case refused(HTTPServerResponse)
}

/// Headers, looked up without regard to case.
public struct HTTPHeaders: Sendable {
  /// All headers, in order.
  public let all: [(name: String, value: String)]

  init(_ all: [(name: String, value: String)]) { self.all = all }

  /// The first value of a header; nil if the request lacks it.
  public subscript(_ name: String) -> String? {
    all.first { Self.isSame($0.name, name) }?.value
  }

  private static func isSame(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count && zip(left.utf8, right.utf8).allSatisfy { lower($0) == lower($1) }
  }

  private static func lower(_ byte: UInt8) -> UInt8 {
    (65...90).contains(byte) ? byte + 32 : byte
  }
}

/// The method of a request.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable {
  /// The text in the request line; methods are case-sensitive.
  public let rawValue: String

  /// A method by its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A route of this method also answers HEAD.
  public static let get = HTTPMethod(rawValue: "GET")
  /// Like GET, without the body.
  public static let head = HTTPMethod(rawValue: "HEAD")
  /// Process the body.
  public static let post = HTTPMethod(rawValue: "POST")
  /// Store the body at this path.
  public static let put = HTTPMethod(rawValue: "PUT")
  /// Change part of the resource.
  public static let patch = HTTPMethod(rawValue: "PATCH")
  /// Remove the resource.
  public static let delete = HTTPMethod(rawValue: "DELETE")
}

/// A server could not be created or started.
public enum HTTPServerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The text is not a host and a port.
  case invalidAddress(String)
  /// The system refused to listen on the address.
  case cannotListen(address: String, reason: String)
  /// libmicrohttpd did not start.
  case cannotStart(address: String)
  /// A server can be started only once.
  case alreadyStarted

  /// The failure and its fix.
  public var description: String {
    switch self {
    case .invalidAddress(let text):
      "'\(text)' is not an address to listen on: use \(HTTPServer.addressForm)"
    case .cannotListen(let address, let reason):
      "cannot listen on \(address): \(reason); choose another address or port, or stop the process that listens there"
    case .cannotStart(let address):
      "the HTTP server on \(address) did not start: look at the limits of threads and open files (ulimit -u, -n)"
    case .alreadyStarted: "an HTTP server can be started only once: make a new one"
    }
  }
}
