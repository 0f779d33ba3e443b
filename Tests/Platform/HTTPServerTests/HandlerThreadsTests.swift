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
          threads.run(inTurnOf: "") { if ran.add(1, ordering: .relaxed).newValue % batch == 0 { done.signal() } }
        }
        done.wait()
      }
    }
    #expect(ran.load(ordering: .relaxed) == rounds)
    #expect(growth < Endurance.tolerance)
  }

  @Test("keys take turns: one that has sent a thousand jobs keeps another waiting for one of them")
  func turns() {
    let threads = HandlerThreads(count: 1)
    let (begun, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let order = Mutex<[String]>([])
    threads.start()
    defer { threads.end() }
    threads.run(inTurnOf: "first") {
      begun.signal()
      go.wait()
    }
    begun.wait()
    for number in 0..<1_000 { threads.run(inTurnOf: "busy") { order.withLock { $0.append("busy \(number)") } } }
    let done = DispatchSemaphore(value: 0)
    for number in 0..<3 { threads.run(inTurnOf: "other") { order.withLock { $0.append("other \(number)") } } }
    threads.run(inTurnOf: "busy") { done.signal() }
    go.signal()
    done.wait()
    let ran = order.withLock { $0 }
    #expect(ran.prefix(6) == ["busy 0", "other 0", "busy 1", "other 1", "busy 2", "other 2"])
    #expect(ran.filter { $0.hasPrefix("busy") } == (0..<1_000).map { "busy \($0)" })
  }

  private func withThreads(_ count: Int, _ body: @escaping @Sendable (HandlerThreads) -> Void) -> Int {
    let threads = HandlerThreads(count: count)
    threads.start()
    defer { threads.end() }
    return Endurance.residentGrowth { body(threads) }
  }
}
