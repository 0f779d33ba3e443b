import NudgeSchema

/// All I/O of a stream thread: Kafka, stores and clocks. `KafkaStreamIO` implements it on a real cluster. The simulation implements it on a
/// model of brokers and disks, and so tests the production loop.
///
/// One thread uses an instance. Calls throw `IOFailure`. After a retriable failure a later turn calls again; any other failure ends the
/// thread.
protocol StreamIO: StreamClocks, GroupInput, TransactionIO, ChangelogIO {}

protocol StreamClocks: AnyObject {
  /// Milliseconds since the epoch.
  var wallClock: Milliseconds { get }
  /// Milliseconds of a monotonic clock that runs while the machine is suspended.
  var steadyClock: Milliseconds { get }
}

/// The consumer group, and the inputs it assigns to this thread.
protocol GroupInput: AnyObject {
  /// Waits up to `timeout` milliseconds for records or a rebalance. Returns at most `maxRecords` records of about `maxBytes`, all from
  /// the inputs of the last `assign`.
  func poll(timeout: Milliseconds, maxRecords: Int, maxBytes: Int) throws(IOFailure) -> PollResult
  /// Consumes these inputs, and no others, from these offsets. Call it once for every `GroupChange`.
  func assign(_ starts: [InputPosition]) throws(IOFailure)
  /// Pauses or resumes the delivery of records. Polls keep the membership alive either way.
  func setPaused(_ paused: Bool) throws(IOFailure)
  /// Waits up to `timeout` milliseconds, or until another thread posts a reply or an outcome.
  func idle(atMost timeout: Milliseconds)
  /// The group's committed offsets of the tasks' inputs. Fails with `unstable` while a transaction on them is pending.
  func committedOffsets(of tasks: [Int32]) throws(IOFailure) -> [CommittedInput]
  /// The ends of an input's partition.
  func inputEnds(of topic: Topic, task: Int32) throws(IOFailure) -> LogEnds
  /// The present topic ids of the inputs and the changelog.
  func topicIDs() throws(IOFailure) -> TopicIDs
  /// The records with `RecordHeader.handover` in these spans, as many as can be read within some seconds.
  func handovers(in spans: [InputSpan]) throws(IOFailure) -> [InputRecord]
}

/// Transactions, one at a time.
protocol TransactionIO: AnyObject {
  /// Gets new epochs of the thread's transactional ids, which aborts their open transactions.
  func openProducers() throws(IOFailure)
  /// Whether the only broker was away since the producers were opened. It may have left out markers, which `openProducers` writes.
  var hasLostBroker: Bool { get }
  /// Completes the decided transactions of all of the stage's threads whose markers a lone broker has left out. `openProducers` completes
  /// only this thread's own.
  func endHanging() throws(IOFailure)
  /// On a cluster of one broker, completes the decided transactions that have been open since the last call. Leave at least the transaction
  /// time-out between two calls.
  func watchTransactions() throws(IOFailure)
  /// The transactions that these calls have completed since the last `takeEnded`.
  func takeEnded() -> [EndedTransaction]
  /// Begins to commit a transaction, with the thread's current group membership. Take its outcome before any other call of `TransactionIO`.
  func begin(_ transaction: SealedTransaction)
  /// Writes records to inputs of this stage, outside of transactions, each at least once. Returns when all are written, or throws after
  /// some seconds.
  func handOver(_ records: [OutputRecord]) throws(IOFailure)
  /// The outcome of the transaction. Absent until it is known. `idle` and `poll` return early when it arrives.
  func takeOutcome() -> CommitOutcome?
  #if DEBUG
    /// Asks `fails` at `midTransaction` and `beforeCommit` whether the transaction in flight fails there.
    func interruptTransactions(_ fails: @escaping @Sendable (FailPoint) -> Bool)
  #endif
}

/// Changelogs, and the stores built from them.
protocol ChangelogIO: AnyObject {
  associatedtype Store: TaskStore

  /// The ends of a task's changelog.
  func changelogEnds(of task: Int32) throws(IOFailure) -> LogEnds
  /// Reads committed records of these tasks' changelogs, and no others, from these offsets.
  func readChangelogs(_ starts: [Int32: Int64]) throws(IOFailure)
  /// Waits up to `timeout` milliseconds for records of the changelogs.
  func pollChangelogs(timeout: Milliseconds) throws(IOFailure) -> [ChangelogItem]
  /// Opens a task's store. A damaged store is replaced by an empty one.
  func openStore(of task: Int32) throws -> Store
}

/// A failed call of `StreamIO`, with the kind that decides what follows.
struct IOFailure: Error, Equatable, CustomStringConvertible {
  enum Kind: Equatable {
    /// The same call may succeed later. The turn ends, and the next one retries.
    case retriable
    /// A broker refuses the offset to read from. It may be a former leader that does not know the new one, or its log may have been
    /// truncated. Assign the partition again to continue reading.
    case offsetRefused
    /// Another process has this thread's transactional id or group instance id. The thread ends, and the process exits with 75.
    case fenced
    /// This thread is not a member of the group. The next poll joins again, and reports the tasks as lost.
    case notMember
    /// A transaction on the group's offsets is pending.
    case unstable
    /// Configuration, authorization or a broken disk. The thread ends, and the process exits with 70.
    case fatal
  }
  var kind: Kind
  var operation: String
  var reason: String

  /// Whether the same call may succeed later.
  var isRetriable: Bool {
    switch kind {
    case .retriable, .offsetRefused, .unstable, .notMember: true
    case .fenced, .fatal: false
    }
  }

  var description: String { "\(operation): \(reason)" }
}

/// The result of a poll: records, and at most one rebalance that follows them.
struct PollResult {
  var records: [InputRecord] = []
  var change: GroupChange?
}

/// A rebalance. Answer each one with `GroupInput.assign`.
enum GroupChange: Equatable {
  /// The thread owns these tasks now.
  case assigned([Int32])
  /// The thread still owns these tasks, and must commit and give them up.
  case revoked([Int32])
  /// Another member may own these tasks already.
  case lost([Int32])
}

/// Where to start in an input's partition.
struct InputPosition: Equatable {
  var topic: Topic
  var task: Int32
  var offset: Int64
}

/// Records of an input's partition, by their offsets.
struct InputSpan: Equatable {
  var topic: Topic
  var task: Int32
  var offsets: Range<Int64>
}

/// A committed offset of an input's partition.
struct CommittedInput: Sendable, Equatable {
  var topic: Topic
  var task: Int32
  /// The offset. Absent if none was ever committed.
  var offset: Int64?
  /// The metadata committed with the offset. Nudge writes `PositionRecord.offsetMetadata`.
  var metadata: String = ""
}

/// Where a partition begins and ends.
struct LogEnds: Equatable {
  /// The first offset that is kept.
  var start: Int64
  /// The high watermark: the offset after the last record, committed or not.
  var high: Int64
}

/// An event while changelogs are read.
enum ChangelogItem: Equatable {
  /// A committed record.
  case record(task: Int32, offset: Int64, timestamp: Milliseconds, key: RowKey, bytes: [UInt8]?)
  /// All records before this offset, the last stable one, have been read.
  case end(task: Int32, offset: Int64)
}

/// The encoded content of one transaction. It is immutable, and committed as a whole or not at all.
struct SealedTransaction: Sendable {
  /// The part of one task.
  struct Part: Sendable {
    let task: Int32
    /// The outputs, in order.
    let outputs: [OutputRecord]
    /// Changed rows for the task's changelog. Absent bytes are a tombstone.
    let changes: [(key: RowKey, bytes: [UInt8]?)]
    /// The position record, written after the rows.
    let position: [UInt8]
  }

  /// One part for each task with uncommitted work.
  let parts: [Part]
  /// Offsets of the tasks' inputs. They are committed with the group's metadata, which fences former owners (KIP-447).
  let offsets: [CommittedInput]
  /// The ids of the tasks' inputs and changelogs. The commit is refused if one of the topics was created again since.
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
  /// It is committed. `positions` has the offsets of the position records by task, without those that no broker reported.
  case committed(positions: [Int32: Int64])
  /// It is not committed, and cannot be once new producers are open.
  case notCommitted(String)
  /// As `notCommitted`, because this thread is not a member of the group. The next poll joins again, and reports the tasks as lost.
  case notMember(String)
  /// It may be committed, or be committed later. `openProducers` settles that, and the changelogs then show the result.
  case unknown(String)
  /// Another producer has this thread's transactional id.
  case fenced(String)
  /// It is not committed, and the broker will never accept this content.
  case refused(String)
}

/// A hanging transaction that was completed: its missing markers were written, as its coordinator had decided.
public struct EndedTransaction: Sendable, Equatable, Encodable {
  /// The producer's transactional id.
  public var transactionalID: String
  /// Whether it was committed. Otherwise it was aborted.
  public var isCommit: Bool
  /// The partitions that lacked a marker, as `topic-partition`, sorted.
  public var partitions: [String]

  private enum CodingKeys: String, CodingKey {
    case transactionalID = "transactionalId"
    case isCommit = "commit"
    case partitions
  }
}
