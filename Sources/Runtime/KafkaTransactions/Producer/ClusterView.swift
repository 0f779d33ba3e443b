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
