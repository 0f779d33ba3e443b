/// Markers that a coordinator has left out (Apache Kafka 4.3.1: a lone broker that stops). Whether one is missing, and how the
/// transaction was decided, is for the caller to know: the coordinator's log says both.
extension TransactionSink {
  /// Whether the cluster is one broker, as far as is known.
  public var hasLoneBroker: Bool { cluster.brokers.count == 1 }

  /// Transactions that are open in any partition of these topics; of topics that there are not, none.
  /// - Throws: `refused` where this client may not read one of the topics.
  public func openTransactions(in topics: [String], timeout: Duration) throws(SinkError) -> [OpenTransaction] {
    let operation = "ask for open transactions"
    let deadline = Deadline(after: timeout)
    let metadata = try ask(MetadataRequest(topics: topics), deadline)
    cluster.learn(metadata)
    var byLeader: [Int32: [(name: String, partitions: [Int32])]] = [:]
    for topic in metadata.topics {
      guard let name = topic.name, topic.error != .unknownTopic else { continue }
      guard topic.error == .none else {
        throw SinkError(
          topic.error.meaning == .refused ? .refused : .passing, operation, "\(topic.error) for topic \(name)")
      }
      for (leader, partitions) in Dictionary(grouping: topic.partitions, by: \.leader) {
        guard leader >= 0 else { throw SinkError(.passing, operation, "a partition of \(name) has no leader") }
        byLeader[leader, default: []].append((name, partitions.map(\.index)))
      }
    }
    var open: [OpenTransaction] = []
    for (leader, topics) in byLeader.sorted(by: { $0.key < $1.key }) {
      for told in try call(DescribeProducersRequest(topics: topics), at: leader, deadline).partitions {
        guard told.error == .none else {
          throw SinkError(
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

  /// Of open transactions those of this sink's ids that are decided: their epoch is over, and the coordinator gave a new one,
  /// which it does only when it takes all before for complete. The sink must be open.
  public func decided(of open: [OpenTransaction]) -> [OpenTransaction] {
    open.filter { it in identities.contains { $0.id == it.producerID && it.epoch < $0.epoch } }
  }

  /// Writes the marker that is missing. The leader refuses it where it has seen anything of a later epoch, so that it ends
  /// this transaction and no other; false then. Once it is written, writing it again changes nothing that a reader sees.
  public func writeMarker(of open: OpenTransaction, isCommit: Bool, timeout: Duration) throws(SinkError) -> Bool {
    let operation = "write the marker of a transaction to \(open.topic)-\(open.partition)"
    let deadline = Deadline(after: timeout)
    guard let leader = cluster.leader(of: open.topic, open.partition) else {
      throw SinkError(.passing, operation, "it has no leader")
    }
    let answer = try call(
      WriteTxnMarkersRequest(
        producer: ProducerIdentity(id: open.producerID, epoch: open.epoch), coordinatorEpoch: open.coordinatorEpoch,
        isCommit: isCommit, topic: open.topic, partition: open.partition),
      at: leader, deadline)
    guard let error = answer.errors.first else { throw SinkError(.passing, operation, "the answer tells nothing") }
    if error.meaning == .epochOver { return false }
    guard error == .none else {
      let fix = error.isAuthorization ? ": allow the user ClusterAction or Alter on the cluster" : ""
      throw SinkError(error.meaning == .refused ? .refused : .passing, operation, "\(error)\(fix)")
    }
    return true
  }
}
