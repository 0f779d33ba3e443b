/// A completed step of a transaction.
public enum TransactionStep: Sendable, Equatable {
  /// All records have been written.
  case recordsWritten
  /// Records and offsets have been written; only the end is missing.
  case offsetsWritten
}

/// Commits transactions of version 2 (KIP-890, part 2): one request to each leader, one for the offsets, one for the end.
///
/// librdkafka does not support them yet. Needs Kafka 4 with the feature `transaction.version` at 2.
///
/// Not thread-safe. Calls block: a request at most for its time-out, a call at most for the caller's.
public final class TransactionalProducer {
  let configuration: TransactionalProducerConfiguration
  let security: ConnectionSecurity
  private let topics: [String]
  private let group: String?
  /// Used alternately: the broker writes the markers of one id's transaction after its answer, while the other id has the next
  /// transaction.
  private var producers: [(id: String, identity: ProducerIdentity?)]
  private var turn = 0
  var cluster = ClusterView()
  var connections: [BrokerAddress: BrokerConnection] = [:]
  /// The latest moment until which a broker has throttled one of the connections (KIP-219). The next transaction begins then.
  var throttle = Deadline(after: .zero)
  /// Called with the length of each throttle that a broker imposes.
  public var onThrottle: (Duration) -> Void = { _ in }

  /// A longer throttle within a transaction is not waited out on its connection.
  static let longestThrottleInTransaction: Duration = .milliseconds(500)
  /// A commit waits out at most this much of a throttle before its transaction begins.
  static let longestThrottle: Duration = .seconds(30)

  /// Whether a broker has failed to answer since the last `open`.
  var wasCutOff = false

  /// Whether the cluster has one broker and that was unavailable since the last `open`: it may have omitted markers, and the producer must
  /// be opened again before an id is used.
  public var hasLostBroker: Bool {
    hasLoneBroker && (wasCutOff || connections.values.contains { !$0.isUsable })
  }

  /// The identities of the open producers.
  var identities: [ProducerIdentity] { producers.compactMap(\.identity) }

  /// Whether, in an uncommitted transaction, the last metadata lacked one of the topics.
  public private(set) var isTopicUnknown = false

  /// For tests of crashes and failures within a transaction: called after each step. A returned reason ends the transaction there, as
  /// `notCommitted`.
  public var interrupt: ((TransactionStep) -> String?)?

  /// A producer that has not connected yet.
  ///
  /// - Parameters:
  ///   - transactionalIDs: Used alternately; they must be unique to this process.
  ///   - topics: The output topics.
  ///   - group: The consumer group whose offsets are committed.
  /// - Throws: `refused` if a certificate or key cannot be used.
  public init(
    _ configuration: TransactionalProducerConfiguration, transactionalIDs: [String], topics: [String], group: String?
  ) throws(TransactionalProducerError) {
    self.configuration = configuration
    self.topics = topics
    self.group = group
    producers = transactionalIDs.map { ($0, nil) }
    security = ConnectionSecurity(
      tls: try configuration.tls.map { (settings) throws(TransactionalProducerError) in try TLSContext(settings) },
      login: configuration.credentials)
  }

  /// Empty content for ``commit(_:timeout:)``.
  public func makeContent(timestamp: Int64) -> TransactionContent {
    TransactionContent(topics: topics, timestamp: timestamp)
  }

  /// Closes the connections. An uncommitted transaction stays open until the coordinator or the next `open` aborts it.
  public func close() { connections = [:] }

  // MARK: Opening

  /// Gets a new epoch of each transactional id: an open transaction is aborted and can no longer be committed. Also finds leaders and
  /// coordinators for the first transaction.
  ///
  /// - Throws: `refused` if the cluster does not support transactions of version 2, or does not authorize this client.
  public func open(timeout: Duration) throws(TransactionalProducerError) {
    let deadline = Deadline(after: timeout)
    for index in producers.indices { producers[index].identity = nil }
    turn = 0
    let versions = try anyBroker(deadline).versions
    try Self.check(versions)
    for index in producers.indices { producers[index].identity = try initialize(producers[index].id, deadline) }
    cluster.learn(try ask(MetadataRequest(topics: topics), deadline))
    if let group, cluster.groupCoordinator == nil {
      // If it does not exist yet, the first transaction looks it up again.
      _ = try? findCoordinator(.group, of: group, deadline)
    }
    wasCutOff = false
  }

  /// Checks that the broker supports this client's request versions and has the required feature.
  static func check(_ answer: APIVersionsRequest.Answer) throws(TransactionalProducerError) {
    let operation = "check the broker"
    let level = answer.features["transaction.version"] ?? 0
    guard answer.error == .none, level >= 2 else {
      throw TransactionalProducerError(
        .refused, operation,
        "the cluster's transaction.version is \(level), and must be 2 (Kafka 4.0 or later); on such a cluster: "
          + "kafka-features.sh --bootstrap-server BROKER upgrade --feature transaction.version=2")
    }
    let needed: [(name: String, key: Int16, version: Int16)] = [
      (ProduceRequest.name, ProduceRequest.key, ProduceRequest.version),
      (MetadataRequest.name, MetadataRequest.key, MetadataRequest.version),
      (FindCoordinatorRequest.name, FindCoordinatorRequest.key, FindCoordinatorRequest.version),
      (InitProducerIDRequest.name, InitProducerIDRequest.key, InitProducerIDRequest.version),
      (TxnOffsetCommitRequest.name, TxnOffsetCommitRequest.key, TxnOffsetCommitRequest.version),
      (EndTxnRequest.name, EndTxnRequest.key, EndTxnRequest.version),
    ]
    for (name, key, version) in needed where !(answer.versions[key]?.contains(version) ?? false) {
      let range = answer.versions[key].map { "\($0.lowerBound) to \($0.upperBound)" } ?? "none"
      throw TransactionalProducerError(
        .refused, operation, "it speaks \(name) in versions \(range); \(version) is needed (Kafka 4.0 or later)")
    }
  }

  /// Checks that the cluster supports transactions of version 2 and authenticates this client. Changes nothing.
  public func checkBroker(timeout: Duration) throws(TransactionalProducerError) {
    try Self.check(anyBroker(Deadline(after: timeout)).versions)
  }

  private func initialize(_ id: String, _ deadline: Deadline) throws(TransactionalProducerError) -> ProducerIdentity {
    let operation = "open transactional id \(id)"
    let request = InitProducerIDRequest(
      transactionalID: id,
      transactionTimeout: Int32(
        clamping: configuration.transactionTimeout.components.seconds * 1000
          + configuration.transactionTimeout.components.attoseconds / 1_000_000_000_000_000))
    var trouble = TransactionalProducerError(.passing, operation, "no time was given")
    var wait: Int64 = 1
    while !deadline.isPast {
      do throws(TransactionalProducerError) {
        let node: Int32
        if let known = cluster.transactionCoordinator(of: id) {
          node = known
        } else {
          node = try findCoordinator(.transaction, of: id, deadline)
        }
        let answer = try call(request, at: node, deadline)
        switch answer.error.meaning {
        case .success:
          guard answer.producer.id >= 0, answer.producer.epoch >= 0 else {
            throw TransactionalProducerError(.passing, operation, "the answer has no producer id")
          }
          return answer.producer
        case .refused:
          let fix =
            answer.error.isAuthorization
            ? ": allow the service's user to describe and write this transactional id"
            : answer.error.code == 50 ? ": transaction.timeout.ms is above the broker's transaction.max.timeout.ms" : ""
          throw TransactionalProducerError(.refused, operation, "\(answer.error)\(fix)")
        case .findCoordinator:
          cluster.forgetCoordinator(.transaction, of: id)
          trouble = TransactionalProducerError(.passing, operation, "\(answer.error)")
        default:
          // The former open transaction is being aborted.
          trouble = TransactionalProducerError(.passing, operation, "\(answer.error)")
        }
      } catch {
        if error.kind == .refused { throw error }
        trouble = error
      }
      Self.pause(.milliseconds(wait), deadline)
      wait = min(wait * 2, 100)
    }
    throw trouble
  }

  // MARK: Committing

  /// Commits, and waits for it no longer than `timeout`.
  ///
  /// If a broker throttles this client because of a quota, the transaction begins after the throttle, and the timeout counts from
  /// then. A throttle of more than 30 s gives `notCommitted` after 30 s.
  ///
  /// After every outcome other than `committed`, call `open` again.
  public func commit(_ content: TransactionContent, timeout: Duration) -> TransactionOutcome {
    if content.isEmpty { return .committed(CommittedRecords()) }
    if let offsets = content.offsets, offsets.memberID.isEmpty || offsets.generation < 0 {
      return .notMember("the consumer has not joined group \(offsets.group)")
    }
    guard !producers.isEmpty else { return .refused(.invalid, "the producer has no transactional id") }
    throttle.wait(atMost: Deadline(after: Self.longestThrottle))
    guard throttle.isPast else {
      return .notCommitted("a quota of the brokers throttles this client for another \(throttle.remaining)")
    }
    if wasCutOff && hasLoneBroker {
      // It may have left out markers of an id's last transaction.
      for index in producers.indices { producers[index].identity = nil }
      return .notCommitted("the producer is not open: the only broker was away")
    }
    turn = (turn + 1) % producers.count
    guard let identity = producers[turn].identity else { return .notCommitted("the producer is not open") }
    // Until the outcome is known.
    producers[turn].identity = nil
    let transaction = Transaction(
      id: producers[turn].id, producer: identity, content: content, deadline: Deadline(after: timeout),
      began: ContinuousClock.now)
    let (outcome, next) = run(transaction)
    if case .committed = outcome { isTopicUnknown = false }
    producers[turn].identity = next
    if wasCutOff && hasLoneBroker {
      // The only broker may have stopped and omitted markers: that must be resolved before an id is used again.
      for index in producers.indices { producers[index].identity = nil }
    }
    return outcome
  }

  private struct Transaction {
    let id: String
    let producer: ProducerIdentity
    let content: TransactionContent
    let deadline: Deadline
    let began: ContinuousClock.Instant
    /// The batches of each part, by index.
    let batches: [[RecordBatch]]
    let parts: [TransactionStateMachine.Part]

    init(
      id: String, producer: ProducerIdentity, content: TransactionContent, deadline: Deadline,
      began: ContinuousClock.Instant
    ) {
      self.id = id
      self.producer = producer
      self.content = content
      self.deadline = deadline
      self.began = began
      var batches: [[RecordBatch]] = []
      var parts: [TransactionStateMachine.Part] = []
      for topic in content.topics {
        for partition in topic.partitions where partition.used > 0 {
          let filled = Array(partition.batches[..<partition.used])
          batches.append(filled)
          parts.append(
            TransactionStateMachine.Part(
              topic: topic.name, partition: partition.index,
              batches: filled.map { (records: $0.count, bytes: $0.size) }))
        }
      }
      self.batches = batches
      self.parts = parts
    }

    var elapsed: Duration { began.duration(to: .now) }
  }

  private func run(_ transaction: Transaction) -> (TransactionOutcome, ProducerIdentity?) {
    var machine = TransactionStateMachine(
      parts: transaction.parts, hasOffsets: !(transaction.content.offsets?.offsets.isEmpty ?? true),
      transactionalID: transaction.id, transactionTimeout: configuration.transactionTimeout,
      maxRequestBytes: configuration.maxRequestBytes)
    var next: ProducerIdentity?
    var reached: TransactionStep?
    while true {
      if let interrupt, let step = machine.step, step != reached {
        reached = step
        if let reason = interrupt(step) { return (.notCommitted(reason), nil) }
      }
      do throws(TransactionalProducerError) {
        switch machine.next(cluster, isLate: transaction.deadline.isPast) {
        case .finish(let outcome): return (outcome, next)
        case .pause(let wait): Self.pause(wait, transaction.deadline)
        case .findLeaders:
          let answer = try ask(MetadataRequest(topics: topics), transaction.deadline)
          cluster.learn(answer)
          isTopicUnknown = answer.topics.contains { $0.error == .unknownTopic }
          machine.leadersFound(cluster, answer)
        case .findCoordinator(let kind):
          guard let id = kind == .transaction ? transaction.id : transaction.content.offsets?.group else { continue }
          machine.coordinatorFound(kind, try askForCoordinator(kind, of: id, transaction.deadline))
        case .produce(let node, let chosen):
          let answer = try call(
            request(transaction, machine.parts, chosen), at: node, transaction.deadline)
          for index in machine.produced(chosen, answer, elapsed: transaction.elapsed) {
            cluster.forgetLeader(of: machine.parts[index].topic, machine.parts[index].partition)
          }
        case .commitOffsets(let node):
          guard let offsets = transaction.content.offsets else { continue }
          let answer = try call(
            TxnOffsetCommitRequest(
              transactionalID: transaction.id, producer: transaction.producer, offsets: offsets),
            at: node, transaction.deadline)
          if machine.offsetsCommitted(answer, expected: offsets.offsets.count, elapsed: transaction.elapsed) {
            cluster.forgetCoordinator(.group, of: offsets.group)
          }
        case .end(let node):
          let answer = try call(
            EndTxnRequest(transactionalID: transaction.id, producer: transaction.producer), at: node,
            transaction.deadline)
          if answer.error == .none { next = answer.producer }
          if machine.ended(answer, elapsed: transaction.elapsed) {
            cluster.forgetCoordinator(.transaction, of: transaction.id)
          }
        }
      } catch {
        machine.failed(error)
        // The only broker may have stopped and omitted markers of this id's previous transaction. A repeated request could begin a
        // transaction that is aborted later together with the previous one.
        if hasLoneBroker && !machine.hasBegun {
          return (.notCommitted("the only broker did not answer: \(error)"), nil)
        }
      }
    }
  }

  private func request(
    _ transaction: Transaction, _ parts: [TransactionStateMachine.Part], _ chosen: [Int]
  ) -> ProduceRequest {
    var topics: [ProduceRequest.Topic] = []
    for index in chosen {
      let part = parts[index]
      let partition = ProduceRequest.Partition(
        index: part.partition, batch: transaction.batches[index][part.next], sequence: part.sequence)
      // Parts of one topic are adjacent.
      if topics.last?.name == part.topic {
        topics[topics.count - 1].partitions.append(partition)
      } else {
        topics.append(ProduceRequest.Topic(name: part.topic, partitions: [partition]))
      }
    }
    return ProduceRequest(
      transactionalID: transaction.id, producer: transaction.producer,
      timeout: Int32(configuration.requestTimeout.components.seconds * 1000), compression: configuration.compression,
      topics: topics)
  }
}
