/// A failure to inject. It replaces or delays an answer with status 200.
///
/// A defective request gets FCM's refusal in any case. Faults are tried in order. A fault without an action only adds its delay, and the
/// next fault is tried.
public struct Fault: Sendable {
  /// The endpoint that a fault applies to.
  public enum Endpoint: String, Sendable, Codable {
    /// `messages:send`.
    case send
    /// The OAuth token endpoint; applied before the request is checked.
    case token
    /// The webhook.
    case webhook
    /// `/wpush/{id}`. ``Fault/tokenPrefix`` is then a prefix of the id.
    case push
  }

  /// The replacement of a good answer.
  public enum Action: Sendable {
    /// Another answer.
    case answer(EmulatorAnswer)
    /// The TCP connection is reset, with all requests on it.
    case resetConnection
    /// The request's stream is reset (INTERNAL_ERROR); the connection stays open.
    case resetStream
    /// No answer, ever.
    case hang
    /// Headers with status 200 and a part of the body; 50 ms later the stream is reset.
    case brokenBody
    /// Headers with status 200 and nothing else, ever.
    case hangAfterHeaders
    /// The good answer and a GOAWAY: later streams are not processed.
    case goAway
    /// The good answer, but the message reaches no device.
    case lose
  }

  /// The endpoint it applies to.
  public var endpoint: Endpoint = .send
  /// The prefix of the tokens whose messages the fault applies to. Absent: it applies to all tokens.
  public var tokenPrefix: String?
  /// The share of matching requests that are affected, 0–1. They are chosen at random from the configured seed.
  public var ratio = 1.0
  /// The number of matching requests that pass before the fault begins.
  public var skip = 0
  /// The maximum of affected requests. Absent: no maximum.
  public var times: Int?
  /// The delay of the answer.
  public var delay: Duration = .zero
  /// What happens in place of the good answer. Absent: the answer is only delayed.
  public var action: Action?
}

/// A file of faults, and the body of `POST /emulator/faults`:
/// `{"seed": 7, "faults": [{"tokenPrefix": "gone-", "answer": "UNREGISTERED"}, {"ratio": 0.2, "answer":
/// "UNAVAILABLE", "retryAfter": "5"}, {"delayMs": 50}, {"action": "reset", "times": 3}, {"endpoint": "token", "action": "hang"},
/// {"status": 418, "body": "…", "headers": {"retry-after": "1"}}]}`.
public struct FaultFile: Sendable, Decodable {
  /// The seed of ratios. Absent if the file names none.
  public let seed: UInt64?
  /// The faults in order.
  public let faults: [Fault]

  /// Reads the file's JSON. An unknown name of an answer or action is an error whose text lists the known names.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    seed = try container.decodeIfPresent(UInt64.self, forKey: .seed)
    faults = try container.decode([Entry].self, forKey: .faults).map { try $0.fault() }
  }

  private enum CodingKeys: String, CodingKey { case seed, faults }

  /// Why the faults cannot be used. Absent if they can.
  var objection: String? {
    for fault in faults {
      guard (0...1).contains(fault.ratio) else { return "ratio \(fault.ratio) is not between 0 and 1" }
      guard fault.delay >= .zero, fault.skip >= 0, fault.times ?? 0 >= 0 else {
        return "delayMs, skip and times must not be negative"
      }
    }
    return nil
  }

  private struct Entry: Decodable {
    let endpoint: Fault.Endpoint?
    let tokenPrefix: String?
    let ratio: Double?
    let skip: Int?
    let times: Int?
    let delayMs: Int?
    let answer: String?
    let retryAfter: String?
    let status: Int?
    let body: String?
    let headers: [String: String]?
    let action: String?

    func fault() throws -> Fault {
      Fault(
        endpoint: endpoint ?? .send, tokenPrefix: tokenPrefix, ratio: ratio ?? 1, skip: skip ?? 0, times: times,
        delay: .milliseconds(delayMs ?? 0), action: try parsedAction())
    }

    private func parsedAction() throws -> Fault.Action? {
      if let answer {
        guard let name = EmulatorAnswer.Name(rawValue: answer) else {
          let known = EmulatorAnswer.Name.allCases.map(\.rawValue).joined(separator: ", ")
          throw FCMEmulatorError("no answer is called \(answer); known: \(known)")
        }
        return .answer(EmulatorAnswer(name, retryAfter: retryAfter))
      }
      if let status {
        var fields = (headers ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        if let retryAfter { fields.append(("retry-after", retryAfter)) }
        return .answer(EmulatorAnswer(status: status, headers: fields, body: body ?? ""))
      }
      switch action {
      case nil: return nil
      case "reset": return .resetConnection
      case "resetStream": return .resetStream
      case "hang": return .hang
      case "brokenBody": return .brokenBody
      case "hangAfterHeaders": return .hangAfterHeaders
      case "goAway": return .goAway
      case "lose": return .lose
      case let other?:
        throw FCMEmulatorError(
          "no action is called \(other); known: reset, resetStream, hang, hangAfterHeaders, brokenBody, goAway, lose")
      }
    }
  }
}

/// The active faults, and how often each was applied.
struct FaultPlan: Sendable {
  private struct Entry {
    let fault: Fault
    let prefix: [UInt8]?
    var seen = 0
    var used = 0
  }

  private var entries: [Entry]
  private var random: SplitMix64

  init(_ faults: [Fault], seed: UInt64) {
    entries = faults.map { Entry(fault: $0, prefix: $0.tokenPrefix.map { Array($0.utf8) }) }
    random = SplitMix64(state: seed)
  }

  var isEmpty: Bool { entries.isEmpty }

  /// The delay of a request's answer, and the action that replaces a good answer.
  mutating func next(_ endpoint: Fault.Endpoint, token: JSONString?) -> (delay: Duration, action: Fault.Action?) {
    var delay = Duration.zero
    for index in entries.indices {
      guard entries[index].fault.endpoint == endpoint, matches(entries[index].prefix, token) else { continue }
      entries[index].seen += 1
      let fault = entries[index].fault
      guard entries[index].seen > fault.skip, fault.times.map({ entries[index].used < $0 }) ?? true,
        fault.ratio >= 1 || random.nextUnit() < fault.ratio
      else { continue }
      entries[index].used += 1
      delay += fault.delay
      if let action = fault.action { return (delay, action) }
    }
    return (delay, nil)
  }

  private func matches(_ prefix: [UInt8]?, _ token: JSONString?) -> Bool {
    guard let prefix else { return true }
    return token?.withBytes { $0.starts(with: prefix) } ?? false
  }
}

/// A small generator whose whole state is its seed, so that a run can be repeated.
struct SplitMix64: RandomNumberGenerator, Sendable {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// A number in 0..<1.
  mutating func nextUnit() -> Double { Double(next() >> 11) * 0x1p-53 }
}
