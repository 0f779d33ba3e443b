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
