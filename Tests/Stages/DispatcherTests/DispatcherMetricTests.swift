import NudgeSchema
import StreamRuntime
import Testing

@testable import Dispatcher

@Suite("P10: outcomes are counted")
struct DispatcherMetricTests {
  @Test("every result, platform and kind has a series of its own")
  func series() {
    for result in OutcomeResult.allCases {
      for platform in Platform.allCases {
        for kind in Push.Kind.allCases where kind != .escalation {
          #expect(
            DispatcherMetric(result, platform, kind).series.labels == [
              "result": result.rawValue, "platform": platform.rawValue,
              "kind": kind == .message || kind == .digest ? "message" : "silent",
            ])
        }
      }
    }
    for result in OutcomeResult.allCases {
      let series = DispatcherMetric(result, .web, .escalation).series
      #expect(series.metric == "nudge_escalation_outcomes_total" && series.labels == ["result": result.rawValue])
    }
    let all = DispatcherMetric.expected.map(\.series.labels)
    #expect(Set(all).count == all.count && all.count > OutcomeResult.allCases.count)
  }
}
