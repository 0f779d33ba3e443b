import Kafka
import KafkaTransactions
import NudgeSchema

/// Writes the missing markers of a stage's hanging transactions.
///
/// A lone broker that stops while it writes the markers of a decided transaction finds no leaders for the partitions, takes them for
/// deleted, and lists the transaction as complete (Apache Kafka 4.3.1). On a partition without its marker the last stable offset no longer
/// moves, or the group's offsets stay pending, and read_committed consumers are stuck.
///
/// The coordinator's log says how the transaction was decided and that it is complete (`TransactionLog`). The leaders report open
/// transactions and their epochs. Each missing marker is written by itself with the epoch of the open transaction, which the leader
/// compares with the last epoch it has seen. The marker can therefore end no other transaction, a crash in between leaves the rest as it
/// was, and repeating the write is harmless. (The coordinator's own markers have the next epoch, which could end the id's next
/// transaction.)
struct HangingTransactions {
  let stage: StageDefinition
  let topics: TopicNames
  let bootstrapServers: String
  /// The operator's properties, which override Nudge's.
  let properties: [ClientConfiguration.Property]
  let log: @Sendable (KafkaLogLine) -> Void

  private static let timeout: Duration = .seconds(10)
  /// The topic with the groups' offsets.
  private static let offsetsTopic = "__consumer_offsets"

  /// A hanging transaction in one partition.
  struct Found {
    var transactionalID: String
    var isCommit: Bool
    var open: OpenTransaction
  }

  /// How much of the coordinator's log to read, in each partition.
  enum Depth {
    /// The last records, which cover about ten thousand transactions.
    case recent
    /// All records.
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

  /// The result of a search.
  struct Findings {
    /// Decided transactions of the stage with missing markers.
    var found: [Found] = []
    /// Open transactions whose decision is not in the coordinator's log. They are left alone.
    var unexplained: [OpenTransaction] = []
    /// Producer ids of transactional ids that are not the stage's.
    var foreignProducers: Set<Int64> = []
  }

  /// All topics that the stage's transactions write to.
  var writtenTopics: [String] {
    (stage.outputs + [stage.changelog, .deadLetters]).map { topics($0) } + [Self.offsetsTopic]
  }

  /// Whether a transactional id belongs to a current or former thread of the stage.
  private func isOfStage(_ id: String) -> Bool {
    id.hasPrefix("\(topics.prefix)nudge-\(stage.name)-") && (id.hasSuffix("-a") || id.hasSuffix("-b"))
  }

  /// Looks for hanging transactions, without changing anything.
  ///
  /// - Parameters:
  ///   - ids: Transactional ids whose decided transactions are looked for; the producer must be open for them. Absent: those of all current
  ///     and former threads.
  func find(
    by producer: TransactionalProducer, ids: [String]? = nil, depth: Depth = .recent
  ) throws -> Findings {
    let open = try producer.openTransactions(in: writtenTopics, timeout: Self.timeout)
    return try find(by: producer, at: ids == nil ? open : producer.decided(of: open), ids: ids, depth: depth)
  }

  /// Looks up the decisions of open transactions.
  func find(
    by producer: TransactionalProducer, at open: [OpenTransaction], ids: [String]? = nil, depth: Depth = .recent
  ) throws -> Findings {
    guard !open.isEmpty else { return Findings() }
    var findings = try explain(open, readLogs(ids, of: open, depth))
    guard !findings.found.isEmpty || !findings.unexplained.isEmpty else { return findings }
    // Drop transactions that ended while the log was read.
    let still = Set(try producer.openTransactions(in: writtenTopics, timeout: Self.timeout))
    findings.found.removeAll { !still.contains($0.open) }
    findings.unexplained.removeAll { !still.contains($0) }
    return findings
  }

  private func explain(_ open: [OpenTransaction], _ logs: Logs) -> Findings {
    var findings = Findings()
    for it in open {
      let place = TransactionLog.Place(topic: it.topic, partition: it.partition)
      guard let id = logs.holders[it.producerID] else {
        // Other groups write to the offsets' partitions too.
        if it.topic != Self.offsetsTopic { findings.unexplained.append(it) }
        continue
      }
      guard let log = logs.logs[id] else {
        findings.foreignProducers.insert(it.producerID)
        continue
      }
      switch log.finding(of: place, producerID: it.producerID, epoch: it.epoch) {
      case .leftOut(let isCommit): findings.found.append(Found(transactionalID: id, isCommit: isCommit, open: it))
      case .unknown: findings.unexplained.append(it)
      case .ongoing: break
      }
    }
    return findings
  }

  /// Writes the missing markers. Returns the transactions whose markers were written. The others had ended meanwhile.
  func end(_ found: [Found], by producer: TransactionalProducer) throws(TransactionalProducerError) -> [Found] {
    var ended: [Found] = []
    for it in found where try producer.writeMarker(of: it.open, isCommit: it.isCommit, timeout: Self.timeout) {
      ended.append(it)
    }
    return ended
  }

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

  /// The first of the open transactions, for messages.
  static func shown(_ open: [OpenTransaction]) -> String {
    let some = open.prefix(8).map(shown).joined(separator: ", ")
    return open.count > 8 ? "\(some) and \(open.count - 8) more" : some
  }

  static func shown(_ open: OpenTransaction) -> String {
    "\(open.topic)-\(open.partition) of producer \(open.producerID)"
  }

  // MARK: The coordinator's log

  private struct Logs {
    /// Logs of the stage's transactional ids.
    var logs: [String: TransactionLog] = [:]
    /// Transactional ids of the requested producer ids.
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
          // Keep partitions only for the epochs in question: the log may have a hundred thousand records.
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

/// The hanging transactions of a stage.
public struct HangingState: Sendable, Equatable {
  /// Transactions whose decision is known. They were ended or can be.
  public var transactions: [EndedTransaction]
  /// Open transactions whose decision is not in the coordinator's log, as `topic-partition of producer ID`. They are left alone, because
  /// a wrong marker cannot be undone.
  public var unexplained: [String]

  init(_ findings: HangingTransactions.Findings) {
    transactions = HangingTransactions.transactions(findings.found)
    unexplained = findings.unexplained.map(HangingTransactions.shown)
  }
}

/// Decides when a stream thread looks for hanging transactions. Call it only while none of the thread's own is in flight.
final class HangingWatch<IO: StreamIO> {
  private let context: StreamContext<IO>
  /// When it last looked for transactions that stay open, by the steady clock.
  private var watchedAt: Milliseconds?

  init(_ context: StreamContext<IO>) { self.context = context }

  /// Ends hanging transactions, because pending ones should have ended by now.
  /// - Parameter what: The name of the work that waits for them.
  func suspect(_ what: String) throws {
    context.observe(.markersMissing(what: what))
    try pass(context.io.endHanging)
  }

  /// Looks every 10 s for transactions that stay open. This thread may not wait for them, but the next stage does.
  func watch() throws {
    let steady = context.io.steadyClock
    guard steady - (watchedAt ?? steady) >= context.limits.markerWatch else {
      watchedAt = watchedAt ?? steady
      return
    }
    watchedAt = steady
    try pass(context.io.watchTransactions)
  }

  /// Reports ended transactions.
  func reportEnded() {
    for ended in context.io.takeEnded() { context.observe(.transactionEnded(ended)) }
  }

  private func pass(_ action: () throws(IOFailure) -> Void) throws {
    do throws(IOFailure) {
      try action()
    } catch {
      if !error.isRetriable { throw error }
      context.observe(.retrying(reason: error.description))
    }
    reportEnded()
  }
}
