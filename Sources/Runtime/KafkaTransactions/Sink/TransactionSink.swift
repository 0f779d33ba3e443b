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
public final class TransactionSink {
  private let configuration: SinkConfiguration
  private let security: ConnectionSecurity
  private let topics: [String]
  private let group: String?
  /// Used alternately: the broker writes the markers of one id's transaction after its answer, while the other id has the next
  /// transaction.
  private var producers: [(id: String, identity: ProducerIdentity?)]
  private var turn = 0
  var cluster = ClusterView()
  private var connections: [BrokerAddress: BrokerConnection] = [:]
  /// The latest moment until which a broker has throttled one of the connections (KIP-219). The next transaction begins then.
  private var throttle = Deadline(after: .zero)
  /// Called with the length of each throttle that a broker imposes.
  public var onThrottle: (Duration) -> Void = { _ in }

  /// A longer throttle within a transaction is not waited out on its connection.
  private static let longestThrottleInTransaction: Duration = .milliseconds(500)
  /// A commit waits out at most this much of a throttle before its transaction begins.
  static let longestThrottle: Duration = .seconds(30)

  /// Whether a broker has failed to answer since the last `open`.
  private var wasCutOff = false

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
    _ configuration: SinkConfiguration, transactionalIDs: [String], topics: [String], group: String?
  ) throws(SinkError) {
    self.configuration = configuration
    self.topics = topics
    self.group = group
    producers = transactionalIDs.map { ($0, nil) }
    security = ConnectionSecurity(
      tls: try configuration.tls.map { (settings) throws(SinkError) in try TLSContext(settings) },
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
  public func open(timeout: Duration) throws(SinkError) {
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
  static func check(_ answer: APIVersionsRequest.Answer) throws(SinkError) {
    let operation = "check the broker"
    let level = answer.features["transaction.version"] ?? 0
    guard answer.error == .none, level >= 2 else {
      throw SinkError(
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
      throw SinkError(
        .refused, operation, "it speaks \(name) in versions \(range); \(version) is needed (Kafka 4.0 or later)")
    }
  }

  /// Checks that the cluster supports transactions of version 2 and authenticates this client. Changes nothing.
  public func checkBroker(timeout: Duration) throws(SinkError) {
    try Self.check(anyBroker(Deadline(after: timeout)).versions)
  }

  private func initialize(_ id: String, _ deadline: Deadline) throws(SinkError) -> ProducerIdentity {
    let operation = "open transactional id \(id)"
    let request = InitProducerIDRequest(
      transactionalID: id,
      transactionTimeout: Int32(
        clamping: configuration.transactionTimeout.components.seconds * 1000
          + configuration.transactionTimeout.components.attoseconds / 1_000_000_000_000_000))
    var trouble = SinkError(.passing, operation, "no time was given")
    var wait: Int64 = 1
    while !deadline.isPast {
      do throws(SinkError) {
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
            throw SinkError(.passing, operation, "the answer has no producer id")
          }
          return answer.producer
        case .refused:
          let fix =
            answer.error.isAuthorization
            ? ": allow the service's user to describe and write this transactional id"
            : answer.error.code == 50 ? ": transaction.timeout.ms is above the broker's transaction.max.timeout.ms" : ""
          throw SinkError(.refused, operation, "\(answer.error)\(fix)")
        case .findCoordinator:
          cluster.forgetCoordinator(.transaction, of: id)
          trouble = SinkError(.passing, operation, "\(answer.error)")
        default:
          // The former open transaction is being aborted.
          trouble = SinkError(.passing, operation, "\(answer.error)")
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
    guard !producers.isEmpty else { return .refused(.invalid, "the sink has no transactional id") }
    throttle.wait(atMost: Deadline(after: Self.longestThrottle))
    guard throttle.isPast else {
      return .notCommitted("a quota of the brokers throttles this client for another \(throttle.remaining)")
    }
    turn = (turn + 1) % producers.count
    guard let identity = producers[turn].identity else { return .notCommitted("the sink is not open") }
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

  /// A transaction in progress.
  private struct Transaction {
    let id: String
    let producer: ProducerIdentity
    let content: TransactionContent
    let deadline: Deadline
    let began: ContinuousClock.Instant
    /// The batches of each part, by index.
    let batches: [[RecordBatch]]
    let parts: [Conversation.Part]

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
      var parts: [Conversation.Part] = []
      for topic in content.topics {
        for partition in topic.partitions where partition.used > 0 {
          let filled = Array(partition.batches[..<partition.used])
          batches.append(filled)
          parts.append(
            Conversation.Part(
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
    var conversation = Conversation(
      parts: transaction.parts, hasOffsets: !(transaction.content.offsets?.offsets.isEmpty ?? true),
      transactionalID: transaction.id, transactionTimeout: configuration.transactionTimeout,
      maxRequestBytes: configuration.maxRequestBytes)
    var next: ProducerIdentity?
    var reached: TransactionStep?
    while true {
      if let interrupt, let step = conversation.step, step != reached {
        reached = step
        if let reason = interrupt(step) { return (.notCommitted(reason), nil) }
      }
      do throws(SinkError) {
        switch conversation.next(cluster, isLate: transaction.deadline.isPast) {
        case .finish(let outcome): return (outcome, next)
        case .pause(let wait): Self.pause(wait, transaction.deadline)
        case .findLeaders:
          let answer = try ask(MetadataRequest(topics: topics), transaction.deadline)
          cluster.learn(answer)
          isTopicUnknown = answer.topics.contains { $0.error == .unknownTopic }
          conversation.leadersFound(cluster, answer)
        case .findCoordinator(let kind):
          guard let id = kind == .transaction ? transaction.id : transaction.content.offsets?.group else { continue }
          conversation.coordinatorFound(kind, try askForCoordinator(kind, of: id, transaction.deadline))
        case .produce(let node, let chosen):
          let answer = try call(
            request(transaction, conversation.parts, chosen), at: node, transaction.deadline)
          for index in conversation.produced(chosen, answer, elapsed: transaction.elapsed) {
            cluster.forgetLeader(of: conversation.parts[index].topic, conversation.parts[index].partition)
          }
        case .commitOffsets(let node):
          guard let offsets = transaction.content.offsets else { continue }
          let answer = try call(
            TxnOffsetCommitRequest(
              transactionalID: transaction.id, producer: transaction.producer, offsets: offsets),
            at: node, transaction.deadline)
          if conversation.offsetsCommitted(answer, expected: offsets.offsets.count, elapsed: transaction.elapsed) {
            cluster.forgetCoordinator(.group, of: offsets.group)
          }
        case .end(let node):
          let answer = try call(
            EndTxnRequest(transactionalID: transaction.id, producer: transaction.producer), at: node,
            transaction.deadline)
          if answer.error == .none { next = answer.producer }
          if conversation.ended(answer, elapsed: transaction.elapsed) {
            cluster.forgetCoordinator(.transaction, of: transaction.id)
          }
        }
      } catch {
        conversation.failed(error)
        // The only broker may have stopped and omitted markers of this id's previous transaction. A repeated request could begin a
        // transaction that is aborted later together with the previous one.
        if hasLoneBroker && !conversation.hasBegun {
          return (.notCommitted("the only broker did not answer: \(error)"), nil)
        }
      }
    }
  }

  private func request(
    _ transaction: Transaction, _ parts: [Conversation.Part], _ chosen: [Int]
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

  // MARK: Brokers

  static func pause(_ wait: Duration, _ deadline: Deadline) { Deadline(after: wait).wait(atMost: deadline) }

  @discardableResult
  private func findCoordinator(
    _ kind: CoordinatorKind, of id: String, _ deadline: Deadline
  ) throws(SinkError) -> Int32 {
    let error = try askForCoordinator(kind, of: id, deadline)
    guard error == .none, let node = coordinator(kind, of: id) else {
      let fix = error.isAuthorization ? ": allow the service's user to use it" : ""
      throw SinkError(
        error.meaning == .refused ? .refused : .passing, "find the coordinator of \(kind) \(id)", "\(error)\(fix)")
    }
    return node
  }

  /// The known coordinator; for groups only that of the last group.
  func coordinator(_ kind: CoordinatorKind, of id: String) -> Int32? {
    kind == .group ? cluster.groupCoordinator : cluster.transactionCoordinator(of: id)
  }

  func askForCoordinator(
    _ kind: CoordinatorKind, of id: String, _ deadline: Deadline
  ) throws(SinkError) -> BrokerError {
    let answer = try ask(FindCoordinatorRequest(kind: kind, id: id), deadline)
    guard let found = answer.coordinators.first(where: { $0.id == id }) else {
      throw SinkError(.passing, "find the coordinator of \(kind) \(id)", "the answer is for another key")
    }
    if found.error == .none { cluster.learn(kind, of: id, at: found.node, found.address) }
    return found.error
  }

  /// Asks any broker that answers.
  func ask<R: WireRequest>(_ request: R, _ deadline: Deadline) throws(SinkError) -> R.Answer {
    let limit = min(deadline, Deadline(after: configuration.requestTimeout))
    return try call(request, on: try anyBroker(limit), limit, deadline)
  }

  /// Asks one broker. If it does not answer, forgets what it led and coordinated.
  func call<R: WireRequest>(_ request: R, at node: Int32, _ deadline: Deadline) throws(SinkError) -> R.Answer {
    let limit = min(deadline, Deadline(after: configuration.requestTimeout))
    do throws(SinkError) {
      guard let address = cluster.brokers[node] else {
        throw SinkError(.passing, "send \(R.name)", "broker \(node) is unknown")
      }
      return try call(request, on: try connection(to: address, limit), limit, deadline)
    } catch {
      wasCutOff = true
      cluster.forget(node)
      throw error
    }
  }

  /// - Parameters:
  ///   - limit: of the request, without the time that the connection is throttled.
  ///   - deadline: of the caller.
  private func call<R: WireRequest>(
    _ request: R, on connection: BrokerConnection, _ limit: Deadline, _ deadline: Deadline
  ) throws(SinkError) -> R.Answer {
    var limit = limit
    if !connection.throttle.isPast {
      connection.throttle.wait(atMost: deadline)
      limit = min(deadline, Deadline(after: configuration.requestTimeout))
    }
    let answer = try connection.call(request, deadline: limit)
    if !connection.throttle.isPast {
      throttle = max(throttle, connection.throttle)
      onThrottle(connection.throttle.remaining)
    }
    return answer
  }

  private func connection(to address: BrokerAddress, _ deadline: Deadline) throws(SinkError) -> BrokerConnection {
    // A transaction has seconds before its coordinator aborts it. Its remaining requests go over a new connection, and the throttle is
    // waited out before the next transaction.
    if let open = connections[address], open.isUsable, open.throttle.remaining <= Self.longestThrottleInTransaction {
      return open
    }
    connections[address] = nil
    let connection = try BrokerConnection(to: address, security, client: configuration.client, deadline: deadline)
    connections[address] = connection
    return connection
  }

  /// An open connection, or a new one to the first broker that accepts.
  func anyBroker(_ deadline: Deadline) throws(SinkError) -> BrokerConnection {
    for (address, connection) in connections {
      if connection.isUsable {
        if connection.throttle.remaining <= Self.longestThrottleInTransaction { return connection }
      } else {
        connections[address] = nil
      }
    }
    let candidates = cluster.brokers.sorted { $0.key < $1.key }.map(\.value)
    let others = configuration.bootstrap.filter { !candidates.contains($0) }
    var failure = SinkError(.passing, "connect", "no broker is known")
    let all = candidates + others
    for (index, address) in all.enumerated() {
      do throws(SinkError) {
        let share = deadline.remaining / (all.count - index)
        return try connection(to: address, min(deadline, Deadline(after: share)))
      } catch {
        // Prefer the error of a broker that refuses to that of one that is unavailable.
        if failure.kind != .refused { failure = error }
      }
    }
    throw failure
  }
}
