import Synchronization

/// Rebalances from the callback that the owner has not seen or answered yet.
///
/// Used only by the polling thread (librdkafka calls back inside `rd_kafka_consumer_poll` and `rd_kafka_consumer_close`). The lock
/// satisfies the compiler and is never contended.
final class RebalanceInbox: Sendable {
  struct Rebalance {
    enum Kind { case assigned, revoked }
    let kind: Kind
    let partitions: [TopicPartition]
    var isLost: Bool
  }

  private struct State {
    var unseen: [Rebalance] = []
    /// The kinds of unanswered rebalances, in order; the unseen ones are its tail.
    var unanswered: [Rebalance.Kind] = []
    var answersAtOnce = false
    var lossIsKnown = false
  }

  private let state = Mutex(State())

  /// Whether the callback itself must answer, because the consumer is closing.
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

  /// Marks the assignment as lost, before the revocation that reports it.
  func noteLoss() { state.withLock { $0.lossIsKnown = true } }

  /// The oldest rebalance that the owner has not seen.
  func takeUnseen() -> Rebalance? {
    state.withLock { $0.unseen.isEmpty ? nil : $0.unseen.removeFirst() }
  }

  /// Takes the kind of the oldest unanswered rebalance, which counts as answered afterwards.
  func takeUnanswered() -> Rebalance.Kind? {
    state.withLock { $0.unanswered.isEmpty ? nil : $0.unanswered.removeFirst() }
  }
}
