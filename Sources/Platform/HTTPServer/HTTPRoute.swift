/// The handler for a method and a path.
public struct HTTPRoute: Sendable {
  enum Answer: Sendable {
    case blocking(@Sendable (HTTPServerRequest) -> HTTPServerResponse)
    case later(@Sendable (HTTPServerRequest, HTTPResponder) -> Void)
    case inTurn(@Sendable (HTTPServerRequest) -> String, @Sendable (HTTPServerRequest, HTTPResponder) -> Void)
  }

  let method: HTTPMethod
  let pattern: PathPattern
  let bodyLimit: Int?
  let contentTypes: [String]
  let admit: (@Sendable (HTTPServerRequestHead) -> HTTPAdmission)?
  let answer: Answer

  /// A route whose handler returns the answer. The handler runs on one of the server's handler threads and may block.
  /// - Parameters:
  ///   - pattern: A path; `{name}` stands for one segment. The first matching route wins.
  ///   - bodyLimit: The longest body in bytes, answered with 413 beyond; default: that of the server's limits.
  ///   - contentTypes: The accepted media types of bodies; others get 415. Empty accepts all.
  public init(
    _ method: HTTPMethod, _ pattern: String, bodyLimit: Int? = nil, contentTypes: [String] = [],
    handler: @escaping @Sendable (HTTPServerRequest) -> HTTPServerResponse
  ) {
    self.init(method, pattern, bodyLimit, contentTypes, nil, .blocking(handler))
  }

  /// A route whose handler answers later, from any thread, through the responder. A waiting request holds a connection but no thread.
  /// The handler itself runs on the thread that serves all connections and must not block.
  /// - Parameter admit: Checks the head before the body is read, and before its type and length are checked: unauthorized
  ///   requests cost no memory. Runs on the same thread as the handler.
  public init(
    _ method: HTTPMethod, _ pattern: String, bodyLimit: Int? = nil, contentTypes: [String] = [],
    admit: (@Sendable (HTTPServerRequestHead) -> HTTPAdmission)? = nil,
    answeringLater handler: @escaping @Sendable (HTTPServerRequest, HTTPResponder) -> Void
  ) {
    self.init(method, pattern, bodyLimit, contentTypes, admit, .later(handler))
  }

  /// A route whose handler runs on a handler thread, and answers then or later. The requests of one key wait for each other, not for those of
  /// another: the keys take turns.
  /// - Parameter key: The caller whose turn a request takes.
  public init(
    _ method: HTTPMethod, _ pattern: String, bodyLimit: Int? = nil, contentTypes: [String] = [],
    admit: (@Sendable (HTTPServerRequestHead) -> HTTPAdmission)? = nil,
    inTurnOf key: @escaping @Sendable (HTTPServerRequest) -> String,
    _ handler: @escaping @Sendable (HTTPServerRequest, HTTPResponder) -> Void
  ) {
    self.init(method, pattern, bodyLimit, contentTypes, admit, .inTurn(key, handler))
  }

  private init(
    _ method: HTTPMethod, _ pattern: String, _ bodyLimit: Int?, _ contentTypes: [String],
    _ admit: (@Sendable (HTTPServerRequestHead) -> HTTPAdmission)?, _ answer: Answer
  ) {
    self.method = method
    self.pattern = PathPattern(pattern)
    self.bodyLimit = bodyLimit
    self.contentTypes = contentTypes.map { $0.lowercased() }
    self.admit = admit
    self.answer = answer
  }

  func takes(contentType: String?) -> Bool {
    guard !contentTypes.isEmpty else { return true }
    return contentType.map { contentTypes.contains(ContentType.mediaType(of: $0)) } ?? false
  }
}

/// Reads `Content-Type` (RFC 9110, section 8.3).
public enum ContentType {
  /// The media type in a field's value: in lower case, without parameters and the blanks around it. Blanks inside stay, so that such a
  /// value is no known type.
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
