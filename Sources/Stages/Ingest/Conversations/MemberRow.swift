public import NudgeCodec
public import NudgeSchema

/// One person's part in a conversation. The person is in the row's key.
public struct MemberRow: Sendable, Equatable, Encodable {
  /// The stamp of the change that caused this. Absent if the conversation's last snapshot caused it.
  public internal(set) var stamp: EventStamp?
  /// Whether the person takes part. The row of a removed person stays, so that an older change does not bring them back.
  public internal(set) var takesPart: Bool
  /// The name shown to others. Absent: others see the user id.
  public internal(set) var displayName: String?
  /// The address of the person's picture.
  public internal(set) var avatarUrl: String?

  /// Compares names byte by byte. Under canonical equivalence the row would keep whichever spelling of a name came first.
  public static func == (a: MemberRow, b: MemberRow) -> Bool {
    a.stamp == b.stamp && a.takesPart == b.takesPart && sameId(a.displayName, b.displayName)
      && sameId(a.avatarUrl, b.avatarUrl)
  }
}

extension MemberRow: PackedRow, PackedFields {
  /// The row's name in errors.
  public static let name: StaticString = "member"
  public static var blank: Self { Self(takesPart: false) }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.flags()
    row.flag(&takesPart)
    try row.optional(&stamp)
    try row.optional(&displayName)
    try row.optional(&avatarUrl)
  }
}
