import HTTPTransport
import ServiceKit
import Synchronization

/// The result of a request to a collector.
enum ExportOutcome: Equatable {
  /// The collector accepted everything except this number of items.
  case taken(rejected: Int)
  /// The collector will never accept these items.
  case refused
  /// The collector is unavailable or overloaded. It may have sent a Retry-After, here in milliseconds.
  case unavailable(retryAfter: Int64?)
}

/// Queues items for a collector (spans or log lines) and decides when to send them. It has no clock and does no I/O.
struct ExportQueue<Item: Equatable> {
  typealias Outcome = ExportOutcome

  /// The most queued items. Further ones are dropped.
  static var capacity: Int { 8_192 }
  /// The most items of a request.
  static var batchSize: Int { 512 }
  /// How long, in milliseconds, items wait for a request to fill.
  static var linger: Int64 { 1_000 }
  /// The shortest and longest time between two attempts, in milliseconds.
  static var backoff: ClosedRange<Int64> { 1_000...30_000 }

  /// The sender's next action.
  enum Next: Equatable {
    /// Send these and report the result.
    case send([Item])
    /// Ask again at this time (milliseconds of a steady clock) or after the next change; nil for only after a change.
    case wait(until: Int64?)
  }

  private var waiting: [Item] = []
  /// When the first queued item arrived.
  private var firstAt: Int64 = 0
  /// The batch that is being sent or will be sent again.
  private var batch: [Item] = []
  private var isSending = false
  private var retryAt: Int64?
  private var pause = Self.backoff.lowerBound
  /// The process is ending, so items are sent at once.
  private(set) var isDraining = false

  /// The number of items, including those being sent.
  var count: Int { waiting.count + batch.count }

  /// Queues an item. Returns whether there was room, and whether the sender must be woken.
  mutating func add(_ item: Item, now: Int64) -> (taken: Bool, isNews: Bool) {
    guard count < Self.capacity else { return (false, false) }
    if waiting.isEmpty { firstAt = now }
    waiting.append(item)
    // The first item starts the delay, and the one that fills a request ends it. Items in between change nothing.
    return (true, waiting.count == 1 || waiting.count == Self.batchSize)
  }

  /// The sender's next action at this time.
  mutating func next(now: Int64) -> Next {
    if isSending { return .wait(until: nil) }
    if let retryAt, now < retryAt { return .wait(until: retryAt) }
    if batch.isEmpty {
      guard !waiting.isEmpty else { return .wait(until: nil) }
      guard waiting.count >= Self.batchSize || isDraining || now - firstAt >= Self.linger else {
        return .wait(until: firstAt + Self.linger)
      }
      batch = Array(waiting.prefix(Self.batchSize))
      waiting.removeFirst(batch.count)
      firstAt = now
    }
    isSending = true
    retryAt = nil
    return .send(batch)
  }

  /// Applies the result of the request that `next` returned. Returns the numbers of items sent and dropped.
  mutating func finished(_ outcome: Outcome, now: Int64) -> (sent: Int, dropped: Int) {
    isSending = false
    let count = batch.count
    switch outcome {
    case .taken(let rejected):
      batch = []
      pause = Self.backoff.lowerBound
      let dropped = min(max(0, rejected), count)
      return (count - dropped, dropped)
    case .refused:
      batch = []
      return (0, count)
    case .unavailable(let retryAfter):
      // While the process ends, there is only one attempt.
      guard !isDraining else {
        defer {
          batch = []
          waiting = []
        }
        return (0, self.count)
      }
      retryAt = now + max(pause, min(retryAfter ?? 0, Self.backoff.upperBound))
      pause = min(pause * 2, Self.backoff.upperBound)
      return (0, 0)
    }
  }

  /// From now on items wait neither for further items nor for an unavailable collector.
  mutating func drain() {
    isDraining = true
    retryAt = nil
  }
}

/// Posts documents to an OpenTelemetry collector, with OTLP over HTTP and JSON bodies.
final class OTLPClient: Sendable {
  private let url: String
  /// The URL without secret parts.
  let place: String
  /// The headers of the setting. Those of the file follow them.
  private let ownHeaders: [(name: String, value: String)]
  private let http: HTTPClient
  private let log: Logger

  /// The headers of requests, as last read from the file.
  private struct Headers {
    var file: WatchedFile
    var current: [(name: String, value: String)]
  }

  private let headers: Mutex<Headers?>

  /// How long one request may take.
  static let timeout: Duration = .seconds(5)

  /// - Parameters:
  ///   - url: The complete URL.
  ///   - headers: Sent with each request.
  ///   - headersFile: Lines `NAME: VALUE`, sent as well.
  /// - Throws: `SettingsError` if the file of headers cannot be used.
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
  /// - Parameter url: The complete URL for one signal.
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

  /// The headers of the file, which is read again if it has changed. If it cannot be used, the former headers stay.
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
