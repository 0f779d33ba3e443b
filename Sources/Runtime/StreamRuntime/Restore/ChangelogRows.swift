import NudgeSchema

/// Rows of a task's changelog that no store has yet, and the last position record.
///
/// A restore reads only committed records, and a transaction is committed as a whole, so every row counts. Rows after the last position
/// record belong to a transaction whose position record comes later.
struct ChangelogRows {
  private struct Row {
    var key: RowKey
    var bytes: [UInt8]?

    /// The estimated size in memory: key, value, and the overhead of two arrays.
    var size: Int { key.bytes.count + (bytes?.count ?? 0) + 96 }
  }

  private(set) var position: PositionRecord?
  /// The offset after that record.
  private(set) var offsetBehindPosition: Int64
  /// Rows in the order of the log. Most keys come once, so sorting them later is cheaper than hashing.
  private var rows: [Row] = []
  /// The estimated size of the rows.
  private(set) var bytes = 0
  private let coder: RecordCoder
  /// The history of the position known before; nil: there was none.
  private let knownHistory: String??
  private var hasReadPosition = false

  /// Starts after a known position, or at the start of the log.
  /// - Parameter offset: the offset after the known position.
  init(after position: PositionRecord?, offset: Int64, coder: RecordCoder) {
    self.position = position
    self.offsetBehindPosition = offset
    self.coder = coder
    knownHistory = position.map(\.history)
  }

  /// Whether the changelog continues from the position known before. It does not if its positions have another history, or if it has
  /// neither that position nor a later one.
  var continuesKnown: Bool {
    guard let knownHistory else { return true }
    return hasReadPosition && position?.history == knownHistory
  }

  /// Reads the next record.
  /// - Throws: `StoreFailure`, which ends the thread, for an unreadable position record.
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

  /// Takes the rows read so far: the last value of each key, in key order.
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
