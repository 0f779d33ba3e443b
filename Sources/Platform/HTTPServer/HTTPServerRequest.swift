/// A whole request, body included.
public struct HTTPServerRequest: Sendable {
  /// The method as sent: HEAD stays HEAD on a route for GET.
  public let method: HTTPMethod
  /// The path as sent, with percent escapes and without the query.
  public let path: String
  /// The decoded value of each `{name}` in the route's pattern.
  public let parameters: [String: String]
  /// The query's names and values, decoded; the last value of a repeated name.
  public let query: [String: String]
  /// The headers in the order they came.
  public let headers: HTTPHeaders
  /// At most as long as the route allows.
  public let body: [UInt8]
  /// The address and port of the client or, behind a proxy, of the proxy: `127.0.0.1:40022`.
  public let remoteAddress: String
  /// The value from the route's `admit`; nil if the route has no `admit`.
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
  /// The length of the body, where the head says it; nil: the body comes in chunks.
  public let bodyLength: Int?
  /// The client's IPv4 address, or the /64 of its IPv6 address; empty where it is not known. A proxy in front is one network.
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
  /// All of them, in order.
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
