import NudgeSchema

/// Reads a task's changelog as groups of rows, each closed by the position record of its transaction.
///
/// Rows say which transaction they belong to (`TransactionTag`). A position record closes those of its own. Between two
/// position records whose sequences are not neighbours compaction has removed others: their rows count, too. All others do
/// not: the torn prefix of a transaction that a late EndTxn committed in part, and what a former owner wrote late. Nor do
/// rows behind the last position record. Where such a row is the last of its key it hides the value that counts, and would
/// outlive it in compaction, so the key must be written again by the task's next transaction (`tornKeys`).
///
/// Compaction leaves the last position record only, so all that is compacted is one group. Where it is large, its rows are
/// closed before that record comes: an owner begins a transaction when the one before has committed, so a row of
/// transaction 9 says that there was a position record of 8, and that it or a later one closes the rows of 7 and before.
struct ChangelogGroups {
  private struct Row {
    var key: RowKey
    var bytes: [UInt8]?
    /// nil: written before rows had tags.
    var tag: TransactionTag?

    /// About how many bytes it takes: beside its own, two arrays' headers and its place.
    var size: Int { key.bytes.count + (bytes?.count ?? 0) + 104 }
  }

  /// The last position record read.
  private(set) var position: PositionRecord?
  /// Behind that record.
  private(set) var offsetBehindPosition: Int64
  /// Rows in the order of the log: first those of closed groups that nobody has taken yet, then those of the open one.
  /// Not by key: most keys come once between two takings, and sorting costs less than hashing.
  private var rows: [Row] = []
  private var closedCount = 0
  private var openBytes = 0
  /// The highest sequence of the rows that are open.
  private var openSequence: Int64 = 0
  /// Bytes of open rows beyond which those that are sure to be closed are.
  private var closeBeyond: Int
  /// About how many bytes the closed rows take.
  private(set) var closedBytes = 0
  private let coder: RecordCoder
  /// The sequence of the last position record read, or known to be before.
  private var sequence: Int64
  /// Rows of groups that are closed before this offset are judged, but not kept: whoever reads has them.
  private let keptFrom: Int64
  /// What the position that was known before had; nil: none was known.
  private let knownHistory: String??
  private var hasReadPosition = false
  /// Keys whose last row in a closed group does not count.
  private var hidden: Set<RowKey> = []

  /// Begins behind a known position, or with nil at the start of the log.
  /// - Parameters:
  ///   - offset: behind the known position; rows that it and earlier ones close are judged and not kept.
  ///   - mark: where reading begins, if before that.
  ///   - openBytes: of rows that wait for a position record, about; beyond it those that need not are closed.
  init(
    after position: PositionRecord?, offset: Int64, mark: ChangelogAudit.Mark? = nil, openBytes: Int = .max,
    coder: RecordCoder
  ) {
    closeBeyond = openBytes
    self.position = position
    self.offsetBehindPosition = offset
    self.coder = coder
    sequence = mark?.sequence ?? position?.sequence ?? 0
    keptFrom = position == nil ? 0 : offset
    knownHistory = position.map(\.history)
  }

  /// Begins at a mark, to judge only: keeps no rows.
  init(judgingFrom mark: ChangelogAudit.Mark, coder: RecordCoder) {
    position = nil
    closeBeyond = .max
    offsetBehindPosition = mark.offset
    self.coder = coder
    sequence = mark.sequence
    keptFrom = .max
    knownHistory = nil
  }

  /// Whether what was read goes on from the position it began behind. It does not where positions have another history, nor
  /// where there are none: not even the known one is left, and no later one has taken its place.
  var continuesKnown: Bool {
    guard let knownHistory else { return true }
    return hasReadPosition && position?.history == knownHistory
  }

  /// Takes the next record. Throws where a position record is not readable.
  mutating func read(offset: Int64, key: RowKey, bytes: [UInt8]?, tag: TransactionTag? = nil) throws {
    guard key == PositionRecord.key else {
      rows.append(Row(key: key, bytes: bytes, tag: tag))
      openBytes += rows[rows.count - 1].size
      openSequence = max(openSequence, tag?.sequence ?? 0)
      if openBytes > closeBeyond && offset >= keptFrom { closeEarly() }
      return
    }
    guard let bytes else {
      throw StoreFailure(operation: "restore", reason: "the position record at offset \(offset) is a tombstone")
    }
    let position = try coder.decode(PositionRecord.self, from: bytes)
    close(with: position, keepingRows: offset >= keptFrom)
    self.position = position
    sequence = position.sequence
    offsetBehindPosition = offset + 1
    hasReadPosition = true
  }

  private mutating func close(with position: PositionRecord, keepingRows: Bool) {
    var kept = closedCount
    // Rows of one transaction come together, and share their tag.
    var last: (tag: TransactionTag?, counts: Bool)?
    for index in closedCount..<rows.count {
      let tag = rows[index].tag
      let counts: Bool
      if let last, last.tag === tag {
        counts = last.counts
      } else {
        counts = isClosed(tag, by: position)
        last = (tag, counts)
      }
      if !counts {
        hidden.insert(rows[index].key)
        openBytes -= rows[index].size
        continue
      }
      if !hidden.isEmpty { hidden.remove(rows[index].key) }
      if kept != index { rows[kept] = rows[index] }
      kept += 1
    }
    if keepingRows {
      rows.removeLast(rows.count - kept)
      closedCount = kept
      closedBytes += openBytes
    } else {
      rows.removeLast(rows.count - closedCount)
    }
    openBytes = 0
    openSequence = 0
  }

  /// Closes the open rows that position records are sure to close. Those that remain are of one or two transactions. Not
  /// before rows are kept: of those that are not, later ones would be missing.
  private mutating func closeEarly() {
    var open: [Row] = []
    let bytes = openBytes
    openBytes = 0
    for index in closedCount..<rows.count {
      let row = rows[index]
      guard let tag = row.tag, tag.sequence <= openSequence - 2 else {
        open.append(row)
        openBytes += row.size
        continue
      }
      guard sequence < tag.sequence else {
        hidden.insert(row.key)
        continue
      }
      if !hidden.isEmpty { hidden.remove(row.key) }
      rows[closedCount] = row
      closedCount += 1
      closedBytes += row.size
    }
    rows.removeLast(rows.count - closedCount)
    rows += open
    // Where little could be closed it is not tried again with every row.
    if openBytes > bytes / 2 { closeBeyond = max(closeBeyond, 2 * openBytes) }
  }

  private func isClosed(_ tag: TransactionTag?, by position: PositionRecord) -> Bool {
    guard let tag else { return true }
    if tag.sequence == position.sequence { return tag.writer == position.writer }
    return sequence < tag.sequence && tag.sequence < position.sequence
  }

  /// The closed rows so far, the last value of each key, in key order, which are then forgotten.
  mutating func takeClosed() -> [(key: RowKey, bytes: [UInt8]?)] {
    var order = Array(0..<closedCount)
    order.sort { rows[$0].key == rows[$1].key ? $0 < $1 : rows[$0].key < rows[$1].key }
    var last: [(key: RowKey, bytes: [UInt8]?)] = []
    last.reserveCapacity(closedCount)
    for (place, index) in order.enumerated() {
      if place + 1 < order.count, rows[order[place + 1]].key == rows[index].key { continue }
      last.append((rows[index].key, rows[index].bytes))
    }
    rows.removeFirst(closedCount)
    closedCount = 0
    closedBytes = 0
    return last
  }

  /// The keys whose last row does not count: to be written again.
  var tornKeys: [RowKey] {
    let open = rows[closedCount...].map(\.key)
    return hidden.isEmpty ? open : hidden.union(open).sorted()
  }

  /// Whether all that was read are rows of the task's first transaction, which has no position record.
  var holdsFirstTransaction: Bool {
    position == nil && !rows.isEmpty && rows.allSatisfy { $0.tag?.isOfFirstTransaction == true }
  }

  /// Where a later reader may begin; nil: closed groups before hide values that are to be written again.
  var mark: ChangelogAudit.Mark? {
    hidden.isEmpty ? ChangelogAudit.Mark(offset: offsetBehindPosition, sequence: sequence) : nil
  }
}
