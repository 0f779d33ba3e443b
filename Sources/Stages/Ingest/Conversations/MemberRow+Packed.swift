public import NudgeCodec
import NudgeSchema

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
