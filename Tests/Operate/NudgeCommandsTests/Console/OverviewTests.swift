import Testing

@testable import NudgeCommands

@Suite("The overview's slots")
struct OverviewTests {
  @Test("what happened is in the slot of its time; slots without anything are there too, and old ones go")
  func slots() {
    var slots = OverviewSlots(step: 1_000, count: 3)
    slots.message(at: 10_999)
    slots.message(at: 11_000)
    slots.message(at: 11_999)
    slots.decision(at: 11_500, reason: "relevant", shape: "alert")
    slots.decision(at: 13_000, reason: "level", shape: "none")
    slots.deadLetter(at: 13_999)
    slots.lag(at: 13_100, stage: "ingest", age: 5)
    slots.lag(at: 13_200, stage: "ingest", age: 3)
    let shown = slots.slots(now: 13_400)
    #expect(shown.map(\.at) == [11_000, 12_000, 13_000])
    #expect(shown.map(\.messages) == [2, 0, 0])
    #expect(shown[0].shapes == ["alert": 1] && shown[2].decisions == ["level": 1])
    #expect(shown[2].deadLetters == 1 && shown[2].lag == ["ingest": 5])
    let later = slots.slots(now: 16_000)
    #expect(later.allSatisfy { $0.messages == 0 })
  }

  @Test("quantiles are those of the latencies, also of more than are kept")
  func latencies() {
    var slots = OverviewSlots(step: 1_000, count: 1)
    let none = slots.slots(now: 500)[0]
    #expect(none.p50 == nil)
    for latency in 1...100 { slots.outcome(at: 500, result: "sent", latency: Int64(latency)) }
    slots.outcome(at: 500, result: "expired", latency: nil)
    let few = slots.slots(now: 500)[0]
    #expect(few.p50 == 51 && few.p99 == 100)
    #expect(few.outcomes == ["sent": 100, "expired": 1])
    slots = OverviewSlots(step: 1_000, count: 1)
    for latency in 0..<100_000 { slots.outcome(at: 500, result: "sent", latency: Int64(latency)) }
    let many = slots.slots(now: 500)[0]
    #expect(abs((many.p50 ?? 0) - 50_000) < 1_000 && abs((many.p99 ?? 0) - 99_000) < 1_000)
  }

  @Test("a service's metrics say whether it is ready, and what is paused")
  func metrics() {
    let glance = ServiceGlance(
      address: "a:1",
      metrics: """
        # HELP nudge_ready 1: as /readyz says
        nudge_ready 1
        nudge_fcm_pauses{reason="quota"} 2
        nudge_fcm_pauses{reason="refused"} 0
        nudge_lane_pushes 17
        """)
    #expect(glance.ready && glance.pauses == ["quota": 2] && glance.lanes == 17 && glance.error == nil)
    #expect(ServiceGlance(of: "127.0.0.1:1").error != nil)
    #expect(ServiceGlance(of: "nonsense").error != nil)
  }
}
