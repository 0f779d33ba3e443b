import Foundation
import Kafka
import KafkaTransactions
import NudgeSchema
import ServiceKit
import Synchronization

/// The settings of a stream thread on a Kafka cluster.
struct KafkaStreamSettings: Sendable {
  var stage: StageDefinition
  var topics: TopicNames
  var bootstrapServers: String
  /// The operator's properties, which override Nudge's.
  var properties: [(name: String, value: String)]
  /// The instance's name and the thread's number. It is part of the transactional id and of the group instance id.
  var threadName: String
  /// Whether the member is static, which it is only if the operator has named the instance.
  var isStatic: Bool
  /// The folder of this stage's stores.
  var stateDirectory: String
  var limits: StreamLimits
  /// Makes the writer of the transactions.
  var makeWriter: @Sendable (KafkaStreamSettings) throws -> sending any TransactionWriter = {
    try ProducerTransactions($0)
  }
  /// The protocol of transactions to insist on. Absent: the one that the cluster has.
  var transactions: TransactionVersion?
  var log: @Sendable (KafkaLogLine) -> Void
  /// Called with the length of each throttle that a quota of the brokers imposes on commits.
  var onThrottle: @Sendable (Duration) -> Void = { _ in }

  var group: String { stage.group(topics) }
  /// The topics whose ids are in positions.
  var positionTopics: [Topic] { stage.inputs + [stage.changelog] }
  /// The thread's group instance id, and the prefix of its transactional ids.
  var transactionalID: String { stagePrefix + threadName }
  /// The beginning of all threads' transactional ids.
  var stagePrefix: String { "\(topics.prefix)nudge-\(stage.name)-" }
  /// The two transactional ids, used alternately.
  var transactionalIDs: [String] { ["a", "b"].map { "\(transactionalID)-\($0)" } }
  /// The consumer's `client.id`. Before handovers it had no version, and before levels no level.
  var consumerName: String { transactionalID + MemberRelease.current.suffix }
  /// The names of the inputs.
  var inputNames: [String] { stage.inputs.map { topics($0) } }
  /// All topics that transactions write to.
  var writtenTopics: [Topic] { stage.outputs + [stage.changelog, .deadLetters] }

  /// The configuration of the transactional client.
  func producerConfiguration() throws(TransactionalProducerError) -> TransactionalProducerConfiguration {
    var configuration = try TransactionalProducerConfiguration(
      bootstrapServers: bootstrapServers, properties: [("client.id", "\(transactionalID)-sink")] + properties)
    configuration.transactionVersion = transactions
    return configuration
  }
}

/// Ends a stream thread's waits from any thread: its idle wait, and the poll of its consumer.
final class ThreadSignal: Sendable {
  /// The closure is in a struct, because `Mutex<() -> Void>` would wrap it in one more thunk at each access and keep the thunk. Every
  /// wake-up would leak, and the call through all thunks would overflow the stack (`make lint` looks for such a mutex).
  private struct PollWaker: Sendable {
    let wake: @Sendable () -> Void
  }

  private let semaphore = DispatchSemaphore(value: 0)
  private let isRaised = Atomic<Bool>(false)
  private let pollWaker = Mutex<PollWaker?>(nil)
  private let wakeUps: Counter?

  /// - Parameter wakeUps: Counts the calls of `raise`.
  init(wakeUps: Counter? = nil) { self.wakeUps = wakeUps }

  /// Makes `raise` call `wake` as well. Absent: it no longer calls another closure.
  func attach(_ wake: (@Sendable () -> Void)?) { pollWaker.withLock { $0 = wake.map(PollWaker.init) } }

  /// Ends the present wait. If there is none, ends the next one.
  func raise() {
    wakeUps?.increment()
    if !isRaised.exchange(true, ordering: .acquiringAndReleasing) { semaphore.signal() }
    pollWaker.withLock { $0 }?.wake()
  }

  /// Returns when the signal is raised, after `timeout` milliseconds at the latest.
  func wait(atMost timeout: Milliseconds) {
    if semaphore.wait(timeout: .now() + .milliseconds(Int(max(0, timeout)))) == .success {
      isRaised.store(false, ordering: .releasing)
    }
  }
}
