/// Requests to brokers, over connections that are kept open.
extension TransactionalProducer {
  static func pause(_ wait: Duration, _ deadline: Deadline) { Deadline(after: wait).wait(atMost: deadline) }

  @discardableResult
  func findCoordinator(
    _ kind: CoordinatorKind, of id: String, _ deadline: Deadline
  ) throws(TransactionalProducerError) -> Int32 {
    let error = try askForCoordinator(kind, of: id, deadline)
    guard error == .none, let node = coordinator(kind, of: id) else {
      let fix = error.isAuthorization ? ": allow the service's user to use it" : ""
      throw TransactionalProducerError(
        error.meaning == .refused ? .refused : .passing, "find the coordinator of \(kind) \(id)", "\(error)\(fix)")
    }
    return node
  }

  /// The known coordinator. Of groups, only the last group's coordinator is known.
  func coordinator(_ kind: CoordinatorKind, of id: String) -> Int32? {
    kind == .group ? cluster.groupCoordinator : cluster.transactionCoordinator(of: id)
  }

  func askForCoordinator(
    _ kind: CoordinatorKind, of id: String, _ deadline: Deadline
  ) throws(TransactionalProducerError) -> BrokerError {
    let answer = try ask(FindCoordinatorRequest(kind: kind, id: id), deadline)
    guard let found = answer.coordinators.first(where: { $0.id == id }) else {
      throw TransactionalProducerError(
        .passing, "find the coordinator of \(kind) \(id)", "the answer is for another key")
    }
    if found.error == .none { cluster.learn(kind, of: id, at: found.node, found.address) }
    return found.error
  }

  /// Asks any broker that answers.
  func ask<R: WireRequest>(_ request: R, _ deadline: Deadline) throws(TransactionalProducerError) -> R.Answer {
    let limit = min(deadline, Deadline(after: configuration.requestTimeout))
    wasSent = false
    do throws(TransactionalProducerError) {
      return try call(request, on: try anyBroker(limit), limit, deadline)
    } catch {
      wasCutOff = true
      throw error
    }
  }

  /// Sends a request to one broker. If it does not answer, forgets what it led and coordinated.
  func call<R: WireRequest>(_ request: R, at node: Int32, _ deadline: Deadline) throws(TransactionalProducerError)
    -> R.Answer
  {
    let limit = min(deadline, Deadline(after: configuration.requestTimeout))
    wasSent = false
    do throws(TransactionalProducerError) {
      guard let address = cluster.brokers[node] else {
        throw TransactionalProducerError(.passing, "send \(R.name)", "broker \(node) is unknown")
      }
      let connection = try connection(to: address, limit)
      wasSent = true
      return try call(request, on: connection, limit, deadline)
    } catch {
      wasCutOff = true
      cluster.forget(node)
      throw error
    }
  }

  /// - Parameters:
  ///   - limit: The time-out of the request, without the time for which the connection is throttled.
  ///   - deadline: The caller's deadline.
  private func call<R: WireRequest>(
    _ request: R, on connection: BrokerConnection, _ limit: Deadline, _ deadline: Deadline
  ) throws(TransactionalProducerError) -> R.Answer {
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

  private func connection(to address: BrokerAddress, _ deadline: Deadline) throws(TransactionalProducerError)
    -> BrokerConnection
  {
    // A transaction has seconds before its coordinator aborts it. Its remaining requests use a new connection, and the next transaction
    // waits until the throttle ends.
    if let open = connections[address], open.isUsable, open.throttle.remaining <= Self.longestThrottleInTransaction {
      return open
    }
    connections[address] = nil
    let connection = try BrokerConnection(to: address, security, client: configuration.client, deadline: deadline)
    connections[address] = connection
    return connection
  }

  /// An open connection, or a new one to the first broker that accepts.
  func anyBroker(_ deadline: Deadline) throws(TransactionalProducerError) -> BrokerConnection {
    for (address, connection) in connections {
      if connection.isUsable {
        if connection.throttle.remaining <= Self.longestThrottleInTransaction { return connection }
      } else {
        connections[address] = nil
      }
    }
    let candidates = cluster.brokers.sorted { $0.key < $1.key }.map(\.value)
    let others = configuration.bootstrap.filter { !candidates.contains($0) }
    var failure = TransactionalProducerError(.passing, "connect", "no broker is known")
    let all = candidates + others
    for (index, address) in all.enumerated() {
      do throws(TransactionalProducerError) {
        let share = deadline.remaining / (all.count - index)
        return try connection(to: address, min(deadline, Deadline(after: share)))
      } catch {
        // The error of a broker that refuses is preferred to that of one that is unavailable.
        if failure.kind != .refused { failure = error }
      }
    }
    throw failure
  }
}

/// Writes missing transaction markers (Apache Kafka 4.3.1: a lone broker can stop before it writes them). The caller must know from the
/// coordinator's log that a marker is missing, and whether the transaction was committed.
extension TransactionalProducer {
  /// Whether the known cluster has only one broker.
  public var hasLoneBroker: Bool { cluster.brokers.count == 1 }

  /// The open transactions in all partitions of these topics. Topics that do not exist are ignored.
  /// - Throws: `refused` if this client may not read one of the topics.
  public func openTransactions(in topics: [String], timeout: Duration) throws(TransactionalProducerError)
    -> [OpenTransaction]
  {
    let operation = "ask for open transactions"
    let deadline = Deadline(after: timeout)
    let metadata = try ask(MetadataRequest(topics: topics), deadline)
    cluster.learn(metadata)
    var byLeader: [Int32: [(name: String, partitions: [Int32])]] = [:]
    for topic in metadata.topics {
      guard let name = topic.name, topic.error != .unknownTopic else { continue }
      guard topic.error == .none else {
        throw TransactionalProducerError(
          topic.error.meaning == .refused ? .refused : .passing, operation, "\(topic.error) for topic \(name)")
      }
      for (leader, partitions) in Dictionary(grouping: topic.partitions, by: \.leader) {
        guard leader >= 0 else {
          throw TransactionalProducerError(.passing, operation, "a partition of \(name) has no leader")
        }
        byLeader[leader, default: []].append((name, partitions.map(\.index)))
      }
    }
    var open: [OpenTransaction] = []
    for (leader, topics) in byLeader.sorted(by: { $0.key < $1.key }) {
      for partition in try call(DescribeProducersRequest(topics: topics), at: leader, deadline).partitions {
        guard partition.error == .none else {
          throw TransactionalProducerError(
            partition.error.meaning == .refused ? .refused : .passing, operation,
            "\(partition.error) for \(partition.topic)-\(partition.index)")
        }
        for state in partition.producers where state.transactionStart >= 0 {
          guard let epoch = Int16(exactly: state.epoch) else { continue }
          open.append(
            OpenTransaction(
              topic: partition.topic, partition: partition.index, producerID: state.id, epoch: epoch,
              coordinatorEpoch: max(0, state.coordinatorEpoch)))
        }
      }
    }
    return open
  }

  /// The open transactions of this producer's ids that are decided: the coordinator has assigned a later epoch, which it does only after
  /// completing all earlier transactions. The producer must be open.
  public func decided(of open: [OpenTransaction]) -> [OpenTransaction] {
    open.filter { it in identities.contains { $0.id == it.producerID && it.epoch < $0.epoch } }
  }

  /// Writes the missing marker. Returns false if the leader refuses it because it has seen a later epoch. The marker can therefore end only
  /// this transaction. Writing it again changes nothing for readers.
  public func writeMarker(of open: OpenTransaction, isCommit: Bool, timeout: Duration)
    throws(TransactionalProducerError) -> Bool
  {
    let operation = "write the marker of a transaction to \(open.topic)-\(open.partition)"
    let deadline = Deadline(after: timeout)
    guard let leader = cluster.leader(of: open.topic, open.partition) else {
      throw TransactionalProducerError(.passing, operation, "it has no leader")
    }
    let answer = try call(
      WriteTxnMarkersRequest(
        producer: ProducerIdentity(id: open.producerID, epoch: open.epoch), coordinatorEpoch: open.coordinatorEpoch,
        isCommit: isCommit, topic: open.topic, partition: open.partition),
      at: leader, deadline)
    guard let error = answer.errors.first else {
      throw TransactionalProducerError(.passing, operation, "the answer tells nothing")
    }
    if error.meaning == .epochOver { return false }
    guard error == .none else {
      let fix = error.isAuthorization ? ": allow the user ClusterAction or Alter on the cluster" : ""
      throw TransactionalProducerError(error.meaning == .refused ? .refused : .passing, operation, "\(error)\(fix)")
    }
    return true
  }
}

extension TransactionalProducer {
  /// The ids of topics, by name. Topics that do not exist or have no id are missing. A topic that is deleted and created again gets another
  /// id.
  /// - Throws: `passing` if no broker answers.
  public func topicIDs(of topics: [String], timeout: Duration) throws(TransactionalProducerError) -> [String: String] {
    // A connection that the only broker has closed is replaced here, which the next transaction must know.
    if hasLostBroker { wasCutOff = true }
    let deadline = Deadline(after: timeout)
    let versions = try anyBroker(deadline).versions.versions[MetadataRequest.key]
    guard versions?.contains(MetadataRequest.version) ?? false else { return [:] }
    let answer = try ask(MetadataRequest(topics: topics), deadline)
    var ids: [String: String] = [:]
    for topic in answer.topics where topic.error == .none { if let name = topic.name { ids[name] = topic.id } }
    return ids
  }
}

/// Cached metadata of the cluster: brokers, leaders, coordinators. Missing entries are requested, and wrong ones removed.
struct ClusterView {
  struct Place: Hashable {
    var topic: String
    var partition: Int32
  }

  private(set) var brokers: [Int32: BrokerAddress] = [:]
  private var leaders: [Place: Int32] = [:]
  private var transactionCoordinators: [String: Int32] = [:]
  private(set) var groupCoordinator: Int32?

  /// The leader of a partition. Absent if it is unknown or there is none now.
  func leader(of topic: String, _ partition: Int32) -> Int32? {
    leaders[Place(topic: topic, partition: partition)].flatMap { brokers[$0] == nil ? nil : $0 }
  }

  func transactionCoordinator(of id: String) -> Int32? {
    transactionCoordinators[id].flatMap { brokers[$0] == nil ? nil : $0 }
  }

  mutating func learn(_ metadata: MetadataRequest.Answer) {
    for (node, address) in metadata.brokers { brokers[node] = address }
    for topic in metadata.topics {
      guard let name = topic.name else { continue }
      for partition in topic.partitions {
        leaders[Place(topic: name, partition: partition.index)] = partition.leader < 0 ? nil : partition.leader
      }
    }
  }

  mutating func learn(_ kind: CoordinatorKind, of id: String, at node: Int32, _ address: BrokerAddress) {
    brokers[node] = address
    switch kind {
    case .group: groupCoordinator = node
    case .transaction: transactionCoordinators[id] = node
    }
  }

  mutating func forgetLeader(of topic: String, _ partition: Int32) {
    leaders[Place(topic: topic, partition: partition)] = nil
  }

  mutating func forgetCoordinator(_ kind: CoordinatorKind, of id: String) {
    switch kind {
    case .group: groupCoordinator = nil
    case .transaction: transactionCoordinators[id] = nil
    }
  }

  /// Removes a broker that does not answer, because its partitions and coordinators may have moved.
  mutating func forget(_ node: Int32) {
    leaders = leaders.filter { $0.value != node }
    transactionCoordinators = transactionCoordinators.filter { $0.value != node }
    if groupCoordinator == node { groupCoordinator = nil }
  }
}
