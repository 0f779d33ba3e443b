import Foundation
import Kafka
import Synchronization
import TestSupport
import Testing

@testable import StreamRuntime

/// Runs each primitive by which threads communicate a million times. A leak of 32 bytes a round shows as 32 MB, and a call chain that
/// grows with each round overflows the stack: services died of one after 16,000 wake-ups, which no shorter test reached.
@Suite("A million rounds of thread communication", .serialized)
struct EnduranceTests {
  private static let rounds = 1_000_000
  /// The memory that the allocator may keep, in bytes.
  private static let tolerance = 16 << 20

  @Test("wake-ups of a poll: flat memory, no growth of the stack")
  func signal() {
    let woken = Atomic<Int>(0)
    let growth = withSignal({ woken.add(1, ordering: .relaxed) }) { signal in
      for _ in 0..<Self.rounds { signal.raise() }
    }
    #expect(woken.load(ordering: .relaxed) == Self.rounds)
    #expect(growth < Self.tolerance)
  }

  @Test("alternating wake-ups and waits: each wait ends")
  func waits() {
    let growth = withSignal({}) { signal in
      for _ in 0..<Self.rounds {
        signal.raise()
        signal.wait(atMost: 60_000)
      }
    }
    #expect(growth < Self.tolerance)
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
    #expect(growth < Self.tolerance)
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
    #expect(growth < Self.tolerance)
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
    #expect(growth < Self.tolerance)
  }
}

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
  func close() {}
}
