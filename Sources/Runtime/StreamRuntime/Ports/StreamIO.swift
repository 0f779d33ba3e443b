import NudgeSchema

/// Everything impure that a stream thread does: Kafka, stores and clocks. `KafkaStreamIO` is the real one; simulation has
/// a model of a broker and a disk behind the same calls, so that the code under test is the code that runs.
///
/// One thread uses an instance. Calls block at most as long as they say.
protocol StreamIO: StreamClocks, GroupInput, TransactionIO, ChangelogIO {}

/// Time.
protocol StreamClocks: AnyObject {
  /// Milliseconds since the epoch.
  var wallClock: Milliseconds { get }
  /// Milliseconds of a clock that never goes back and runs while the machine sleeps.
  var steadyClock: Milliseconds { get }
}

/// The consumer group, and the inputs it gives to this thread.
protocol GroupInput: AnyObject {
  /// Waits up to `timeout` milliseconds for records or a change of the group; at most `maxRecords` and about `maxBytes`.
  /// Only records of the last `assign` come out.
  func poll(timeout: Milliseconds, maxRecords: Int, maxBytes: Int) throws(IOFailure) -> PollResult
  /// Consumes exactly these inputs from these offsets. Also the answer to every `assigned` and `revoked`; empty: nothing.
  func assign(_ starts: [InputPosition]) throws(IOFailure)
  /// Stops, or goes on with, the delivery of records; the group goes on being served.
  func setPaused(_ paused: Bool) throws(IOFailure)
  /// Waits up to `timeout` milliseconds, or until something is posted to the thread from outside.
  func idle(atMost timeout: Milliseconds)
  /// The group's committed offsets of the tasks' inputs. `unstable` while a transaction on them is pending.
  func committedOffsets(of tasks: [Int32]) throws(IOFailure) -> [CommittedInput]
  /// Where a partition of an input begins and ends.
  func inputEnds(of topic: Topic, task: Int32) throws(IOFailure) -> LogEnds
}

/// Transactions, one at a time.
protocol TransactionIO: AnyObject {
  /// Replaces the thread's producers by ones with new epochs: what the old ones left open is aborted, and can be committed
  /// no more.
  func openProducers() throws(IOFailure)
  /// The only broker was away since the producers were opened, and may have left out markers: new producers see to that.
  var hasLostBroker: Bool { get }
  /// Ends transactions of the stage that were decided, and whose markers a lone broker has left out, also those of other
  /// threads. `openProducers` does so for this thread's own.
  func endHanging() throws(IOFailure)
  /// Ends those of them that have been open since the last call, where there is one broker; cheap while none are. Called no
  /// more often than a transaction can be open.
  func watchTransactions() throws(IOFailure)
  /// What was ended so since this was asked last.
  func takeEnded() -> [EndedTransaction]
  /// Begins to commit a transaction, as the member of the group that the thread is now. Until its outcome was taken nothing else
  /// may be asked of this part.
  func begin(_ transaction: SealedTransaction)
  /// What became of the transaction; nil: that is not known yet. Waits that are under way end when it is.
  func takeOutcome() -> CommitOutcome?
  #if DEBUG
    /// From now on asks, where a transaction is on its way to a broker, whether it is to fail there: with `midTransaction` and
    /// `beforeCommit`.
    func interruptTransactions(_ fails: @escaping @Sendable (FailPoint) -> Bool)
  #endif
}

/// Changelogs, and the stores that are made of them.
protocol ChangelogIO: AnyObject {
  associatedtype Store: TaskStore

  /// Where a task's changelog begins and ends.
  func changelogEnds(of task: Int32) throws(IOFailure) -> LogEnds
  /// Reads exactly these tasks' changelogs from these offsets, committed records only.
  func readChangelogs(_ starts: [Int32: Int64]) throws(IOFailure)
  /// What has been read, waiting up to `timeout` milliseconds.
  func pollChangelogs(timeout: Milliseconds) throws(IOFailure) -> [ChangelogItem]
  /// Opens a task's store; a damaged one is made anew.
  func openStore(of task: Int32) throws -> Store
}

/// Why a call of a stream thread's I/O failed, as far as its decisions need to know.
struct IOFailure: Error, Equatable, CustomStringConvertible {
  enum Kind: Equatable {
    /// The same call may succeed later. Inside a transaction: the transaction has failed.
    case retriable
    /// Someone else has this thread's name, or its partitions.
    case fenced
    /// The group does not count this thread as a member now: a poll joins it again, and says what was lost.
    case notMember
    /// A transaction on the group's offsets is pending.
    case unstable
    /// Nothing helps: configuration, authorization, a broken disk.
    case fatal
  }
  var kind: Kind
  var operation: String
  var reason: String

  /// The same call may succeed later.
  var isRetriable: Bool { kind == .retriable || kind == .unstable || kind == .notMember }

  var description: String { "\(operation): \(reason)" }
}

/// What a poll brought: at most one change of the group, and the records before it.
struct PollResult {
  var records: [InputRecord] = []
  var change: GroupChange?
}

/// A change of what the group gives to this member. Each one is to be answered with `StreamIO.assign`.
enum GroupChange: Equatable {
  /// These tasks are this thread's now.
  case assigned([Int32])
  /// These are to be given up in good order.
  case revoked([Int32])
  /// These are somebody else's already.
  case lost([Int32])
}

/// Where to begin in a partition of an input.
struct InputPosition: Equatable {
  var topic: Topic
  var task: Int32
  var offset: Int64
}

/// A committed offset of an input's partition.
struct CommittedInput: Sendable, Equatable {
  var topic: Topic
  var task: Int32
  /// nil: none was ever committed.
  var offset: Int64?
  /// The text committed with it; ours is `PositionRecord.offsetMetadata`.
  var metadata: String = ""
}

/// Where a partition begins and ends.
struct LogEnds: Equatable {
  /// The first offset that is kept.
  var start: Int64
  /// The high watermark: the offset after the last record, committed or not.
  var high: Int64
}

/// Something read from a changelog.
enum ChangelogItem: Equatable {
  /// A committed record.
  case record(task: Int32, offset: Int64, timestamp: Milliseconds, key: RowKey, bytes: [UInt8]?)
  /// All before this offset has been read, and it is the last stable offset now.
  case end(task: Int32, offset: Int64)
}
