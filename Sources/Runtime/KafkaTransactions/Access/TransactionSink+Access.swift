import Foundation

// What the user of the connections may do, asked without doing it.
extension TransactionSink {
  /// The level of the cluster's feature `transaction.version`; 0 where it has none.
  public func transactionVersion(timeout: Duration) throws(SinkError) -> Int {
    Int(try anyBroker(Deadline(after: timeout)).versions.features["transaction.version"] ?? 0)
  }

  /// What may be done with each topic. Makes none, whatever the brokers' `auto.create.topics.enable` says.
  public func access(toTopics names: [String], timeout: Duration) throws(SinkError) -> [String: ResourceAccess] {
    let answer = try ask(MetadataRequest(topics: names, asksForOperations: true), Deadline(after: timeout))
    var found: [String: ResourceAccess] = [:]
    for topic in answer.topics {
      guard let name = topic.name else { continue }
      found[name] = topic.error.isAuthorization ? .operations([]) : ResourceAccess(bits: topic.operations)
    }
    return found
  }

  /// What may be done with a group, which need not be there.
  public func access(toGroup name: String, timeout: Duration) throws(SinkError) -> ResourceAccess {
    let deadline = Deadline(after: timeout)
    return try atCoordinator(.group, of: name, "look at the access to group \(name)", deadline) {
      (node) throws(SinkError) in
      let answer = try call(DescribeGroupsRequest(group: name), at: node, deadline)
      guard let group = answer.groups.first(where: { $0.id == name }) else { return (.none, .unknown) }
      return (group.error, ResourceAccess(bits: group.operations))
    }
  }

  /// Whether a transactional id may be used, which nobody must be using: it is asked to end a transaction that there cannot
  /// be. Whoever may not write it is refused before the broker looks for one.
  public func access(toTransactionalID id: String, timeout: Duration) throws(SinkError) -> ResourceAccess {
    let deadline = Deadline(after: timeout)
    return try atCoordinator(.transaction, of: id, "look at the access to transactional id \(id)", deadline) {
      (node) throws(SinkError) in
      let answer = try call(EndTxnRequest(transactionalID: id, producer: .none), at: node, deadline)
      // The coordinator was told, so it may be described.
      if answer.error.isAuthorization { return (.none, .operations([.describe])) }
      return answer.error.meaning == .findCoordinator
        ? (answer.error, .unknown) : (.none, .operations([.write, .describe]))
    }
  }

  /// Asks a coordinator, again where it has moved or is not there yet.
  private func atCoordinator(
    _ kind: CoordinatorKind, of id: String, _ operation: String, _ deadline: Deadline,
    _ ask: (Int32) throws(SinkError) -> (BrokerError, ResourceAccess)
  ) throws(SinkError) -> ResourceAccess {
    var error = try askForCoordinator(kind, of: id, deadline)
    while true {
      if error.isAuthorization { return .operations([]) }
      if error == .none, let node = coordinator(kind, of: id) {
        let (refusal, access) = try ask(node)
        if refusal == .none { return access }
        if refusal.isAuthorization { return .operations([]) }
        error = refusal
      }
      guard error == .none || error.meaning == .findCoordinator, !deadline.isPast else {
        throw SinkError(.passing, operation, "\(error)")
      }
      // The first who asks has the topic made that coordinators keep what they know in.
      Self.pause(.milliseconds(50), deadline)
      error = try askForCoordinator(kind, of: id, deadline)
    }
  }
}
