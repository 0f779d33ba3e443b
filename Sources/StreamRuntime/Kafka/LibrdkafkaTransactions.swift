import Kafka
import NudgeSchema
import Synchronization

/// Transactions by librdkafka's producer.
final class LibrdkafkaTransactions: TransactionWriter {
  /// Offsets of position records, told by delivery reports, which may come on whichever thread waits on the producer.
  private final class PositionOffsets: Sendable {
    private let offsets = Mutex<[Int32: Int64]>([:])
    func note(_ delivery: Delivery) {
      guard let offset = delivery.offset else { return }
      offsets.withLock { $0[Int32(delivery.tag - 1)] = offset }
    }
    func take(_ task: Int32) -> Int64? { offsets.withLock { $0.removeValue(forKey: task) } }
  }

  /// A producer and the handles of the topics it writes.
  private struct TransactionalProducer {
    var producer: Producer
    var handles: [Topic: TopicHandle]
  }

  private let settings: KafkaStreamSettings
  /// Two, used in turn: while the markers of one's transaction are being written, which the broker does after it has
  /// answered the commit, the other has the next. One alone would wait for them.
  private var producers: [TransactionalProducer] = []
  /// Which of them has the transaction that is open, or had the last one.
  private var turn = 0
  private let positionOffsets = PositionOffsets()
  private var patience = TopicPatience()

  private static let queryTimeout: Duration = .seconds(5)
  private static let transactionTimeout: Duration = .seconds(10)

  init(_ settings: KafkaStreamSettings) { self.settings = settings }

  func open() throws(IOFailure) {
    close()
    do throws(KafkaError) {
      // Both, before either is used: what a former one left open holds back the readers of the other's records too.
      for id in settings.transactionalIDs { producers.append(try openProducer(id)) }
    } catch {
      close()
      let kind: IOFailure.Kind = error.isFenced ? .fenced : error.isAuthorization ? .fatal : .retriable
      throw IOFailure(kind: kind, error)
    }
  }

  private func openProducer(_ transactionalID: String) throws(KafkaError) -> TransactionalProducer {
    var configuration = ClientConfiguration.producer(
      bootstrapServers: settings.bootstrapServers, transactionalID: transactionalID)
    configuration.set("message.max.bytes", String(TopicPlan(settings.stage.changelog).maxMessageBytes))
    let offsets = positionOffsets
    let producer = try Producer(
      configuration.merging(overrides: settings.properties), name: "\(transactionalID)-producer", log: settings.log,
      onDelivery: { offsets.note($0) })
    do throws(KafkaError) {
      try producer.initTransactions(timeout: Self.transactionTimeout)
      let topics = settings.writtenTopics
      try producer.warmUp(topics: topics.map { settings.topics($0) }, timeout: Self.queryTimeout)
      var handles: [Topic: TopicHandle] = [:]
      for topic in topics { handles[topic] = try producer.topic(settings.topics(topic)) }
      return TransactionalProducer(producer: producer, handles: handles)
    } catch {
      producer.close(timeout: .seconds(2))
      throw error
    }
  }

  func close() {
    for it in producers { it.producer.close(timeout: .seconds(2)) }
    producers = []
    turn = 0
  }

  private func opened(_ operation: String) throws(IOFailure) -> TransactionalProducer {
    guard turn < producers.count else {
      throw IOFailure(kind: .retriable, operation: operation, reason: "there is no producer")
    }
    return producers[turn]
  }

  /// What an error inside a transaction means: a new producer mends most of them. It does not where somebody else works
  /// under this name, and where the broker refuses what is asked for and will refuse it again.
  private func failure(_ error: KafkaError) -> IOFailure {
    if error.isFenced { return IOFailure(kind: .fenced, error) }
    if error.isStaleMember { return IOFailure(kind: .notMember, error) }
    if let refusal = refusal(error) { return .lasting(refusal, error.operation, "\(error.name): \(error.reason)") }
    return IOFailure(kind: .retriable, error)
  }

  /// What no repetition mends; nil for an error that may pass.
  private func refusal(_ error: KafkaError) -> LastingRefusal? {
    if error.isForbidden { return .forbidden }
    if error.isMessageTooLarge { return .tooLarge }
    if error.isInvalidRecord { return .invalidRecord }
    return error.isUnknownTopicOrPartition && patience.isOver() ? .topicGone : nil
  }

  func begin() throws(IOFailure) {
    turn = producers.isEmpty ? 0 : (turn + 1) % producers.count
    let producer = try opened("begin transaction").producer
    do throws(KafkaError) { try producer.begin() } catch { throw failure(error) }
  }

  func produce(
    to topic: Topic, partition: Int32, key: [UInt8]?, value: [UInt8]?, headers: [Header], isPosition: Bool
  ) throws(IOFailure) {
    let it = try opened("produce")
    guard let handle = it.handles[topic] else { throw .undeclared(topic, settings.stage) }
    do throws(KafkaError) {
      try it.producer.produce(
        topic: handle, partition: partition, key: key, value: value, headers: headers,
        tag: isPosition ? UInt64(partition) + 1 : 0)
    } catch {
      throw failure(error)
    }
  }

  func flush() throws(IOFailure) {
    let producer = try opened("flush").producer
    do throws(KafkaError) { try producer.flush(timeout: Self.transactionTimeout) } catch { throw failure(error) }
  }

  func sendOffsets(_ offsets: [TopicPartitionOffset], _ group: ConsumerGroupMetadata) throws(IOFailure) {
    let producer = try opened("send offsets").producer
    do throws(KafkaError) {
      try producer.sendOffsets(offsets, group: group, timeout: Self.transactionTimeout)
    } catch {
      throw failure(error)
    }
  }

  func commit() throws(IOFailure) {
    let producer = try opened("commit").producer
    do throws(KafkaError) {
      try producer.commit(timeout: Self.transactionTimeout)
      patience = TopicPatience()
    } catch {
      throw failure(error)
    }
  }

  func positionOffset(of task: Int32) -> Int64? { positionOffsets.take(task) }

  // The embedded broker has no markers.
  var hasLostBroker: Bool { false }
  func endHanging() throws(IOFailure) {}
  func watch() throws(IOFailure) {}
  func takeEnded() -> [EndedTransaction] { [] }
}
