/// Which transaction of a task a changelog row belongs to: a header of the row says so. A position record closes the rows of
/// its own transaction only, so that what a former owner wrote late is not taken for its successor's.
///
/// A class: the rows of a transaction share it.
final class TransactionTag: Sendable, Equatable {
  /// The transaction's sequence, as in its position record.
  let sequence: Int64
  /// Who wrote it, as in its position record.
  let writer: String
  /// The header's value: the sequence, a space, the writer. For people, too.
  let bytes: [UInt8]

  init(sequence: Int64, writer: String) {
    self.sequence = sequence
    self.writer = writer
    bytes = Array("\(sequence) \(writer)".utf8)
  }

  /// The tag of the transaction that a position record ends.
  convenience init(_ position: PositionRecord) { self.init(sequence: position.sequence, writer: position.writer) }

  /// Reads a header's value; nil where it is none of ours.
  init?(bytes: [UInt8]) {
    guard let space = bytes.firstIndex(of: UInt8(ascii: " ")),
      let sequence = Int64(String(decoding: bytes[..<space], as: UTF8.self))
    else { return nil }
    self.sequence = sequence
    writer = String(decoding: bytes[(space + 1)...], as: UTF8.self)
    self.bytes = bytes
  }

  /// Whether the row is of a transaction that found no position before it.
  var isOfFirstTransaction: Bool { sequence == PositionRecord.firstSequence }

  static func == (a: TransactionTag, b: TransactionTag) -> Bool {
    a === b || (a.sequence == b.sequence && a.writer == b.writer)
  }
}
