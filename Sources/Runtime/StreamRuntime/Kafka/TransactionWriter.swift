import Kafka
import NudgeSchema
import ServiceKit

/// Writes a stream thread's transactions to Kafka.
///
/// `ProducerTransactions` is for real brokers; `LibrdkafkaTransactions` for the embedded one, which speaks older requests only. One call at a
/// time, from any thread (`CommitThread`).
protocol TransactionWriter: AnyObject {
  /// Replaces the producers by ones with new epochs.
  func open() throws(IOFailure)
  /// Commits a transaction as a member of the group. The brokers acknowledge all records before the offsets are sent, and the offsets
  /// before the end.
  func commit(_ transaction: SealedTransaction, by member: ConsumerGroupMetadata) -> CommitOutcome
  #if DEBUG
    /// See `StreamIO.interruptTransactions`.
    func interrupt(_ fails: @escaping @Sendable (FailPoint) -> Bool)
  #endif
  /// Whether the only broker was away since `open`.
  var hasLostBroker: Bool { get }
  /// Ends hanging transactions of all threads of the stage.
  func endHanging() throws(IOFailure)
  /// Ends those that have been open since the last call, on a cluster of one broker.
  func watch() throws(IOFailure)
  /// Transactions ended in this way, also by `open`, since the last call.
  func takeEnded() -> [EndedTransaction]
  /// The ids of the stage's inputs and changelog; empty where the broker has none.
  func topicIDs() throws(IOFailure) -> TopicIDs
  /// Writes records of the stage's inputs, beside transactions.
  func handOver(_ records: [OutputRecord]) throws(IOFailure)
  func close()
}

/// A broker's refusal that retries cannot change. It ends the process with the fix.
enum LastingRefusal {
  case forbidden
  case tooLarge
  case invalidRecord
  case topicGone

  /// The fix, for the operator.
  var fix: String {
    switch self {
    case .forbidden: "give the service this right (back)"
    // Outputs fit topics as Nudge creates them, so this topic's limit is too low.
    case .tooLarge:
      "the topics need max.message.bytes=\(TopicPlan(.deadLetters).maxMessageBytes); nudge topics create says which differ"
    case .invalidRecord: "nudge topics create says which topics are not configured as they must be"
    case .topicGone: "a topic is gone; make what is missing with: nudge topics create"
    }
  }
}

/// Bounds how long a topic may be unknown: it may be for a moment while a broker starts or leaders move.
struct TopicPatience {
  /// How long a topic may be unknown, in milliseconds.
  private static let limit: Milliseconds = 60_000
  private var since: Milliseconds?

  /// Notes that the topic is unknown. Returns whether that has lasted too long.
  mutating func isOver() -> Bool {
    let now = SystemClock.steadyMilliseconds()
    let since = since ?? now
    self.since = since
    return now - since > Self.limit
  }
}

extension CommitOutcome {
  static func refused(_ refusal: LastingRefusal, _ operation: String, _ reason: String) -> CommitOutcome {
    .refused("\(operation): \(reason): this does not pass; \(refusal.fix)")
  }

  /// The outcome for a topic that is not among the stage's outputs.
  static func undeclared(_ topic: Topic, _ stage: StageDefinition) -> CommitOutcome {
    .refused("produce: stage \(stage.name) does not say that it writes \(topic.rawValue)")
  }
}
