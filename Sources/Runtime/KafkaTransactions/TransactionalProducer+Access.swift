// The permissions of the connections' user, found without using them.
extension TransactionalProducer {
  /// The level of the cluster's feature `transaction.version`. 0 if it has none.
  public func transactionVersion(timeout: Duration) throws(TransactionalProducerError) -> Int {
    TransactionVersion.level(try anyBroker(Deadline(after: timeout)).versions)
  }

  /// The authorized operations on each topic. Creates no topics, even with the brokers' `auto.create.topics.enable`.
  public func access(toTopics names: [String], timeout: Duration) throws(TransactionalProducerError) -> [String:
    ResourceAccess]
  {
    let answer = try ask(MetadataRequest(topics: names, asksForOperations: true), Deadline(after: timeout))
    var found: [String: ResourceAccess] = [:]
    for topic in answer.topics {
      guard let name = topic.name else { continue }
      found[name] = topic.error.isAuthorization ? .operations([]) : ResourceAccess(bits: topic.operations)
    }
    return found
  }

  /// The authorized operations on a group, which need not exist.
  public func access(toGroup name: String, timeout: Duration) throws(TransactionalProducerError) -> ResourceAccess {
    let deadline = Deadline(after: timeout)
    return try atCoordinator(.group, of: name, "look at the access to group \(name)", deadline) {
      (node) throws(TransactionalProducerError) -> (BrokerError, ResourceAccess) in
      let answer = try call(DescribeGroupsRequest(group: name), at: node, deadline)
      guard let group = answer.groups.first(where: { $0.id == name }) else { return (.none, .unknown) }
      return (group.error, ResourceAccess(bits: group.operations))
    } ?? .operations([])
  }

  /// The members of a group. Empty if there is no such group. Requests again until the time-out while no broker answers.
  /// - Throws: `refused` if the broker does not describe groups, or does not allow it.
  public func members(ofGroup name: String, timeout: Duration) throws(TransactionalProducerError) -> [GroupMember] {
    let deadline = Deadline(after: timeout)
    while true {
      do throws(TransactionalProducerError) {
        return try members(ofGroup: name, deadline)
      } catch {
        guard error.kind == .passing, !deadline.isPast else { throw error }
      }
      Self.pause(.milliseconds(100), deadline)
    }
  }

  private func members(
    ofGroup name: String, _ deadline: Deadline
  ) throws(TransactionalProducerError) -> [GroupMember] {
    let operation = "describe group \(name)"
    // The embedded broker closes the connection.
    let limit = min(deadline, Deadline(after: configuration.requestTimeout))
    let versions = try anyBroker(limit).versions.versions[DescribeGroupsRequest.key]
    guard versions?.contains(DescribeGroupsRequest.version) ?? false else {
      throw TransactionalProducerError(.refused, operation, "the broker does not describe groups")
    }
    let found = try atCoordinator(.group, of: name, operation, deadline) {
      (node) throws(TransactionalProducerError) -> (BrokerError, [GroupMember]) in
      let answer = try call(DescribeGroupsRequest(group: name), at: node, deadline)
      guard let group = answer.groups.first(where: { $0.id == name }) else {
        throw TransactionalProducerError(.passing, operation, "the answer is for another group")
      }
      return (group.error, group.members)
    }
    guard let found else {
      throw TransactionalProducerError(
        .refused, operation,
        "GROUP_AUTHORIZATION_FAILED (an access rule is missing for this user: 'nudge doctor --role' says which)",
        isAuthorization: true)
    }
    return found
  }

  /// Whether a transactional id may be used. It must not be in use, because the call tries to end a transaction that cannot exist. Without
  /// the permission to write, the coordinator refuses that before it looks up the transaction.
  public func access(toTransactionalID id: String, timeout: Duration) throws(TransactionalProducerError)
    -> ResourceAccess
  {
    let deadline = Deadline(after: timeout)
    return try atCoordinator(.transaction, of: id, "look at the access to transactional id \(id)", deadline) {
      (node) throws(TransactionalProducerError) -> (BrokerError, ResourceAccess) in
      let answer = try call(FormerEndTxnRequest(transactionalID: id, producer: .none), at: node, deadline)
      // The coordinator was returned, so describing is allowed.
      if answer.error.isAuthorization { return (.none, .operations([.describe])) }
      return answer.error.isCoordinatorAway
        ? (answer.error, .unknown) : (.none, .operations([.write, .describe]))
    } ?? .operations([])
  }

  /// Sends a request to a coordinator. Retries if the coordinator has moved, is still loading its log, or does not exist yet. Absent if the
  /// client's user may not describe what it coordinates.
  private func atCoordinator<Answer>(
    _ kind: CoordinatorKind, of id: String, _ operation: String, _ deadline: Deadline,
    _ ask: (Int32) throws(TransactionalProducerError) -> (BrokerError, Answer)
  ) throws(TransactionalProducerError) -> Answer? {
    var error = try askForCoordinator(kind, of: id, deadline)
    while true {
      if error.isAuthorization { return nil }
      if error == .none, let node = coordinator(kind, of: id) {
        let (refusal, answer) = try ask(node)
        if refusal == .none { return answer }
        if refusal.isAuthorization { return nil }
        error = refusal
      }
      guard error == .none || error.isCoordinatorAway, !deadline.isPast else {
        throw TransactionalProducerError(.passing, operation, "\(error)")
      }
      // The first request makes the broker create the coordinators' internal topic.
      Self.pause(.milliseconds(50), deadline)
      error = try askForCoordinator(kind, of: id, deadline)
    }
  }
}

extension BrokerError {
  /// Whether the coordinator has moved, does not exist yet, or still loads its log (COORDINATOR_LOAD_IN_PROGRESS).
  fileprivate var isCoordinatorAway: Bool { meaning == .findCoordinator || code == 14 }
}

/// An operation on a resource, named as in Kafka's ACLs.
public enum AccessOperation: String, Sendable, CaseIterable, Comparable {
  /// Read records, or commit a group's offsets. Implies ``describe``.
  case read = "Read"
  /// Write records, or use a transactional id. Implies ``describe``.
  case write = "Write"
  /// See that the resource exists.
  case describe = "Describe"
  /// See the resource's configuration.
  case describeConfigs = "DescribeConfigs"

  /// The bit in brokers' answers: `1 << AclOperation.code()`.
  private var bit: Int32 {
    switch self {
    case .read: 1 << 3
    case .write: 1 << 4
    case .describe: 1 << 8
    case .describeConfigs: 1 << 10
    }
  }

  /// Reads the operations in a broker's answer.
  static func set(of bits: Int32) -> Set<AccessOperation> { Set(allCases.filter { bits & $0.bit != 0 }) }

  /// Orders as the cases.
  public static func < (left: AccessOperation, right: AccessOperation) -> Bool { left.bit < right.bit }
}

/// The authorized operations of the connection's user on a resource.
public enum ResourceAccess: Sendable, Equatable {
  /// The authorized ones among all ``AccessOperation``s.
  case operations(Set<AccessOperation>)
  /// The brokers do not return the operations.
  case unknown

  /// Reads a broker's answer: a bit for each operation, or the smallest number if unknown.
  init(bits: Int32) { self = bits == .min ? .unknown : .operations(AccessOperation.set(of: bits)) }
}
