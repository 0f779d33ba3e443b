/// Writes missing transaction markers (Apache Kafka 4.3.1: a lone broker can stop before it writes them). The caller must know from the
/// coordinator's log that a marker is missing, and whether the transaction was committed.
extension TransactionalProducer {
  /// Whether the known cluster has only one broker.
  public var hasLoneBroker: Bool { cluster.brokers.count == 1 }

  /// The open transactions in all partitions of these topics; topics that do not exist are ignored.
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
      for told in try call(DescribeProducersRequest(topics: topics), at: leader, deadline).partitions {
        guard told.error == .none else {
          throw TransactionalProducerError(
            told.error.meaning == .refused ? .refused : .passing, operation,
            "\(told.error) for \(told.topic)-\(told.index)")
        }
        for state in told.producers where state.transactionStart >= 0 {
          guard let epoch = Int16(exactly: state.epoch) else { continue }
          open.append(
            OpenTransaction(
              topic: told.topic, partition: told.index, producerID: state.id, epoch: epoch,
              coordinatorEpoch: max(0, state.coordinatorEpoch)))
        }
      }
    }
    return open
  }

  /// Those open transactions of this producer's ids that are decided: the coordinator has assigned a later epoch, which it does only
  /// after completing all earlier transactions. The producer must be open.
  public func decided(of open: [OpenTransaction]) -> [OpenTransaction] {
    open.filter { it in identities.contains { $0.id == it.producerID && it.epoch < $0.epoch } }
  }

  /// Writes the missing marker. Returns false if the leader refuses it because it has seen a later epoch; so the marker can end only this
  /// transaction. Writing the marker again changes nothing for readers.
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
