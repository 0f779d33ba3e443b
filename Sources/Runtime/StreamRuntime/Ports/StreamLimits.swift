public import NudgeSchema

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
  public var commitCompany = 16
  /// The same as a size of outputs in bytes, because a record may be for hundreds of people.
  public var commitCompanyBytes = 128 << 10
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
