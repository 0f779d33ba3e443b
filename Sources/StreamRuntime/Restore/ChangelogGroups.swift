import NudgeSchema

/// Reads a task's changelog as groups of rows, each closed by its position record.
///
/// Rows behind the last position record are the torn prefix of a transaction that a delayed EndTxn committed in part:
/// they are not applied, and their keys must be written again by the task's next transaction. Because every owner does
/// so, a torn row that lies *before* a position record has been overwritten by a row between the two: applying a
/// group's rows in log order is right, also after compaction has removed older position records.
struct ChangelogGroups {
  /// The last position record read.
  private(set) var position: PositionRecord?
  /// Behind that record.
  private(set) var offsetBehindPosition: Int64
  /// Rows in the order of the log: first those of closed groups that nobody has taken yet, then those of the open one.
  /// Not by key: most keys come once between two takings, and sorting costs less than hashing.
  private var rows: [(key: RowKey, bytes: [UInt8]?)] = []
  private var closedCount = 0
  private var openBytes = 0
  /// About how many bytes the closed rows take.
  private(set) var closedBytes = 0
  private let coder: RecordCoder
  /// What the position that was known before had; nil: none was known.
  private let knownHistory: String??
  private var hasReadPosition = false

  /// What a row takes beside its bytes: two arrays' headers, and their place here.
  private static let rowOverhead = 96

  /// Begins behind a known position, or with nil at the start of the log.
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

  /// Takes the next record. Of a known position its own record, once more, may be the first. Throws where a position record is not readable.
  mutating func read(offset: Int64, key: RowKey, bytes: [UInt8]?) throws {
    guard key == PositionRecord.key else {
      rows.append((key, bytes))
      openBytes += key.bytes.count + (bytes?.count ?? 0) + Self.rowOverhead
      return
    }
    guard let bytes else {
      throw StoreFailure(operation: "restore", reason: "the position record at offset \(offset) is a tombstone")
    }
    position = try coder.decode(PositionRecord.self, from: bytes)
    offsetBehindPosition = offset + 1
    hasReadPosition = true
    closedCount = rows.count
    closedBytes += openBytes
    openBytes = 0
  }

  /// The closed rows so far, the last value of each key, in key order, which are then forgotten.
  mutating func takeClosed() -> [(key: RowKey, bytes: [UInt8]?)] {
    var order = Array(0..<closedCount)
    order.sort { rows[$0].key == rows[$1].key ? $0 < $1 : rows[$0].key < rows[$1].key }
    var last: [(key: RowKey, bytes: [UInt8]?)] = []
    last.reserveCapacity(closedCount)
    for (place, index) in order.enumerated() {
      if place + 1 < order.count, rows[order[place + 1]].key == rows[index].key { continue }
      last.append(rows[index])
    }
    rows.removeFirst(closedCount)
    closedCount = 0
    closedBytes = 0
    return last
  }

  /// The keys of the group that is not closed: to be written again.
  var tornKeys: [RowKey] { rows[closedCount...].map(\.key) }
}
