public import Foundation
internal import Synchronization

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
