public import Kafka
import NudgeSchema
public import ServiceKit
import Synchronization

/// Transactions with librdkafka's producer.
final class LibrdkafkaTransactions: TransactionWriter {
  /// Offsets of position records, from delivery reports on any thread.
  private final class PositionOffsets: Sendable {
    private let offsets = Mutex<[Int32: Int64]>([:])
    func record(_ delivery: Delivery) {
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
  /// Two producers, used alternately: the broker writes one producer's markers after it has answered the commit, while the other has the
  /// next transaction. A single producer would wait for its markers.
  private var producers: [TransactionalProducer] = []
  /// The index of the producer with the open or last transaction.
  private var turn = 0
  private let positionOffsets = PositionOffsets()
  private var patience = TopicPatience()
  #if DEBUG
    private var fails: ((FailPoint) -> Bool)?
  #endif

  private static let queryTimeout: Duration = .seconds(5)
  private static let transactionTimeout: Duration = .seconds(10)

  init(_ settings: KafkaStreamSettings) { self.settings = settings }

  func open() throws(IOFailure) {
    close()
    do throws(KafkaError) {
      // Both are opened before either is used, because a former producer's open transaction holds back readers of all records.
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
      onDelivery: { offsets.record($0) })
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

  /// The outcome for an error within a transaction. A new producer recovers from most errors. Fencing and lasting refusals end the process.
  /// - Parameter isEnding: Whether the transaction may have ended despite the error.
  private func outcome(_ error: KafkaError, isEnding: Bool) -> CommitOutcome {
    let reason = "\(error)"
    if error.isFenced { return .fenced(reason) }
    if error.isStaleMember { return .notMember(reason) }
    if let refusal = refusal(error) {
      return .refused(refusal, error.operation, "\(error.name): \(error.reason)")
    }
    return isEnding ? .unknown(reason) : .notCommitted(reason)
  }

  /// The lasting refusal for an error. Absent if a retry may succeed.
  private func refusal(_ error: KafkaError) -> LastingRefusal? {
    if error.isForbidden { return .forbidden }
    if error.isMessageTooLarge { return .tooLarge }
    if error.isInvalidRecord { return .invalidRecord }
    return error.isUnknownTopicOrPartition && patience.isOver() ? .topicGone : nil
  }

  func commit(_ transaction: SealedTransaction, by member: ConsumerGroupMetadata) -> CommitOutcome {
    guard !producers.isEmpty else { return .notCommitted("begin transaction: there is no producer") }
    turn = (turn + 1) % producers.count
    let it = producers[turn]
    var isEnding = false
    do throws(KafkaError) {
      try it.producer.begin()
      for part in transaction.parts {
        if let undeclared = try produce(part, by: it) { return undeclared }
      }
      try it.producer.flush(timeout: Self.transactionTimeout)
      #if DEBUG
        if fails?(.midTransaction) == true { return .notCommitted("fail-point mid-transaction") }
      #endif
      try it.producer.sendOffsets(
        transaction.offsets.map {
          TopicPartitionOffset(
            TopicPartition(topic: settings.topics($0.topic), partition: $0.task), offset: $0.offset,
            metadata: $0.metadata)
        }, group: member, timeout: Self.transactionTimeout)
      #if DEBUG
        if fails?(.beforeCommit) == true { return .notCommitted("fail-point before-commit") }
      #endif
      isEnding = true
      try it.producer.commit(timeout: Self.transactionTimeout)
    } catch {
      return outcome(error, isEnding: isEnding)
    }
    patience = TopicPatience()
    var positions: [Int32: Int64] = [:]
    for part in transaction.parts { positions[part.task] = positionOffsets.take(part.task) }
    return .committed(positions: positions)
  }

  /// Adds a task's records to the transaction. Returns an outcome if that fails.
  private func produce(
    _ part: SealedTransaction.Part, by it: TransactionalProducer
  ) throws(KafkaError) -> CommitOutcome? {
    for output in part.outputs {
      guard let handle = it.handles[output.topic] else { return .undeclared(output.topic, settings.stage) }
      try it.producer.produce(
        topic: handle, partition: output.partition, key: output.key, value: output.value,
        headers: output.headers.map { (name: $0.name, value: $0.value) })
    }
    guard let changelog = it.handles[settings.stage.changelog] else {
      return .undeclared(settings.stage.changelog, settings.stage)
    }
    for (key, bytes) in part.changes {
      try it.producer.produce(topic: changelog, partition: part.task, key: key.bytes, value: bytes)
    }
    try it.producer.produce(
      topic: changelog, partition: part.task, key: PositionRecord.key.bytes, value: part.position,
      tag: UInt64(part.task) + 1)
    return nil
  }

  #if DEBUG
    func interrupt(_ fails: @escaping @Sendable (FailPoint) -> Bool) { self.fails = fails }
  #endif

  // The embedded broker has no markers.
  var hasLostBroker: Bool { false }
  func endHanging() throws(IOFailure) {}
  func watch() throws(IOFailure) {}
  func takeEnded() -> [EndedTransaction] { [] }

  /// Empty, because the embedded broker has no ids.
  func topicIDs() throws(IOFailure) -> TopicIDs { TopicIDs() }
  /// Does nothing, because the embedded broker is in the process of the demo and never away.
  func handOver(_ records: [OutputRecord]) throws(IOFailure) {}
}

extension Logger {
  /// Facilities of lines that Nudge's own client writes.
  private static let ownFacilities: Set = ["MARKERS", "TRANSACTIONS"]

  /// Writes a log line of a Kafka client at its level in Nudge's log.
  public func write(_ line: KafkaLogLine) {
    let metadata: [String: LogValue] = ["client": .string(line.client), "facility": .string(line.facility)]
    // Consumers and producers get the same properties of the operator, and each warns of those that are for the other.
    if line.facility == "CONFWARN" { return debug("librdkafka: \(line.message)", metadata) }
    // While a broker is away, every client repeats that.
    let key = "\(line.client)/\(line.facility)"
    guard let logger = line.level > 6 ? self : limited(key, every: .seconds(5)) else { return }
    let message = Self.ownFacilities.contains(line.facility) ? line.message : "librdkafka: \(line.message)"
    switch line.level {
    case ...3: logger.error(message, metadata)
    case 4: logger.warning(message, metadata)
    case 5: logger.notice(message, metadata)
    case 6: logger.info(message, metadata)
    default: logger.debug(message, metadata)
    }
  }
}
