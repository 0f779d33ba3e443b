import Testing

@testable import KafkaTransactions

/// A transaction of version 1, against brokers that are played here: broker 1 leads `a`-0 and `a`-1, broker 2 coordinates the group,
/// broker 3 the transactional id.
@Suite("A transaction of version 1 with the brokers")
struct FormerTransactionTests {
  private typealias Action = TransactionStateMachine.Action

  private let id = "nudge-analyzer-0-a"
  private var cluster = ClusterView()

  init() {
    cluster.learn(
      MetadataRequest.Answer(
        brokers: Dictionary(uniqueKeysWithValues: (1...3).map { ($0, BrokerAddress(host: "h\($0)", port: 1)) }),
        topics: [
          .init(
            error: .none, name: "a",
            partitions: [.init(error: .none, index: 0, leader: 1), .init(error: .none, index: 1, leader: 1)])
        ]))
    cluster.learn(.group, of: "g", at: 2, BrokerAddress(host: "h2", port: 1))
    cluster.learn(.transaction, of: id, at: 3, BrokerAddress(host: "h3", port: 1))
  }

  private func machine(isUsed: Bool = true) -> TransactionStateMachine {
    TransactionStateMachine(
      .one,
      parts: [
        .init(topic: "a", partition: 0, batches: [(3, 100)]), .init(topic: "a", partition: 1, batches: [(1, 9)]),
      ],
      hasOffsets: true, transactionalID: id, transactionTimeout: .seconds(5), maxRequestBytes: 1 << 20,
      hasFreshEpoch: !isUsed)
  }

  /// All actions of a transaction in which nothing goes wrong.
  private static let order: [Action] = [
    .prepare(.epoch, at: 3), .prepare(.partitions, at: 3), .prepare(.offsets, at: 3), .produce(at: 1, [0, 1]),
    .commitOffsets(at: 2), .end(at: 3),
  ]

  /// Answers an action as a broker that does it.
  private func answer(_ action: Action, _ machine: inout TransactionStateMachine) {
    switch action {
    case .prepare(let preparation, _):
      _ = machine.prepared(preparation, preparation == .partitions ? [.none, .none] : [.none], elapsed: .zero)
    case .produce(_, let chosen):
      let partitions = chosen.map {
        ProduceRequest.PartitionAnswer(
          topic: "a", index: machine.parts[$0].partition, error: .none, baseOffset: 10, reason: nil)
      }
      _ = machine.produced(chosen, .init(partitions: partitions), elapsed: .zero)
    case .commitOffsets:
      _ = machine.offsetsCommitted(
        .init(partitions: [.init(topic: "i", index: 0, error: .none)]), expected: 1, elapsed: .zero)
    case .end: _ = machine.ended(.init(error: .none, producer: .init(id: 9, epoch: 4)), elapsed: .zero)
    default: Issue.record("\(action)")
    }
  }

  /// A machine that is about to do the action of this number.
  private func machine(before number: Int) -> TransactionStateMachine {
    var machine = machine()
    for expected in Self.order.prefix(number) {
      #expect(machine.next(cluster, isLate: false) == expected)
      answer(expected, &machine)
    }
    #expect(machine.next(cluster, isLate: false) == Self.order[number])
    return machine
  }

  @Test("epoch, partitions and offsets come before the records; the end is the last")
  func order() {
    var machine = machine(before: Self.order.count - 1)
    answer(Self.order[Self.order.count - 1], &machine)
    guard case .finish(.committed(let records)) = machine.next(cluster, isLate: false) else {
      Issue.record("not committed")
      return
    }
    #expect(records.lastOffset(topic: "a", partition: 0) == 12)
  }

  @Test("the first transaction after an opening has its epoch already")
  func fresh() {
    var machine = machine(isUsed: false)
    #expect(machine.next(cluster, isLate: false) == .prepare(.partitions, at: 3))
  }

  @Test("a request that was sent and not answered ends the transaction: none is sent again", arguments: 0..<6)
  func doubt(_ number: Int) {
    var machine = machine(before: number)
    machine.failed(TransactionalProducerError(.passing, "read from h3", "it does not answer in time"), wasSent: true)
    switch (machine.next(cluster, isLate: false), Self.order[number]) {
    case (.finish(.unknown), .end): break
    case (.finish(.notCommitted), let action):
      if case .end = action { Issue.record("it may be committed") }
    case (let next, _): Issue.record("\(next)")
    }
  }

  @Test("a broker that cannot be reached has got nothing: it is asked again", arguments: 0..<6)
  func unreachable(_ number: Int) {
    var machine = machine(before: number)
    machine.failed(TransactionalProducerError(.passing, "connect to h3", "Connection refused"), wasSent: false)
    #expect(machine.next(cluster, isLate: false) == .pause(.milliseconds(1)))
    #expect(machine.next(cluster, isLate: false) == Self.order[number])
  }

  @Test("a refusal is an answer: the same request again", arguments: [14, 15, 16, 51] as [Int16])
  func again(_ code: Int16) {
    for (number, preparation) in [TransactionStateMachine.Preparation.epoch, .partitions, .offsets].enumerated() {
      var machine = machine(before: number)
      let errors = preparation == .partitions ? [BrokerError(code), BrokerError(55)] : [BrokerError(code)]
      #expect(machine.prepared(preparation, errors, elapsed: .zero) == (code == 15 || code == 16))
      #expect(machine.next(cluster, isLate: false) == .pause(.milliseconds(1)))
      #expect(machine.next(cluster, isLate: false) == Self.order[number])
      #expect(!machine.hasBegun || number > 1)
    }
  }

  @Test("an answer to AddPartitionsToTxn that leaves out a partition enlists nothing")
  func leftOut() {
    var machine = machine(before: 1)
    _ = machine.prepared(.partitions, [.none], elapsed: .zero)
    #expect(machine.next(cluster, isLate: false) == .pause(.milliseconds(1)))
    #expect(machine.next(cluster, isLate: false) == Self.order[1])
  }

  @Test("a refused partition names what is to be allowed, also behind others that were not attempted")
  func refused() {
    for errors in [[BrokerError(55), BrokerError(29)], [BrokerError(29), BrokerError(55)]] {
      var machine = machine(before: 1)
      _ = machine.prepared(.partitions, errors, elapsed: .zero)
      guard case .finish(.refused(.forbidden, let reason)) = machine.next(cluster, isLate: false) else {
        Issue.record("\(errors)")
        continue
      }
      #expect(reason.contains("allow the service's user to write it"))
    }
  }

  @Test("an epoch that another producer has raised: fenced, from the first request on", arguments: [47, 90] as [Int16])
  func fenced(_ code: Int16) {
    for (number, preparation) in [TransactionStateMachine.Preparation.epoch, .partitions, .offsets].enumerated() {
      var machine = machine(before: number)
      let errors = [BrokerError](repeating: BrokerError(code), count: preparation == .partitions ? 2 : 1)
      _ = machine.prepared(preparation, errors, elapsed: .seconds(1))
      guard case .finish(.fenced) = machine.next(cluster, isLate: false) else {
        Issue.record("\(preparation)")
        continue
      }
    }
  }

  @Test("a coordinator that has moved is looked up before anything is enlisted")
  func coordinatorMoved() {
    var cluster = cluster
    cluster.forgetCoordinator(.transaction, of: id)
    var machine = machine()
    #expect(machine.next(cluster, isLate: false) == .findCoordinator(.transaction))
  }
}
