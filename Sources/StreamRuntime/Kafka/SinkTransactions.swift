import Kafka
import KafkaTransactions
import NudgeSchema
import ServiceKit

/// Transactions of version 2. What a transaction holds is gathered in memory, and goes to Kafka with `commit`: records,
/// then offsets, then the end.
final class SinkTransactions: TransactionWriter {
  private let settings: KafkaStreamSettings
  private let sink: TransactionSink
  private let changelog: String
  /// The place of each topic in the content.
  private let places: [Topic: Int]
  private var content: TransactionContent
  /// Tasks with a position record in the transaction.
  private var positioned: [Int32] = []
  private var positionOffsets: [Int32: Int64] = [:]
  private var patience = TopicPatience()
  private let hanging: HangingTransactions
  private var ended: [EndedTransaction] = []
  /// Looking for transactions without markers was refused: it is not tried again.
  private var mayNotLook = false

  /// What was open when it was last looked.
  private var openBefore: Set<OpenTransaction> = []
  /// Producers that are not the stage's: theirs may stay open.
  private var strangers: Set<Int64> = []
  /// What was told of last.
  private var unexplained: [OpenTransaction] = []

  private static let openTimeout: Duration = .seconds(10)
  private static let commitTimeout: Duration = .seconds(10)

  init(_ settings: KafkaStreamSettings) throws(SinkError) {
    self.settings = settings
    changelog = settings.topics(settings.stage.changelog)
    let topics = settings.writtenTopics
    places = Dictionary(topics.enumerated().map { ($0.element, $0.offset) }) { first, _ in first }
    hanging = HangingTransactions(
      stage: settings.stage, topics: settings.topics, bootstrapServers: settings.bootstrapServers,
      properties: settings.properties, log: settings.log)
    sink = try TransactionSink(
      settings.sinkConfiguration(), transactionalIDs: settings.transactionalIDs,
      topics: topics.map { settings.topics($0) }, group: settings.group)
    content = sink.makeContent(timestamp: 0)
  }

  #if DEBUG
    /// Ends transactions where it says so, for fail-points.
    func interrupt(_ interrupt: @escaping (TransactionStep) -> String?) { sink.interrupt = interrupt }
  #endif

  func open() throws(IOFailure) {
    do throws(SinkError) {
      try sink.open(timeout: Self.openTimeout)
    } catch {
      throw IOFailure(
        kind: error.kind == .refused ? .fatal : .retriable, operation: error.operation, reason: error.reason)
    }
    // Before an id is used again: should a later transaction of it be aborted, what is left open would be, too.
    if sink.hasLoneBroker { try endHanging(ofOthers: false) }
  }

  var hasLostBroker: Bool { sink.hasLostBroker }

  func endHanging() throws(IOFailure) { try endHanging(ofOthers: true) }

  func watch() throws(IOFailure) {
    guard sink.hasLoneBroker else { return }
    try end { () throws in
      let open = Set(try sink.openTransactions(in: hanging.writtenTopics, timeout: Self.openTimeout))
      defer { openBefore = open }
      let stays = open.intersection(openBefore).filter { !strangers.contains($0.producerID) }
      return try hanging.look(by: sink, at: Array(stays))
    }
  }

  func takeEnded() -> [EndedTransaction] {
    defer { ended = [] }
    return ended
  }

  private func endHanging(ofOthers: Bool) throws(IOFailure) {
    try end { () throws in try hanging.look(by: sink, ids: ofOthers ? nil : settings.transactionalIDs) }
  }

  /// Ends what is found, and tells what is not explained.
  private func end(_ look: () throws -> HangingTransactions.Look) throws(IOFailure) {
    guard !mayNotLook else { return }
    let operation = "look for transactions without markers"
    do {
      let look = try look()
      if !look.unexplained.isEmpty, look.unexplained != unexplained {
        tell(
          "of transactions that are open the coordinator's log does not say how they were decided, and nothing is done about "
            + "them: \(HangingTransactions.shown(look.unexplained)); see docs/operations.md, Hanging transactions")
      }
      unexplained = look.unexplained
      strangers.formUnion(look.strangers)
      ended += HangingTransactions.transactions(try hanging.end(look.found, by: sink))
    } catch let error as SinkError {
      guard error.kind == .refused else {
        throw IOFailure(kind: .retriable, operation: operation, reason: error.description)
      }
      tellRefusal(error.description)
    } catch let error as KafkaError {
      guard error.isAuthorization else { throw IOFailure(kind: .retriable, error) }
      tellRefusal("\(operation): \(error)")
    } catch {
      throw IOFailure(kind: .retriable, operation: operation, reason: "\(error)")
    }
  }

  private func tellRefusal(_ reason: String) {
    mayNotLook = true
    tell("transactions without markers cannot be ended from here: \(reason); see nudge state end-transactions")
  }

  private func tell(_ text: String) {
    settings.log(
      KafkaLogLine(level: 4, facility: "MARKERS", message: text, client: "\(settings.transactionalID)-sink"))
  }

  func begin() throws(IOFailure) {
    content.reset(timestamp: SystemClock.milliseconds())
    positioned.removeAll(keepingCapacity: true)
    positionOffsets.removeAll(keepingCapacity: true)
  }

  func produce(
    to topic: Topic, partition: Int32, key: [UInt8]?, value: [UInt8]?, headers: [Header], isPosition: Bool
  ) throws(IOFailure) {
    guard let place = places[topic] else { throw .undeclared(topic, settings.stage) }
    content.append(topic: place, partition: partition, key: key, value: value, headers: headers)
    if isPosition { positioned.append(partition) }
  }

  func flush() throws(IOFailure) {}

  func sendOffsets(_ offsets: [TopicPartitionOffset], _ group: ConsumerGroupMetadata) throws(IOFailure) {
    content.offsets = TransactionOffsets(
      group: group.groupID, memberID: group.memberID, generation: group.generation, instanceID: group.groupInstanceID,
      offsets: offsets.compactMap { place in
        place.offset.map {
          .init(
            topic: place.topicPartition.topic, partition: place.topicPartition.partition, offset: $0,
            metadata: place.metadata ?? "")
        }
      })
  }

  func commit() throws(IOFailure) {
    let operation = "commit transaction"
    switch sink.commit(content, timeout: Self.commitTimeout) {
    case .committed(let records):
      patience = TopicPatience()
      for task in positioned { positionOffsets[task] = records.lastOffset(topic: changelog, partition: task) }
    case .notCommitted(let reason) where sink.isTopicUnknown && patience.isOver():
      throw .lasting(.topicGone, operation, reason)
    case .notCommitted(let reason): throw IOFailure(kind: .retriable, operation: operation, reason: reason)
    case .unknown(let reason):
      throw IOFailure(kind: .retriable, operation: operation, reason: "the outcome is unknown: \(reason)")
    case .notMember(let reason): throw IOFailure(kind: .notMember, operation: operation, reason: reason)
    case .fenced(let reason): throw IOFailure(kind: .fenced, operation: operation, reason: reason)
    case .refused(.forbidden, let reason): throw .lasting(.forbidden, operation, reason)
    case .refused(.tooLarge, let reason): throw .lasting(.tooLarge, operation, reason)
    case .refused(.invalid, let reason): throw .lasting(.invalidRecord, operation, reason)
    }
  }

  func positionOffset(of task: Int32) -> Int64? { positionOffsets.removeValue(forKey: task) }

  func close() { sink.close() }
}
