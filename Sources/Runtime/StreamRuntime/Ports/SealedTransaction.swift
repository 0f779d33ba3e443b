import NudgeSchema

/// What one transaction holds, encoded: made once, and never changed. It is committed whole or not at all.
struct SealedTransaction: Sendable {
  /// What a task adds.
  struct Part: Sendable {
    let task: Int32
    /// In order.
    let outputs: [OutputRecord]
    /// Rows for the task's changelog; nil bytes: a tombstone.
    let changes: [(key: RowKey, bytes: [UInt8]?)]
    /// The position record that follows them.
    let position: [UInt8]
  }

  /// Of tasks that have done something.
  let parts: [Part]
  /// Committed with the group's metadata, of all tasks: the fence against former owners (KIP-447).
  let offsets: [CommittedInput]

  /// The same of some tasks only.
  func keeping(_ isKept: (Int32) -> Bool) -> SealedTransaction {
    SealedTransaction(parts: parts.filter { isKept($0.task) }, offsets: offsets.filter { isKept($0.task) })
  }
}

/// What became of a transaction. All but `committed` come with a reason for people.
enum CommitOutcome: Sendable, Equatable {
  /// It is committed. Where the position records lie, by task; of none of which the broker did not tell.
  case committed(positions: [Int32: Int64])
  /// It is not committed, and will not be once the producers were opened anew.
  case notCommitted(String)
  /// As `notCommitted`: the group does not count this thread as a member now. A poll joins it again, and says what was lost.
  case notMember(String)
  /// It may be committed, or be so later. Once the producers were opened anew it is decided, and the changelogs tell.
  case unknown(String)
  /// Somebody else works under this thread's name.
  case fenced(String)
  /// Not committed, and the same content never will be.
  case refused(String)
}
