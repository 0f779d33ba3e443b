public import NudgeCodec
public import NudgeSchema

/// The owner of a token (T2). The token's hash is in the row's key.
public struct OwnerRow: Sendable, Equatable, Encodable {
  public struct Owner: Sendable, Equatable, Encodable {
    public internal(set) var userId: String
    /// The device, as that person's registration named it.
    public internal(set) var deviceId: String

    /// Compares bytes. Swift would compare by canonical equivalence.
    public static func == (a: Owner, b: Owner) -> Bool {
      sameId(a.userId, b.userId) && sameId(a.deviceId, b.deviceId)
    }
  }

  /// The owner. Absent once the token was given up.
  public internal(set) var owner: Owner?
  /// The last registration's.
  public internal(set) var stamp: EventStamp
  /// The last registration's. Each registration raises it, to the registration's time if that is more. So versions do not start again if the
  /// row is lost, and a prune meant for an older registration does not match.
  public internal(set) var version: Int64
  /// When the timer is due that checks whether the token was registered again (T5). Absent if no timer is set.
  public internal(set) var timerAt: Milliseconds?
}

/// The token hash of a person's device. Person and device are in the row's key. The token itself is only in the claim.
public struct RegistrationRow: Sendable, Equatable, Encodable {
  /// The hash of the device's token. Absent after a sign-out: the row stays, so that an older registration does not bring the token back.
  public internal(set) var tokenHash: String?
  /// The stamp of the registration or the sign-out.
  public internal(set) var stamp: EventStamp
}

extension RegistrationRow: PackedRow, PackedFields {
  /// The row's name in errors.
  public static let name: StaticString = "device"
  public static var blank: Self { Self(stamp: .blank) }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.flags()
    try row.optional(&tokenHash)
    try row.field(&stamp)
  }
}

extension OwnerRow: PackedRow, PackedFields {
  /// The row's name in errors.
  public static let name: StaticString = "owner"
  /// Version 2 has the timer.
  public static var versions: RowVersions { RowVersions(2) }
  public static var blank: Self { Self(stamp: .blank, version: 0) }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.flags()
    try row.optional(&owner)
    try row.field(&stamp)
    try row.field(&version)
    try row.optional(&timerAt)
  }
}

extension OwnerRow.Owner: PackedFields {
  public static var blank: Self { Self(userId: "", deviceId: "") }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&userId)
    try row.field(&deviceId)
  }
}
