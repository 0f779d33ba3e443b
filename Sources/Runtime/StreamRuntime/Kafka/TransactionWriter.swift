import Kafka
import NudgeSchema
import ServiceKit

/// How a stream thread's transactions reach Kafka.
///
/// There are two. `SinkTransactions` speaks transactions of version 2. `LibrdkafkaTransactions` is for the embedded broker,
/// which has none: librdkafka and its mock cluster agree on what that means. One call at a time, from whichever thread
/// (`CommitThread`).
protocol TransactionWriter: AnyObject {
  /// Replaces the producers by ones with new epochs.
  func open() throws(IOFailure)
  /// Commits a transaction of the group's member. All records are acknowledged before the offsets are sent, and these
  /// before it is ended.
  func commit(_ transaction: SealedTransaction, by member: ConsumerGroupMetadata) -> CommitOutcome
  #if DEBUG
    /// See `StreamIO.interruptTransactions`.
    func interrupt(_ fails: @escaping @Sendable (FailPoint) -> Bool)
  #endif
  /// The only broker was away since `open`.
  var hasLostBroker: Bool { get }
  /// Ends transactions of the stage, also of others' ids, that were decided and whose markers a lone broker has left out.
  func endHanging() throws(IOFailure)
  /// Ends those of them that have been open since the last call, where there is one broker.
  func watch() throws(IOFailure)
  /// What was ended so, by `open` too, since this was asked last.
  func takeEnded() -> [EndedTransaction]
  func close()
}

/// What a broker refuses and will refuse again: what an operator has to do about it ends the process.
enum LastingRefusal {
  case forbidden
  case tooLarge
  case invalidRecord
  case topicGone

  /// What is to be done.
  var fix: String {
    switch self {
    case .forbidden: "give the service this right (back)"
    // No output is larger than a topic of ours takes, so the topic takes less than it should.
    case .tooLarge:
      "the topics need max.message.bytes=\(TopicPlan(.deadLetters).maxMessageBytes); nudge topics create says which differ"
    case .invalidRecord: "nudge topics create says which topics are not configured as they must be"
    case .topicGone: "a topic is gone; make what is missing with: nudge topics create"
    }
  }
}

/// How long transactions have failed because a topic is not known: while a broker starts, or leaders move, one may be
/// unknown for a moment.
struct TopicPatience {
  /// A topic that is unknown for longer than this is gone, in milliseconds.
  private static let limit: Milliseconds = 60_000
  private var since: Milliseconds?

  /// Again. Whether it has been too long.
  mutating func isOver() -> Bool {
    let now = SystemClock.steadyMilliseconds()
    let since = since ?? now
    self.since = since
    return now - since > Self.limit
  }
}

extension CommitOutcome {
  /// What no repetition mends.
  static func refused(_ refusal: LastingRefusal, _ operation: String, _ reason: String) -> CommitOutcome {
    .refused("\(operation): \(reason): this does not pass; \(refusal.fix)")
  }

  /// A topic that the stage does not name among its outputs.
  static func undeclared(_ topic: Topic, _ stage: StageDefinition) -> CommitOutcome {
    .refused("produce: stage \(stage.name) does not say that it writes \(topic.rawValue)")
  }
}
