/// Decides the requests of one transaction, without I/O. The caller performs the action of `next` and reports its result.
///
/// Records are sent first, to one leader after the other, then the offsets, then the end. In version 2 the leaders and the group
/// coordinator register their partitions with the transaction coordinator. Concurrent registrations get CONCURRENT_TRANSACTIONS and must be
/// retried, which costs more than sending the requests one after the other.
///
/// In version 2 (KIP-890, part 2) every request may be repeated. Batches have sequences, offsets and the end are idempotent, and a copy
/// that arrives after the end has a stale epoch.
///
/// In version 1 the client itself gets an epoch for the transaction, and adds partitions and offsets before it sends records. The end does
/// not raise the epoch, so a late copy of a request would still be valid. A request that was sent and not answered is therefore never
/// repeated: it ends the transaction, and the new epoch of the next `open` fences the copy (decision 195). A request that was answered with
/// an error may be repeated.
struct TransactionStateMachine {
  /// The caller's next action.
  enum Action: Equatable {
    case findLeaders
    case findCoordinator(CoordinatorKind)
    /// Send a request of version 1 to the transaction's coordinator.
    case prepare(Preparation, at: Int32)
    /// Send the next batch of each of these parts, by index.
    case produce(at: Int32, [Int])
    case commitOffsets(at: Int32)
    case end(at: Int32)
    /// Wait, then call `next` again.
    case pause(Duration)
    case finish(TransactionOutcome)
  }

  /// A request of version 1 before the records.
  enum Preparation: Equatable {
    /// Get a new epoch, because the id's last transaction used the present one.
    case epoch
    case partitions
    case offsets
  }

  /// A partition with records.
  struct Part: Equatable {
    var topic: String
    var partition: Int32
    /// The number of records and bytes of each batch.
    var batches: [(records: Int, bytes: Int)]
    /// The index of the first unacknowledged batch.
    fileprivate(set) var next = 0
    /// The sequence of the next batch: the number of records in acknowledged batches.
    fileprivate(set) var sequence: Int32 = 0
    fileprivate var lastOffset: Int64?

    init(topic: String, partition: Int32, batches: [(records: Int, bytes: Int)]) {
      self.topic = topic
      self.partition = partition
      self.batches = batches
    }

    static func == (a: Part, b: Part) -> Bool {
      a.topic == b.topic && a.partition == b.partition && a.next == b.next && a.sequence == b.sequence
    }
  }

  private(set) var parts: [Part]
  private let transactionalID: String
  private let transactionTimeout: Duration
  private let maxRequestBytes: Int
  private var needsOffsets: Bool
  private let version: TransactionVersion
  /// The remaining preparations, in order.
  private var preparations: [Preparation] = []
  /// The number of EndTxn requests so far.
  private var endsSent = 0
  /// The number of consecutive waits, and whether one is due.
  private var waits = 0
  private var isPauseDue = false
  private var outcome: TransactionOutcome?
  /// The last problem, in words.
  private var trouble = "no broker has answered"

  /// The shortest and longest wait before a retry, in milliseconds.
  static let waits: ClosedRange<Int64> = 1...100

  /// - Parameter hasFreshEpoch: Whether no transaction has used the producer's epoch yet.
  init(
    _ version: TransactionVersion = .two, parts: [Part], hasOffsets: Bool, transactionalID: String,
    transactionTimeout: Duration, maxRequestBytes: Int, hasFreshEpoch: Bool = true
  ) {
    self.version = version
    self.parts = parts
    self.transactionalID = transactionalID
    self.transactionTimeout = transactionTimeout
    self.maxRequestBytes = maxRequestBytes
    needsOffsets = hasOffsets
    if version == .one {
      if !hasFreshEpoch { preparations.append(.epoch) }
      if !parts.isEmpty { preparations.append(.partitions) }
      if hasOffsets { preparations.append(.offsets) }
    }
  }

  // MARK: Actions

  /// The next action.
  /// - Parameter isLate: Whether the transaction's time-out has passed.
  mutating func next(_ cluster: ClusterView, isLate: Bool) -> Action {
    if let outcome { return .finish(outcome) }
    if isLate {
      let reason = "not done in time; last: \(trouble)"
      return .finish(endsSent > 0 ? .unknown(reason) : .notCommitted(reason))
    }
    if isPauseDue {
      isPauseDue = false
      let wait = min(Self.waits.lowerBound << Int64(min(waits, 16)), Self.waits.upperBound)
      waits += 1
      return .pause(.milliseconds(wait))
    }
    let open = parts.indices.filter { parts[$0].next < parts[$0].batches.count }
    guard let first = open.first else { return preparation(cluster) ?? afterRecords(cluster) }
    guard open.allSatisfy({ cluster.leader(of: parts[$0].topic, parts[$0].partition) != nil }),
      let leader = cluster.leader(of: parts[first].topic, parts[first].partition)
    else { return .findLeaders }
    if let preparation = preparation(cluster) { return preparation }
    var bytes = 0
    var chosen: [Int] = []
    for index in open where cluster.leader(of: parts[index].topic, parts[index].partition) == leader {
      let size = parts[index].batches[parts[index].next].bytes
      if !chosen.isEmpty && bytes + size > maxRequestBytes { break }
      bytes += size
      chosen.append(index)
    }
    return .produce(at: leader, chosen)
  }

  private func preparation(_ cluster: ClusterView) -> Action? {
    guard let next = preparations.first else { return nil }
    guard let node = cluster.transactionCoordinator(of: transactionalID) else { return .findCoordinator(.transaction) }
    return .prepare(next, at: node)
  }

  private mutating func afterRecords(_ cluster: ClusterView) -> Action {
    if needsOffsets {
      guard let node = cluster.groupCoordinator else { return .findCoordinator(.group) }
      return .commitOffsets(at: node)
    }
    guard let node = cluster.transactionCoordinator(of: transactionalID) else { return .findCoordinator(.transaction) }
    endsSent += 1
    return .end(at: node)
  }

  /// The last completed step. Absent while records are being written, and once the end was sent.
  var step: TransactionStep? {
    guard outcome == nil, endsSent == 0, preparations.isEmpty, parts.allSatisfy({ $0.next == $0.batches.count }) else {
      return nil
    }
    return needsOffsets ? .recordsWritten : .offsetsWritten
  }

  /// Whether a broker has acknowledged part of the transaction. If so, the coordinator has completed the id's previous transaction.
  private(set) var hasBegun = false

  // MARK: Results

  /// Takes the answer to `findLeaders`.
  mutating func leadersFound(_ cluster: ClusterView, _ answer: MetadataRequest.Answer) {
    for topic in answer.topics where topic.error.meaning == .refused {
      return outcome = .refused(
        topic.error.refusal,
        "\(topic.error) for topic \(topic.name ?? "?")"
          + (topic.error.isAuthorization ? ": allow the service's user to write it" : ""))
    }
    let missing = parts.first { $0.next < $0.batches.count && cluster.leader(of: $0.topic, $0.partition) == nil }
    if let missing { again("\(missing.topic)-\(missing.partition) has no leader") }
  }

  /// Takes the answer to `findCoordinator`.
  mutating func coordinatorFound(_ kind: CoordinatorKind, _ error: BrokerError) {
    switch error.meaning {
    case .success: break
    case .refused:
      let what = kind == .group ? "the consumer group" : "transactional id \(transactionalID)"
      outcome = .refused(error.refusal, "\(error) for \(what): allow the service's user to use it")
    default: again("\(error) when asked for the \(kind) coordinator")
    }
  }

  /// Takes the coordinator's answer to `prepare`: the errors of all partitions, or a single one. Returns whether the coordinator has moved.
  mutating func prepared(_ preparation: Preparation, _ errors: [BrokerError], elapsed: Duration) -> Bool {
    let what =
      preparation == .epoch ? "InitProducerId" : preparation == .partitions ? "AddPartitionsToTxn" : "AddOffsetsToTxn"
    var isElsewhere = false
    for error in errors where error != .none {
      switch error.meaning {
      case .findCoordinator:
        isElsewhere = true
        again("\(error) to \(what)")
      case .again, .findLeader: again("\(error) to \(what)")
      default: judge(error, "\(error) to \(what)", preparation == .offsets ? "read" : "write", elapsed)
      }
    }
    let expected = preparation == .partitions ? parts.count : 1
    if errors.count != expected { again("an answer to \(what) with \(errors.count) of \(expected) results") }
    if outcome == nil && !isPauseDue {
      preparations.removeFirst()
      waits = 0
      if preparation != .epoch { hasBegun = true }
    }
    return isElsewhere
  }

  /// Handles a request that failed or whose answer was unreadable.
  /// - Parameter wasSent: Whether it may have reached a broker, which may process it even now.
  mutating func failed(_ error: TransactionalProducerError, wasSent: Bool) {
    again(error.description)
    guard version == .one, wasSent, outcome == nil else { return }
    outcome = endsSent > 0 ? .unknown(error.description) : .notCommitted(error.description)
  }

  /// Takes a leader's answer to `produce` of these parts. Returns the parts whose leader has moved.
  mutating func produced(_ chosen: [Int], _ answer: ProduceRequest.Answer, elapsed: Duration) -> [Int] {
    var moved: [Int] = []
    var unanswered = Set(chosen)
    for partition in answer.partitions {
      guard
        let index = chosen.first(where: { parts[$0].topic == partition.topic && parts[$0].partition == partition.index }
        ),
        unanswered.remove(index) != nil
      else { continue }
      let what =
        "\(partition.error) for \(partition.topic)-\(partition.index)" + (partition.reason.map { " (\($0))" } ?? "")
      switch partition.error.meaning {
      case .success: acknowledge(index, partition.baseOffset)
      case .findLeader:
        moved.append(index)
        again(what)
      case .again, .findCoordinator: again(what)
      default:
        if partition.error == .duplicateSequence {
          acknowledge(index, -1)
        } else {
          judge(partition.error, what, "write", elapsed)
        }
      }
    }
    if !unanswered.isEmpty { again("an answer to Produce that leaves out \(unanswered.count) partitions") }
    return moved
  }

  private mutating func acknowledge(_ index: Int, _ baseOffset: Int64) {
    hasBegun = true
    let records = parts[index].batches[parts[index].next].records
    parts[index].next += 1
    parts[index].sequence += Int32(records)
    parts[index].lastOffset = baseOffset < 0 ? nil : baseOffset + Int64(records) - 1
    if !isPauseDue { waits = 0 }
  }

  /// Takes the group coordinator's answer. Returns whether the coordinator has moved.
  mutating func offsetsCommitted(_ answer: TxnOffsetCommitRequest.Answer, expected: Int, elapsed: Duration) -> Bool {
    var isElsewhere = false
    for partition in answer.partitions where partition.error != .none {
      let what = "\(partition.error) for the offset of \(partition.topic)-\(partition.index)"
      switch partition.error.meaning {
      case .findCoordinator:
        isElsewhere = true
        again(what)
      case .again, .findLeader: again(what)
      default: judge(partition.error, what, "commit offsets of", elapsed)
      }
    }
    if answer.partitions.count != expected {
      again("an answer to TxnOffsetCommit with \(answer.partitions.count) of \(expected) partitions")
    }
    if outcome == nil && !isPauseDue {
      needsOffsets = false
      hasBegun = true
      waits = 0
    }
    return isElsewhere
  }

  /// Takes the transaction coordinator's answer. Returns whether the coordinator has moved. After `.committed`, the answer's producer
  /// identity is for the next transaction.
  mutating func ended(_ answer: EndTxnRequest.Answer, elapsed: Duration) -> Bool {
    switch answer.error.meaning {
    case .success:
      // A successful answer has the epoch that the next transaction needs.
      guard answer.producer.id >= 0, answer.producer.epoch >= 0 else {
        outcome = .unknown("an answer to EndTxn without the next epoch")
        return false
      }
      var records = CommittedRecords()
      for part in parts {
        records.lastOffsets[.init(topic: part.topic, partition: part.partition)] = part.lastOffset
      }
      outcome = .committed(records)
    case .findCoordinator:
      again("\(answer.error) to EndTxn")
      return true
    case .again, .findLeader: again("\(answer.error) to EndTxn")
    default: judge(answer.error, "\(answer.error) to EndTxn", "use", elapsed)
    }
    return false
  }

  private mutating func again(_ trouble: String) {
    self.trouble = trouble
    isPauseDue = true
  }

  /// The outcome after an error that a retry cannot fix.
  /// - Parameter elapsed: The time since the transaction's first request.
  private mutating func judge(_ error: BrokerError, _ what: String, _ verb: String, _ elapsed: Duration) {
    // A refusal stays the outcome, because other errors of the same answer follow from it.
    if case .refused = outcome { return }
    switch error.meaning {
    case .epochOver where elapsed >= transactionTimeout - .milliseconds(500):
      // After the transaction time-out the coordinator aborts the transaction and raises the epoch, which looks as if another producer had
      // taken the id. If there is none, the next `open` succeeds. If there is one, the two fence each other.
      outcome = .notCommitted("\(what), \(elapsed) after the transaction began")
    case .epochOver:
      outcome = .fenced("\(what): another process has the transactional id \(transactionalID)")
    case .fenced: outcome = .fenced(what)
    case .notMember: outcome = outcome ?? .notMember(what)
    case .refused:
      outcome = .refused(
        error.refusal, error.isAuthorization ? "\(what): allow the service's user to \(verb) it" : what)
    default: outcome = outcome ?? (endsSent > 1 ? .unknown(what) : .notCommitted(what))
    }
  }
}

/// A transaction that is open in a partition, according to the leader. read_committed consumers cannot read past its first record.
public struct OpenTransaction: Sendable, Hashable {
  /// The partition's topic.
  public let topic: String
  public let partition: Int32
  /// The producer id, which belongs to a transactional id.
  public let producerID: Int64
  /// The producer's last epoch in the partition. With transactions of version 2, each transaction has its own epoch.
  public let epoch: Int16
  /// The coordinator epoch known to the leader.
  let coordinatorEpoch: Int32
}
