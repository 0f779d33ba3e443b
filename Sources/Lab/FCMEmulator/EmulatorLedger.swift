public import Foundation
import Glibc
import Synchronization

public struct RecordedRequest: Sendable {
  /// When its last byte arrived.
  public let time: Date
  public let path: String
  /// The status of the answer. 0 if the request got no answer (reset, hang).
  public let status: Int
  /// The request's header fields without pseudo-headers. The bearer token is masked.
  public let headers: [(name: String, value: String)]
  /// The request's body. Empty for the token endpoint, whose body is a credential.
  public let body: [UInt8]
}

/// The counters of an emulator since its start.
public struct FCMEmulatorCounters: Sendable, Equatable {
  /// Requests to all endpoints.
  public internal(set) var requests = 0
  /// Requests by the status of their answer. Status 0 counts requests without an answer.
  public internal(set) var byStatus: [Int: Int] = [:]
  /// Distinct device tokens of valid messages.
  public internal(set) var distinctTokens = 0
  /// Access tokens issued.
  public internal(set) var tokensIssued = 0
  /// Connections accepted.
  public internal(set) var connections = 0
  /// The maximum of simultaneously open streams on one connection.
  public internal(set) var maxStreams = 0
  /// Streams reset by clients.
  public internal(set) var streamsReset = 0
  /// Web Push messages that the push service accepted but their browser could not open.
  public internal(set) var notOpened = 0
  /// Why the record file is incomplete. Absent while it is complete.
  public internal(set) var recordFailure: String?

  /// The counters as a JSON object.
  public var json: String {
    let statuses = byStatus.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
    return "{\"requests\":\(requests),\"byStatus\":{\(statuses)},\"distinctTokens\":\(distinctTokens),"
      + "\"tokensIssued\":\(tokensIssued),\"connections\":\(connections),\"maxStreams\":\(maxStreams),"
      + "\"streamsReset\":\(streamsReset)" + (notOpened > 0 ? ",\"notOpened\":\(notOpened)" : "")
      + (recordFailure.map { ",\"recordFailure\":" + quoted($0) } ?? "") + "}"
  }
}

/// Counters, requests, access tokens and faults. The emulator's thread writes them. Other threads read them and replace faults.
final class EmulatorLedger: Sendable {
  private struct State {
    var statusCounts = [Int](repeating: 0, count: 600)
    var counters = FCMEmulatorCounters()
    var deviceTokens: Set<Int> = []
    var byToken: [String: [Int: Int]] = [:]
    var kept: [RecordedRequest] = []
    var accessTokens: [String: Date] = [:]
    var faults: FaultPlan
    /// Tokens of removed apps.
    var uninstalled: Set<String> = []
  }

  private let state: Mutex<State>
  private let keepRequests: Int

  init(_ configuration: FCMEmulatorConfiguration) {
    keepRequests = configuration.keepRequests
    state = Mutex(State(faults: FaultPlan(configuration.faults, seed: configuration.seed)))
  }

  var counters: FCMEmulatorCounters {
    state.withLock { state in
      var counters = state.counters
      for (status, count) in state.statusCounts.enumerated() where count > 0 { counters.byStatus[status] = count }
      counters.distinctTokens = state.deviceTokens.count
      return counters
    }
  }

  var requests: [RecordedRequest] {
    state.withLock { Array($0.kept.suffix(keepRequests)) }
  }

  func setFaults(_ faults: [Fault], seed: UInt64) {
    state.withLock { $0.faults = FaultPlan(faults, seed: seed) }
  }

  /// Treats the apps of these tokens as removed from now on.
  func uninstall(_ tokens: [String]) {
    state.withLock { $0.uninstalled.formUnion(tokens) }
  }

  /// Whether the app of a token was removed.
  func isUninstalled(_ token: JSONString) -> Bool {
    state.withLock { !$0.uninstalled.isEmpty && $0.uninstalled.contains(token.string) }
  }

  /// Whether a subscription of Web Push, by its endpoint, was ended.
  func isUninstalled(_ endpoint: String) -> Bool { state.withLock { $0.uninstalled.contains(endpoint) } }

  /// Counts the device token of a valid message.
  func record(token: JSONString) {
    state.withLock { Self.record(token, in: &$0) }
  }

  private static func record(_ token: JSONString, in state: inout State) {
    var hasher = Hasher()
    token.withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    state.deviceTokens.insert(hasher.finalize())
  }

  func fault(_ endpoint: Fault.Endpoint, token: JSONString?) -> (delay: Duration, action: Fault.Action?) {
    state.withLock { state in
      if let token { Self.record(token, in: &state) }
      return state.faults.isEmpty ? (.zero, nil) : state.faults.next(endpoint, token: token)
    }
  }

  /// The same as `fault` for a token, for an address that does not come from JSON.
  func fault(_ endpoint: Fault.Endpoint, address: String) -> (delay: Duration, action: Fault.Action?) {
    var address = address
    return address.withUTF8 { bytes in
      guard let start = bytes.baseAddress else { return (.zero, nil) }
      return fault(endpoint, token: JSONString(start: start, rawCount: bytes.count, count: bytes.count))
    }
  }

  func count(status: Int) {
    state.withLock { state in
      state.counters.requests += 1
      state.statusCounts[status < 600 && status > 0 ? status : 0] += 1
    }
  }

  func count(token: String, status: Int) {
    state.withLock { $0.byToken[token, default: [:]][status, default: 0] += 1 }
  }

  /// Messages by device token and by the status of their answer, as a JSON object. Status 0 counts messages without an answer.
  var tokenJSON: String {
    let byToken = state.withLock { $0.byToken }
    let fields = byToken.sorted { $0.key < $1.key }.map { token, statuses in
      let counts = statuses.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
      return quoted(token) + ":{" + counts.joined(separator: ",") + "}"
    }
    return "{" + fields.joined(separator: ",") + "}"
  }

  func keep(_ request: RecordedRequest) {
    state.withLock { state in
      state.kept.append(request)
      // Trimmed only now and then: removing the first request moves all others.
      if state.kept.count > 2 * keepRequests { state.kept.removeFirst(state.kept.count - keepRequests) }
    }
  }

  func update(_ change: (inout FCMEmulatorCounters) -> Void) {
    state.withLock { change(&$0.counters) }
  }

  /// Issues an access token, and forgets tokens that expired long ago.
  func issueToken(now: Date, lifetime: Duration) -> String {
    let token = "ya29.emulator-" + (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
    state.withLock { state in
      state.accessTokens = state.accessTokens.filter { $0.value > now.addingTimeInterval(-3_600) }
      state.accessTokens[token] = now.addingTimeInterval(Double(lifetime.components.seconds))
      state.counters.tokensIssued += 1
    }
    return token
  }

  /// When an access token ends. Absent for a token that was not issued here.
  func expiry(ofToken token: String) -> Date? {
    state.withLock { $0.accessTokens[token] }
  }
}

/// Appends requests to a file as lines of JSON. It buffers them and writes at least every 100 ms. Used by one thread.
final class Recorder {
  /// The longest time a line stays in the buffer, in nanoseconds.
  static let flushAfter: UInt64 = 100_000_000
  private static let flushBytes = 1 << 20

  private let file: Int32
  private var buffer: [UInt8] = []
  /// When the buffer must be written, on the loop's clock. Absent while it is empty.
  private(set) var flushDue: UInt64?
  /// The error of a failed write, after which the record is incomplete. Absent until a write fails.
  private(set) var failure: String?

  init(path: String) throws(FCMEmulatorError) {
    file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw FCMEmulatorError("cannot open the record file \(path): \(String(cString: strerror(errno)))")
    }
    // An existing file may be readable by others; it will contain tokens and texts.
    guard fchmod(file, 0o600) == 0 || errno == EPERM else {
      throw FCMEmulatorError("cannot close the record file \(path) to others: \(String(cString: strerror(errno)))")
    }
    buffer.reserveCapacity(Self.flushBytes + 65_536)
  }

  deinit {
    close(file)
  }

  /// Adds a line. A JSON body is written unchanged on one line, any other body as a string.
  func add(_ request: RecordedRequest, bodyIsJSON: Bool, now: UInt64) {
    let fields = request.headers.map { quoted($0.name) + ":" + quoted($0.value) }.joined(separator: ",")
    let milliseconds = Int64(request.time.timeIntervalSince1970 * 1_000)
    buffer.append(
      contentsOf:
        "{\"time\":\(milliseconds),\"path\":\(quoted(request.path)),\"status\":\(request.status),\"headers\":{\(fields)},\"body\":"
        .utf8)
    if request.body.isEmpty {
      buffer.append(contentsOf: "null".utf8)
    } else if bodyIsJSON {
      // A line break in valid JSON is always white space.
      buffer.append(contentsOf: request.body.lazy.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 })
    } else {
      buffer.append(contentsOf: quoted(String(decoding: request.body, as: UTF8.self)).utf8)
    }
    buffer.append(contentsOf: "}\n".utf8)
    if flushDue == nil { flushDue = now + Self.flushAfter }
    if buffer.count >= Self.flushBytes { flush() }
  }

  /// Writes the buffered lines.
  func flush() {
    flushDue = nil
    // Emptied after a failure too, because lines that cannot be written must not fill the memory.
    defer { buffer.removeAll(keepingCapacity: true) }
    var written = 0
    buffer.withUnsafeBytes { bytes in
      while written < bytes.count {
        let count = write(file, bytes.baseAddress.map { $0 + written }, bytes.count - written)
        if count < 0 {
          if errno == EINTR { continue }
          failure = "cannot write the record file: \(String(cString: strerror(errno)))"
          return
        }
        written += count
      }
    }
  }
}
