public import NudgeSchema

/// What a stream thread tells those who watch it: for logs, metrics and readiness. None holds a record's content.
public enum StreamEvent: Sendable, Equatable {
  /// The group gave these tasks.
  case assigned(tasks: [Int32])
  /// The group took these tasks in good order, or they were lost to somebody else.
  case released(tasks: [Int32], lost: Bool)
  /// A store could not be used and was wiped.
  case storeWiped(task: Int32, reason: String)
  /// A restore goes on: rows read so far, and the offset reached of the one to reach. Where lost state is rebuilt: records
  /// processed so far, and offsets of the inputs, added up.
  case restoring(task: Int32, rows: Int, offset: Int64, target: Int64)
  /// A restore waits: a transaction is pending in the changelog, and holds back what lies behind the last stable offset.
  case restoreHeld(task: Int32, stable: Int64, target: Int64)
  /// Pending transactions do not end: what waits for them. It is looked for those whose markers were left out.
  case markersMissing(what: String)
  /// A transaction whose markers a broker had left out was ended as it was decided.
  case transactionEnded(EndedTransaction)
  /// A task runs: from which sequence and offsets, how long the restore took, and what it read.
  case running(task: Int32, sequence: Int64, next: [String: Int64], rows: Int, milliseconds: Milliseconds)
  /// The group's committed offsets were moved by somebody else; the position of the changelog stands.
  case offsetsMoved(task: Int32, position: [String: Int64], sequence: Int64)
  /// There are committed offsets but no position: an operator decides (docs/operations.md, Lost state).
  case stateLost(task: Int32)
  /// An input ends before the position: an operator decides (docs/operations.md, Lost state).
  case inputBehind(task: Int32, topic: String, position: Int64, end: Int64)
  /// The log begins behind the position: so many records of the topic were never processed.
  case gap(task: Int32, topic: String, from: Int64, to: Int64)
  /// Records were processed; the age is that of the last one, by its timestamp.
  case processed(records: Int, age: Milliseconds)
  /// Timers were due, and were written to the stage's own input.
  case timersFired(count: Int)
  /// A record was on the wrong partition of its topic and was written to the right one (M9).
  case rekeyed
  /// A record went to the dead letters.
  case deadLettered(code: DeadLetterCode, topic: String, partition: Int32, offset: Int64, message: String)
  /// A transaction committed.
  case committed(records: Int, outputs: Int, rows: Int, milliseconds: Milliseconds)
  /// What the stage has counted in a transaction that committed, by the places of its tallies.
  case counted([Int: Int])
  /// A transaction failed, or its outcome is unknown: a new producer, a look at the changelog, the same content again.
  case transactionFailed(reason: String)
  /// For so many milliseconds every attempt to commit has failed; why the last one did.
  case notCommitting(milliseconds: Milliseconds, reason: String)
  /// After `notCommitting`: a transaction can begin again, and nothing is left that waits for one.
  case canCommit
  /// An unknown outcome was cleared up by the changelog.
  case outcomeKnown(task: Int32, committed: Bool)
  /// Committed rows went to the store.
  case stored(task: Int32, rows: Int, milliseconds: Milliseconds)
  /// About how many bytes the rows take that this thread has in memory.
  case cached(bytes: Int)
  /// A call failed and is tried again.
  case retrying(reason: String)
  /// Effects wait because ownership cannot be proven at the moment.
  case effectsHeld(count: Int)
}
