/// Which pages of other origins may call the server from a browser, and with what.
public struct CORSPolicy: Sendable {
  /// The origins, as browsers send them: `https://chat.example`.
  public var origins: Set<String>
  /// Headers that requests may have.
  public var requestHeaders: [String]
  /// Headers of answers that pages may read.
  public var exposedHeaders: [String]
  /// How long a browser may remember the answer to a preflight, in seconds.
  public var maxAge: Int

  /// A policy for named origins.
  public init(
    origins: Set<String>, requestHeaders: [String] = [], exposedHeaders: [String] = [],
    maxAge: Int = 600
  ) {
    self.origins = origins
    self.requestHeaders = requestHeaders
    self.exposedHeaders = exposedHeaders
    self.maxAge = maxAge
  }

  /// The origin of a request where it is one of these.
  func origin(of headers: HTTPHeaders) -> String? {
    headers["Origin"].flatMap { origins.contains($0) ? $0 : nil }
  }

  /// Headers of an answer to a page of this origin; nil: of another, or no page.
  func headers(for origin: String?) -> [(name: String, value: String)] {
    // Caches must not give one origin's answer to another.
    var headers = [(name: "Vary", value: "Origin")]
    guard let origin else { return headers }
    headers.append(("Access-Control-Allow-Origin", origin))
    if !exposedHeaders.isEmpty {
      headers.append(("Access-Control-Expose-Headers", exposedHeaders.joined(separator: ", ")))
    }
    return headers
  }

  /// The answer to a preflight for a path with these methods.
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
