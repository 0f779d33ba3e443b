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
        for kind in Push.Kind.allCases {
          #expect(
            OutcomeTally.all[OutcomeTally.place(result, platform, kind)].labels == [
              "result": result.rawValue, "platform": platform.rawValue,
              "kind": kind == .message || kind == .digest ? "message" : "silent",
            ])
        }
      }
    }
    #expect(Set(OutcomeTally.all.map(\.labels)).count == OutcomeTally.all.count)
  }
}
