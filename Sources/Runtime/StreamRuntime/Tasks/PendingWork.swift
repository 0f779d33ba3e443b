/// The size of the open work of a thread's tasks.
struct PendingWork: Equatable {
  /// Records processed.
  private(set) var records = 0
  /// Bytes of outputs.
  private(set) var bytes = 0
  /// Changed rows; each row counts once.
  private(set) var rows = 0

  /// Adds work.
  mutating func add(records: Int = 0, bytes: Int, rows: Int = 0) {
    self.records += records
    self.bytes += bytes
    self.rows += rows
  }

  /// Whether the work fills a transaction. Then it must not grow before it is committed.
  func isFull(_ limits: StreamLimits) -> Bool {
    records >= limits.maxBatchRecords || bytes > limits.maxTransactionBytes || rows > limits.maxTransactionRows
  }
}
