public import NudgeCodec
import NudgeSchema

/// That a person was deleted. The row stays until they register again; its key is a hash, so nothing in it names them once their rows are
/// gone.
public struct PersonErasureRow: Codable, Sendable, Equatable {
  /// The deletion's: records of theirs that are not later are dropped.
  var stamp: EventStamp
  /// The person while rows of theirs are left; nil: all are gone.
  var pendingUserId: String?
}

extension PersonErasureRow: PackedRow {
  /// For errors.
  public static let name: StaticString = "erasure"

  public init(packed row: inout RowReader) throws(RowFormatError) {
    var flags = RowFlags(bits: try row.unsigned())
    pendingUserId = flags.take() ? try row.text() : nil
    stamp = try row.stamp()
  }

  public func pack(into row: inout RowWriter) {
    var flags = RowFlags()
    flags.add(pendingUserId != nil)
    row.unsigned(flags.bits)
    if let pendingUserId { row.text(pendingUserId) }
    row.stamp(stamp)
  }
}
