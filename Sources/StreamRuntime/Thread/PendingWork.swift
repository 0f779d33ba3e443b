/// How much a thread has done that is not committed, of all its tasks.
struct PendingWork: Equatable {
  /// Records processed.
  var records = 0
  /// Bytes of their outputs.
  var bytes = 0
  /// Rows they have changed, each counted once between two commits.
  var rows = 0

  /// More was done.
  mutating func add(_ more: PendingWork) {
    records += more.records
    bytes += more.bytes
    rows += more.rows
  }

  /// Whether it is enough for a transaction: nothing is added to it before it is committed, for however long that takes.
  func isFull(_ limits: StreamLimits) -> Bool {
    records >= limits.maxBatchRecords || bytes > limits.maxTransactionBytes || rows > limits.maxTransactionRows
  }
}
