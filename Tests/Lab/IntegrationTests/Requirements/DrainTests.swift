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
      let load = ChatLoad("d", messages: 2_000)
      try pipeline.introduce(load)
      pipeline.publisher.start(rate: 100, load.chat)
      try pipeline.wait(for: "a part of the load to be decided") { $0.decisionCount >= 150 }
      #expect(try !pipeline.publisher.isDone(), "the load must still be under way when the services are told to end")
      let stopping = ChatLoad.now()
      pipeline.stop()
      let published = ChatLoad("d", messages: try pipeline.publisher.stop())
      try pipeline.start(instance: "one")
      let restart = ChatLoad.now() - stopping
      try pipeline.settle(published.expected)
      let judge = try pipeline.judge(published.expected)
      // Pushes that the drained dispatcher left go out in less than the 13 s after which an answer counts as lost, unless a loaded machine
      // takes as long to start the services.
      let times = judge.requests.map(\.time)
      let pause = zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? 0
      #expect(pause < max(10_000, restart + 5_000), "nothing was sent for \(pause) ms, the restart took \(restart) ms")
      #expect(judge.resends.isEmpty, "a drained dispatcher has recorded all that FCM took")
    }
  }
}
