import Ingest
import Kafka
import NudgeSchema
import StreamRuntime

/// The present and past owners of a token, found by its hash; logs and records contain nothing else of it.
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
  /// nil: nobody owns it.
  var owner: Owner?
  /// Whether ingest's state has the token.
  var isKnown = false
  /// Its history, oldest first, as far as retention kept it.
  var claims: [Claim] = []

  /// Whether a text is a hash: the 32 digits of records, or the first 12 to 31 of them, as in logs.
  static func isHash(_ text: String) -> Bool {
    (12...32).contains(text.utf8.count) && text.utf8.allSatisfy { ($0 >= 48 && $0 <= 57) || ($0 >= 97 && $0 <= 102) }
  }

  /// Searches by a whole hash on its partition, by a prefix on all partitions.
  init(_ hash: String, browser: TopicBrowser) throws {
    tokenHash = hash
    let isWhole = hash.utf8.count == 32
    let prefix = Array(hash.utf8)
    let row = Array("o\u{0}\(hash)".utf8)
    try browser.find([.deviceClaims, .ingestState])
    // Rows move with their task, records stay.
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
      guard let key = record.key, key.starts(with: prefix), let value = record.value,
        let claim = try? browser.coder.decode(DeviceClaim.self, from: value)
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
      // Keyed by the person, not by a token.
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
