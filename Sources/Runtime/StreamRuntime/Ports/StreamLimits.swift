public import NudgeSchema

/// Bounds and times of a stream thread.
public struct StreamLimits: Sendable, Equatable {
  /// Records of one transaction at most.
  public var maxBatchRecords = 1000
  /// Bytes of records polled for one transaction, about.
  public var maxBatchBytes = 8 << 20
  /// Bytes of outputs after which a transaction is closed, of all tasks of a thread together, about.
  public var maxTransactionBytes = 8 << 20
  /// Changed rows after which a transaction is closed, timers included, of all tasks of a thread together.
  public var maxTransactionRows = 20_000
  /// The largest record written, in bytes with key and headers; a record that would need more is dead-lettered. Below the
  /// topics' `max.message.bytes` of 4 MiB.
  public var maxOutputBytes = 3 << 20
  /// The largest dead letter written, in bytes with key and headers; of what needs more a part is kept. Below the topic's
  /// `max.message.bytes` by what a batch needs for itself.
  public var maxDeadLetterBytes = TopicPlan(.deadLetters).maxMessageBytes - batchOverhead
  /// The longest wait in a poll, in milliseconds.
  public var maxPollWait: Milliseconds = 100
  /// How long a stage with effects gathers replies before it commits, in milliseconds.
  public var replyLinger: Milliseconds = 40
  /// A stage with effects receives replies after so many records of a batch.
  public var replyStride = 32
  /// Effects under way and waiting, beyond which nothing more is polled until half of them are done.
  public var maxEffects = 2000
  /// A transaction that is on its way for longer than this, in milliseconds, holds back further effects: their rows cannot be
  /// committed before it, and what was done and not committed when the process dies is done again.
  public var maxEffectLead: Milliseconds = 200
  /// Effects of lost tasks whose replies are kept, of a process. The oldest are dropped beyond it.
  public var maxOutlivingEffects = 10_000
  /// How long the reply to an effect of a lost task is kept, in milliseconds by the steady clock.
  public var replyRetention: Milliseconds = 600_000
  /// How often a stage with effects proves that it owns its tasks when it has nothing to commit, in milliseconds.
  public var proofInterval: Milliseconds = 3000
  /// The group's session time-out, in milliseconds: effects are done only within half of it after the last proof.
  public var sessionTimeout: Milliseconds = 30_000
  /// How long to wait for replies when tasks are revoked, in milliseconds.
  public var revokeDrain: Milliseconds = 2000
  /// How long to wait for replies on stop, in milliseconds.
  public var stopDrain: Milliseconds = 8000
  /// Bytes of rows kept in memory, of all tasks of a thread together, about.
  public var cacheBytes = 16 << 20
  /// Committed rows that wait for the store at most, of all tasks of a thread together: until they are there they stay in
  /// memory, whatever `cacheBytes` is. Beyond it, the tasks that have most of them write theirs.
  public var maxUnstoredRows = 8_000
  /// How long a committed row waits for the store at most, in milliseconds.
  public var maxUnstoredAge: Milliseconds = 1000
  /// A store older than this is restored from the log's start: tombstones it lacks may be gone. Below the changelogs'
  /// `delete.retention.ms` of seven days.
  public var maxStoreAge: Milliseconds = 5 * 86_400_000
  /// Bytes of restored rows that wait for their stores at most, of all tasks of a thread together, about. Then the task
  /// that has most of them writes all of its own in one step: the larger the steps, the less a row costs.
  public var restoreBytes = 64 << 20
  /// How long a restore, or a look at the changelogs, waits for pending transactions before it is looked whether their
  /// markers were left out, in milliseconds.
  public var markerPatience: Milliseconds = 8000
  /// How often it is looked for transactions that stay open though nothing here waits for them, in milliseconds; longer than
  /// a transaction may take.
  public var markerWatch: Milliseconds = 10_000
  /// A thread whose commits have failed for so long is not ready, in milliseconds.
  public var commitPatience: Milliseconds = 4000
  /// How long between two looks at a task whose state was lost, in milliseconds.
  public var stateLostRetry: Milliseconds = 5000

  /// Room for the head of a batch, which counts towards `max.message.bytes`, and some to spare.
  private static let batchOverhead = 4 << 10

  /// The defaults.
  public init() {}

  /// Takes up what the operator tells librdkafka about the same times. With another `session.timeout.ms` than the group's,
  /// a thread would go on causing effects when its tasks may have another owner already.
  ///
  /// And about the same sizes: what librdkafka would refuse to send (`message.max.bytes`) is never made.
  mutating func follow(kafkaProperties: [String: String]) {
    if let text = kafkaProperties["message.max.bytes"], let bytes = Int(text) {
      let room = max(bytes - Self.batchOverhead, 16 << 10)
      maxOutputBytes = min(maxOutputBytes, room)
      maxDeadLetterBytes = min(maxDeadLetterBytes, room)
    }
    guard let text = kafkaProperties["session.timeout.ms"], let milliseconds = Milliseconds(text), milliseconds > 0
    else { return }
    sessionTimeout = milliseconds
    // A proof holds for half a session time-out: it must be renewed well before that.
    proofInterval = min(proofInterval, milliseconds / 8)
  }
}
