import NudgeSchema
import StreamRuntime
import Testing

@testable import Dispatcher

@Suite("Rebuilding a dispatcher's lost state")
struct RebuildTests {
  @Test("P7: a push from before the loss is not sent, does not wait, and has no outcome")
  func nothingIsSent() throws {
    let bench = DispatcherBench()
    bench.driver.isRebuilding = true
    try bench.send(DispatcherBench.push("p1", devices: ["phone", "tablet"]))
    try bench.send(DispatcherBench.push("p2", kind: .badge))
    try bench.cancel(message: "m-p1")
    #expect(bench.air.isEmpty && bench.outcomes.isEmpty && bench.rejections.isEmpty && bench.wakeAt == nil)
    #expect(try bench.lane() == nil && bench.lane("tablet") == nil)
    bench.driver.isRebuilding = false
    try bench.restart()
    #expect(bench.air.isEmpty && bench.wakeAt == nil)
  }

  @Test("P7: a repeat of a push from before the loss is recognised; later pushes are sent")
  func repeats() throws {
    let bench = DispatcherBench()
    let cause = bench.nextCause()
    bench.driver.isRebuilding = true
    try bench.send(DispatcherBench.push("p1"), cause: cause)
    bench.driver.isRebuilding = false
    for _ in 0..<2 {
      try bench.send(DispatcherBench.push("p1"), cause: cause)
      #expect(bench.air.isEmpty && bench.outcomes.isEmpty)
      try bench.restart()
    }
    try bench.send(DispatcherBench.push("p2"))
    #expect(bench.air.map(\.pushId) == ["p2"])
  }
}
