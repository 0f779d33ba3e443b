public import NudgeCodec
import NudgeSchema

/// A row of state as it comes back from each of its formats.
public struct PackedRows<Row: PackedRow> {
  /// As it is written.
  public let packed: Row
  /// Whether the row as JSON, which is only printed, is refused.
  public let refusesJSON: Bool
  /// The values read from truncated packed bytes, for each length; empty if all are refused, as they should be.
  public let truncated: [Row]
  /// Whether bytes behind its own are refused.
  public let refusesMore: Bool

  /// Writes and reads a row.
  public init(_ row: Row) throws {
    let coder = RecordCoder()
    func read(_ bytes: some Collection<UInt8>) throws -> Row {
      try Array(bytes).withUnsafeBytes { try Row(bytes: $0) }
    }
    let bytes = row.packed()
    packed = try read(bytes)
    let json = try coder.encode(row)
    refusesJSON = (try? read(json)) == nil
    truncated = bytes.indices.compactMap { try? read(bytes[..<$0]) }
    refusesMore = (try? read(bytes + [0])) == nil
  }
}

/// Whether a row comes back from its bytes as it was, and is read from no others: its JSON, a part of them, or more than them.
public func comesBack<Row: PackedRow & Equatable>(_ row: Row) throws -> Bool {
  let read = try PackedRows(row)
  return read.packed == row && read.refusesJSON && read.truncated.isEmpty && read.refusesMore
}
