/// How much a thread has done that is not committed, of all its tasks.
struct PendingWork: Equatable {
  /// Records processed.
  private(set) var records = 0
  /// Bytes of their outputs.
  private(set) var bytes = 0
  /// Rows they have changed, each counted once between two commits.
  private(set) var rows = 0

  /// More was done.
  mutating func add(records: Int = 0, bytes: Int, rows: Int = 0) {
    self.records += records
    self.bytes += bytes
    self.rows += rows
  }

  /// Whether it is enough for a transaction: nothing is added to it before it is committed, for however long that takes.
  func isFull(_ limits: StreamLimits) -> Bool {
    records >= limits.maxBatchRecords || bytes > limits.maxTransactionBytes || rows > limits.maxTransactionRows
  }
}
