import NudgeSchema

/// Rows of a task's changelog as they are read: those that no store has yet, and the last position record.
///
/// Only committed records are read, and a transaction is committed whole or not at all, so every row that is read counts.
/// Those behind the last position record that was read belong to a transaction whose position record comes later.
struct ChangelogRows {
  private struct Row {
    var key: RowKey
    var bytes: [UInt8]?

    /// About how many bytes it takes: beside its own, two arrays' headers and its place.
    var size: Int { key.bytes.count + (bytes?.count ?? 0) + 96 }
  }

  /// The last position record.
  private(set) var position: PositionRecord?
  /// Behind that record.
  private(set) var offsetBehindPosition: Int64
  /// In the order of the log. Not by key: most keys come once between two takings, and sorting costs less than hashing.
  private var rows: [Row] = []
  /// About how many bytes the rows take.
  private(set) var bytes = 0
  private let coder: RecordCoder
  /// What the position that was known before had; nil: none was known.
  private let knownHistory: String??
  private var hasReadPosition = false

  /// Begins behind a known position, or with nil at the start of the log. `offset`: behind the known position.
  init(after position: PositionRecord?, offset: Int64, coder: RecordCoder) {
    self.position = position
    self.offsetBehindPosition = offset
    self.coder = coder
    knownHistory = position.map(\.history)
  }

  /// Whether what was read goes on from the position it began behind. It does not where positions have another history, nor
  /// where there are none: not even the known one is left, and no later one has taken its place.
  var continuesKnown: Bool {
    guard let knownHistory else { return true }
    return hasReadPosition && position?.history == knownHistory
  }

  /// Takes the next record. Throws where a position record is not readable.
  mutating func read(offset: Int64, key: RowKey, bytes: [UInt8]?) throws {
    guard key == PositionRecord.key else {
      let row = Row(key: key, bytes: bytes)
      rows.append(row)
      self.bytes += row.size
      return
    }
    position = try PositionRecord(bytes, offset: offset, coder: coder)
    offsetBehindPosition = offset + 1
    hasReadPosition = true
  }

  /// The rows so far, the last value of each key, in key order, which are then forgotten.
  mutating func take() -> [(key: RowKey, bytes: [UInt8]?)] {
    var order = Array(rows.indices)
    order.sort { rows[$0].key == rows[$1].key ? $0 < $1 : rows[$0].key < rows[$1].key }
    var last: [(key: RowKey, bytes: [UInt8]?)] = []
    last.reserveCapacity(rows.count)
    for (place, index) in order.enumerated() {
      if place + 1 < order.count, rows[order[place + 1]].key == rows[index].key { continue }
      last.append((rows[index].key, rows[index].bytes))
    }
    rows.removeAll(keepingCapacity: true)
    bytes = 0
    return last
  }
}
