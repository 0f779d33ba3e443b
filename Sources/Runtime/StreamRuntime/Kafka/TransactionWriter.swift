import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import Synchronization

/// Writes a stream thread's transactions to Kafka.
///
/// `ProducerTransactions` is for real brokers. `LibrdkafkaTransactions` is for the embedded broker, which supports only older requests.
/// Calls may come from any thread, one at a time (`CommitThread`).
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
  /// Ends transactions that have been open since the last call, on a cluster of one broker.
  func watch() throws(IOFailure)
  /// The transactions that these calls and `open` have ended since the last `takeEnded`.
  func takeEnded() -> [EndedTransaction]
  /// The ids of the stage's inputs and changelog. Empty if the broker has none.
  func topicIDs() throws(IOFailure) -> TopicIDs
  /// Writes records of the stage's inputs, beside transactions.
  func handOver(_ records: [OutputRecord]) throws(IOFailure)
  func close()
}

/// A broker's refusal that retries cannot change. It ends the process with the remedy.
enum LastingRefusal {
  case forbidden
  case tooLarge
  case invalidRecord
  case topicGone

  /// The remedy, for the operator.
  var fix: String {
    switch self {
    case .forbidden: "give the service this right (back)"
    // Outputs fit topics as Nudge creates them, so this topic's limit was lowered.
    case .tooLarge:
      "the topics need max.message.bytes=\(TopicPlan(.deadLetters).maxMessageBytes); nudge topics create says which differ"
    case .invalidRecord: "nudge topics create says which topics are not configured as they must be"
    case .topicGone: "a topic is gone; make what is missing with: nudge topics create"
    }
  }
}

/// Limits how long a topic may be unknown. It may be unknown for a moment while a broker starts or leaders move.
struct TopicPatience {
  /// How long a topic may be unknown, in milliseconds.
  private static let limit: Milliseconds = 60_000
  private var since: Milliseconds?

  /// Records that the topic is unknown. Returns whether that has lasted too long.
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

/// Commits a stream thread's transactions on its own thread, one at a time, so that the stream thread need not wait.
final class CommitThread: Sendable {
  private struct State: Sendable {
    var transaction: (SealedTransaction, ConsumerGroupMetadata)?
    var outcome: CommitOutcome?
    var isClosed = false
  }

  /// This thread uses the writer while it commits, and the stream thread at other times.
  private let writer: Mutex<any TransactionWriter>
  private let state = Mutex(State())
  private let work = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)
  private let onOutcome: @Sendable () -> Void

  /// - Parameter onOutcome: Called from any thread when an outcome can be taken.
  init(_ writer: sending any TransactionWriter, name: String, onOutcome: @escaping @Sendable () -> Void) {
    self.writer = Mutex(writer)
    self.onOutcome = onOutcome
    let thread = Thread { [self] in run() }
    thread.name = name
    thread.stackSize = 1 << 20
    thread.start()
  }

  /// Begins to commit a transaction. Take the previous outcome first.
  func begin(_ transaction: SealedTransaction, by member: ConsumerGroupMetadata) {
    state.withLock { $0.transaction = (transaction, member) }
    work.signal()
  }

  /// The outcome of the transaction. Absent until it is known.
  func takeOutcome() -> CommitOutcome? {
    state.withLock { state in
      defer { state.outcome = nil }
      return state.outcome
    }
  }

  /// Ends a transaction. The stream thread calls it for one that could not begin.
  func setOutcome(_ outcome: CommitOutcome) {
    state.withLock { $0.outcome = outcome }
    onOutcome()
  }

  /// Uses the writer for other calls. Waits for the transaction in flight.
  func use<Result: Sendable, Failure: Error>(
    _ body: (any TransactionWriter) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try writer.withLock { writer throws(Failure) in try body(writer) }
  }

  /// Waits for the transaction in flight, and closes the writer.
  func close() {
    state.withLock { $0.isClosed = true }
    work.signal()
    ended.wait()
    use { $0.close() }
  }

  private func run() {
    while true {
      work.wait()
      let (next, isClosed) = state.withLock { state in
        defer { state.transaction = nil }
        return (state.transaction, state.isClosed)
      }
      if let (transaction, member) = next {
        setOutcome(writer.withLock { $0.commit(transaction, by: member) })
      } else if isClosed {
        break
      }
    }
    ended.signal()
  }
}
