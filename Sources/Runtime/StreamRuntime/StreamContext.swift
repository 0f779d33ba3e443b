public import NudgeSchema
public import ServiceKit

/// The shared context of a stream thread's parts.
struct StreamContext<IO: StreamIO> {
  let io: IO
  let topics: TopicNames
  let partitionCounts: [Topic: Int32]
  let limits: StreamLimits
  /// Identifies this thread in position records, which add the epoch of the task.
  let writer: String
  /// The recorder of spans. Absent if traces are not recorded.
  let spans: (any SpanRecorder)?
  let observe: (StreamEvent) -> Void
  let coder = RecordCoder()
}

/// The surroundings of a stage in its process: the source of its policy, and the place where its statistics are shown.
struct StageSurroundings<S: Stage> {
  /// Returns the policy in force, once a turn. Absent: the stage's own policy stays in force.
  var policy: (() -> S.Policy)?
  /// Shows the stage's statistics. Absent if nothing shows them.
  var show: ((S.Statistics) -> Void)?
}

/// Why a stream thread ended. Thrown to end it.
enum StreamExit: Error, Equatable {
  /// It stopped on request, after draining.
  case stopped
  /// Another process has taken its transactional id or group instance id.
  case fenced
  /// It cannot continue. The reason is for operators.
  case failed(String)
}

/// An event of a stream thread, for logs, metrics and readiness. No event has a record's content.
public enum StreamEvent: Sendable, Equatable {
  /// The group assigned these tasks.
  case assigned(tasks: [Int32])
  /// The thread gave up these tasks, or lost them.
  case released(tasks: [Int32], lost: Bool)
  /// A useless store was wiped.
  case storeWiped(task: Int32, reason: String)
  /// The progress of a restore: rows read, current offset and target. While lost state is rebuilt: records processed, and sums of the
  /// inputs' offsets.
  case restoring(task: Int32, rows: Int, offset: Int64, target: Int64)
  /// A restore waits for a pending transaction in the changelog.
  case restoreHeld(task: Int32, stable: Int64, target: Int64)
  /// Pending transactions do not end. The thread looks for missing markers.
  case markersMissing(what: String)
  /// A hanging transaction was ended in the way it had been decided.
  case transactionEnded(EndedTransaction)
  /// A task runs, from this sequence and these offsets, after a restore of this length and number of rows.
  case running(task: Int32, sequence: Int64, next: [String: Int64], rows: Int, milliseconds: Milliseconds)
  /// The operator has finalised a level, at which the task writes from now on.
  case levelRaised(task: Int32, to: FormatLevel)
  /// Another client moved the group's committed offsets. The task continues from its position.
  case offsetsMoved(task: Int32, position: [String: Int64], sequence: Int64)
  /// The group has committed offsets, but the changelog has no position. An operator decides (docs/operations.md, Lost state).
  case stateLost(task: Int32)
  /// An input ends before the position. An operator decides (docs/operations.md, Lost state).
  case inputBehind(task: Int32, topic: String, position: Int64, end: Int64)
  /// An input is not the position's topic, which was deleted and created again. An operator decides (docs/operations.md, Lost state).
  case inputReplaced(task: Int32, topic: String, position: Int64)
  /// The changelog is not the position's topic, which was deleted and created again: the state is lost.
  case changelogReplaced(task: Int32, topic: String)
  /// An input begins after the position. The records in between were never processed.
  case gap(task: Int32, topic: String, from: Int64, to: Int64)
  /// Records were processed. The age is that of the last record, by its timestamp.
  case processed(records: Int, age: Milliseconds)
  /// Due timers were written to the stage's own input.
  case timersFired(count: Int)
  /// A record was on the wrong partition of its topic and was written to the right one (M9).
  case rekeyed
  /// A record went to the dead letters.
  case deadLettered(
    code: DeadLetterCode, topic: String, partition: Int32, offset: Int64, message: String, trace: TraceContext?)
  case committed(records: Int, outputs: Int, rows: Int, milliseconds: Milliseconds)
  /// A transaction is committed. Its steps counted these metrics.
  case counted([StageCount])
  /// A transaction failed, or its outcome is unknown. The thread recovers and retries.
  case transactionFailed(reason: String)
  /// No commit has succeeded for this many milliseconds. The reason is that of the last failure.
  case notCommitting(milliseconds: Milliseconds, reason: String)
  /// Commits succeed again after `notCommitting`.
  case canCommit
  /// The changelog showed the outcome of a transaction.
  case outcomeKnown(task: Int32, committed: Bool)
  /// Committed rows were handed to the store.
  case stored(task: Int32, rows: Int, milliseconds: Milliseconds)
  /// The estimated size of the thread's rows in memory.
  case cached(bytes: Int)
  /// A call failed and will be retried.
  case retrying(reason: String)
  /// A broker refused an offset. The inputs are assigned again, by new metadata.
  case offsetRefused(reason: String)
  /// Effects wait for a proof of ownership.
  case effectsHeld(count: Int)
}

/// How often a stage's metric occurred.
public struct StageCount: Sendable, Equatable {
  /// The metric.
  public var metric: any StageMetric
  /// Its occurrences.
  public var count: Int

  public static func == (a: StageCount, b: StageCount) -> Bool {
    a.count == b.count && AnyHashable(a.metric) == AnyHashable(b.metric)
  }
}

/// Bounds and times of a stream thread.
public struct StreamLimits: Sendable, Equatable {
  /// The largest number of records in a transaction.
  public var maxBatchRecords = 1000
  /// The approximate largest size of the records polled for a transaction, in bytes.
  public var maxBatchBytes = 8 << 20
  /// The size of outputs, of all tasks of a thread, that fills a transaction, in bytes.
  public var maxTransactionBytes = 8 << 20
  /// The number of changed rows and timers, of all tasks of a thread, that fills a transaction.
  public var maxTransactionRows = 20_000
  /// The largest output, in bytes with key and headers. A record with a larger output becomes a dead letter. It is below the topics'
  /// `max.message.bytes` of 4 MiB.
  public var maxOutputBytes = 3 << 20
  /// The largest dead letter, in bytes with key and headers. Larger ones are cut. It is below the topic's `max.message.bytes`, because
  /// the batch header needs room.
  public var maxDeadLetterBytes = TopicPlan(.deadLetters).maxMessageBytes - batchOverhead
  /// The longest wait in a poll, in milliseconds.
  public var maxPollWait: Milliseconds = 100
  /// How long a stage with effects gathers replies before it commits, in milliseconds.
  public var replyLinger: Milliseconds = 40
  /// The longest wait of a stage without effects after a transaction with few records, in milliseconds. The wait is as long as that
  /// transaction took.
  public var maxCommitWait: Milliseconds = 10
  /// The number of records that makes a transaction worth its cost to the broker: no wait follows it, and so many new records end a wait.
  public var worthwhileRecords = 16
  /// The same as a size of outputs in bytes, because a record may be for hundreds of people.
  public var worthwhileBytes = 128 << 10
  /// The number of records of a batch after which a stage with effects takes replies.
  public var replyStride = 32
  /// The number of effects, in flight and waiting, above which the inputs are paused until half of them are done.
  public var maxEffects = 2000
  /// How long a commit may be in flight, in milliseconds, before further effects wait. Their rows are committed after it, and a crash
  /// repeats effects whose rows are not committed.
  public var maxEffectLead: Milliseconds = 200
  /// The largest number of effects of lost tasks that a process keeps. Above it, the oldest are dropped.
  public var maxOutlivingEffects = 10_000
  /// How long the reply to an effect of a lost task is kept, in milliseconds by the steady clock.
  public var replyRetention: Milliseconds = 600_000
  /// How long a task waits for the reply to a request that a former owner has in flight, in milliseconds. It is longer than a request may
  /// take.
  public var handoverPatience: Milliseconds = 25_000
  /// How long a thread that has lost its session tries to hand over its effects, in milliseconds, before it joins the group again. The
  /// group's next generation waits for this thread if the broker was away from all members.
  public var handoverDelay: Milliseconds = 60_000
  /// How long a thread that ends with an error tries to hand over its effects, in milliseconds.
  public var endHandover: Milliseconds = 3_000
  /// How long the effects of a returned task wait until the task has read as far as it had when it was lost, in milliseconds.
  public var catchUpPatience: Milliseconds = 5000
  /// How often an idle stage with effects proves that it owns its tasks, in milliseconds.
  public var proofInterval: Milliseconds = 1600
  /// The group's session time-out, in milliseconds: how long the partitions of a dead process stay idle. A proof of ownership holds for
  /// half of it. No request to Kafka may keep the thread from its group for longer.
  public var sessionTimeout: Milliseconds = 8000
  /// How often a member sends a heartbeat to the group, and learns of a rebalance, in milliseconds.
  public var heartbeatInterval: Milliseconds = 500
  /// How long a look at the changelogs after an unknown outcome may take, in milliseconds. It is longer than `markerPatience`.
  public var positionPatience: Milliseconds = 30_000
  /// How long to wait for replies when tasks are revoked, in milliseconds.
  public var revokeDrain: Milliseconds = 2000
  /// How long to wait for replies on stop, in milliseconds.
  public var stopDrain: Milliseconds = 8000
  /// The approximate size of rows in memory, of all tasks of a thread, in bytes.
  public var cacheBytes = 16 << 20
  /// The number of committed rows, of all tasks of a thread, that may wait for the store. They stay in memory, whatever `cacheBytes` is.
  /// Above it the tasks with the most rows write theirs.
  public var maxUnstoredRows = 16_000
  /// How long a committed row may wait for the store, in milliseconds.
  public var maxUnstoredAge: Milliseconds = 1000
  /// The age at which a store is restored from the start, because tombstones that it lacks may be gone. It is below the changelogs'
  /// `delete.retention.ms` of seven days.
  public var maxStoreAge: Milliseconds = 5 * 86_400_000
  /// The approximate size of restored rows, of all tasks of a thread, that may wait for their stores, in bytes. Above it, the task with the
  /// most rows writes all of its rows: a larger batch makes each row cheaper.
  public var restoreBytes = 64 << 20
  /// How long a restore or a look at the changelogs waits for pending transactions before it looks for missing markers, in milliseconds.
  public var markerPatience: Milliseconds = 8000
  /// How often an idle thread looks for transactions that stay open, in milliseconds. It is longer than the transaction time-out.
  public var markerWatch: Milliseconds = 10_000
  /// How long commits may fail before the thread is not ready, in milliseconds.
  public var commitPatience: Milliseconds = 4000
  /// The highest level that this release knows. A task with a higher level does not run.
  public var latestLevel = FormatLevel.latest
  /// How often a task with lost state is checked again, in milliseconds.
  public var stateLostRetry: Milliseconds = 5000
  /// How long after a refused offset the inputs are assigned again, in milliseconds.
  public var refusalPause: Milliseconds = 500
  /// How long brokers may refuse offsets, in milliseconds, before the thread ends: longer than a broker that is cut off from the others keeps
  /// its session with the controllers (9 s by default), and metadata of the new leader takes to arrive.
  public var refusalPatience: Milliseconds = 30_000

  /// Room for the batch header, which counts towards `max.message.bytes`.
  private static let batchOverhead = 4 << 10

  public init() {}

  /// Applies properties that the operator set for librdkafka. With a shorter `session.timeout.ms` than the limit, a thread would perform
  /// effects when its tasks may have another owner. Records above `message.max.bytes` could not be sent.
  mutating func follow(kafkaProperties: [String: String]) {
    if let text = kafkaProperties["message.max.bytes"], let bytes = Int(text) {
      let room = max(bytes - Self.batchOverhead, 16 << 10)
      maxOutputBytes = min(maxOutputBytes, room)
      maxDeadLetterBytes = min(maxDeadLetterBytes, room)
    }
    guard let text = kafkaProperties["session.timeout.ms"], let milliseconds = Milliseconds(text), milliseconds > 0
    else { return }
    sessionTimeout = milliseconds
    // A proof holds for half a session time-out. Renew it well before.
    proofInterval = min(proofInterval, milliseconds / 5)
    // Two heartbeats may be lost.
    heartbeatInterval = min(heartbeatInterval, milliseconds / 3)
  }
}

#if DEBUG
  /// A named place in a stream thread where a debug build can die, stall or fail. The crash table of docs/architecture.md says which rows
  /// each one tests. The names are those that `NUDGE_FAIL_POINTS` takes.
  enum FailPoint: String, CaseIterable {
    /// Before a transaction begins. No processed work has left the process yet.
    case beforeTransaction = "before-transaction"
    /// Outputs and rows are acknowledged; offsets and positions are not sent.
    case midTransaction = "mid-transaction"
    /// Everything is sent except the request to commit.
    case beforeCommit = "before-commit"
    /// The broker has committed. A failure here loses its answer.
    case commitSent = "commit-sent"
    /// Before a producer is opened: at the start, and as the first step of recovery.
    case producerOpen = "producer-open"
    /// Before a changelog is read: for a restore, or to look up what was committed.
    case restoreRead = "restore-read"
    /// Before a task's store is opened.
    case storeOpen = "store-open"
    /// Before committed or restored rows are written to a store.
    case storeWrite = "store-write"
    /// Effects were performed, and the transaction with their replies has not begun.
    case effectSent = "effect-sent"
  }

  /// The action at a fail-point.
  enum FailAction: Equatable {
    /// The process kills itself, as `kill -9` does.
    case die
    /// The thread stalls for this many milliseconds.
    case stall(Milliseconds)
    /// The call fails, as if a broker or disk had refused it.
    case fail
  }
#endif
