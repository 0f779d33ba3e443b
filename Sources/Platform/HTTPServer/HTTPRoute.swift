/// The handler for a method and a path.
public struct HTTPRoute: Sendable {
  enum Answer: Sendable {
    case blocking(@Sendable (HTTPServerRequest) -> HTTPServerResponse)
    case later(@Sendable (HTTPServerRequest, HTTPResponder) -> Void)
    case inTurn(@Sendable (HTTPServerRequest) -> String, @Sendable (HTTPServerRequest, HTTPResponder) -> Void)
  }

  let method: HTTPMethod
  let pattern: PathPattern
  let query: [String]?
  let bodyLimit: Int?
  let contentTypes: [String]
  let admit: (@Sendable (HTTPServerRequestHead) -> HTTPAdmission)?
  let answer: Answer

  /// A route whose handler returns the answer. The handler runs on one of the server's handler threads and may block.
  /// - Parameters:
  ///   - pattern: A path; `{name}` stands for one segment. The first matching route wins.
  ///   - query: The names of the query parameters; a request with another gets 400. nil accepts all.
  ///   - bodyLimit: The longest body in bytes, answered with 413 beyond; default: that of the server's limits.
  ///   - contentTypes: The accepted media types of bodies; others get 415. Empty accepts all.
  public init(
    _ method: HTTPMethod, _ pattern: String, query: [String]? = nil, bodyLimit: Int? = nil, contentTypes: [String] = [],
    handler: @escaping @Sendable (HTTPServerRequest) -> HTTPServerResponse
  ) {
    self.init(method, pattern, query, bodyLimit, contentTypes, nil, .blocking(handler))
  }

  /// A route whose handler answers later through the responder, from any thread. A waiting request occupies a
  /// connection but no thread. The handler itself runs on the thread that serves all connections, so it must not block.
  /// - Parameter admit: Checks the head before the body is read, and before its type and length are checked: unauthorized
  ///   requests cost no memory. Runs on the same thread as the handler.
  public init(
    _ method: HTTPMethod, _ pattern: String, query: [String]? = nil, bodyLimit: Int? = nil, contentTypes: [String] = [],
    admit: (@Sendable (HTTPServerRequestHead) -> HTTPAdmission)? = nil,
    answeringLater handler: @escaping @Sendable (HTTPServerRequest, HTTPResponder) -> Void
  ) {
    self.init(method, pattern, query, bodyLimit, contentTypes, admit, .later(handler))
  }

  /// A route whose handler runs on a handler thread and may answer later. Requests with the same key run one after the
  /// other. Keys take turns, so requests of one key do not delay those of another.
  /// - Parameter key: The caller, which identifies the queue of a request.
  public init(
    _ method: HTTPMethod, _ pattern: String, query: [String]? = nil, bodyLimit: Int? = nil, contentTypes: [String] = [],
    admit: (@Sendable (HTTPServerRequestHead) -> HTTPAdmission)? = nil,
    inTurnOf key: @escaping @Sendable (HTTPServerRequest) -> String,
    _ handler: @escaping @Sendable (HTTPServerRequest, HTTPResponder) -> Void
  ) {
    self.init(method, pattern, query, bodyLimit, contentTypes, admit, .inTurn(key, handler))
  }

  private init(
    _ method: HTTPMethod, _ pattern: String, _ query: [String]?, _ bodyLimit: Int?, _ contentTypes: [String],
    _ admit: (@Sendable (HTTPServerRequestHead) -> HTTPAdmission)?, _ answer: Answer
  ) {
    self.method = method
    self.pattern = PathPattern(pattern)
    self.query = query
    self.bodyLimit = bodyLimit
    self.contentTypes = contentTypes.map { $0.lowercased() }
    self.admit = admit
    self.answer = answer
  }

  /// The answer to a request with query parameters that the route does not have; nil if there are none. A misspelt
  /// parameter would otherwise answer another question than was asked.
  func refusal(of query: [String: String]) -> Refusal? {
    guard let known = self.query else { return nil }
    let unknown = query.keys.filter { !known.contains($0) }.sorted()
    return unknown.isEmpty ? nil : .unknownQuery(unknown, known: known)
  }

  func takes(contentType: String?) -> Bool {
    guard !contentTypes.isEmpty else { return true }
    return contentType.map { contentTypes.contains(ContentType.mediaType(of: $0)) } ?? false
  }
}

/// Reads `Content-Type` (RFC 9110, section 8.3).
public enum ContentType {
  /// The media type of a field's value, in lower case, without parameters and surrounding blanks. Blanks inside stay,
  /// so such a value matches no known type.
  public static func mediaType(of value: String) -> String {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    var type = value.prefix { $0 != ";" }.drop(while: isBlank)
    while type.last.map(isBlank) == true { type.removeLast() }
    return type.lowercased()
  }
}

/// A path with `{name}` segments.
struct PathPattern: Sendable {
  private enum Segment: Sendable {
    case literal(String)
    case parameter(String)
  }

  private let segments: [Segment]

  init(_ pattern: String) {
    segments = RequestTarget.segments(of: pattern).map { segment in
      segment.hasPrefix("{") && segment.hasSuffix("}")
        ? .parameter(String(segment.dropFirst().dropLast())) : .literal(segment)
    }
  }

  /// The parameters if the decoded segments of a path match; otherwise nil. A parameter is never empty.
  func match(_ path: [String]) -> [String: String]? {
    guard path.count == segments.count else { return nil }
    var parameters: [String: String] = [:]
    for (segment, text) in zip(segments, path) {
      switch segment {
      case .literal(let literal): if literal != text { return nil }
      case .parameter(let name):
        if text.isEmpty { return nil }
        parameters[name] = text
      }
    }
    return parameters
  }
}

/// The path and query of a request line.
struct RequestTarget: Sendable {
  /// As sent, with percent escapes.
  let path: String
  /// Split at slashes, then decoded, so that an escaped slash stays within its segment.
  let segments: [String]
  let query: [String: String]

  /// Nil if the target is not a path, or if an escape is malformed or not UTF-8.
  ///
  /// The target is read by scalars. Read by characters, a slash with a following combining mark would not be a slash.
  init?(_ target: String) {
    let target = Self.withoutAuthority(Substring(target).unicodeScalars)
    guard target.first == "/" else { return nil }
    let question = target.firstIndex(of: "?")
    path = String(target[..<(question ?? target.endIndex)])
    var segments: [String] = []
    for segment in Self.segments(of: path) {
      guard let decoded = Self.decoded(segment, plusIsBlank: false) else { return nil }
      segments.append(decoded)
    }
    self.segments = segments
    var query: [String: String] = [:]
    if let question {
      for pair in target[target.index(after: question)...].split(separator: "&") {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = Self.decoded(String(parts[0]), plusIsBlank: true),
          let value = Self.decoded(parts.count > 1 ? String(parts[1]) : "", plusIsBlank: true)
        else { return nil }
        query[name] = value
      }
    }
    self.query = query
  }

  static func segments(of path: String) -> [String] {
    path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { String($0) }
  }

  /// A proxy may send the absolute form, `http://host/path`.
  private static func withoutAuthority(_ target: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView {
    guard target.first != "/", let scheme = target.firstRange(of: "://".unicodeScalars) else { return target }
    let rest = target[scheme.upperBound...]
    return rest.firstIndex(of: "/").map { rest[$0...] } ?? Substring("/").unicodeScalars
  }

  private static func decoded(_ text: String, plusIsBlank: Bool) -> String? {
    let bytes = Array(text.utf8)
    guard bytes.contains(where: { $0 == 0x25 || $0 == 0x2b }) else { return text }
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      switch bytes[index] {
      case 0x25:
        guard index + 2 < bytes.count, let high = digit(bytes[index + 1]), let low = digit(bytes[index + 2]) else {
          return nil
        }
        decoded.append(high << 4 | low)
        index += 3
      case 0x2b where plusIsBlank:
        decoded.append(0x20)
        index += 1
      default:
        decoded.append(bytes[index])
        index += 1
      }
    }
    return String(validating: decoded, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 48...57: byte - 48
    case 65...70: byte - 55
    case 97...102: byte - 87
    default: nil
    }
  }
}
