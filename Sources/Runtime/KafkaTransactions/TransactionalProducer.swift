/// A completed step of a transaction.
public enum TransactionStep: Sendable, Equatable {
  /// The brokers have acknowledged all records, and not yet the offsets.
  case recordsWritten
  /// The brokers have acknowledged records and offsets. Only the request that ends the transaction is missing.
  case offsetsWritten
}

/// Commits transactions of version 2 (KIP-890, part 2), with one request to each leader, one for the offsets and one for the end.
/// librdkafka does not support them yet.
///
/// On a cluster whose feature `transaction.version` is below 2 it commits transactions of version 1, with up to three more requests
/// (decision 195).
///
/// Not thread-safe. Calls block for at most the caller's time-out, and each request within a call for at most its own. `commit` may wait
/// for a throttle first.
public final class TransactionalProducer {
  let configuration: TransactionalProducerConfiguration
  let security: ConnectionSecurity
  private let topics: [String]
  private let group: String?
  /// One producer for each transactional id, used alternately. A broker writes the markers of a transaction after it has answered.
  /// Meanwhile the next transaction uses the other id.
  private var producers: [Producer]
  private var turn = 0
  var cluster = ClusterView()
  var connections: [BrokerAddress: BrokerConnection] = [:]
  /// When the last throttle of any connection ends (KIP-219). The next transaction begins then.
  var throttle = Deadline(after: .zero)
  /// Called with the length of each throttle that a broker imposes.
  public var onThrottle: (Duration) -> Void = { _ in }

  /// The longest throttle that a transaction waits for. A connection with a longer one is replaced.
  static let longestThrottleInTransaction: Duration = .milliseconds(500)
  /// The longest throttle that a commit waits for before its transaction begins.
  static let longestThrottle: Duration = .seconds(30)

  private struct Producer {
    let id: String
    var identity: ProducerIdentity?
    /// Whether a transaction has used this epoch. Only version 1 needs to know: there the end of a transaction does not raise the epoch.
    var isUsed = false
  }

  /// The version of transactions that the last `open` chose.
  public private(set) var version = TransactionVersion.two
  /// Whether the last request was handed to a connection of a particular broker, which may have processed it. Stays false for requests that
  /// any broker can answer, because those change nothing.
  var wasSent = false

  /// Whether a broker has failed to answer since the last `open`.
  var wasCutOff = false

  /// Whether the cluster's only broker was unavailable since the last `open`. The broker may have omitted markers. Open the producer again
  /// before it uses an id.
  public var hasLostBroker: Bool {
    hasLoneBroker && (wasCutOff || connections.values.contains { !$0.isUsable })
  }

  /// The identities of the open producers.
  var identities: [ProducerIdentity] { producers.compactMap(\.identity) }

  /// Whether the last metadata that a transaction requested lacked one of the topics. A commit resets it.
  public private(set) var isTopicUnknown = false

  /// Called after each step, for tests of crashes and failures within a transaction. If it returns a reason, the transaction ends there as
  /// `notCommitted`.
  public var interrupt: ((TransactionStep) -> String?)?

  /// Makes a producer without connecting it.
  ///
  /// - Parameters:
  ///   - transactionalIDs: The ids, used alternately. They must be unique to this process.
  ///   - topics: The output topics.
  ///   - group: The consumer group whose offsets are committed.
  /// - Throws: `refused` if a certificate or key cannot be used.
  public init(
    _ configuration: TransactionalProducerConfiguration, transactionalIDs: [String], topics: [String], group: String?
  ) throws(TransactionalProducerError) {
    self.configuration = configuration
    self.topics = topics
    self.group = group
    producers = transactionalIDs.map { Producer(id: $0) }
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

  /// Gets a new epoch of each transactional id, which aborts the id's open transaction. Also finds leaders and coordinators for the first
  /// transaction.
  ///
  /// Each call asks for the cluster's version of transactions, because the cluster may have been upgraded.
  ///
  /// - Throws: `refused` if the cluster lacks transactions that this client supports, or does not authorize the client.
  public func open(timeout: Duration) throws(TransactionalProducerError) {
    let deadline = Deadline(after: timeout)
    for index in producers.indices { producers[index].identity = nil }
    turn = 0
    version = try TransactionVersion.of(ask(APIVersionsRequest(), deadline), wanted: configuration.transactionVersion)
    for index in producers.indices {
      producers[index].identity = try initialize(producers[index].id, deadline)
      producers[index].isUsed = false
    }
    cluster.learn(try ask(MetadataRequest(topics: topics), deadline))
    if let group, cluster.groupCoordinator == nil {
      // If the coordinator does not exist yet, the first transaction looks it up again.
      _ = try? findCoordinator(.group, of: group, deadline)
    }
    wasCutOff = false
  }

  /// Checks that the cluster authenticates this client and supports transactions, and returns their version. Changes nothing.
  public func checkBroker(timeout: Duration) throws(TransactionalProducerError) -> TransactionVersion {
    try TransactionVersion.of(
      anyBroker(Deadline(after: timeout)).versions, wanted: configuration.transactionVersion)
  }

  private func initialize(_ id: String, _ deadline: Deadline) throws(TransactionalProducerError) -> ProducerIdentity {
    let operation = "open transactional id \(id)"
    let request = initRequest(id)
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
          // For example, the coordinator is still aborting the id's open transaction.
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

  /// - Parameter producer: The producer whose epoch is raised, or `none` for a new one.
  private func initRequest(_ id: String, _ producer: ProducerIdentity = .none) -> InitProducerIDRequest {
    InitProducerIDRequest(
      version: version.initProducerID, transactionalID: id,
      transactionTimeout: Int32(
        clamping: configuration.transactionTimeout.components.seconds * 1000
          + configuration.transactionTimeout.components.attoseconds / 1_000_000_000_000_000),
      producer: producer)
  }

  // MARK: Committing

  /// Commits a transaction, and waits at most `timeout` for the outcome.
  ///
  /// If a broker throttles this client because of a quota, the transaction begins after the throttle, and `timeout` counts from then. If
  /// the throttle lasts longer than 30 s, the outcome is `notCommitted` after 30 s.
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
      // The broker may have left out markers of an id's last transaction.
      for index in producers.indices { producers[index].identity = nil }
      return .notCommitted("the producer is not open: the only broker was away")
    }
    turn = (turn + 1) % producers.count
    guard let identity = producers[turn].identity else { return .notCommitted("the producer is not open") }
    // Absent until the outcome is known.
    producers[turn].identity = nil
    let transaction = Transaction(
      id: producers[turn].id, producer: identity, isUsed: producers[turn].isUsed, content: content,
      deadline: Deadline(after: timeout), began: ContinuousClock.now)
    let (outcome, next) = run(transaction)
    if case .committed = outcome { isTopicUnknown = false }
    producers[turn].identity = next
    producers[turn].isUsed = version == .one
    if wasCutOff && hasLoneBroker {
      // The only broker may have stopped and omitted markers: that must be resolved before an id is used again.
      for index in producers.indices { producers[index].identity = nil }
    }
    return outcome
  }

  private struct Transaction {
    let id: String
    var producer: ProducerIdentity
    /// Whether an earlier transaction has used the producer's epoch.
    let isUsed: Bool
    let content: TransactionContent
    let deadline: Deadline
    let began: ContinuousClock.Instant
    /// The batches of each part, by index.
    let batches: [[RecordBatch]]
    let parts: [TransactionStateMachine.Part]

    init(
      id: String, producer: ProducerIdentity, isUsed: Bool, content: TransactionContent, deadline: Deadline,
      began: ContinuousClock.Instant
    ) {
      self.id = id
      self.producer = producer
      self.isUsed = isUsed
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

    /// The partitions with records, by topic.
    var places: [(name: String, partitions: [Int32])] {
      content.topics.compactMap { topic in
        let used = topic.partitions.filter { $0.used > 0 }.map(\.index)
        return used.isEmpty ? nil : (topic.name, used)
      }
    }
  }

  private func run(_ begun: Transaction) -> (TransactionOutcome, ProducerIdentity?) {
    var transaction = begun
    var machine = TransactionStateMachine(
      version, parts: transaction.parts, hasOffsets: !(transaction.content.offsets?.offsets.isEmpty ?? true),
      transactionalID: transaction.id, transactionTimeout: configuration.transactionTimeout,
      maxRequestBytes: configuration.maxRequestBytes, hasFreshEpoch: !transaction.isUsed)
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
        case .prepare(let preparation, let node):
          let errors = try prepare(preparation, &transaction, at: node)
          if machine.prepared(preparation, errors, elapsed: transaction.elapsed) {
            cluster.forgetCoordinator(.transaction, of: transaction.id)
          }
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
              version: version.txnOffsetCommit, transactionalID: transaction.id, producer: transaction.producer,
              offsets: offsets),
            at: node, transaction.deadline)
          if machine.offsetsCommitted(answer, expected: offsets.offsets.count, elapsed: transaction.elapsed) {
            cluster.forgetCoordinator(.group, of: offsets.group)
          }
        case .end(let node):
          let answer = try end(transaction, at: node)
          if answer.error == .none { next = answer.producer }
          if machine.ended(answer, elapsed: transaction.elapsed) {
            cluster.forgetCoordinator(.transaction, of: transaction.id)
          }
        }
      } catch {
        machine.failed(error, wasSent: wasSent)
        // The only broker may have stopped and omitted markers of this id's previous transaction. A repeated request could begin a
        // transaction that is aborted later together with the previous one.
        if hasLoneBroker && !machine.hasBegun {
          return (.notCommitted("the only broker did not answer: \(error)"), nil)
        }
      }
    }
  }

  /// Sends a request that only version 1 needs, and returns its errors: one for each partition, or a single one.
  private func prepare(
    _ preparation: TransactionStateMachine.Preparation, _ transaction: inout Transaction, at node: Int32
  ) throws(TransactionalProducerError) -> [BrokerError] {
    let (id, producer, deadline) = (transaction.id, transaction.producer, transaction.deadline)
    switch preparation {
    case .epoch:
      let answer = try call(initRequest(id, producer), at: node, deadline)
      if answer.error == .none { transaction.producer = answer.producer }
      return [answer.error]
    case .partitions:
      let answer = try call(
        AddPartitionsToTxnRequest(transactionalID: id, producer: producer, topics: transaction.places), at: node,
        deadline)
      // A topic that the coordinator does not know is looked up again.
      for it in answer.partitions where it.error.meaning == .findLeader { cluster.forgetLeader(of: it.topic, it.index) }
      return answer.partitions.map(\.error)
    case .offsets:
      let group = transaction.content.offsets?.group ?? ""
      let request = AddOffsetsToTxnRequest(transactionalID: id, producer: producer, group: group)
      return [try call(request, at: node, deadline).error]
    }
  }

  /// Requests the commit. The answer has the producer for the next transaction, which in version 1 is the present one.
  private func end(_ transaction: Transaction, at node: Int32) throws(TransactionalProducerError)
    -> EndTxnRequest.Answer
  {
    let (id, producer) = (transaction.id, transaction.producer)
    switch version {
    case .two:
      return try call(EndTxnRequest(transactionalID: id, producer: producer), at: node, transaction.deadline)
    case .one:
      let request = FormerEndTxnRequest(transactionalID: id, producer: producer)
      return EndTxnRequest.Answer(
        error: try call(request, at: node, transaction.deadline).error, producer: producer)
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
      version: version.produce, transactionalID: transaction.id, producer: transaction.producer,
      timeout: Int32(configuration.requestTimeout.components.seconds * 1000), compression: configuration.compression,
      topics: topics)
  }
}
