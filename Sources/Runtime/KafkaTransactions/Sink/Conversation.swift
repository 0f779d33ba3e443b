/// One transaction with the brokers, request by request (KIP-890, part 2): decisions without I/O. The caller does what
/// `next` says and tells what came of it.
///
/// Records go first, to one leader after the other; then the offsets; then the end. The leaders and the group's coordinator
/// each enlist with the transaction's coordinator, and those that do so at the same time are told to try again
/// (CONCURRENT_TRANSACTIONS), which costs more than one after the other.
///
/// Any request may be repeated: batches have their sequences, offsets and the end are the same when they come twice, and
/// what comes after the end has an epoch that is over.
struct Conversation {
  /// What to do.
  enum Action: Equatable {
    case findLeaders
    case findCoordinator(CoordinatorKind)
    /// Batches, by their place in the list of partitions.
    case produce(at: Int32, [Int])
    case commitOffsets(at: Int32)
    case end(at: Int32)
    /// Wait so long, then ask again.
    case pause(Duration)
    case finish(TransactionOutcome)
  }

  /// A partition that has records.
  struct Part: Equatable {
    var topic: String
    var partition: Int32
    /// How many records, and bytes, each of its batches has.
    var batches: [(records: Int, bytes: Int)]
    /// The first one that is not acknowledged.
    fileprivate(set) var next = 0
    /// How many records are in those before it.
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
  /// How often the end was asked for.
  private var endsSent = 0
  /// Waits in a row, and the one that is due.
  private var waits = 0
  private var isPauseDue = false
  private var outcome: TransactionOutcome?
  /// The last thing that went wrong, for people.
  private var trouble = "no broker has answered"

  /// First and longest wait before a request is repeated.
  static let waits: ClosedRange<Int64> = 1...100

  init(
    parts: [Part], hasOffsets: Bool, transactionalID: String, transactionTimeout: Duration, maxRequestBytes: Int
  ) {
    self.parts = parts
    self.transactionalID = transactionalID
    self.transactionTimeout = transactionTimeout
    self.maxRequestBytes = maxRequestBytes
    needsOffsets = hasOffsets
  }

  // MARK: What to do

  /// What to do now. `isLate`: the time for the transaction is over.
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
    guard let first = open.first else { return afterRecords(cluster) }
    guard open.allSatisfy({ cluster.leader(of: parts[$0].topic, parts[$0].partition) != nil }),
      let leader = cluster.leader(of: parts[first].topic, parts[first].partition)
    else { return .findLeaders }
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

  private mutating func afterRecords(_ cluster: ClusterView) -> Action {
    if needsOffsets {
      guard let node = cluster.groupCoordinator else { return .findCoordinator(.group) }
      return .commitOffsets(at: node)
    }
    guard let node = cluster.transactionCoordinator(of: transactionalID) else { return .findCoordinator(.transaction) }
    endsSent += 1
    return .end(at: node)
  }

  /// How far it has come; nil: records are being written, or it is over.
  var step: TransactionStep? {
    guard outcome == nil, endsSent == 0, parts.allSatisfy({ $0.next == $0.batches.count }) else { return nil }
    return needsOffsets ? .recordsWritten : .offsetsWritten
  }

  /// Something of it was acknowledged: the coordinator had completed the transaction before, and has begun this one.
  private(set) var hasBegun = false

  // MARK: What came of it

  /// Leaders were asked for.
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

  /// A coordinator was asked for.
  mutating func coordinatorFound(_ kind: CoordinatorKind, _ error: BrokerError) {
    switch error.meaning {
    case .success: break
    case .refused:
      let what = kind == .group ? "the consumer group" : "transactional id \(transactionalID)"
      outcome = .refused(error.refusal, "\(error) for \(what): allow the service's user to use it")
    default: again("\(error) when asked for the \(kind) coordinator")
    }
  }

  /// A broker could not be asked, or its answer not be understood. Whether it did what it was asked for is not known.
  mutating func failed(_ error: SinkError) { again(error.description) }

  /// A leader's answer to `produce` of these parts. Returns those whose leader is to be forgotten.
  mutating func produced(_ chosen: [Int], _ answer: ProduceRequest.Answer, elapsed: Duration) -> [Int] {
    var moved: [Int] = []
    var unanswered = Set(chosen)
    for told in answer.partitions {
      guard let index = chosen.first(where: { parts[$0].topic == told.topic && parts[$0].partition == told.index }),
        unanswered.remove(index) != nil
      else { continue }
      let what = "\(told.error) for \(told.topic)-\(told.index)" + (told.reason.map { " (\($0))" } ?? "")
      switch told.error.meaning {
      case .success: acknowledge(index, told.baseOffset)
      case .findLeader:
        moved.append(index)
        again(what)
      case .again, .findCoordinator: again(what)
      default:
        if told.error == .duplicateSequence {
          acknowledge(index, -1)
        } else {
          judge(told.error, what, "write", elapsed)
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

  /// The group coordinator's answer. Returns whether it is another broker.
  mutating func offsetsCommitted(_ answer: TxnOffsetCommitRequest.Answer, expected: Int, elapsed: Duration) -> Bool {
    var isElsewhere = false
    for told in answer.partitions where told.error != .none {
      let what = "\(told.error) for the offset of \(told.topic)-\(told.index)"
      switch told.error.meaning {
      case .findCoordinator:
        isElsewhere = true
        again(what)
      case .again, .findLeader: again(what)
      default: judge(told.error, what, "commit offsets of", elapsed)
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

  /// The transaction coordinator's answer. Returns whether it is another broker; with `.committed` the answer's producer is
  /// that of the next transaction.
  mutating func ended(_ answer: EndTxnRequest.Answer, elapsed: Duration) -> Bool {
    switch answer.error.meaning {
    case .success:
      // A broker that has committed tells the next epoch; without it nothing can be sent.
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

  /// What an error that no repetition mends makes of the transaction. `elapsed`: since its first request.
  private mutating func judge(_ error: BrokerError, _ what: String, _ verb: String, _ elapsed: Duration) {
    // What was found first stands: others of the same answer follow from it, or are milder.
    if case .refused = outcome { return }
    switch error.meaning {
    case .epochOver where elapsed >= transactionTimeout - .milliseconds(500):
      // The coordinator aborts what is open for too long, and ends its epoch, which looks the same as another producer's
      // with this id. Who is alone under its name goes on; of two, each is shut out by the other's next epoch.
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
