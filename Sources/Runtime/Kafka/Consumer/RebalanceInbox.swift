import Synchronization

/// What the rebalance callback noted and the owner has not seen or answered yet.
///
/// Touched only by the thread that polls (librdkafka calls back inside `rd_kafka_consumer_poll` and
/// `rd_kafka_consumer_close`); the lock is there for the compiler, and never contended.
final class RebalanceInbox: Sendable {
  struct Rebalance {
    enum Kind { case assigned, revoked }
    let kind: Kind
    let partitions: [TopicPartition]
    var isLost: Bool
  }

  private struct State {
    var unseen: [Rebalance] = []
    /// Kinds of what waits for an answer, in order; the unseen ones are its tail.
    var unanswered: [Rebalance.Kind] = []
    var answersAtOnce = false
    var lossIsKnown = false
  }

  private let state = Mutex(State())

  /// True where the callback itself has to answer, as nobody will: while the consumer closes.
  var answersAtOnce: Bool {
    get { state.withLock { $0.answersAtOnce } }
    set { state.withLock { $0.answersAtOnce = newValue } }
  }

  func note(_ rebalance: Rebalance) {
    state.withLock {
      var rebalance = rebalance
      if rebalance.kind == .revoked {
        rebalance.isLost = rebalance.isLost || $0.lossIsKnown
        $0.lossIsKnown = false
      }
      $0.unseen.append(rebalance)
      $0.unanswered.append(rebalance.kind)
    }
  }

  /// The assignment is lost, and the revocation that will say so has not come yet.
  func noteLoss() { state.withLock { $0.lossIsKnown = true } }

  /// The oldest rebalance that the owner has not seen.
  func takeUnseen() -> Rebalance? {
    state.withLock { $0.unseen.isEmpty ? nil : $0.unseen.removeFirst() }
  }

  /// The kind of the oldest rebalance without an answer; it has one from now on.
  func takeUnanswered() -> Rebalance.Kind? {
    state.withLock { $0.unanswered.isEmpty ? nil : $0.unanswered.removeFirst() }
  }
}
