/// A whole request, body included.
public struct HTTPServerRequest: Sendable {
  /// As it was sent: HEAD stays HEAD on a route for GET.
  public let method: HTTPMethod
  /// The path as it was sent, percent escapes and all, without the query.
  public let path: String
  /// What stood in the place of each `{name}` of the route's pattern, decoded.
  public let parameters: [String: String]
  /// The query's names and values, decoded; of a name that is repeated the last value.
  public let query: [String: String]
  /// The headers in the order they came.
  public let headers: HTTPHeaders
  /// At most as long as the route allows.
  public let body: [UInt8]
  /// The peer's address and port, such as `127.0.0.1:40022`; that of the proxy, if there is one.
  public let remoteAddress: String
  /// What the route's `admit` learnt of the request's head; nil where the route has none.
  public let admitted: (any Sendable)?
}

/// A request before its body.
public struct HTTPServerRequestHead: Sendable {
  /// As in the request.
  public let method: HTTPMethod
  /// As in the request.
  public let path: String
  /// As in the request.
  public let headers: HTTPHeaders
}

/// What becomes of a request whose head was looked at.
public enum HTTPAdmission: Sendable {
  /// Its body is read; what is said here is the request's `admitted`.
  case admitted((any Sendable)?)
  /// It is answered so.
  case refused(HTTPServerResponse)
}

/// Headers, looked up without regard to case.
public struct HTTPHeaders: Sendable {
  /// All of them, in order.
  public let all: [(name: String, value: String)]

  init(_ all: [(name: String, value: String)]) { self.all = all }

  /// The first value of a header; nil if it is not there.
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
