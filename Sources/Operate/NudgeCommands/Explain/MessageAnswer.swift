import Ingest
import Kafka
import NudgeCodec
import NudgeSchema
import StreamRuntime

/// The answer to "who should have received this message, how did it appear, and who did not get it?"
struct MessageAnswer: Encodable {
  /// How a message appeared to people.
  enum Shape: String, Encodable, CaseIterable {
    case alert, silent, badge
    /// It waits for its final decision.
    case held
    /// Nothing was shown.
    case none
    /// It is on the timeline, but no decision is recorded.
    case undecided

    /// The decided shape in an operator's words. Whether a push waits, was sent or arrived is reported separately.
    var words: String {
      switch self {
      case .alert: "ALERT"
      case .silent: "SILENT"
      case .badge: "BADGE ONLY"
      case .held: "HELD"
      case .none: "NOT SHOWN"
      case .undecided: "NOT DECIDED"
      }
    }
  }

  /// People with the same decision for the same reason.
  struct Group: Encodable {
    var shape: Shape
    /// The reason of the decisions; `not_decided` if there is none.
    var reason: String
    /// The reason in words.
    var because: String
    /// Some of them, in alphabetical order.
    var people: [String]
    /// The number of people who are not listed.
    var more: Int
    /// The outcomes of their pushes by result, one per device.
    var results: [Result]
    /// Their pushes by end state, one per device. A push without an outcome counts once.
    var ends: [End]
    /// From the message's own time until the push service accepted the push; nil if none was sent.
    var latencyMs: Latency?
    /// From the message's own time, or that of a later push of it, until a device received it; nil if no device reported one.
    var arrivalMs: Latency?
    /// The pushes of the listed people, one per device.
    var deliveries: [Delivery]

    var count: Int { people.count + more }
  }

  struct Result: Encodable, Equatable {
    var result: String
    var count: Int
  }

  struct End: Encodable, Equatable {
    var state: PushEndState
    var count: Int
  }

  /// How far a person's push to a device got.
  struct Delivery: Encodable, Equatable {
    var userId: String
    /// The device; nil if no device has an outcome yet.
    var deviceId: String?
    var state: PushEndState
  }

  /// In milliseconds.
  struct Latency: Encodable, Equatable {
    var p50: Milliseconds
    var max: Milliseconds

    /// Nil if there are no latencies.
    init?(_ latencies: [Milliseconds]) {
      let sorted = latencies.sorted()
      guard let last = sorted.last else { return nil }
      p50 = sorted[(sorted.count - 1) / 2]
      max = last
    }
  }

  var messageId: String
  /// The conversation; nil if neither event nor decision was found.
  var conversationId: String?
  /// The event; nil if it was deleted by retention or never written.
  var event: PlacedRecord?
  /// The message's edits and its deletion.
  var edits: [PlacedRecord] = []
  /// The groups, ordered by how prominently the message appeared, then by size.
  var groups: [Group] = []
  /// A warning if the counts alone would mislead.
  var note: String?

  var people: Int { groups.reduce(0) { $0 + $1.count } }

  /// The answer as text.
  var text: String {
    var lines: [String] = []
    let place = conversationId.map { " in \($0)" } ?? ""
    if let event {
      let at = RFC3339.text(event.record["occurredAt"]?.integer ?? event.timestamp)
      lines.append("message \(messageId)\(place), \(at) by \(event.record["senderId"]?.string ?? "?")  \(event.place)")
      if let text = event.record["text"]?.string { lines.append("  text \(text)") }
    } else {
      lines.append("message \(messageId)\(place): its event is not on chat.events, or no longer")
    }
    for edit in edits {
      let what = edit.record["type"]?.string == "message.deleted" ? "deleted" : "edited"
      lines.append("  \(what) \(RFC3339.text(edit.record["occurredAt"]?.integer ?? edit.timestamp))  \(edit.place)")
    }
    lines.append(people.counted("person", "people"))
    for group in groups {
      lines.append(
        "  \(group.count)  \(group.shape == .undecided ? "" : "decided: ")\(group.shape.words), \(group.reason): \(group.because)"
      )
      if !group.results.isEmpty {
        let results = group.results.map { "\($0.count) \($0.result)" }.joined(separator: ", ")
        let latency = group.latencyMs.map { "; half within \($0.p50) ms, all within \($0.max) ms" } ?? ""
        lines.append("      on their devices: \(results)\(latency)")
      }
      if !group.ends.isEmpty {
        let ends = group.ends.map { "\($0.count) \($0.state.words)" }.joined(separator: ", ")
        let arrival =
          group.arrivalMs.map { "; half arrived within \($0.p50) ms, all that did within \($0.max) ms" } ?? ""
        lines.append("      how far they got: \(ends)\(arrival)")
      }
      lines.append("      " + group.people.joined(separator: ", ") + (group.more > 0 ? ", and \(group.more) more" : ""))
    }
    if let note { lines.append(note) }
    lines.append("One person's story: nudge explain --user USER --message \(messageId)")
    return lines.joined(separator: "\n")
  }
}

/// The present and past owners of a token, found by its hash. Logs and records contain nothing else of a token.
struct TokenAnswer: Encodable {
  struct Owner: Encodable, Equatable {
    var userId: String
    var deviceId: String
    /// Milliseconds since the epoch.
    var registeredAt: Milliseconds
    var version: Int64
  }
  /// An event in the token's history.
  struct Claim: Encodable, Equatable {
    /// Milliseconds since the epoch.
    var at: Milliseconds
    /// `registered`, `signed_out` or `token_replaced`.
    var what: String
    var userId: String
    var deviceId: String
  }
  var tokenHash: String
  /// The owner; nil if nobody owns it.
  var owner: Owner?
  /// Whether ingest's state contains the token.
  var isKnown = false
  /// Its history, oldest first, as far as retention has kept it.
  var claims: [Claim] = []

  /// Whether a text is a hash: the 32 digits of records, or their first 12 to 31 digits, as in logs.
  static func isHash(_ text: String) -> Bool {
    (12...32).contains(text.utf8.count) && text.utf8.allSatisfy { ($0 >= 48 && $0 <= 57) || ($0 >= 97 && $0 <= 102) }
  }

  /// Searches for a whole hash on its partition, and for a prefix on all partitions.
  init(_ hash: String, browser: TopicBrowser) throws {
    tokenHash = hash
    let isWhole = hash.utf8.count == 32
    let prefix = Array(hash.utf8)
    let row = Array("o\u{0}\(hash)".utf8)
    try browser.find([.deviceClaims, .ingestState])
    // Rows move with their task, but records stay.
    let partitions = isWhole ? try browser.partitions(of: hash, on: .deviceClaims) : nil
    let task = partitions.map { [$0[0]] }
    try browser.read(
      try browser.ranges(of: .ingestState, partitions: task), "reading \(browser.names(.ingestState))"
    ) { record in
      guard let key = record.key, key.starts(with: row) else { return true }
      let rowKey = RowKey(bytes: [UInt8](key))
      tokenHash = rowKey.parts.last ?? hash
      isKnown = record.value != nil
      owner = nil
      guard let value = record.value,
        case .owner(let found) = try IngestRow(key: rowKey, bytes: value, coder: browser.coder)
      else { return true }
      owner = found.owner.map {
        Owner(
          userId: $0.userId, deviceId: $0.deviceId, registeredAt: found.stamp.occurredAt, version: found.version)
      }
      return true
    }
    try browser.read(
      try browser.ranges(of: .deviceClaims, partitions: partitions), "reading \(browser.names(.deviceClaims))"
    ) { record in
      guard let key = record.key, key.starts(with: prefix), let value = record.valueBytes(),
        let claim = try? browser.codec.decode(DeviceClaim.self, from: value)
      else { return true }
      switch claim.body {
      case .registered(let fields):
        tokenHash = String(decoding: key, as: UTF8.self)
        claims.append(
          Claim(
            at: claim.envelope.occurredAt, what: "registered", userId: fields.device.userId,
            deviceId: fields.device.deviceId))
      case .unregistered(let fields):
        tokenHash = String(decoding: key, as: UTF8.self)
        claims.append(
          Claim(
            at: claim.envelope.occurredAt, what: fields.cause.rawValue, userId: fields.userId, deviceId: fields.deviceId
          ))
      // These records are keyed by the person, not by a token.
      case .userDeleted, .userRestored: break
      }
      return true
    }
  }

  var text: String {
    var lines: [String] = []
    if let owner {
      lines.append(
        "The token \(tokenHash) belongs to \(owner.userId), device \(owner.deviceId), registered "
          + "\(RFC3339.text(owner.registeredAt)). What is sent to it: nudge explain --user \(owner.userId)")
    } else {
      lines.append(
        isKnown
          ? "The token \(tokenHash) belongs to nobody now: it was given up."
          : "No token with the hash \(tokenHash) is known.")
    }
    lines += claims.map { "  \(RFC3339.text($0.at))  \($0.what)  \($0.userId), device \($0.deviceId)" }
    return lines.joined(separator: "\n")
  }
}
