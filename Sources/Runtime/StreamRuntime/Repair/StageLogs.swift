import Foundation
import Kafka
import KafkaTransactions
import NudgeSchema

/// The topics of a stage, for tools that read or write its state from outside. One thread uses it. Calls block until Kafka answers.
final class StageLogs {
  let stage: StageDefinition
  let topics: TopicNames
  let bootstrapServers: String
  /// librdkafka's properties, which override Nudge's.
  let overrides: [ClientConfiguration.Property]
  let log: @Sendable (KafkaLogLine) -> Void
  let admin: Admin
  let reader: LogReader
  let coder = RecordCoder()

  /// Connects in the background.
  init(
    of stage: StageDefinition, topics: TopicNames, bootstrapServers: String, properties: [String: String],
    log: @escaping @Sendable (KafkaLogLine) -> Void
  ) throws(KafkaError) {
    self.stage = stage
    self.topics = topics
    self.bootstrapServers = bootstrapServers
    self.log = log
    overrides = ClientConfiguration.inOrder(properties)
    admin = try Admin(
      ClientConfiguration(bootstrapServers: bootstrapServers).merging(overrides: overrides), name: "nudge-state",
      log: log)
    reader = try LogReader(bootstrapServers, overrides: overrides, log: log)
  }

  deinit { reader.close() }

  /// The changelog's topic.
  var changelog: String { topics(stage.changelog) }

  /// A task's partition of the changelog.
  func changelog(_ task: Int32) -> TopicPartition { TopicPartition(topic: changelog, partition: task) }

  /// A task's partition of an input.
  func input(_ topic: Topic, of task: Int32) -> TopicPartition {
    TopicPartition(topic: topics(topic), partition: task)
  }

  /// The changelog's number of partitions.
  /// - Throws: `KafkaError`. `StateRepairError` if there is no changelog.
  func partitionCount(timeout: Duration) throws -> Int32 {
    guard let found = try admin.partitionCounts(of: [changelog], timeout: timeout)[changelog],
      let count = Int32(exactly: found)
    else {
      throw StateRepairError("there is no topic \(changelog); is --topic-prefix right?")
    }
    return count
  }

  /// Looks up the leaders of the inputs and the changelog before they are read.
  func warmUp() throws(KafkaError) { try reader.warmUp((stage.inputs + [stage.changelog]).map { topics($0) }) }

  /// The ids that the inputs and the changelog have now.
  func topicIDs(timeout: Duration) throws(TransactionalProducerError) -> TopicIDs {
    let client = try TransactionalProducer(
      TransactionalProducerConfiguration(bootstrapServers: bootstrapServers, properties: overrides),
      transactionalIDs: [], topics: [], group: nil)
    defer { client.close() }
    let wanted = stage.inputs + [stage.changelog]
    let found = try client.topicIDs(of: wanted.map { topics($0) }, timeout: timeout)
    return TopicIDs(wanted.reduce(into: [:]) { $0[$1] = found[topics($1)] })
  }

  /// The last position of a task, and the time at which it was written. Absent if there is none.
  /// - Throws: `KafkaError`. `StateRepairError` if the position cannot be read.
  func lastPosition(of task: Int32) throws -> (position: PositionRecord, time: Milliseconds)? {
    let ends = try reader.ends(of: changelog(task))
    return try reader.last(of: changelog(task), from: ends.start, to: ends.high) { record in
      guard let key = record.key, key.elementsEqual(PositionRecord.key.bytes), let value = record.valueBytes() else {
        return nil
      }
      do {
        return (try coder.decode(PositionRecord.self, from: value), record.timestamp)
      } catch {
        throw StateRepairError(
          "the position record at offset \(record.offset) of \(record.topicPartition) cannot be read: it was written by "
            + "another version of Nudge, or by something else. Use the version that wrote it")
      }
    }
  }

  /// Opens a producer, which fences the producers of other repairs and splits of the stage.
  func producer(
    timeout: Duration, onDelivery: (@Sendable (Delivery) -> Void)? = nil
  ) throws(KafkaError) -> Producer {
    let name = "\(topics.prefix)nudge-\(stage.name)-state"
    var configuration = ClientConfiguration.producer(bootstrapServers: bootstrapServers, transactionalID: name)
    // Writing many rows may take longer than a service's transaction.
    configuration.set("transaction.timeout.ms", "60000")
    let producer = try Producer(
      configuration.merging(overrides: overrides), name: name, log: log, onDelivery: onDelivery)
    do throws(KafkaError) {
      try producer.initTransactions(timeout: timeout)
    } catch {
      producer.close(timeout: .seconds(2))
      throw error
    }
    return producer
  }
}

extension Producer {
  /// Commits what `body` produces, or aborts it if `body` throws.
  /// - Throws: The error of `body`. `StateRepairError` if the transaction could not be ended either.
  func inTransaction(timeout: Duration, _ body: () throws -> Void) throws {
    try begin()
    do {
      try body()
      try flush(timeout: timeout)
      try commit(timeout: timeout)
    } catch {
      do throws(KafkaError) {
        try abort(timeout: timeout)
      } catch let second {
        throw StateRepairError(
          "\(error). Its transaction could not be ended either (\(second)); the broker ends it within a minute. "
            + "Run the command again")
      }
      throw error
    }
  }
}

/// Reads committed records of partitions, without a consumer group. One thread uses it.
final class LogReader {
  private let committed: Consumer
  /// A consumer that also reads uncommitted records, for high watermarks.
  private let watermarks: Consumer
  private var batch: [ConsumerRecord] = []

  /// How long a call waits for the next record or an answer.
  private static let patience: Duration = .seconds(15)
  /// The number of offsets in the first piece that is read backwards. Each further piece is larger.
  private static let firstWindow: Int64 = 64
  private static let windowGrowth: Int64 = 16

  init(
    _ bootstrapServers: String, overrides: [ClientConfiguration.Property],
    log: @escaping @Sendable (KafkaLogLine) -> Void
  )
    throws(KafkaError)
  {
    var reading = ClientConfiguration.consumer(
      bootstrapServers: bootstrapServers, group: nil, reportsEndOfPartition: true)
    // Each partition is read to its end, which the broker reports only after this wait.
    reading.set("fetch.wait.max.ms", "10")
    committed = try Consumer(reading.merging(overrides: overrides), name: "nudge-state-reader", log: log)
    var asking = ClientConfiguration.consumer(bootstrapServers: bootstrapServers, group: nil)
    asking.set("isolation.level", "read_uncommitted")
    watermarks = try Consumer(asking.merging(overrides: overrides), name: "nudge-state-watermarks", log: log)
  }

  func close() {
    committed.close()
    watermarks.close()
  }

  /// Looks up the leaders of topics before they are read.
  func warmUp(_ topics: [String]) throws(KafkaError) {
    try committed.warmUp(topics: topics, timeout: Self.patience)
  }

  /// The first offset of a partition, and its high watermark. Waits until a partition that has just been created has a leader.
  func ends(of place: TopicPartition) throws(KafkaError) -> LogEnds {
    let deadline = ContinuousClock.now + Self.patience
    while true {
      do throws(KafkaError) {
        let ends = try watermarks.watermarks(place, timeout: Self.patience)
        return LogEnds(start: ends.low, high: ends.high)
      } catch {
        guard error.isLeaderElsewhere, ContinuousClock.now < deadline else { throw error }
      }
      // Kafka has no request that waits for a leader.
      Thread.sleep(forTimeInterval: 0.05)
    }
  }

  /// The offset of a partition's first record at or after a time. Absent if there is none.
  func offset(of place: TopicPartition, at time: Milliseconds) throws(KafkaError) -> Int64? {
    try watermarks.offsets(forTimes: [place: time], timeout: Self.patience)[place] ?? nil
  }

  /// Calls `body` with the committed records from `start` up to `end`.
  /// - Throws: `StateRepairError` if no further record comes because a transaction before `end` is open.
  func records(
    of place: TopicPartition, from start: Int64, to end: Int64, _ body: (ConsumerRecord) throws -> Void
  ) throws {
    guard start < end else { return }
    try committed.assign([TopicPartitionOffset(place, offset: start)])
    do {
      try readAssigned(place, to: end, body)
    } catch {
      try committed.assign([])
      throw error
    }
    // Stop fetching: an error of a topic that was created again would surface in a later call.
    try committed.assign([])
  }

  private func readAssigned(_ place: TopicPartition, to end: Int64, _ body: (ConsumerRecord) throws -> Void) throws {
    defer { batch.removeAll() }
    var deadline = ContinuousClock.now + Self.patience
    while true {
      batch.removeAll(keepingCapacity: true)
      let event = committed.poll(into: &batch, maxRecords: 10_000, maxBytes: 16 << 20, timeout: .milliseconds(100))
      for record in batch {
        if record.offset >= end { return }
        try body(record)
      }
      if !batch.isEmpty { deadline = ContinuousClock.now + Self.patience }
      switch event {
      case .endOfPartition(_, let offset) where offset >= end: return
      case .error(let error) where error.endsReading: throw error
      // Other errors are transient, or last until the deadline.
      case nil, .record, .assigned, .revoked, .endOfPartition, .error: break
      }
      guard ContinuousClock.now < deadline else {
        throw StateRepairError(
          "\(place) could not be read up to offset \(end): a transaction is still open before it. Try again; if that does "
            + "not help, look for the producer that left it open (kafka-transactions.sh find-hanging)")
      }
    }
  }

  /// Searches backwards for the last committed record for which `find` returns a result, and returns that result. The record is near the
  /// end or absent, so the pieces grow.
  func last<Found>(
    of place: TopicPartition, from start: Int64, to end: Int64, _ find: (ConsumerRecord) throws -> Found?
  ) throws -> Found? {
    var to = end
    var window = Self.firstWindow
    while to > start {
      let from = max(start, to - window)
      var found: Found?
      try records(of: place, from: from, to: to) { record in if let it = try find(record) { found = it } }
      if let found { return found }
      to = from
      window *= Self.windowGrowth
    }
    return nil
  }
}
