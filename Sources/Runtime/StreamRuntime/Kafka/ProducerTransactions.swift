import Kafka
import KafkaTransactions
import NudgeSchema
import ServiceKit

/// Transactions of a real broker. `commit` sends a transaction's records, then the offsets, then the end.
final class ProducerTransactions: TransactionWriter {
  private let settings: KafkaStreamSettings
  private let producer: TransactionalProducer
  private let changelog: String
  /// The index of each topic in the content.
  private let places: [Topic: Int]
  private var content: TransactionContent
  private var patience = TopicPatience()
  private let hanging: HangingTransactions
  private var ended: [EndedTransaction] = []
  /// Whether a search for hanging transactions was refused. It is not tried again.
  private var isSearchRefused = false

  /// The open transactions at the last search.
  private var openBefore: Set<OpenTransaction> = []
  /// Producer ids of other stages, whose transactions may stay open.
  private var foreignProducers: Set<Int64> = []
  /// The open transactions reported last.
  private var unexplained: [OpenTransaction] = []

  /// The protocol that was last logged.
  private var loggedVersion: TransactionVersion?

  /// The publisher of handovers. Absent until the first handover.
  private var publisher: RecordPublisher?
  private static let handoverTimeout: Duration = .seconds(2)
  /// When all members of the group were last seen to know handovers.
  private var takersSeenAt = ContinuousClock.now - .seconds(3600)
  /// When the ids of the topics were last compared, by the steady clock.
  private var topicsSeenAt: Milliseconds = .min / 2
  /// How old that comparison may be at a commit, which is less than the time to delete a topic, create it and write to it. A busy stage
  /// need not compare at each of its commits.
  private static let topicsInterval: Milliseconds = 100
  /// The time-out of that request. Without an answer, the transaction's own requests find a broker, and the next commit compares.
  private static let topicsTimeout: Duration = .seconds(1)

  /// The time-out of opening and of committing. Meanwhile the thread answers no rebalance. After a session time-out its answer would be
  /// about tasks that may have another owner.
  private let timeout: Duration

  init(_ settings: KafkaStreamSettings) throws(TransactionalProducerError) {
    self.settings = settings
    timeout = .milliseconds(min(10_000, settings.limits.sessionTimeout))
    changelog = settings.topics(settings.stage.changelog)
    let topics = settings.writtenTopics
    places = Dictionary(topics.enumerated().map { ($0.element, $0.offset) }) { first, _ in first }
    hanging = HangingTransactions(
      stage: settings.stage, topics: settings.topics, bootstrapServers: settings.bootstrapServers,
      properties: settings.properties, log: settings.log)
    producer = try TransactionalProducer(
      settings.producerConfiguration(), transactionalIDs: settings.transactionalIDs,
      topics: topics.map { settings.topics($0) }, group: settings.group)
    content = producer.makeContent(timestamp: 0)
    producer.onThrottle = settings.onThrottle
  }

  #if DEBUG
    func interrupt(_ fails: @escaping @Sendable (FailPoint) -> Bool) {
      producer.interrupt = { step in
        let point: FailPoint = step == .recordsWritten ? .midTransaction : .beforeCommit
        return fails(point) ? "fail-point \(point.rawValue)" : nil
      }
    }
  #endif

  func open() throws(IOFailure) {
    do throws(TransactionalProducerError) {
      try producer.open(timeout: timeout)
    } catch {
      throw IOFailure(
        kind: error.kind == .refused ? .fatal : .retriable, operation: error.operation, reason: error.reason)
    }
    if producer.version != loggedVersion {
      loggedVersion = producer.version
      log(
        producer.version == .two ? 6 : 5, "TRANSACTIONS",
        "transactions of version \(producer.version.rawValue)"
          + (producer.version == .two ? "" : ": they cost the brokers more; see docs/operations.md, Kafka"))
    }
    // Done before the id's next transaction, because aborting that one would abort an open one too.
    if producer.hasLoneBroker { try endHanging(ofOthers: false) }
  }

  var hasLostBroker: Bool { producer.hasLostBroker }

  func endHanging() throws(IOFailure) { try endHanging(ofOthers: true) }

  func watch() throws(IOFailure) {
    guard producer.hasLoneBroker else { return }
    try end { () throws in
      let open = Set(try producer.openTransactions(in: hanging.writtenTopics, timeout: timeout))
      defer { openBefore = open }
      let stays = open.intersection(openBefore).filter { !foreignProducers.contains($0.producerID) }
      return try hanging.find(by: producer, at: Array(stays))
    }
  }

  func takeEnded() -> [EndedTransaction] {
    defer { ended = [] }
    return ended
  }

  private func endHanging(ofOthers: Bool) throws(IOFailure) {
    try end { () throws in try hanging.find(by: producer, ids: ofOthers ? nil : settings.transactionalIDs) }
  }

  /// Ends the hanging transactions that were found, and reports unexplained ones.
  private func end(_ find: () throws -> HangingTransactions.Findings) throws(IOFailure) {
    guard !isSearchRefused else { return }
    let operation = "look for transactions without markers"
    do {
      let findings = try find()
      if !findings.unexplained.isEmpty, findings.unexplained != unexplained {
        warn(
          "of transactions that are open the coordinator's log does not say how they were decided, and nothing is done about "
            + "them: \(HangingTransactions.shown(findings.unexplained)); see docs/operations.md, Hanging transactions")
      }
      unexplained = findings.unexplained
      foreignProducers.formUnion(findings.foreignProducers)
      ended += HangingTransactions.transactions(try hanging.end(findings.found, by: producer))
    } catch let error as TransactionalProducerError {
      guard error.kind == .refused else {
        throw IOFailure(kind: .retriable, operation: operation, reason: error.description)
      }
      reportRefusal(error.description)
    } catch let error as KafkaError {
      guard error.isAuthorization else { throw IOFailure(kind: .retriable, error) }
      reportRefusal("\(operation): \(error)")
    } catch {
      throw IOFailure(kind: .retriable, operation: operation, reason: "\(error)")
    }
  }

  private func reportRefusal(_ reason: String) {
    isSearchRefused = true
    warn("transactions without markers cannot be ended from here: \(reason); see nudge state end-transactions")
  }

  private func warn(_ text: String) { log(4, "MARKERS", text) }

  private func log(_ level: Int, _ facility: String, _ text: String) {
    settings.log(
      KafkaLogLine(level: level, facility: facility, message: text, client: "\(settings.transactionalID)-sink"))
  }

  func topicIDs() throws(IOFailure) -> TopicIDs { try topicIDs(timeout: timeout) }

  private func topicIDs(timeout: Duration) throws(IOFailure) -> TopicIDs {
    do throws(TransactionalProducerError) {
      let found = try producer.topicIDs(of: settings.positionTopics.map { settings.topics($0) }, timeout: timeout)
      return TopicIDs(settings.positionTopics.reduce(into: [:]) { $0[$1] = found[settings.topics($1)] })
    } catch {
      throw IOFailure(kind: .retriable, operation: error.operation, reason: error.reason)
    }
  }

  /// The refusal of a transaction whose topics were replaced: its records were read at the position of a former topic, or its rows belong
  /// into a former changelog. Absent if no topic was replaced.
  private func refusal(of transaction: SealedTransaction) -> CommitOutcome? {
    let now = SystemClock.steadyMilliseconds()
    guard !transaction.topicIDs.isEmpty, now - topicsSeenAt >= Self.topicsInterval else { return nil }
    guard let ids = try? topicIDs(timeout: Self.topicsTimeout) else { return nil }
    topicsSeenAt = now
    return transaction.topicIDs.complaint(about: ids, settings.topics).map { .refused("commit transaction: \($0)") }
  }

  func commit(_ transaction: SealedTransaction, by member: ConsumerGroupMetadata) -> CommitOutcome {
    if let refusal = refusal(of: transaction) { return refusal }
    content.reset(timestamp: SystemClock.milliseconds())
    for part in transaction.parts {
      for output in part.outputs {
        guard let place = places[output.topic] else { return .undeclared(output.topic, settings.stage) }
        content.append(
          topic: place, partition: output.partition, key: output.key, value: output.value,
          headers: output.headers.map { (name: $0.name, value: $0.value) })
      }
      guard let place = places[settings.stage.changelog] else {
        return .undeclared(settings.stage.changelog, settings.stage)
      }
      for (key, bytes) in part.changes {
        content.append(topic: place, partition: part.task, key: key.bytes, value: bytes, headers: [])
      }
      content.append(
        topic: place, partition: part.task, key: PositionRecord.key.bytes, value: part.position, headers: [])
    }
    content.offsets = TransactionOffsets(
      group: member.groupID, memberID: member.memberID, generation: member.generation,
      instanceID: member.groupInstanceID,
      offsets: transaction.offsets.compactMap { input in
        input.offset.map {
          .init(
            topic: settings.topics(input.topic), partition: input.task, offset: $0, metadata: input.metadata)
        }
      })
    let operation = "commit transaction"
    switch producer.commit(content, timeout: timeout) {
    case .committed(let records):
      patience = TopicPatience()
      var positions: [Int32: Int64] = [:]
      for part in transaction.parts {
        positions[part.task] = records.lastOffset(topic: changelog, partition: part.task)
      }
      return .committed(positions: positions)
    case .notCommitted(let reason) where producer.isTopicUnknown && patience.isOver():
      return .refused(.topicGone, operation, reason)
    case .notCommitted(let reason): return .notCommitted("\(operation): \(reason)")
    case .unknown(let reason): return .unknown("\(operation): the outcome is unknown: \(reason)")
    case .notMember(let reason): return .notMember("\(operation): \(reason)")
    case .fenced(let reason): return .fenced("\(operation): \(reason)")
    case .refused(.forbidden, let reason): return .refused(.forbidden, operation, reason)
    case .refused(.tooLarge, let reason): return .refused(.tooLarge, operation, reason)
    case .refused(.invalid, let reason): return .refused(.invalidRecord, operation, reason)
    }
  }

  func handOver(_ records: [OutputRecord]) throws(IOFailure) {
    if ContinuousClock.now - takersSeenAt > .seconds(5) {
      try HandoverReader(settings: settings).checkMembers()
      takersSeenAt = .now
    }
    let operation = "hand over answers"
    let inputs = settings.stage.inputs
    let results: [PublishResult]
    do throws(TransactionalProducerError) {
      if publisher == nil {
        let new = try RecordPublisher(
          settings.producerConfiguration(), topics: inputs.map { settings.topics($0) })
        try new.open(timeout: Self.handoverTimeout)
        publisher = new
      }
      guard let publisher else { return }
      results = publisher.publish(
        records.compactMap { record in
          guard let key = record.key, let value = record.value, let topic = inputs.firstIndex(of: record.topic) else {
            return nil
          }
          return PublishedRecord(
            topic: topic, partition: record.partition, key: key, value: value,
            headers: record.headers.map { (name: $0.name, value: $0.value) })
        }, timestamp: SystemClock.milliseconds(), timeout: Self.handoverTimeout)
    } catch {
      throw IOFailure(kind: error.kind == .refused ? .fatal : .retriable, operation: operation, reason: "\(error)")
    }
    for result in results {
      switch result {
      case .written: continue
      case .refused(_, let reason): throw IOFailure(kind: .fatal, operation: operation, reason: reason)
      case .unknown(let reason): throw IOFailure(kind: .retriable, operation: operation, reason: reason)
      }
    }
  }

  func close() {
    publisher?.close()
    producer.close()
  }
}
