import NudgeSchema

/// Version 1 of transactions, as brokers from Kafka 3.6 on have it: the client enlists partitions and offsets, leaders verify with the
/// coordinator, the group's coordinator does not, and a commit leaves the epoch as it was.
extension ModelBroker {
  /// A request that only version 1 has, or whose late copies do more there.
  struct FormerRequest {
    enum Kind {
      case partitions(Set<ModelPlace>)
      case offsets
      case commitOffsets(member: String, generation: Int, [ModelPlace: (offset: Int64, metadata: String)])
      /// InitProducerId, by the producer that continues.
      case epoch
    }
    var id: String
    var producer: Int
    var epoch: Int
    var kind: Kind
  }

  /// Does what a request asks for. Returns the producer's epoch.
  @discardableResult
  func receive(_ request: FormerRequest) throws(Refusal) -> Int {
    let (id, producer, epoch) = (request.id, request.producer, request.epoch)
    switch request.kind {
    case .partitions(let places):
      for place in places { _ = try enlist(id, producer: producer, epoch: epoch, place) }
    case .offsets: try enlist(id, producer: producer, epoch: epoch, nil).hasOffsets = true
    case .commitOffsets(let member, let generation, let offsets):
      try commitOffsets(id, producer: producer, epoch: epoch, member: member, generation: generation, offsets)
    case .epoch: return try initProducer(id, from: epoch).epoch
    }
    return epoch
  }

  /// A leader asks the coordinator whether the partition is part of an open transaction.
  func verify(_ request: Produce) throws(Refusal) {
    let it = try coordinated(request.id, producer: request.producer, epoch: request.epoch)
    guard it.state == .ongoing, it.partitions.contains(request.place) else { throw .invalidState }
  }

  /// The group's coordinator holds the epoch against the last in its log, and asks nobody. Offsets outside an open transaction are
  /// pending until the next marker of the producer.
  func logOffsets(
    _ id: String, producer: Int, epoch: Int, _ logged: [ModelPlace: CommittedOffset]
  ) throws(Refusal) {
    guard let it = transactions[id], it.producer == producer, epoch >= it.offsetsEpoch else { throw .fenced }
    it.offsetsEpoch = epoch
    if it.state == .ongoing, it.hasOffsets {
      it.offsets.merge(logged) { $1 }
    } else {
      it.dangling.merge(logged) { $1 }
    }
  }

  /// EndTxn where no transaction of the epoch is open.
  func endAgain(_ it: Coordinated, _ request: EndRequest) throws(Refusal) -> Int {
    switch it.state {
    case .completing(commit: request.commit): throw .concurrent
    case .complete(commit: request.commit): return it.epoch
    default: throw .invalidState
    }
  }
}
