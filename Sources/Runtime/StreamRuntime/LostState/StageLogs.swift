import Kafka
import KafkaTransactions
import NudgeSchema

/// The topics of a stage, for tools that read or write its state from outside. One thread uses it; calls block while Kafka answers.
final class StageLogs {
  let stage: StageDefinition
  let topics: TopicNames
  let bootstrapServers: String
  /// librdkafka's properties, set after ours.
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
  /// - Throws: `KafkaError`; `StateRepairError` where there is no changelog.
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

  /// The last position of a task, and when it was written; nil: there is none.
  /// - Throws: `KafkaError`; `StateRepairError` where it cannot be read.
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

  /// A producer that has fenced those of other repairs and splits of the stage.
  func producer(
    timeout: Duration, onDelivery: (@Sendable (Delivery) -> Void)? = nil
  ) throws(KafkaError) -> Producer {
    let name = "\(topics.prefix)nudge-\(stage.name)-state"
    var configuration = ClientConfiguration.producer(bootstrapServers: bootstrapServers, transactionalID: name)
    // Many rows may take longer than a service's transaction.
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
  /// Commits what `body` produces, or aborts it where it throws.
  /// - Throws: what `body` throws; `StateRepairError` where the transaction could not be ended either.
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
