public import NudgeCodec
import NudgeSchema

extension LearnedPreferences: PackedRow {
  /// The row's kind, for errors.
  public static let name: StaticString = "learned"

  public init(packed row: inout RowReader) throws(RowFormatError) {
    var entries: [Entry] = []
    for _ in 0..<(try row.count()) {
      entries.append(
        Entry(
          subject: try row.choice(of: Subject.allCases), key: Int64(bitPattern: try row.fixed()),
          shift: Int(try row.signed()), at: try row.signed()))
    }
    self.init(entries: entries)
  }

  public func pack(into row: inout RowWriter) {
    row.count(entries.count)
    for entry in entries {
      row.choice(entry.subject, of: Subject.allCases)
      row.fixed(UInt64(bitPattern: entry.key))
      row.signed(entry.shift)
      row.signed(entry.at)
    }
  }
}
