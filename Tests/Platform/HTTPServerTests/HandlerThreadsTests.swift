import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer

@Suite("HTTP server: threads of handlers")
struct HandlerThreadsTests {
  @Test("a million handlers: each runs once, memory stays flat")
  func endurance() {
    let rounds = 1_000_000
    // The queue holds at most one batch; waiting for each handler by itself would be most of the test's time.
    let batch = 100
    let ran = Atomic<Int>(0)
    let growth = withThreads(2) { threads in
      let done = DispatchSemaphore(value: 0)
      for _ in 0..<(rounds / batch) {
        for _ in 0..<batch {
          threads.run { if ran.add(1, ordering: .relaxed).newValue % batch == 0 { done.signal() } }
        }
        done.wait()
      }
    }
    #expect(ran.load(ordering: .relaxed) == rounds)
    #expect(growth < Endurance.tolerance)
  }

  private func withThreads(_ count: Int, _ body: @escaping @Sendable (HandlerThreads) -> Void) -> Int {
    let threads = HandlerThreads(count: count)
    threads.start()
    defer { threads.end() }
    return Endurance.residentGrowth { body(threads) }
  }
}
