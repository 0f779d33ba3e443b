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

  /// The known coordinator; for groups only that of the last group.
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

  /// Asks one broker. If it does not answer, forgets what it led and coordinated.
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
  ///   - limit: of the request, without the time that the connection is throttled.
  ///   - deadline: of the caller.
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
        // Prefer the error of a broker that refuses to that of one that is unavailable.
        if failure.kind != .refused { failure = error }
      }
    }
    throw failure
  }
}
