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
  /// The rows of closed groups that nobody has taken yet: the last value of each key.
  private(set) var closed: [RowKey: [UInt8]?] = [:]
  /// About how many bytes `closed` takes.
  private(set) var closedBytes = 0
  private var open: [(key: RowKey, bytes: [UInt8]?)] = []
  private let coder: RecordCoder

  /// Begins behind a known position, or with nil at the start of the log.
  init(after position: PositionRecord?, offset: Int64, coder: RecordCoder) {
    self.position = position
    self.offsetBehindPosition = offset
    self.coder = coder
  }

  /// Takes the next record. Throws where a position record is not readable.
  mutating func read(offset: Int64, key: RowKey, bytes: [UInt8]?) throws {
    guard key == PositionRecord.key else {
      open.append((key, bytes))
      return
    }
    guard let bytes else {
      throw StoreFailure(operation: "restore", reason: "the position record at offset \(offset) is a tombstone")
    }
    position = try coder.decode(PositionRecord.self, from: bytes)
    offsetBehindPosition = offset + 1
    for (key, bytes) in open {
      closed[key] = .some(bytes)
      closedBytes += key.bytes.count + (bytes?.count ?? 0) + 32
    }
    open.removeAll(keepingCapacity: true)
  }

  /// The closed rows so far, in key order, which are then forgotten.
  mutating func takeClosed() -> [(key: RowKey, bytes: [UInt8]?)] {
    let rows = closed.sorted { $0.key < $1.key }.map { (key: $0.key, bytes: $0.value) }
    closed.removeAll(keepingCapacity: true)
    closedBytes = 0
    return rows
  }

  /// The keys of the group that is not closed: to be written again.
  var tornKeys: [RowKey] { open.map(\.key) }
}
