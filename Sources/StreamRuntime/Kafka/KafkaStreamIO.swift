import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import Synchronization

/// What a stream thread needs to know to work on a Kafka.
struct KafkaStreamSettings: Sendable {
  var stage: StageDefinition
  var topics: TopicNames
  var bootstrapServers: String
  /// Properties of the operator's, set after ours.
  var properties: [(name: String, value: String)]
  /// The instance's name and the thread's number: part of the transactional id, and of the group instance id.
  var threadName: String
  /// Whether the member is static: only with a name the operator gave.
  var isStatic: Bool
  /// Where the stores of this stage are.
  var stateDirectory: String
  var limits: StreamLimits
  var log: @Sendable (KafkaLogLine) -> Void

  /// The consumer group.
  var group: String { stage.group(topics) }
  /// The thread's name to the brokers: its group instance id, and what its transactional ids begin with.
  var transactionalID: String { "\(topics.prefix)nudge-\(stage.name)-\(threadName)" }
}

/// A stream thread's I/O on Kafka, SQLite and the system's clocks. One thread uses it.
final class KafkaStreamIO: StreamIO {
  typealias Store = SQLiteTaskStore

  /// Offsets of position records, told by delivery reports, which may come on whichever thread waits on the producer.
  private final class PositionOffsets: Sendable {
    private let offsets = Mutex<[Int32: Int64]>([:])
    func note(_ delivery: Delivery) {
      guard let offset = delivery.offset else { return }
      offsets.withLock { $0[Int32(delivery.tag - 1)] = offset }
    }
    func take(_ task: Int32) -> Int64? { offsets.withLock { $0.removeValue(forKey: task) } }
  }

  /// Whether the consumer has lost all brokers since it was asked last. Told on the thread that polls, or one of
  /// librdkafka's.
  private final class Absence: Sendable {
    private let isNoted = Mutex(false)
    func note(_ line: KafkaLogLine) {
      if line.facility == "ERROR", line.message.contains("_ALL_BROKERS_DOWN") { isNoted.withLock { $0 = true } }
    }
    func take() -> Bool {
      isNoted.withLock { isNoted in
        defer { isNoted = false }
        return isNoted
      }
    }
  }

  /// A producer and the handles of the topics it writes.
  private struct TransactionalProducer {
    var producer: Producer
    var handles: [Topic: TopicHandle]
  }

  private let settings: KafkaStreamSettings
  private let coder = RecordCoder()
  private let signal: ThreadSignal
  private let consumer: Consumer
  private let changelogConsumer: Consumer
  /// The tag of the changelog row that was read last.
  private var lastTag: TransactionTag?
  /// Whether the changelog consumer was told where its topic is.
  private var knowsChangelog = false
  /// Sees uncommitted records too: for high watermarks.
  private let watermarkConsumer: Consumer
  /// Two, used in turn: while the markers of one's transaction are being written, which the broker does after it has
  /// answered the commit, the other has the next. One alone would wait for them.
  private var producers: [TransactionalProducer] = []
  /// Which of them has the transaction that is open, or had the last one.
  private var turn = 0
  private let positionOffsets = PositionOffsets()
  /// A broker was away since the last look for transactions that hang; or there was no look in this life of the process.
  private var mayHang = true
  private var ended: [EndedTransaction] = []
  /// Since when transactions fail because a topic is not known, by the steady clock.
  private var topicUnknownSince: Milliseconds?
  private let storeWriter = StoreWriter()
  private let absence = Absence()
  /// Since when all brokers are away, or were asked last, by the steady clock.
  private var absentSince: Milliseconds?
  private var assigned: [TopicPartition] = []
  /// An error that came behind records which had to be delivered first.
  private var laterFailure: IOFailure?
  private let topicByName: [String: Topic]

  /// Times of calls to brokers. All block the thread, which serves its group again in between.
  private static let queryTimeout: Duration = .seconds(5)
  /// An answer to "which offsets" that waits for a pending transaction comes as a time-out.
  private static let committedTimeout: Duration = .milliseconds(500)
  private static let transactionTimeout: Duration = .seconds(10)
  /// A topic that is unknown for longer than this is gone, in milliseconds.
  private static let unknownTopicPatience: Milliseconds = 60_000

  /// Connects in the background and joins the group.
  init(_ settings: KafkaStreamSettings, signal: ThreadSignal) throws(KafkaError) {
    self.settings = settings
    self.signal = signal
    topicByName = Dictionary(uniqueKeysWithValues: settings.stage.inputs.map { (settings.topics($0), $0) })
    var group = ClientConfiguration.consumer(
      bootstrapServers: settings.bootstrapServers, group: settings.group,
      instance: settings.isStatic ? settings.transactionalID : nil)
    group.set("session.timeout.ms", String(settings.limits.sessionTimeout))
    group.set("heartbeat.interval.ms", String(min(3000, settings.limits.sessionTimeout / 3)))
    let absence = absence
    consumer = try Consumer(
      group.merging(overrides: settings.properties), name: "\(settings.transactionalID)-consumer",
      log: {
        absence.note($0)
        settings.log($0)
      })
    var changelog = ClientConfiguration.consumer(
      bootstrapServers: settings.bootstrapServers, group: nil, reportsEndOfPartition: true)
    changelog.set("fetch.wait.max.ms", "10")
    changelogConsumer = try Consumer(
      changelog.merging(overrides: settings.properties), name: "\(settings.transactionalID)-changelog",
      log: settings.log)
    var watermarks = ClientConfiguration.consumer(bootstrapServers: settings.bootstrapServers, group: nil)
    watermarks.set("isolation.level", "read_uncommitted")
    watermarkConsumer = try Consumer(
      watermarks.merging(overrides: settings.properties), name: "\(settings.transactionalID)-watermarks",
      log: settings.log)
    let waker = consumer.waker
    signal.attach { waker.wake() }
    try consumer.subscribe(settings.stage.inputs.map { settings.topics($0) })
  }

  /// Leaves the group where the member is not static, and closes everything.
  func close(leavingGroup: Bool) {
    signal.attach(nil)
    closeProducers()
    consumer.close(leavingGroup: leavingGroup)
    changelogConsumer.close()
    watermarkConsumer.close()
  }

  // MARK: Clocks

  var wallClock: Milliseconds { SystemClock.milliseconds() }

  /// It runs while the machine sleeps: a proof of ownership must not outlive a suspension.
  var steadyClock: Milliseconds { SystemClock.steadyMilliseconds() }

  func idle(atMost timeout: Milliseconds) { signal.wait(atMost: timeout) }

  // MARK: Group and input

  func poll(timeout: Milliseconds, maxRecords: Int, maxBytes: Int) throws(IOFailure) -> PollResult {
    if let failure = laterFailure {
      laterFailure = nil
      throw failure
    }
    if isBackAfterAbsence() {
      mayHang = true
      throw IOFailure(kind: .retriable, operation: "poll", reason: "all brokers were away")
    }
    var result = PollResult()
    // Records of one partition come together: the topic is looked up where it changes.
    var last: (name: String, topic: Topic)?
    let event = consumer.poll(maxRecords: maxRecords, maxBytes: maxBytes, timeout: .milliseconds(timeout)) { record in
      if last?.name != record.topic { last = topicByName[record.topic].map { (record.topic, $0) } }
      guard let topic = last?.topic else { return }
      result.records.append(
        InputRecord(
          topic: topic, topicName: record.topic, partition: record.partition, offset: record.offset,
          timestamp: record.timestamp, key: record.keyBytes(), value: record.valueBytes(),
          headers: record.headers().compactMap { header in header.value.map { RecordHeaderField(header.name, $0) } }))
    }
    switch event {
    case nil, .endOfPartition, .record: break
    case .assigned(let partitions): result.change = .assigned(try tasks(partitions))
    case .revoked(let partitions, let lost):
      let numbers = Set(partitions.map(\.partition)).sorted()
      result.change = lost ? .lost(numbers) : .revoked(numbers)
    case .error(let error):
      do throws(IOFailure) {
        try check(error)
      } catch {
        if result.records.isEmpty { throw error }
        laterFailure = error
      }
    }
    return result
  }

  /// Whether a broker answers again after all were away; false also where none was, and asked once a second.
  private func isBackAfterAbsence() -> Bool {
    if absence.take() { absentSince = absentSince ?? steadyClock }
    guard let since = absentSince, steadyClock - since >= 1000 else { return false }
    absentSince = steadyClock
    do throws(KafkaError) {
      _ = try watermarkConsumer.partitionCounts(
        of: [settings.topics(settings.stage.changelog)], timeout: .milliseconds(200))
      absentSince = nil
      return true
    } catch {
      return false
    }
  }

  /// A task is the same partition of every input; the range assignor gives them together where their counts are equal.
  private func tasks(_ partitions: [TopicPartition]) throws(IOFailure) -> [Int32] {
    let byNumber = Dictionary(grouping: partitions, by: \.partition)
    for (number, places) in byNumber where places.count != settings.stage.inputs.count {
      throw IOFailure(
        kind: .fatal, operation: "join group \(settings.group)",
        reason: "partition \(number) was assigned of \(places.map(\.topic).sorted()) only: all inputs need the same "
          + "number of partitions, and every member of the group partition.assignment.strategy=range")
    }
    return byNumber.keys.sorted()
  }

  /// A broker that was away may have left out markers.
  private func noteAbsence(_ error: KafkaError) {
    if error.isCoordinatorLoss || error.isTimedOut { mayHang = true }
  }

  private func check(_ error: KafkaError) throws(IOFailure) {
    noteAbsence(error)
    // The poll after this one joins the group again; that the partitions are lost comes as an event of its own.
    if error.isPollIntervalExceeded { return }
    if error.isFenced { throw IOFailure(kind: .fenced, error) }
    if error.isOffsetOutOfRange {
      throw IOFailure(
        kind: .fatal, operation: error.operation,
        reason: "\(error.description): the log was cut while it was read; a restart notes the gap and goes on")
    }
    if error.isFatal || error.isAuthorization { throw IOFailure(kind: .fatal, error) }
    throw IOFailure(kind: .retriable, error)
  }

  func assign(_ starts: [InputPosition]) throws(IOFailure) {
    do throws(KafkaError) {
      assigned = starts.map { TopicPartition(topic: settings.topics($0.topic), partition: $0.task) }
      try consumer.assign(
        starts.map {
          TopicPartitionOffset(
            TopicPartition(topic: settings.topics($0.topic), partition: $0.task), offset: $0.offset)
        })
    } catch {
      throw IOFailure(kind: error.isFenced ? .fenced : .fatal, error)
    }
  }

  func setPaused(_ paused: Bool) throws(IOFailure) {
    guard !assigned.isEmpty else { return }
    do throws(KafkaError) {
      if paused { try consumer.pause(assigned) } else { try consumer.resume(assigned) }
    } catch {
      throw IOFailure(kind: .retriable, error)
    }
  }

  func committedOffsets(of tasks: [Int32]) throws(IOFailure) -> [CommittedInput] {
    do throws(KafkaError) {
      let places = tasks.flatMap { task in
        settings.stage.inputs.map { TopicPartition(topic: settings.topics($0), partition: task) }
      }
      return try consumer.committed(places, timeout: Self.committedTimeout).compactMap { place in
        topicByName[place.topicPartition.topic].map {
          CommittedInput(
            topic: $0, task: place.topicPartition.partition, offset: place.offset, metadata: place.metadata ?? "")
        }
      }
    } catch {
      throw IOFailure(kind: error.isUnstableOffsets || error.isTimedOut ? .unstable : .retriable, error)
    }
  }

  func logStart(of topic: Topic, task: Int32) throws(IOFailure) -> Int64 {
    do throws(KafkaError) {
      return try watermarkConsumer.watermarks(
        TopicPartition(topic: settings.topics(topic), partition: task), timeout: Self.queryTimeout
      ).low
    } catch {
      throw IOFailure(kind: .retriable, error)
    }
  }

  // MARK: Transactions

  func openProducers() throws(IOFailure) {
    do throws(KafkaError) {
      try openBoth()
      if mayHang, try endHanging() { try openBoth() }
    } catch {
      closeProducers()
      let kind: IOFailure.Kind = error.isFenced ? .fenced : error.isForbidden ? .fatal : .retriable
      throw IOFailure(kind: kind, error)
    }
  }

  private var transactionalIDs: [String] { ["a", "b"].map { "\(settings.transactionalID)-\($0)" } }

  private func openBoth() throws(KafkaError) {
    closeProducers()
    // Both, before either is used: what a former one left open holds back the readers of the other's records too.
    for id in transactionalIDs { producers.append(try openProducer(id)) }
  }

  func suspectHanging() { mayHang = true }

  func takeEnded() -> [EndedTransaction] {
    defer { ended = [] }
    return ended
  }

  /// Ends what transactions of this thread's ids have left open for want of markers. True: there was something, and the
  /// producers are closed.
  private func endHanging() throws(KafkaError) -> Bool {
    let hanging = HangingTransactions(
      stage: settings.stage, topics: settings.topics, bootstrapServers: settings.bootstrapServers,
      properties: settings.properties, log: settings.log)
    let found: [HangingTransactions.Found]
    do throws(KafkaError) {
      found = try hanging.find(transactionalIDs)
    } catch {
      // Only a look: what it may find is looked for again when something waits for it.
      if error.isAuthorization { mayHang = false }
      settings.log(
        KafkaLogLine(
          level: 5, facility: "HANGING", message: "it cannot be seen whether transactions hang: \(error)",
          client: "\(settings.transactionalID)-hanging"))
      return false
    }
    if !found.isEmpty {
      closeProducers()
      ended += try hanging.end(found)
    }
    mayHang = false
    return !found.isEmpty
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
      let topics = settings.stage.outputs + [settings.stage.changelog, .deadLetters]
      try producer.warmUp(topics: topics.map { settings.topics($0) }, timeout: Self.queryTimeout)
      var handles: [Topic: TopicHandle] = [:]
      for topic in topics { handles[topic] = try producer.topic(settings.topics(topic)) }
      return TransactionalProducer(producer: producer, handles: handles)
    } catch {
      producer.close(timeout: .seconds(2))
      throw error
    }
  }

  private func closeProducers() {
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
  private func transactionFailure(_ error: KafkaError) -> IOFailure {
    noteAbsence(error)
    if error.isFenced { return IOFailure(kind: .fenced, error) }
    if error.isStaleMember { return IOFailure(kind: .notMember, error) }
    if let fix = lastingRefusal(error) {
      return IOFailure(
        kind: .fatal, operation: error.operation, reason: "\(error.name): \(error.reason): this does not pass; \(fix)")
    }
    return IOFailure(kind: .retriable, error)
  }

  /// What an operator has to do about an error that no repetition mends; nil for one that may pass.
  private func lastingRefusal(_ error: KafkaError) -> String? {
    if error.isForbidden { return "give the service this right (back)" }
    // No output is larger than a topic of ours takes, so the topic takes less than it should.
    if error.isMessageTooLarge {
      return "the topics need max.message.bytes=\(TopicPlan(settings.stage.changelog).maxMessageBytes); "
        + "nudge topics create says which differ"
    }
    if error.isInvalidRecord { return "nudge topics create says which topics are not configured as they must be" }
    guard error.isUnknownTopicOrPartition else { return nil }
    // While a broker starts, or leaders move, a topic may be unknown for a moment.
    let since = topicUnknownSince ?? steadyClock
    topicUnknownSince = since
    return steadyClock - since > Self.unknownTopicPatience
      ? "a topic is gone; make what is missing with: nudge topics create" : nil
  }

  func begin() throws(IOFailure) {
    turn = producers.isEmpty ? 0 : (turn + 1) % producers.count
    let producer = try opened("begin transaction").producer
    do throws(KafkaError) { try producer.begin() } catch { throw transactionFailure(error) }
  }

  func produce(_ output: OutputRecord) throws(IOFailure) {
    let it = try opened("produce")
    guard let handle = it.handles[output.topic] else {
      throw IOFailure(
        kind: .fatal, operation: "produce",
        reason: "stage \(settings.stage.name) does not say that it writes \(output.topic.rawValue)")
    }
    do throws(KafkaError) {
      try it.producer.produce(
        topic: handle, partition: output.partition, key: output.key, value: output.value,
        headers: output.headers.map { (name: $0.name, value: $0.value) })
    } catch {
      throw transactionFailure(error)
    }
  }

  func produce(change key: RowKey, bytes: [UInt8]?, task: Int32, tag: TransactionTag) throws(IOFailure) {
    let it = try opened("produce")
    guard let handle = it.handles[settings.stage.changelog] else { return }
    do throws(KafkaError) {
      try it.producer.produce(
        topic: handle, partition: task, key: key.bytes, value: bytes,
        headers: [(name: RecordHeader.transaction, value: tag.bytes)])
    } catch {
      throw transactionFailure(error)
    }
  }

  func produce(position bytes: [UInt8], task: Int32) throws(IOFailure) {
    let it = try opened("produce")
    guard let handle = it.handles[settings.stage.changelog] else { return }
    do throws(KafkaError) {
      try it.producer.produce(
        topic: handle, partition: task, key: PositionRecord.key.bytes, value: bytes, tag: UInt64(task) + 1)
    } catch {
      throw transactionFailure(error)
    }
  }

  func flush() throws(IOFailure) {
    let producer = try opened("flush").producer
    do throws(KafkaError) {
      try producer.flush(timeout: Self.transactionTimeout)
    } catch {
      throw transactionFailure(error)
    }
  }

  func sendOffsets(_ offsets: [CommittedInput]) throws(IOFailure) {
    let producer = try opened("send offsets").producer
    do throws(KafkaError) {
      try producer.sendOffsets(
        offsets.map {
          TopicPartitionOffset(
            TopicPartition(topic: settings.topics($0.topic), partition: $0.task), offset: $0.offset,
            metadata: $0.metadata)
        }, group: try consumer.groupMetadata(), timeout: Self.transactionTimeout)
    } catch {
      throw transactionFailure(error)
    }
  }

  func commit() throws(IOFailure) {
    let producer = try opened("commit").producer
    do throws(KafkaError) {
      try producer.commit(timeout: Self.transactionTimeout)
      topicUnknownSince = nil
    } catch {
      throw transactionFailure(error)
    }
  }

  func positionOffset(of task: Int32) -> Int64? { positionOffsets.take(task) }

  // MARK: Changelog and store

  private func changelog(_ task: Int32) -> TopicPartition {
    TopicPartition(topic: settings.topics(settings.stage.changelog), partition: task)
  }

  func changelogEnds(of task: Int32) throws(IOFailure) -> ChangelogEnds {
    try changelogEnds(of: task, timeout: Self.queryTimeout)
  }

  private func changelogEnds(of task: Int32, timeout: Duration) throws(IOFailure) -> ChangelogEnds {
    do throws(KafkaError) {
      let ends = try watermarkConsumer.watermarks(changelog(task), timeout: timeout)
      return ChangelogEnds(start: ends.low, high: ends.high)
    } catch {
      throw IOFailure(kind: .retriable, error)
    }
  }

  func changelogHigh(of task: Int32) throws(IOFailure) -> Int64 {
    // Nothing depends on it now, so nothing waits for it for long.
    try changelogEnds(of: task, timeout: .seconds(1)).high
  }

  func readChangelogs(_ starts: [Int32: Int64]) throws(IOFailure) {
    do throws(KafkaError) {
      if !starts.isEmpty && !knowsChangelog {
        try changelogConsumer.warmUp(topics: [settings.topics(settings.stage.changelog)], timeout: Self.queryTimeout)
        knowsChangelog = true
      }
      try changelogConsumer.assign(
        starts.sorted { $0.key < $1.key }.map { TopicPartitionOffset(changelog($0.key), offset: $0.value) })
    } catch {
      throw IOFailure(kind: .retriable, error)
    }
  }

  /// Records of one call at most: about 20 ms of work.
  private static let changelogBatch = 10_000

  func pollChangelogs(timeout: Milliseconds) throws(IOFailure) -> [ChangelogItem] {
    var items: [ChangelogItem] = []
    let event = changelogConsumer.poll(
      maxRecords: Self.changelogBatch, maxBytes: 16 << 20, timeout: .milliseconds(timeout)
    ) { record in
      guard let key = record.keyBytes() else { return }
      record.withHeader(RecordHeader.transaction) { bytes in
        // Rows of one transaction come together.
        guard let bytes else { return lastTag = nil }
        if let last = lastTag, last.bytes.elementsEqual(bytes) { return }
        lastTag = TransactionTag(bytes: Array(bytes))
      }
      items.append(
        .record(
          task: record.partition, offset: record.offset, timestamp: record.timestamp, key: RowKey(bytes: key),
          bytes: record.valueBytes(), tag: lastTag))
    }
    switch event {
    case .endOfPartition(let place, let offset): items.append(.end(task: place.partition, offset: offset))
    case .error(let error) where items.isEmpty: try check(error)
    // A consumer that failed for good says so again at the next poll; anything else passes.
    case nil, .record, .assigned, .revoked, .error: break
    }
    return items
  }

  func openStore(of task: Int32) throws -> SQLiteTaskStore {
    try SQLiteTaskStore(
      path: "\(settings.stateDirectory)/\(settings.stage.name)/\(task).sqlite", coder: coder, writer: storeWriter)
  }
}

extension IOFailure {
  init(kind: Kind, _ error: KafkaError) {
    self.init(kind: kind, operation: error.operation, reason: "\(error.name): \(error.reason)")
  }
}
