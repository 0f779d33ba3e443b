public import NudgeCodec
public import NudgeSchema

/// The owner of a token (T2). The token's hash is in the row's key.
public struct OwnerRow: Sendable, Equatable, Encodable {
  public struct Owner: Sendable, Equatable, Encodable {
    public internal(set) var userId: String
    /// The device, as that person's registration named it.
    public internal(set) var deviceId: String

    init(userId: String, deviceId: String) {
      self.userId = userId
      self.deviceId = deviceId
    }

    /// Bytes, not canonical equivalence.
    public static func == (a: Owner, b: Owner) -> Bool {
      sameId(a.userId, b.userId) && sameId(a.deviceId, b.deviceId)
    }

    private enum CodingKeys: String, CodingKey {
      case userId = "u"
      case deviceId = "d"
    }
  }

  /// The owner; nil: the token was given up.
  public internal(set) var owner: Owner?
  /// The last registration's.
  public internal(set) var stamp: EventStamp
  /// The last registration's. Each registration raises it, to the registration's time if that is more. So versions do not start again if the
  /// row is lost, and a prune meant for an older registration does not match.
  public internal(set) var version: Int64
  /// When the timer is due that looks whether the token was registered since (T5); nil: no timer is set.
  public internal(set) var timerAt: Milliseconds?

  init(owner: Owner?, stamp: EventStamp, version: Int64, timerAt: Milliseconds? = nil) {
    self.owner = owner
    self.stamp = stamp
    self.version = version
    self.timerAt = timerAt
  }

  private enum CodingKeys: String, CodingKey {
    case owner = "o"
    case stamp = "s"
    case version = "v"
    case timerAt = "t"
  }

  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encodeIfPresent(owner, forKey: .owner)
    try fields.encodeStamp(stamp, forKey: .stamp)
    try fields.encode(version, forKey: .version)
    try fields.encodeIfPresent(timerAt, forKey: .timerAt)
  }
}

/// The token hash of a person's device. Person and device are in the row's key. The token itself is only in the claim.
public struct RegistrationRow: Sendable, Equatable, Encodable {
  /// The hash of its token; nil: signed out, and the row stays so that an older registration does not bring it back.
  public internal(set) var tokenHash: String?
  /// The registration's, or the sign-out's.
  public internal(set) var stamp: EventStamp

  init(tokenHash: String?, stamp: EventStamp) {
    self.tokenHash = tokenHash
    self.stamp = stamp
  }

  private enum CodingKeys: String, CodingKey {
    case tokenHash = "h"
    case stamp = "s"
  }

  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encodeIfPresent(tokenHash, forKey: .tokenHash)
    try fields.encodeStamp(stamp, forKey: .stamp)
  }
}

extension RegistrationRow: PackedRow {
  /// The row's name in errors.
  public static let name: StaticString = "device"

  public init(packed row: inout RowReader) throws(RowFormatError) {
    var flags = RowFlags(bits: try row.unsigned())
    tokenHash = flags.take() ? try row.text() : nil
    stamp = try row.stamp()
  }

  public func pack(into row: inout RowWriter) {
    var flags = RowFlags()
    flags.add(tokenHash != nil)
    row.unsigned(flags.bits)
    if let tokenHash { row.text(tokenHash) }
    row.stamp(stamp)
  }
}

extension OwnerRow: PackedRow {
  /// The row's name in errors.
  public static let name: StaticString = "owner"
  /// Version 2 has the timer.
  public static var versions: RowVersions { RowVersions(2) }

  public init(packed row: inout RowReader) throws(RowFormatError) {
    var flags = RowFlags(bits: try row.unsigned())
    owner = flags.take() ? Owner(userId: try row.text(), deviceId: try row.text()) : nil
    let hasTimer = flags.take()
    stamp = try row.stamp()
    version = try row.signed()
    timerAt = hasTimer ? try row.signed() : nil
  }

  public func pack(into row: inout RowWriter) {
    var flags = RowFlags()
    flags.add(owner != nil)
    flags.add(timerAt != nil)
    row.unsigned(flags.bits)
    if let owner {
      row.text(owner.userId)
      row.text(owner.deviceId)
    }
    row.stamp(stamp)
    row.signed(version)
    if let timerAt { row.signed(timerAt) }
  }
}
