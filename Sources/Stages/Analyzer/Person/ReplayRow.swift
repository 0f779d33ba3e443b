public import NudgeCodec

/// The state of a replay in a task, or in a task for one person.
public struct ReplayRow: Codable, Sendable, Equatable {
  /// Nothing it asks for is done any more.
  var isStopped = false
  /// Notifications it made: by force in the row of the task, of either kind in a person's.
  var notifications = 0
}

extension ReplayRow: PackedRow {
  /// The row's kind, for errors.
  public static let name: StaticString = "replay"

  public init(packed row: inout RowReader) throws(RowFormatError) {
    var flags = RowFlags(bits: try row.unsigned())
    isStopped = flags.take()
    notifications = Int(try row.signed())
  }

  public func pack(into row: inout RowWriter) {
    var flags = RowFlags()
    flags.add(isStopped)
    row.unsigned(flags.bits)
    row.signed(notifications)
  }
}
