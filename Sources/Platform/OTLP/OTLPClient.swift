import HTTPTransport
import ServiceKit
import Synchronization

/// Posts documents to a collector of OpenTelemetry's, by OTLP over HTTP with JSON bodies.
final class OTLPClient: Sendable {
  private let url: String
  /// The URL without what may be secret.
  let place: String
  /// Those of the setting; those of the file come after them.
  private let ownHeaders: [(name: String, value: String)]
  private let http: HTTPClient
  private let log: Logger

  /// The headers of requests, as of the last reading of their file.
  private struct Headers {
    var file: WatchedFile
    var current: [(name: String, value: String)]
  }

  private let headers: Mutex<Headers?>

  /// How long one request may take.
  static let timeout: Duration = .seconds(5)

  /// - Parameters:
  ///   - url: The whole one.
  ///   - headers: Sent with each request.
  ///   - headersFile: Lines `NAME: VALUE`, sent as well.
  /// - Throws: `SettingsError`: the file of headers cannot be used.
  init(url: String, headers: [(name: String, value: String)], headersFile: String?, log: Logger) throws {
    self.url = url
    place = PublicText.origin(of: url)
    ownHeaders = headers
    self.log = log
    if let headersFile {
      var file = WatchedFile(path: headersFile)
      do {
        let current = try SpanHeaders.parse(file.changed(force: true) ?? [], of: headersFile)
        self.headers = Mutex(Headers(file: file, current: current))
      } catch {
        throw SettingsError("--otlp-headers-file: \(error)")
      }
    } else {
      self.headers = Mutex(nil)
    }
    http = try HTTPClient(
      HTTPClientConfiguration(maxConnectionsPerHost: 1, maxConcurrentStreams: 1, maxQueued: 1, plainProtocol: .http1))
  }

  /// The client of a process's settings.
  /// - Parameter url: The whole one, of one signal.
  convenience init(_ settings: ServiceSettings, url: String, log: Logger) throws {
    try self.init(
      url: url, headers: try settings.otlpHeaders.map { try SpanHeaders.parse(list: $0) } ?? [],
      headersFile: settings.otlpHeadersFile, log: log)
  }

  /// The URL of a signal at a collector's address: `/v1/traces`, `/v1/metrics` or `/v1/logs` is appended unless present.
  static func url(of endpoint: String, _ signal: String) -> String {
    let query = endpoint.firstIndex { $0 == "?" || $0 == "#" } ?? endpoint.endIndex
    var base = String(endpoint[..<query])
    while base.last == "/" { base.removeLast() }
    for known in ["/v1/traces", "/v1/metrics", "/v1/logs"] where base.hasSuffix(known) { base.removeLast(known.count) }
    return "\(base)/v1/\(signal)" + endpoint[query...]
  }

  func post(_ body: [UInt8]) -> Result<HTTPResponse, HTTPTransportError> {
    let request = HTTPRequest(
      url: url, headers: [("content-type", "application/json")] + ownHeaders + currentHeaders(), body: body,
      timeout: Self.timeout)
    return http.response(to: request)
  }

  func close() { http.shutdown(grace: .zero) }

  /// The headers of the file, which is read again if it has changed. One that cannot be used changes nothing.
  private func currentHeaders() -> [(name: String, value: String)] {
    headers.withLock { headers in
      guard var found = headers else { return [] }
      do {
        if let bytes = try found.file.changed(force: false) {
          found.current = try SpanHeaders.parse(bytes, of: found.file.path)
        }
      } catch {
        log.limited("headers", every: .seconds(60))?.warning(
          "the headers for the collector cannot be read again; the former ones stay in use",
          ["reason": .string("\(error)")])
      }
      headers = found
      return found.current
    }
  }
}
