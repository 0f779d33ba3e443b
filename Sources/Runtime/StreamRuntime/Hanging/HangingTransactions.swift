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
/// the leaders say what is open, and in which epoch. So the marker that is missing is written as it was to be. Each is
/// written by itself, with the epoch of what is open, which the leader holds against the last it has seen: nothing else can be
/// ended by it, whoever dies in between leaves the rest as it was, and doing it again does no harm. (The coordinator's own
/// markers have the epoch above. With that one a marker could end the id's next transaction, where that has begun.)
struct HangingTransactions {
  let stage: StageDefinition
  let topics: TopicNames
  let bootstrapServers: String
  /// Properties of the operator's, set after ours.
  let properties: [ClientConfiguration.Property]
  let log: @Sendable (KafkaLogLine) -> Void

  private static let timeout: Duration = .seconds(10)
  /// Where groups keep their offsets.
  private static let offsetsTopic = "__consumer_offsets"

  /// A transaction without a marker in a partition.
  struct Found {
    var transactionalID: String
    var isCommit: Bool
    var open: OpenTransaction
  }

  /// How much of each partition of the coordinator's log is read.
  enum Depth {
    /// The last records: some ten thousand transactions.
    case recent
    /// All that compaction has left.
    case all

    var records: Int64 {
      switch self {
      case .recent: 100_000
      case .all: .max
      }
    }
    var timeout: Duration {
      switch self {
      case .recent: .seconds(10)
      case .all: .seconds(120)
      }
    }
  }

  /// What was seen.
  struct Look {
    /// The stage's, whose markers do not come.
    var found: [Found] = []
    /// Of which the coordinator's log does not say how they were decided: nothing is done about them.
    var unexplained: [OpenTransaction] = []
    /// Producers of transactional ids that are not the stage's.
    var strangers: Set<Int64> = []
  }

  /// All that the stage's transactions write to.
  var writtenTopics: [String] {
    (stage.outputs + [stage.changelog, .deadLetters]).map { topics($0) } + [Self.offsetsTopic]
  }

  /// Whether a transactional id is one of the stage's threads, of now or of before.
  private func isOfStage(_ id: String) -> Bool {
    id.hasPrefix("\(topics.prefix)nudge-\(stage.name)-") && (id.hasSuffix("-a") || id.hasSuffix("-b"))
  }

  /// Looks for transactions without markers; changes nothing.
  ///
  /// - Parameters:
  ///   - ids: only of these; nil: of all threads of the stage there were. With ids, those alone that are decided, which the
  ///     sink must have been opened for.
  func look(
    by sink: TransactionSink, ids: [String]? = nil, depth: Depth = .recent
  ) throws -> Look {
    let open = try sink.openTransactions(in: writtenTopics, timeout: Self.timeout)
    return try look(by: sink, at: ids == nil ? open : sink.decided(of: open), ids: ids, depth: depth)
  }

  /// Looks at these open transactions.
  func look(
    by sink: TransactionSink, at open: [OpenTransaction], ids: [String]? = nil, depth: Depth = .recent
  ) throws -> Look {
    guard !open.isEmpty else { return Look() }
    var look = try explain(open, readLogs(ids, of: open, depth))
    guard !look.found.isEmpty || !look.unexplained.isEmpty else { return look }
    // What was ended while the log was read is not without a marker.
    let still = Set(try sink.openTransactions(in: writtenTopics, timeout: Self.timeout))
    look.found.removeAll { !still.contains($0.open) }
    look.unexplained.removeAll { !still.contains($0) }
    return look
  }

  private func explain(_ open: [OpenTransaction], _ logs: Logs) -> Look {
    var look = Look()
    for it in open {
      let place = TransactionLog.Place(topic: it.topic, partition: it.partition)
      guard let id = logs.holders[it.producerID] else {
        // On the offsets' partitions anybody may write.
        if it.topic != Self.offsetsTopic { look.unexplained.append(it) }
        continue
      }
      guard let log = logs.logs[id] else {
        look.strangers.insert(it.producerID)
        continue
      }
      switch log.finding(of: place, producerID: it.producerID, epoch: it.epoch) {
      case .leftOut(let isCommit): look.found.append(Found(transactionalID: id, isCommit: isCommit, open: it))
      case .unknown: look.unexplained.append(it)
      case .underWay: break
      }
    }
    return look
  }

  /// Writes the markers that are missing. Returns those that were: others have come to an end meanwhile.
  func end(_ found: [Found], by sink: TransactionSink) throws(SinkError) -> [Found] {
    var ended: [Found] = []
    for it in found where try sink.writeMarker(of: it.open, isCommit: it.isCommit, timeout: Self.timeout) {
      ended.append(it)
    }
    return ended
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

  /// Some of them, for people.
  static func shown(_ open: [OpenTransaction]) -> String {
    let some = open.prefix(8).map(shown).joined(separator: ", ")
    return open.count > 8 ? "\(some) and \(open.count - 8) more" : some
  }

  static func shown(_ open: OpenTransaction) -> String {
    "\(open.topic)-\(open.partition) of producer \(open.producerID)"
  }

  // MARK: The coordinator's log

  private struct Logs {
    /// Of the stage's transactional ids.
    var logs: [String: TransactionLog] = [:]
    /// The transactional ids of producers that were asked for.
    var holders: [Int64: String] = [:]
  }

  private func readLogs(_ ids: [String]?, of open: [OpenTransaction], _ depth: Depth) throws(KafkaError) -> Logs {
    let epochs = Dictionary(grouping: open, by: \.producerID).mapValues { Set($0.map(\.epoch)) }
    var configuration = ClientConfiguration.consumer(
      bootstrapServers: bootstrapServers, group: nil, reportsEndOfPartition: true)
    configuration.set("isolation.level", "read_uncommitted")
    let reader = try Consumer(
      configuration.merging(overrides: properties), name: "\(topics.prefix)nudge-\(stage.name)-hanging", log: log)
    defer { reader.close() }
    let count =
      try reader.partitionCounts(of: [TransactionLog.topic], timeout: Self.timeout)[TransactionLog.topic] ?? 0
    let numbers = ids.map { Set($0.map { TransactionLog.partition(of: $0, count: count) }) } ?? Set(0..<Int32(count))
    var ends: [TopicPartition: Int64] = [:]
    var starts: [TopicPartitionOffset] = []
    for number in numbers.sorted() {
      let place = TopicPartition(topic: TransactionLog.topic, partition: number)
      let (low, high) = try reader.watermarks(place, timeout: Self.timeout)
      guard low < high else { continue }
      ends[place] = high
      starts.append(TopicPartitionOffset(place, offset: high - low > depth.records ? high - depth.records : low))
    }
    try reader.assign(starts)
    var read = Logs()
    let deadline = ContinuousClock.now + depth.timeout
    while !ends.isEmpty {
      var records: [ConsumerRecord] = []
      let event = reader.poll(into: &records, maxRecords: 10_000, maxBytes: 16 << 20, timeout: .milliseconds(100))
      for record in records {
        guard let key = record.keyBytes(), let id = TransactionLog.transactionalID(key: key) else { continue }
        let value = record.valueBytes()
        if let producer = TransactionLog.producerID(value: value), epochs[producer] != nil {
          read.holders[producer] = id
          if isOfStage(id), read.logs[id] == nil { read.logs[id] = TransactionLog() }
        }
        read.logs[id]?.read(value: value) { entry in
          // Partitions only where they are looked at: there may be a hundred thousand records.
          epochs[entry.producerID].map { $0.contains(entry.epoch) || $0.contains(entry.epoch &- 1) } ?? false
        }
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
    return read
  }
}
