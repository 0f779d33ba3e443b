import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("P10: what the analyzer counts")
struct AnalyzerMetricTests {
  @Test("every reason and priority has a series from the start, with the outcome that the reason means")
  func decisions() {
    let known = AnalyzerMetric.expected.map(\.series).filter { $0.metric == "nudge_decisions_total" }.map(\.labels)
    for reason in DecisionReason.allCases {
      for priority in [nil] + Priority.allCases.map(Optional.some) {
        let labels = [
          "reason": reason.rawValue, "priority": priority?.rawValue ?? "none",
          "outcome": reason.notifies ? "notify" : "suppress",
        ]
        #expect(AnalyzerMetric.decision(reason, priority).series.labels == labels && known.contains(labels))
      }
    }
    for reason in [DecisionReason.activeConversation, .activeElsewhere] {
      let labels = ["reason": reason.rawValue, "priority": "none", "outcome": "deferred"]
      #expect(AnalyzerMetric.deferred(reason).series.labels == labels && known.contains(labels))
    }
  }

  @Test("each metric that is expected has a series of its own")
  func series() {
    let all = AnalyzerMetric.expected.map { "\($0.series.metric) \($0.series.labels.sorted { $0.key < $1.key })" }
    #expect(Set(all).count == all.count)
  }

  @Test("a time to arrive is observed within a twentieth; before the message, at once")
  func times() {
    for time: Milliseconds in [60, 999, 3_000, 61_000, 3_599_000, 86_399_000] {
      let series = AnalyzerMetric.arrival(.web, ArrivalTime(time)).series
      #expect(series.labels == ["platform": "web"])
      let seconds = series.observation?.value ?? 0
      #expect(abs(seconds * 1_000 / Double(time) - 1) < 0.05, "\(time)")
    }
    #expect(ArrivalTime(-5_000).seconds == 0.05)
    #expect(ArrivalTime(.max).seconds > 86_400)
  }
}
