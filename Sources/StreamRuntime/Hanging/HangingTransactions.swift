import Foundation
import Kafka
import KafkaTransactions
import NudgeSchema

/// Ends transactions of a stage whose markers the coordinator has left out.
///
/// A lone broker that stops or dies while the markers of a decided transaction are being written finds no leaders for their
/// partitions, takes these for deleted, and lists the transaction as complete (Apache Kafka 4.3.1). Where the marker is missing
/// the last stable offset does not move any more, or the group's offsets stay pending: no reader of committed records gets on.
///
/// The coordinator's log says how such a transaction was decided, and that the coordinator has done with it (`TransactionLog`);
/// the leaders say what is open, and since which epoch. So the marker that is missing is written as it was to be. Each is
/// written by itself, for one epoch, which the leader holds against the last it has seen: nothing else can be ended by it,
/// whoever dies in between leaves the rest as it was, and doing it again does no harm.
struct HangingTransactions {
  let stage: StageDefinition
  let topics: TopicNames
  let bootstrapServers: String
  /// Properties of the operator's, set after ours.
  let properties: [ClientConfiguration.Property]
  let log: @Sendable (KafkaLogLine) -> Void

  private static let timeout: Duration = .seconds(10)
  /// How many of the last records of each partition of the coordinator's log are read: some thousand transactions.
  private static let window: Int64 = 20_000
  /// Where groups keep their offsets.
  private static let offsetsTopic = "__consumer_offsets"

  /// A transaction without a marker in a partition.
  struct Found {
    var transactionalID: String
    var isCommit: Bool
    var open: OpenTransaction
  }

  /// All that the stage's transactions write to.
  var writtenTopics: [String] {
    (stage.outputs + [stage.changelog, .deadLetters]).map { topics($0) } + [Self.offsetsTopic]
  }

  /// Whether a transactional id is one of the stage's threads, of now or of before.
  private func isOfStage(_ id: String) -> Bool {
    id.hasPrefix("\(topics.prefix)nudge-\(stage.name)-") && (id.hasSuffix("-a") || id.hasSuffix("-b"))
  }

  /// Of these open transactions the stage's whose markers do not come; changes nothing.
  func find(_ open: [OpenTransaction]) throws(KafkaError) -> [Found] {
    guard !open.isEmpty else { return [] }
    let logs = try readLogs()
    var found: [Found] = []
    for it in open {
      for (id, log) in logs {
        let place = TransactionLog.Place(topic: it.topic, partition: it.partition)
        guard case .leftOut(let isCommit) = log.finding(of: place, producerID: it.producerID, epoch: it.epoch) else {
          continue
        }
        found.append(Found(transactionalID: id, isCommit: isCommit, open: it))
      }
    }
    return found
  }

  /// Writes the markers that are missing.
  func end(_ found: [Found], by sink: TransactionSink) throws(SinkError) {
    for it in found { try sink.writeMarker(of: it.open, isCommit: it.isCommit, timeout: Self.timeout) }
  }

  /// As it is told.
  static func transactions(_ found: [Found]) -> [EndedTransaction] {
    struct Key: Hashable {
      var id: String
      var isCommit: Bool
    }
    return Dictionary(grouping: found) { Key(id: $0.transactionalID, isCommit: $0.isCommit) }
      .map { key, found in
        EndedTransaction(
          transactionalID: key.id, isCommit: key.isCommit,
          partitions: found.map { "\($0.open.topic)-\($0.open.partition)" }.sorted())
      }
      .sorted { ($0.transactionalID, $0.isCommit ? 1 : 0) < ($1.transactionalID, $1.isCommit ? 1 : 0) }
  }

  // MARK: The coordinator's log

  private func readLogs() throws(KafkaError) -> [String: TransactionLog] {
    var configuration = ClientConfiguration.consumer(
      bootstrapServers: bootstrapServers, group: nil, reportsEndOfPartition: true)
    configuration.set("isolation.level", "read_uncommitted")
    let reader = try Consumer(
      configuration.merging(overrides: properties), name: "\(topics.prefix)nudge-\(stage.name)-hanging", log: log)
    defer { reader.close() }
    let count =
      try reader.partitionCounts(of: [TransactionLog.topic], timeout: Self.timeout)[TransactionLog.topic] ?? 0
    var ends: [TopicPartition: Int64] = [:]
    var starts: [TopicPartitionOffset] = []
    for number in 0..<Int32(count) {
      let place = TopicPartition(topic: TransactionLog.topic, partition: number)
      let (low, high) = try reader.watermarks(place, timeout: Self.timeout)
      guard low < high else { continue }
      ends[place] = high
      starts.append(TopicPartitionOffset(place, offset: max(low, high - Self.window)))
    }
    try reader.assign(starts)
    var logs: [String: TransactionLog] = [:]
    let deadline = ContinuousClock.now + Self.timeout
    while !ends.isEmpty {
      var records: [ConsumerRecord] = []
      let event = reader.poll(into: &records, maxRecords: 10_000, maxBytes: 16 << 20, timeout: .milliseconds(100))
      for record in records {
        guard let key = record.keyBytes(), let id = TransactionLog.transactionalID(key: key), isOfStage(id) else {
          continue
        }
        logs[id, default: TransactionLog()].read(value: record.valueBytes())
      }
      switch event {
      case .endOfPartition(let place, let offset): if let end = ends[place], offset >= end { ends[place] = nil }
      case .error(let error) where error.isFatal || error.isAuthorization: throw error
      case nil, .record, .assigned, .revoked, .error: break
      }
      guard ends.isEmpty || ContinuousClock.now < deadline else {
        throw KafkaError(timedOut: "read \(TransactionLog.topic)")
      }
    }
    return logs
  }
}
