import Foundation
import Kafka
import NudgeSchema

/// Ends transactions whose markers the coordinator has left out.
///
/// A lone broker that stops or dies while the markers of a decided transaction are being written finds no leaders for their
/// partitions, takes these for deleted, and lists the transaction as complete (Apache Kafka 4.3.1). Where the marker is
/// missing the last stable offset never moves again, or the group's offsets stay pending: no reader of committed records
/// gets on. A marker of *any* later transaction of the same producer id ends the open range, with all that lies in it. So
/// a transaction that touches these partitions, and ends as the one without markers was decided, mends them.
///
/// How it was decided is not guessed: the coordinator's log says so (`TransactionLog`), with all partitions. A transaction is
/// hanging where the coordinator has completed it, which is sure once its id has a new epoch, and the last stable offset
/// of a partition does not move. A partition that only looks so, as somebody else's transaction is open there, gets a
/// marker that ends nothing.
///
/// What this cannot do: should the process or the broker die between the first record here and the end, some milliseconds
/// later, the coordinator aborts what was to be committed. Where rows and position are hit their records are processed
/// again, and repeats are recognised; outputs that were hit alone are lost. See docs/decisions/0026.
///
/// Whoever has one of the ids is fenced. One thread uses it; calls block.
struct HangingTransactions {
  let stage: StageDefinition
  let topics: TopicNames
  let bootstrapServers: String
  /// Properties of the operator's, set after ours.
  let properties: [ClientConfiguration.Property]
  let log: @Sendable (KafkaLogLine) -> Void

  private static let timeout: Duration = .seconds(10)
  /// How many of the last records of the coordinator's log are read, about: a few thousand transactions.
  private static let window: Int64 = 20_000
  /// Looks at the last stable offsets, and how long lies between them: transactions that go on are over by then, or begin
  /// elsewhere.
  private static let looks = 3
  private static let pause: TimeInterval = 0.3

  /// What one id has left open: partitions to be ended by a commit, and by an abort.
  struct Found {
    var transactionalID: String
    var commits: [TopicPartition]
    var aborts: [TopicPartition]

    /// As it will be once it is ended.
    var transactions: [EndedTransaction] {
      [(aborts, false), (commits, true)].filter { !$0.0.isEmpty }.map { places, isCommit in
        EndedTransaction(
          transactionalID: transactionalID, isCommit: isCommit, partitions: places.map { "\($0)" })
      }
    }
  }

  /// Looks for what these ids have left open; changes nothing. Their transactions must be complete: each id must have had a
  /// new epoch since.
  func find(_ ids: [String]) throws(KafkaError) -> [Found] {
    try found(decisions(of: ids))
  }

  /// Looks for what any thread of the stage has left open, also one that no longer is: each may go on as well, and would
  /// be fenced.
  func findAll() throws(KafkaError) -> [Found] {
    let prefix = "\(topics.prefix)nudge-\(stage.name)-"
    return try found(decisions(in: { Set(0..<$0) }, where: { $0.hasPrefix(prefix) && !$0.hasSuffix("-state") }))
  }

  private func found(_ decisions: [String: [TopicPartition: Bool]]) throws(KafkaError) -> [Found] {
    guard !decisions.isEmpty else { return [] }
    let places = Set(decisions.values.flatMap(\.keys))
    let stuck = try stuck(places)
    guard !stuck.isEmpty else { return [] }
    return decisions.keys.sorted().compactMap { id in
      let mine = (decisions[id] ?? [:]).filter { stuck.contains($0.key) }
      guard !mine.isEmpty else { return nil }
      let sorted = mine.keys.sorted { ($0.topic, $0.partition) < ($1.topic, $1.partition) }
      return Found(
        transactionalID: id, commits: sorted.filter { mine[$0] == true }, aborts: sorted.filter { mine[$0] == false })
    }
  }

  /// Ends what was found. The ids have new epochs afterwards.
  func end(_ found: [Found]) throws(KafkaError) -> [EndedTransaction] {
    var ended: [EndedTransaction] = []
    for it in found {
      let name = "\(it.transactionalID)-end"
      var configuration = ClientConfiguration.producer(
        bootstrapServers: bootstrapServers, transactionalID: it.transactionalID)
      // Nothing is worse here than to be aborted for slowness.
      configuration.set("transaction.timeout.ms", "60000")
      let producer = try Producer(configuration.merging(overrides: properties), name: name, log: log)
      defer { producer.close(timeout: .seconds(2)) }
      try producer.initTransactions(timeout: Self.timeout)
      // Aborts first: they can be repeated as often as one likes.
      for (places, isCommit) in [(it.aborts, false), (it.commits, true)] where !places.isEmpty {
        try end(places, by: producer, isCommit: isCommit)
      }
      ended += it.transactions
    }
    return ended
  }

  private func end(_ places: [TopicPartition], by producer: Producer, isCommit: Bool) throws(KafkaError) {
    let logs = places.filter { $0.topic != Self.offsetsTopic }
    try producer.warmUp(topics: Set(logs.map(\.topic)).sorted(), timeout: Self.timeout)
    try producer.begin()
    for place in logs {
      // A row that says nothing where rows are; elsewhere a record without key and value, which readers pass over.
      let isChangelog = place.topic == topics(stage.changelog)
      try producer.produce(
        topic: producer.topic(place.topic), partition: place.partition,
        key: isChangelog ? PositionRecord.opening.bytes : nil, value: nil,
        headers: [(name: RecordHeader.filler, value: [])])
    }
    try producer.flush(timeout: Self.timeout)
    if logs.count < places.count {
      // Any offset will do, as the marker counts: one of a partition that the group does not read.
      try producer.sendUnfencedOffsets(
        [TopicPartitionOffset(TopicPartition(topic: topics(stage.changelog), partition: 0), offset: 0)],
        group: stage.group(topics), timeout: Self.timeout)
    }
    if isCommit { try producer.commit(timeout: Self.timeout) } else { try producer.abort(timeout: Self.timeout) }
  }

  /// Where groups keep their offsets.
  private static let offsetsTopic = "__consumer_offsets"

  // MARK: Looking

  private func consumer(isolation: String, reportsEnd: Bool = false) throws(KafkaError) -> Consumer {
    var configuration = ClientConfiguration.consumer(
      bootstrapServers: bootstrapServers, group: nil, reportsEndOfPartition: reportsEnd)
    configuration.set("isolation.level", isolation)
    return try Consumer(
      configuration.merging(overrides: properties), name: "\(topics.prefix)nudge-\(stage.name)-hanging", log: log)
  }

  /// Of these partitions those with an open transaction before which the last stable offset stands still.
  private func stuck(_ places: Set<TopicPartition>) throws(KafkaError) -> Set<TopicPartition> {
    let committed = try consumer(isolation: "read_committed")
    defer { committed.close() }
    let uncommitted = try consumer(isolation: "read_uncommitted")
    defer { uncommitted.close() }
    var suspects = places
    var before: [TopicPartition: Int64] = [:]
    for look in 0..<Self.looks where !suspects.isEmpty {
      if look > 0 { Thread.sleep(forTimeInterval: Self.pause) }
      let stable = try committed.ends(of: suspects, timeout: Self.timeout)
      let high = try uncommitted.ends(of: suspects, timeout: Self.timeout)
      suspects = suspects.filter { place in
        guard let stable = stable[place], let high = high[place], stable < high else { return false }
        return look == 0 || before[place] == stable
      }
      before = stable
    }
    return suspects
  }

  /// For each id the partitions of its transactions, and how the last one with that partition was decided.
  private func decisions(of ids: [String]) throws(KafkaError) -> [String: [TopicPartition: Bool]] {
    let wanted = Set(ids)
    return try decisions(
      in: { count in Set(ids.map { TransactionLog.partition(of: $0, count: count) }) }, where: { wanted.contains($0) })
  }

  private func decisions(
    in partitions: (Int32) -> Set<Int32>, where isWanted: (String) -> Bool
  ) throws(KafkaError) -> [String: [TopicPartition: Bool]] {
    let reader = try consumer(isolation: "read_uncommitted", reportsEnd: true)
    defer { reader.close() }
    let count = try reader.partitionCounts(of: [TransactionLog.topic], timeout: Self.timeout)[TransactionLog.topic] ?? 0
    guard count > 0 else { return [:] }
    var decided: [String: [TopicPartition: Bool]] = [:]
    for partition in partitions(Int32(count)).sorted() {
      let place = TopicPartition(topic: TransactionLog.topic, partition: partition)
      let ends = try reader.watermarks(place, timeout: Self.timeout)
      guard ends.low < ends.high else { continue }
      try reader.assign([TopicPartitionOffset(place, offset: max(ends.low, ends.high - Self.window))])
      let deadline = ContinuousClock.now + Self.timeout
      var isAtEnd = false
      while !isAtEnd {
        var records: [ConsumerRecord] = []
        let event = reader.poll(into: &records, maxRecords: 10_000, maxBytes: 16 << 20, timeout: .milliseconds(100))
        for record in records {
          guard let key = record.keyBytes(), let id = TransactionLog.transactionalID(key: key), isWanted(id),
            let value = record.valueBytes(), let decision = TransactionLog.decision(value: value)
          else { continue }
          for it in decision.partitions {
            decided[id, default: [:]][TopicPartition(topic: it.topic, partition: it.partition)] = decision.isCommit
          }
        }
        switch event {
        case .endOfPartition(_, let offset): isAtEnd = offset >= ends.high
        case .error(let error) where error.isFatal || error.isAuthorization: throw error
        case nil, .record, .assigned, .revoked, .error: break
        }
        guard isAtEnd || ContinuousClock.now < deadline else {
          throw KafkaError(timedOut: "read \(place)")
        }
      }
      try reader.assign([])
    }
    return decided
  }
}
