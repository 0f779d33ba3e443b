public import NudgeCodec
public import NudgeSchema

/// One person's part in a conversation. The person is in the row's key.
public struct MemberRow: Sendable, Equatable, Encodable {
  /// The stamp of the change that made it so; nil: the conversation's last snapshot did.
  public internal(set) var stamp: EventStamp?
  /// False if the person was removed. The row stays, so that an older change does not bring them back.
  public internal(set) var takesPart: Bool
  /// The name shown to others; nil: the user id is.
  public internal(set) var displayName: String?
  /// Where their picture is.
  public internal(set) var avatarUrl: String?

  init(stamp: EventStamp?, takesPart: Bool, displayName: String? = nil, avatarUrl: String? = nil) {
    self.stamp = stamp
    self.takesPart = takesPart
    self.displayName = displayName
    self.avatarUrl = avatarUrl
  }

  /// Compares names byte by byte. Under canonical equivalence the row would keep whichever spelling of a name came first.
  public static func == (a: MemberRow, b: MemberRow) -> Bool {
    a.stamp == b.stamp && a.takesPart == b.takesPart && sameId(a.displayName, b.displayName)
      && sameId(a.avatarUrl, b.avatarUrl)
  }

  private enum CodingKeys: String, CodingKey {
    case stamp = "s"
    case left = "x"
    case displayName = "n"
    case avatarUrl = "a"
  }

  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encodeStampIfPresent(stamp, forKey: .stamp)
    if !takesPart { try fields.encode(true, forKey: .left) }
    try fields.encodeIfPresent(displayName, forKey: .displayName)
    try fields.encodeIfPresent(avatarUrl, forKey: .avatarUrl)
  }
}

extension MemberRow: PackedRow {
  /// The row's name in errors.
  public static let name: StaticString = "member"

  public init(packed row: inout RowReader) throws(RowFormatError) {
    var flags = RowFlags(bits: try row.unsigned())
    takesPart = flags.take()
    stamp = flags.take() ? try row.stamp() : nil
    displayName = flags.take() ? try row.text() : nil
    avatarUrl = flags.take() ? try row.text() : nil
  }

  public func pack(into row: inout RowWriter) {
    var flags = RowFlags()
    flags.add(takesPart)
    flags.add(stamp != nil)
    flags.add(displayName != nil)
    flags.add(avatarUrl != nil)
    row.unsigned(flags.bits)
    if let stamp { row.stamp(stamp) }
    if let displayName { row.text(displayName) }
    if let avatarUrl { row.text(avatarUrl) }
  }
}
