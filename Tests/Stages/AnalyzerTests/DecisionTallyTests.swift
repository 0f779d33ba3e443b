import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("Decisions are counted")
struct DecisionTallyTests {
  @Test("every reason and priority has a series of its own, with the outcome that the reason means")
  func series() {
    for reason in DecisionReason.allCases {
      for priority in [nil] + Priority.allCases.map(Optional.some) {
        let tally = DecisionTally.all[DecisionTally.place(reason, priority)]
        #expect(
          tally.labels == [
            "reason": reason.rawValue, "priority": priority?.rawValue ?? "none",
            "outcome": reason.notifies ? "notify" : "suppress",
          ])
      }
    }
    for reason in [DecisionReason.activeConversation, .activeElsewhere] {
      #expect(
        DecisionTally.all[DecisionTally.place(deferredBy: reason)].labels == [
          "reason": reason.rawValue, "priority": "none", "outcome": "deferred",
        ])
    }
    #expect(Set(DecisionTally.all.map(\.labels)).count == DecisionTally.all.count)
  }
}
