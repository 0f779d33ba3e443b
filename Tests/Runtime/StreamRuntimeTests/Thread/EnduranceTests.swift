import Foundation
import Kafka
import NudgeSchema
import Synchronization
import TestSupport
import Testing

@testable import StreamRuntime

/// Runs each primitive by which threads communicate a million times. A leak of 32 bytes a round shows as 32 MB, and a call chain that
/// grows with each round overflows the stack: services died of one after 16,000 wake-ups, which no shorter test reached.
@Suite("A million rounds of thread communication", .serialized)
struct EnduranceTests {
  private static let rounds = 1_000_000

  @Test("wake-ups of a poll: flat memory, no growth of the stack")
  func signal() {
    let woken = Atomic<Int>(0)
    let growth = withSignal({ woken.add(1, ordering: .relaxed) }) { signal in
      for _ in 0..<Self.rounds { signal.raise() }
    }
    #expect(woken.load(ordering: .relaxed) == Self.rounds)
    #expect(growth < Endurance.tolerance)
  }

  @Test("alternating wake-ups and waits: each wait ends")
  func waits() {
    let growth = withSignal({}) { signal in
      for _ in 0..<Self.rounds {
        signal.raise()
        signal.wait(atMost: 60_000)
      }
    }
    #expect(growth < Endurance.tolerance)
  }

  private func withSignal(_ wake: @escaping @Sendable () -> Void, _ body: @escaping @Sendable (ThreadSignal) -> Void)
    -> Int
  {
    let signal = ThreadSignal()
    signal.attach(wake)
    return Endurance.residentGrowth { body(signal) }
  }

  @Test("replies that are posted and taken: each comes once, in order")
  func replies() {
    let woken = Counter()
    let box = ReplyQueue<Int>(wake: { woken.increment() })
    let taken = Counter()
    let growth = Endurance.residentGrowth {
      for number in 0..<Self.rounds {
        box.post(.init(request: 0, reply: number))
        if number % 3 == 2 || number == Self.rounds - 1 { taken.add(box.takeAll().count) }
      }
    }
    #expect(taken.value == Self.rounds)
    #expect(woken.value > Self.rounds / 4)
    #expect(growth < Endurance.tolerance)
  }

  @Test("steps of the store's writer: each runs once")
  func storeWriter() {
    let ran = Counter()
    let growth = Endurance.residentGrowth {
      let writer = StoreWriter()
      for _ in 0..<Self.rounds { writer.begin { ran.increment() } }
      writer.wait()
    }
    #expect(ran.value == Self.rounds)
    #expect(growth < Endurance.tolerance)
  }

  @Test("commits by the commit thread, each waking the poll: each has its outcome")
  func commits() throws {
    let member = try Consumer(.consumer(bootstrapServers: "127.0.0.1:1", group: "endurance"), name: "member")
      .groupMetadata()
    // An outcome takes two thread switches, so this runs a fifth of the rounds: still ten times as many as once overflowed the stack.
    let rounds = Self.rounds / 5
    let committed = Counter()
    let woken = Counter()
    let growth = Endurance.residentGrowth {
      let signal = ThreadSignal()
      signal.attach { woken.increment() }
      let thread = CommitThread(InstantWriter(), name: "commit") { signal.raise() }
      let transaction = SealedTransaction(parts: [], offsets: [])
      for _ in 0..<rounds {
        thread.begin(transaction, by: member)
        var outcome = thread.takeOutcome()
        while outcome == nil {
          signal.wait(atMost: 60_000)
          outcome = thread.takeOutcome()
        }
        if case .committed = outcome { committed.increment() }
      }
      thread.close()
    }
    #expect(committed.value == rounds)
    #expect(woken.value == rounds)
    #expect(growth < Endurance.tolerance)
  }

  #if DEBUG
    @Test(
      "a short soak: two stream threads over 60,000 wake-ups each, by commits and by replies; nothing lost, flat memory"
    )
    func loops() throws {
      let counting = try Loop().run { io, _, _ in
        StreamThread(
          CountingStage(), io: io, topics: TopicNames(prefix: ""), partitionCounts: [:], limits: StreamLimits(),
          writer: "w",
          observe: { _ in })
      }
      let asking = try Loop().run { io, limits, wake in
        StreamThread(
          EchoStage(), io: io, topics: TopicNames(prefix: ""), partitionCounts: [:], limits: limits, writer: "w",
          performer: Echo(), wake: wake, observe: { _ in })
      }
      for loop in [counting, asking] {
        #expect(loop.wakeUps >= Loop.wakeUps && loop.exit == nil, "\(loop)")
        #expect(loop.records > 10_000 && loop.outputs == loop.records, "\(loop)")
        #expect(loop.growth < Endurance.tolerance, "\(loop)")
      }
    }
  #endif
}

#if DEBUG
  /// Runs a stream thread's loop with a commit thread, a signal and replies of other threads, on a broker that takes everything at once.
  private struct Loop {
    static let wakeUps = 60_000

    struct Result {
      var wakeUps: Int
      var records: Int
      var outputs: Int
      var growth: Int
      var exit: String?
    }

    private let signal = ThreadSignal()
    private let woken = Counter()
    private let outputs = Counter()
    private let records = Counter()
    private let member = try? Consumer(.consumer(bootstrapServers: "127.0.0.1:1", group: "endurance"), name: "member")
      .groupMetadata()

    func run<S: Stage>(
      _ make: @escaping @Sendable (LoopIO, StreamLimits, @escaping @Sendable () -> Void) -> StreamThread<S, LoopIO>
    ) throws -> Result {
      let (signal, woken, outputs, records) = (self.signal, self.woken, self.outputs, self.records)
      let member = try #require(self.member)
      let ended = Mutex<String?>(nil)
      signal.attach { woken.increment() }
      let growth = Endurance.residentGrowth {
        let io = LoopIO(S.definition, signal, member, outputs: outputs, records: records)
        var limits = StreamLimits()
        limits.replyLinger = 0
        let thread = make(io, limits) { signal.raise() }
        while true {
          if let exit = thread.turn() {
            ended.withLock { $0 = "\(exit)" }
            break
          }
          // Enough wake-ups: no new records come, and the pending ones are finished.
          io.isEnding = woken.value >= Self.wakeUps
          if io.isEnding, outputs.value == records.value { break }
        }
        io.close()
      }
      return Result(
        wakeUps: woken.value, records: records.value, outputs: outputs.value, growth: growth,
        exit: ended.withLock { $0 })
    }
  }

  /// Asks for an effect with each record, and writes the reply.
  private struct EchoStage: Stage {
    typealias Row = CountingStage.Row
    static let definition = StageDefinition(
      name: "echo", inputs: [.pushes], outputs: [.outcomes], changelog: .dispatcherState)
    func process(_ record: InputRecord, in step: Step<Self>) throws { step.perform(record.offset) }
    func receive(_ reply: Int64, in step: Step<Self>) throws {
      try step.emit(bytes: Array("\(reply)".utf8), to: .outcomes, key: "reply", partition: 0)
    }
    func effectCancelled(_ effect: Int64, in step: Step<Self>) throws {}
    typealias Effect = Int64
    typealias Reply = Int64
  }

  /// Replies at once, on another thread.
  private final class Echo: EffectPerformer {
    private let queue = DispatchQueue(label: "echo")
    func perform(_ effect: Int64, reply: @escaping @Sendable (Int64) -> Void) { queue.async { reply(effect) } }
    func stop() {}
  }

  /// One record a poll, until the loop is to end.
  private final class LoopIO: StreamIO {
    private let stage: StageDefinition
    private let signal: ThreadSignal
    private let member: ConsumerGroupMetadata
    private let commits: CommitThread
    private let records: Counter
    private var isAssigned = false
    private var isPaused = false
    private var hasTold = false
    private var read: [Int32: Int64] = [:]
    var isEnding = false

    init(
      _ stage: StageDefinition, _ signal: ThreadSignal, _ member: ConsumerGroupMetadata, outputs: Counter,
      records: Counter
    ) {
      (self.stage, self.signal, self.member, self.records) = (stage, signal, member, records)
      commits = CommitThread(CountingWriter(outputs), name: "commit") { signal.raise() }
    }

    func close() { commits.close() }

    var wallClock: Milliseconds { Milliseconds(Date().timeIntervalSince1970 * 1_000) }
    var steadyClock: Milliseconds { Milliseconds(DispatchTime.now().uptimeNanoseconds / 1_000_000) }
    func poll(timeout: Milliseconds, maxRecords: Int, maxBytes: Int) throws(IOFailure) -> PollResult {
      guard isAssigned else {
        defer { hasTold = true }
        return hasTold ? PollResult() : PollResult(change: .assigned([0]))
      }
      guard !isPaused, !isEnding else {
        signal.wait(atMost: timeout)
        return PollResult()
      }
      let offset = Int64(records.value)
      records.increment()
      return PollResult(records: [
        InputRecord(
          topic: stage.inputs[0], topicName: stage.inputs[0].rawValue, partition: 0, offset: offset, timestamp: 0,
          key: Array("key".utf8), value: Array("value".utf8))
      ])
    }
    func assign(_ starts: [InputPosition]) throws(IOFailure) { isAssigned = !starts.isEmpty }
    func setPaused(_ paused: Bool) throws(IOFailure) { isPaused = paused }
    func idle(atMost timeout: Milliseconds) { signal.wait(atMost: timeout) }
    func committedOffsets(of tasks: [Int32]) throws(IOFailure) -> [CommittedInput] { [] }
    func topicIDs() throws(IOFailure) -> TopicIDs { TopicIDs() }
    func handOver(_ records: [OutputRecord]) throws(IOFailure) {}
    func handovers(in spans: [InputSpan]) throws(IOFailure) -> [InputRecord] { [] }
    func inputEnds(of topic: Topic, task: Int32) throws(IOFailure) -> LogEnds { LogEnds(start: 0, high: .max) }
    func openProducers() throws(IOFailure) {}
    var hasLostBroker: Bool { false }
    func endHanging() throws(IOFailure) {}
    func watchTransactions() throws(IOFailure) {}
    func takeEnded() -> [EndedTransaction] { [] }
    func begin(_ transaction: SealedTransaction) { commits.begin(transaction, by: member) }
    func takeOutcome() -> CommitOutcome? { commits.takeOutcome() }
    func interruptTransactions(_ fails: @escaping @Sendable (FailPoint) -> Bool) {}
    func changelogEnds(of task: Int32) throws(IOFailure) -> LogEnds { LogEnds(start: 0, high: 0) }
    func readChangelogs(_ starts: [Int32: Int64]) throws(IOFailure) { read = starts }
    func pollChangelogs(timeout: Milliseconds) throws(IOFailure) -> [ChangelogItem] {
      read.map { .end(task: $0.key, offset: $0.value) }
    }
    func openStore(of task: Int32) throws -> ModelStore { ModelStore() }
  }

  /// A broker that commits at once, and counts outputs.
  private final class CountingWriter: TransactionWriter {
    private let outputs: Counter
    init(_ outputs: Counter) { self.outputs = outputs }
    func open() throws(IOFailure) {}
    func commit(_ transaction: SealedTransaction, by member: ConsumerGroupMetadata) -> CommitOutcome {
      outputs.add(transaction.parts.reduce(0) { $0 + $1.outputs.count })
      return .committed(positions: [:])
    }
    func interrupt(_ fails: @escaping @Sendable (FailPoint) -> Bool) {}
    var hasLostBroker: Bool { false }
    func endHanging() throws(IOFailure) {}
    func watch() throws(IOFailure) {}
    func takeEnded() -> [EndedTransaction] { [] }
    func topicIDs() throws(IOFailure) -> TopicIDs { TopicIDs() }
    func handOver(_ records: [OutputRecord]) throws(IOFailure) {}
    func close() {}
  }
#endif

private final class Counter: Sendable {
  private let count = Atomic<Int>(0)
  var value: Int { count.load(ordering: .relaxed) }
  func increment() { add(1) }
  func add(_ more: Int) { count.add(more, ordering: .relaxed) }
}

/// A broker that commits at once.
private final class InstantWriter: TransactionWriter {
  func open() throws(IOFailure) {}
  func commit(_ transaction: SealedTransaction, by member: ConsumerGroupMetadata) -> CommitOutcome {
    .committed(positions: [:])
  }
  #if DEBUG
    func interrupt(_ fails: @escaping @Sendable (FailPoint) -> Bool) {}
  #endif
  var hasLostBroker: Bool { false }
  func endHanging() throws(IOFailure) {}
  func watch() throws(IOFailure) {}
  func takeEnded() -> [EndedTransaction] { [] }
  func topicIDs() throws(IOFailure) -> TopicIDs { TopicIDs() }
  func handOver(_ records: [OutputRecord]) throws(IOFailure) {}
  func close() {}
}
