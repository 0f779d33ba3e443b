import NudgeSchema
import StreamRuntime
import Testing

@testable import Dispatcher

@Suite("P10: outcomes are counted")
struct OutcomeTallyTests {
  @Test("every result, platform and kind has a series of its own")
  func series() {
    for result in OutcomeResult.allCases {
      for platform in Platform.allCases {
        for kind in Push.Kind.allCases where kind != .escalation {
          #expect(
            OutcomeTally.all[OutcomeTally.place(result, platform, kind)].labels == [
              "result": result.rawValue, "platform": platform.rawValue,
              "kind": kind == .message || kind == .digest ? "message" : "silent",
            ])
        }
      }
    }
    for result in OutcomeResult.allCases {
      let tally = OutcomeTally.all[OutcomeTally.place(result, .web, .escalation)]
      #expect(tally.metric == "nudge_escalation_outcomes_total" && tally.labels == ["result": result.rawValue])
    }
    #expect(Set(OutcomeTally.all.map(\.labels)).count == OutcomeTally.all.count)
  }
}
