import NudgeSchema

/// The encoded content of one transaction. It is immutable, and committed as a whole or not at all.
struct SealedTransaction: Sendable {
  /// The part of one task.
  struct Part: Sendable {
    let task: Int32
    /// In order.
    let outputs: [OutputRecord]
    /// Changed rows for the task's changelog; nil bytes are a tombstone.
    let changes: [(key: RowKey, bytes: [UInt8]?)]
    /// The position record, written after the rows.
    let position: [UInt8]
  }

  /// One part for each task with uncommitted work.
  let parts: [Part]
  /// Offsets of the tasks' inputs. They are committed with the group's metadata, which fences former owners (KIP-447).
  let offsets: [CommittedInput]
  /// The topics that the tasks read and keep their state in. Nothing is committed once one is another.
  var topicIDs = TopicIDs()

  /// The transaction without the parts of some tasks.
  func keeping(_ isKept: (Int32) -> Bool) -> SealedTransaction {
    SealedTransaction(
      parts: parts.filter { isKept($0.task) }, offsets: offsets.filter { isKept($0.task) },
      topicIDs: topicIDs)
  }
}

/// The outcome of a transaction. All but `committed` have a reason for operators.
enum CommitOutcome: Sendable, Equatable {
  /// It is committed. Has the offsets of the position records by task, as far as the broker reported them.
  case committed(positions: [Int32: Int64])
  /// It is not committed, and cannot be once new producers are open.
  case notCommitted(String)
  /// As `notCommitted`, because this thread is not a member of the group. A poll joins again and reports lost tasks.
  case notMember(String)
  /// It may be committed, now or later. New producers decide it, and the changelogs show the result.
  case unknown(String)
  /// Another producer has this thread's transactional id.
  case fenced(String)
  /// It is not committed, and the broker will never accept this content.
  case refused(String)
}
