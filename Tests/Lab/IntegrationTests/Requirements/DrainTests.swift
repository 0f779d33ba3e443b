import Foundation
import Testing

@testable import NudgeLab

extension PipelineTests {
  @Suite("Ends under load")
  struct DrainTests {
    @Test("O4: SIGTERM under load: every service drains and exits 0 within 10 s, and after a restart all balances")
    func terminate() throws {
      let pipeline = try Pipeline("drain", delay: "100ms")
      try pipeline.start(instance: "one")
      let load = ChatLoad("d")
      try pipeline.introduce(load)
      pipeline.publisher.start(rate: 150, load.chat)
      try pipeline.wait(for: "a third of the load to be decided") { $0.decisionCount >= load.messages / 3 }
      #expect(try !pipeline.publisher.isDone(), "the load must still be under way when the services are told to end")
      pipeline.stop()
      try pipeline.start(instance: "one")
      try pipeline.settle(load.expected)
      let judge = try pipeline.judge(load.expected)
      // Pushes that the drained dispatcher left go out in less than the 13 s after which an answer counts as lost.
      let times = judge.requests.map(\.time)
      let pause = zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? 0
      #expect(pause < 10_000, "nothing was sent for \(pause) ms")
      #expect(judge.resends.isEmpty, "a drained dispatcher has recorded all that FCM took")
    }
  }
}
