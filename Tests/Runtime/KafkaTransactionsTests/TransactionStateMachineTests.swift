import Testing

@testable import KafkaTransactions

/// A machine by reference, so that expectations can move it on.
private final class Played {
  private var machine: TransactionStateMachine
  init(_ machine: TransactionStateMachine) { self.machine = machine }
  var parts: [TransactionStateMachine.Part] { machine.parts }
  func next(_ cluster: ClusterView, isLate: Bool) -> TransactionStateMachine.Action {
    machine.next(cluster, isLate: isLate)
  }
  func leadersFound(_ cluster: ClusterView, _ answer: MetadataRequest.Answer) {
    machine.leadersFound(cluster, answer)
  }
  func coordinatorFound(_ kind: CoordinatorKind, _ error: BrokerError) { machine.coordinatorFound(kind, error) }
  func failed(_ error: TransactionalProducerError) { machine.failed(error, wasSent: true) }
  func produced(_ chosen: [Int], _ answer: ProduceRequest.Answer, elapsed: Duration) -> [Int] {
    machine.produced(chosen, answer, elapsed: elapsed)
  }
  func offsetsCommitted(_ answer: TxnOffsetCommitRequest.Answer, expected: Int, elapsed: Duration) -> Bool {
    machine.offsetsCommitted(answer, expected: expected, elapsed: elapsed)
  }
  func ended(_ answer: EndTxnRequest.Answer, elapsed: Duration) -> Bool {
    machine.ended(answer, elapsed: elapsed)
  }
}

/// The decisions of a transaction, against brokers that are played here.
@Suite("A transaction with the brokers")
struct TransactionStateMachineTests {
  private let id = "nudge-analyzer-0-a"
  private var cluster = ClusterView()

  /// Broker 1 leads `a`-0 and `a`-1, broker 2 `b`-0 and coordinates the group, broker 3 the transactional id.
  init() {
    cluster = Self.cluster(id)
  }

  private static func cluster(_ id: String) -> ClusterView {
    var view = ClusterView()
    view.learn(metadata([("a", 0, 1), ("a", 1, 1), ("b", 0, 2)]))
    view.learn(.group, of: "g", at: 2, BrokerAddress(host: "h2", port: 1))
    view.learn(.transaction, of: id, at: 3, BrokerAddress(host: "h3", port: 1))
    return view
  }

  private static func metadata(_ leaders: [(String, Int32, Int32)]) -> MetadataRequest.Answer {
    MetadataRequest.Answer(
      brokers: Dictionary(uniqueKeysWithValues: (1...3).map { ($0, BrokerAddress(host: "h\($0)", port: 1)) }),
      topics: Dictionary(grouping: leaders, by: \.0).map { topic, partitions in
        .init(
          error: .none, name: topic,
          partitions: partitions.map { .init(error: .none, index: $0.1, leader: $0.2) })
      })
  }

  private func machine(
    _ parts: [TransactionStateMachine.Part]? = nil, hasOffsets: Bool = true, maxRequestBytes: Int = 1 << 20
  ) -> Played {
    Played(
      TransactionStateMachine(
        parts: parts ?? [
          .init(topic: "a", partition: 0, batches: [(3, 100)]), .init(topic: "a", partition: 1, batches: [(1, 100)]),
          .init(topic: "b", partition: 0, batches: [(2, 100)]),
        ], hasOffsets: hasOffsets, transactionalID: id, transactionTimeout: .seconds(5),
        maxRequestBytes: maxRequestBytes))
  }

  private func answer(_ places: [(String, Int32, Int16, Int64)]) -> ProduceRequest.Answer {
    .init(
      partitions: places.map {
        .init(topic: $0.0, index: $0.1, error: BrokerError($0.2), baseOffset: $0.3, reason: nil)
      })
  }

  private func offsets(_ codes: Int16...) -> TxnOffsetCommitRequest.Answer {
    .init(
      partitions: codes.enumerated().map { .init(topic: "i", index: Int32($0.offset), error: BrokerError($0.element)) })
  }

  private func end(_ code: Int16) -> EndTxnRequest.Answer {
    .init(error: BrokerError(code), producer: code == 0 ? .init(id: 9, epoch: 4) : .none)
  }

  /// A machine whose records and offsets are acknowledged.
  private func atEnd() -> Played {
    let it = machine()
    #expect(it.produced([0, 1], answer([("a", 0, 0, 10), ("a", 1, 0, 20)]), elapsed: .zero) == [])
    #expect(it.produced([2], answer([("b", 0, 0, 30)]), elapsed: .zero) == [])
    #expect(!it.offsetsCommitted(offsets(0), expected: 1, elapsed: .zero))
    #expect(it.next(cluster, isLate: false) == .end(at: 3))
    return it
  }

  @Test("records go to one leader after the other, then the offsets, then the end")
  func order() {
    let it = machine()
    #expect(it.next(cluster, isLate: false) == .produce(at: 1, [0, 1]))
    _ = it.produced([0, 1], answer([("a", 0, 0, 10), ("a", 1, 0, 20)]), elapsed: .zero)
    #expect(it.next(cluster, isLate: false) == .produce(at: 2, [2]))
    _ = it.produced([2], answer([("b", 0, 0, 30)]), elapsed: .zero)
    #expect(it.next(cluster, isLate: false) == .commitOffsets(at: 2))
    _ = it.offsetsCommitted(offsets(0, 0), expected: 2, elapsed: .zero)
    #expect(it.next(cluster, isLate: false) == .end(at: 3))
    #expect(!it.ended(end(0), elapsed: .zero))
    guard case .finish(.committed(let records)) = it.next(cluster, isLate: false) else {
      Issue.record("not committed")
      return
    }
    #expect(records.lastOffset(topic: "a", partition: 0) == 12)
    #expect(records.lastOffset(topic: "a", partition: 1) == 20)
    #expect(records.lastOffset(topic: "b", partition: 0) == 31)
    #expect(records.lastOffset(topic: "b", partition: 1) == nil)
  }

  @Test("without offsets none are committed; without records the offsets come first")
  func parts() {
    let recordsOnly = machine([.init(topic: "a", partition: 0, batches: [(1, 1)])], hasOffsets: false)
    _ = recordsOnly.produced([0], answer([("a", 0, 0, 1)]), elapsed: .zero)
    #expect(recordsOnly.next(cluster, isLate: false) == .end(at: 3))
    let offsetsOnly = machine([])
    #expect(offsetsOnly.next(cluster, isLate: false) == .commitOffsets(at: 2))
  }

  @Test("a partition's batches go one after the other, with rising sequences; requests keep their bound")
  func batches() {
    let it = machine(
      [
        .init(topic: "a", partition: 0, batches: [(5, 600), (7, 600)]),
        .init(topic: "a", partition: 1, batches: [(2, 600)]),
      ], hasOffsets: false, maxRequestBytes: 1000)
    #expect(it.next(cluster, isLate: false) == .produce(at: 1, [0]))
    _ = it.produced([0], answer([("a", 0, 0, 100)]), elapsed: .zero)
    #expect(it.parts[0].sequence == 5)
    #expect(it.next(cluster, isLate: false) == .produce(at: 1, [0]))
    _ = it.produced([0], answer([("a", 0, 0, 105)]), elapsed: .zero)
    #expect(it.next(cluster, isLate: false) == .produce(at: 1, [1]))
    _ = it.produced([1], answer([("a", 1, 0, 7)]), elapsed: .zero)
    #expect(it.next(cluster, isLate: false) == .end(at: 3))
    _ = it.ended(end(0), elapsed: .zero)
    guard case .finish(.committed(let records)) = it.next(cluster, isLate: false) else {
      Issue.record("not committed")
      return
    }
    #expect(records.lastOffset(topic: "a", partition: 0) == 111)
  }

  @Test(
    "the same request again after a while: only for the partitions that were not written",
    arguments: [7, 13, 14, 15, 16, 19, 20, 51, 56] as [Int16])
  func again(_ code: Int16) {
    let it = machine()
    #expect(it.produced([0, 1], answer([("a", 0, 0, 10), ("a", 1, code, -1)]), elapsed: .zero) == [])
    #expect(it.next(cluster, isLate: false) == .pause(.milliseconds(1)))
    #expect(it.next(cluster, isLate: false) == .produce(at: 1, [1]))
    _ = it.produced([1], answer([("a", 1, code, -1)]), elapsed: .zero)
    #expect(it.next(cluster, isLate: false) == .pause(.milliseconds(2)))
    #expect(it.next(cluster, isLate: false) == .produce(at: 1, [1]))
    _ = it.produced([1], answer([("a", 1, 0, 3)]), elapsed: .zero)
    #expect(it.next(cluster, isLate: false) == .produce(at: 2, [2]))
  }

  @Test("waits double up to a bound")
  func waits() {
    let it = machine([])
    var waits: [Duration] = []
    for _ in 0..<12 {
      _ = it.offsetsCommitted(offsets(51), expected: 1, elapsed: .zero)
      if case .pause(let wait) = it.next(cluster, isLate: false) { waits.append(wait) }
    }
    #expect(waits.prefix(4) == [.milliseconds(1), .milliseconds(2), .milliseconds(4), .milliseconds(8)])
    #expect(waits.last == .milliseconds(100))
  }

  @Test("a moved leader is looked up and gets the records that the former one refused")
  func leaderMoved() {
    var cluster = cluster
    let it = machine()
    let moved = it.produced([0, 1], answer([("a", 0, 6, -1), ("a", 1, 0, 5)]), elapsed: .zero)
    #expect(moved == [0])
    cluster.forgetLeader(of: "a", 0)
    #expect(it.next(cluster, isLate: false) == .pause(.milliseconds(1)))
    #expect(it.next(cluster, isLate: false) == .findLeaders)
    // None has been elected yet.
    let none = Self.metadata([("a", 0, -1)])
    cluster.learn(none)
    it.leadersFound(cluster, none)
    #expect(it.next(cluster, isLate: false) == .pause(.milliseconds(2)))
    #expect(it.next(cluster, isLate: false) == .findLeaders)
    let elected = Self.metadata([("a", 0, 2)])
    cluster.learn(elected)
    it.leadersFound(cluster, elected)
    #expect(it.next(cluster, isLate: false) == .produce(at: 2, [0, 2]))
  }

  @Test("coordinators that have moved are looked for")
  func coordinatorsMoved() {
    var cluster = cluster
    let it = atEnd()
    #expect(it.ended(end(16), elapsed: .zero))
    cluster.forgetCoordinator(.transaction, of: id)
    #expect(it.next(cluster, isLate: false) == .pause(.milliseconds(1)))
    #expect(it.next(cluster, isLate: false) == .findCoordinator(.transaction))
    it.coordinatorFound(.transaction, BrokerError(15))
    #expect(it.next(cluster, isLate: false) == .pause(.milliseconds(2)))
    #expect(it.next(cluster, isLate: false) == .findCoordinator(.transaction))
    cluster.learn(.transaction, of: id, at: 1, BrokerAddress(host: "h1", port: 1))
    it.coordinatorFound(.transaction, .none)
    #expect(it.next(cluster, isLate: false) == .end(at: 1))

    let offsetsOnly = machine([])
    #expect(offsetsOnly.offsetsCommitted(offsets(16), expected: 1, elapsed: .zero))
    cluster.forgetCoordinator(.group, of: "g")
    _ = offsetsOnly.next(cluster, isLate: false)
    #expect(offsetsOnly.next(cluster, isLate: false) == .findCoordinator(.group))
  }

  @Test("an unavailable broker's leaders are looked up; a batch that it had already written counts")
  func brokerGone() {
    var cluster = cluster
    let it = machine()
    it.failed(TransactionalProducerError(.passing, "write to h1", "Broken pipe"))
    cluster.forget(1)
    #expect(it.next(cluster, isLate: false) == .pause(.milliseconds(1)))
    #expect(it.next(cluster, isLate: false) == .findLeaders)
    cluster.learn(Self.metadata([("a", 0, 3), ("a", 1, 3), ("b", 0, 2)]))
    #expect(it.next(cluster, isLate: false) == .produce(at: 3, [0, 1]))
    // DUPLICATE_SEQUENCE_NUMBER: written, and the broker does not know where any more.
    _ = it.produced([0, 1], answer([("a", 0, 46, -1), ("a", 1, 0, 8)]), elapsed: .zero)
    #expect(it.next(cluster, isLate: false) == .produce(at: 2, [2]))
    _ = it.produced([2], answer([("b", 0, 0, 1)]), elapsed: .zero)
    _ = it.offsetsCommitted(offsets(0), expected: 1, elapsed: .zero)
    _ = it.next(cluster, isLate: false)
    _ = it.ended(end(0), elapsed: .zero)
    guard case .finish(.committed(let records)) = it.next(cluster, isLate: false) else {
      Issue.record("not committed")
      return
    }
    #expect(records.lastOffset(topic: "a", partition: 0) == nil)
    #expect(records.lastOffset(topic: "a", partition: 1) == 8)
  }

  @Test("the answer to the end is lost: it is asked for again, and the broker tells the same once more")
  func endLost() {
    let it = atEnd()
    it.failed(TransactionalProducerError(.passing, "read from h3", "it does not answer in time"))
    #expect(it.next(cluster, isLate: false) == .pause(.milliseconds(1)))
    #expect(it.next(cluster, isLate: false) == .end(at: 3))
    // Its markers are being written.
    _ = it.ended(end(51), elapsed: .zero)
    #expect(it.next(cluster, isLate: false) == .pause(.milliseconds(2)))
    #expect(it.next(cluster, isLate: false) == .end(at: 3))
    _ = it.ended(end(0), elapsed: .zero)
    guard case .finish(.committed) = it.next(cluster, isLate: false) else {
      Issue.record("not committed")
      return
    }
  }

  @Test("after the time-out: not committed before the end was sent, unknown afterwards")
  func late() {
    let early = machine()
    guard case .finish(.notCommitted) = early.next(cluster, isLate: true) else {
      Issue.record("sent nothing, and does not know it")
      return
    }
    let it = atEnd()
    it.failed(TransactionalProducerError(.passing, "read from h3", "it does not answer in time"))
    guard case .finish(.unknown(let reason)) = it.next(cluster, isLate: true) else {
      Issue.record("may be committed")
      return
    }
    #expect(reason.contains("does not answer in time"))
  }

  enum Place: CaseIterable { case records, offsets, end }

  /// The outcome of an error at some place of the machine.
  private func outcome(_ code: Int16, _ place: Place, after elapsed: Duration) -> TransactionOutcome? {
    let it: Played
    switch place {
    case .records:
      it = machine()
      _ = it.produced([0, 1], answer([("a", 0, code, -1), ("a", 1, 0, 1)]), elapsed: elapsed)
    case .offsets:
      it = machine([])
      _ = it.offsetsCommitted(offsets(code), expected: 1, elapsed: elapsed)
    case .end:
      it = atEnd()
      _ = it.ended(end(code), elapsed: elapsed)
    }
    guard case .finish(let outcome) = it.next(cluster, isLate: false) else { return nil }
    return outcome
  }

  @Test(
    "an epoch that is over: another process has the name, unless the coordinator may have ended a slow transaction",
    arguments: [47, 90] as [Int16], Place.allCases)
  func epochOver(_ code: Int16, _ place: Place) {
    guard case .fenced = outcome(code, place, after: .seconds(1)) else {
      Issue.record("not fenced")
      return
    }
    guard case .notCommitted = outcome(code, place, after: .seconds(6)) else {
      Issue.record("a process whose name is its own ends")
      return
    }
  }

  @Test(
    "INVALID_TXN_STATE, TRANSACTION_ABORTABLE and others that a new epoch mends",
    arguments: [48, 49, 59, 120] as [Int16])
  func aborted(_ code: Int16) {
    for place in Place.allCases {
      guard case .notCommitted = outcome(code, place, after: .zero) else {
        Issue.record("\(place)")
        continue
      }
    }
  }

  @Test("the second end finds the transaction aborted, or committed and forgotten: the outcome is unknown")
  func secondEnd() {
    let it = atEnd()
    it.failed(TransactionalProducerError(.passing, "read", "lost"))
    _ = it.next(cluster, isLate: false)
    _ = it.next(cluster, isLate: false)
    _ = it.ended(end(49), elapsed: .zero)
    guard case .finish(.unknown) = it.next(cluster, isLate: false) else {
      Issue.record("the first one may have committed")
      return
    }
  }

  @Test("the group's fences: a stale member, and a static one whose name another has")
  func group() {
    for code: Int16 in [22, 25, 27] {
      guard case .notMember = outcome(code, .offsets, after: .zero) else {
        Issue.record("\(code)")
        continue
      }
    }
    guard case .fenced = outcome(82, .offsets, after: .zero) else {
      Issue.record("FENCED_INSTANCE_ID")
      return
    }
  }

  @Test("a permanent refusal names the fix", arguments: [(29, Place.records), (30, .offsets), (53, .end)])
  func refused(_ code: Int, _ place: Place) {
    guard case .refused(.forbidden, let reason) = outcome(Int16(code), place, after: .zero) else {
      Issue.record("\(code)")
      return
    }
    #expect(reason.contains("allow the service's user"))
    guard case .refused(.tooLarge, _) = outcome(10, .records, after: .zero) else {
      Issue.record("MESSAGE_TOO_LARGE")
      return
    }
  }

  @Test("an answer that leaves out a partition, or tells of others, acknowledges nothing it does not name")
  func answersOfOthers() {
    let it = machine()
    _ = it.produced([0, 1], answer([("a", 1, 0, 5), ("x", 0, 0, 5), ("a", 1, 0, 6)]), elapsed: .zero)
    #expect(it.next(cluster, isLate: false) == .pause(.milliseconds(1)))
    #expect(it.next(cluster, isLate: false) == .produce(at: 1, [0]))
    let offsetsOnly = machine([])
    _ = offsetsOnly.offsetsCommitted(offsets(0), expected: 2, elapsed: .zero)
    _ = offsetsOnly.next(cluster, isLate: false)
    #expect(offsetsOnly.next(cluster, isLate: false) == .commitOffsets(at: 2))
  }

  @Test(
    "a commit without the next epoch is not known to be one",
    arguments: [ProducerIdentity.none, .init(id: 9, epoch: -1), .init(id: -1, epoch: 4)])
  func noEpoch(_ producer: ProducerIdentity) {
    let it = atEnd()
    _ = it.ended(.init(error: .none, producer: producer), elapsed: .zero)
    guard case .finish(.unknown) = it.next(cluster, isLate: false) else {
      Issue.record("committed without an epoch")
      return
    }
  }

  @Test("a refusal stands, whatever else the same answer says", arguments: [47, 48, 82, 110] as [Int16])
  func refusalStands(_ code: Int16) {
    for (first, second) in [(29, code), (code, 29)] {
      let it = machine()
      _ = it.produced([0, 1], answer([("a", 0, first, -1), ("a", 1, second, -1)]), elapsed: .zero)
      guard case .finish(.refused(.forbidden, _)) = it.next(cluster, isLate: false) else {
        Issue.record("\(code) hides what is to be fixed")
        continue
      }
    }
  }
}
