import JSONCodec
import NudgeSchema
import TestSupport
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
    slots.decision(at: 11_500, reason: "relevant", shape: "alert", pushId: "p")
    slots.decision(at: 13_000, reason: "level", shape: "none", pushId: nil)
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
    func taken(_ slots: inout OverviewSlots, _ latency: Milliseconds) {
      slots.outcome(at: 500, of: "p", on: "phone", .sent, errorCode: nil, latency: latency)
    }
    var slots = OverviewSlots(step: 1_000, count: 1)
    let none = slots.slots(now: 500)[0]
    #expect(none.taken == nil && none.arrived == nil)
    for latency in 1...100 { taken(&slots, Int64(latency)) }
    slots.outcome(at: 500, of: "p", on: "phone", .expired, errorCode: nil, latency: nil)
    slots.receipt(at: 500, of: "p", on: "phone", .arrived, latency: 250)
    slots.receipt(at: 500, of: "p", on: "phone", .opened, latency: nil)
    let few = slots.slots(now: 500)[0]
    #expect(few.taken == .init(p50: 51, p99: 100) && few.arrived == .init(p50: 250, p99: 250))
    #expect(few.outcomes == ["sent": 100, "expired": 1])
    slots = OverviewSlots(step: 1_000, count: 1)
    for latency in 0..<100_000 { taken(&slots, Int64(latency)) }
    let many = slots.slots(now: 500)[0].taken
    #expect(abs((many?.p50 ?? 0) - 50_000) < 1_000 && abs((many?.p99 ?? 0) - 99_000) < 1_000)
  }

  @Test("P10: a push stands in the slot of its decision, and moves from state to state there, a device each")
  func ends() {
    var slots = OverviewSlots(step: 1_000, count: 3)
    slots.decision(at: 1_000, reason: "relevant", shape: "alert", pushId: "p")
    slots.decision(at: 2_000, reason: "relevant", shape: "alert", pushId: "q")
    slots.decision(at: 2_000, reason: "relevant", shape: "alert", pushId: "q")
    func ends(_ now: Milliseconds = 3_999) -> [[String: Int]] { slots.slots(now: now).map(\.ends) }
    #expect(ends() == [["waiting": 1], ["waiting": 1], [:]])
    slots.outcome(at: 2_100, of: "p", on: "phone", .sent, errorCode: nil, latency: nil)
    slots.outcome(at: 2_200, of: "p", on: "tablet", .rejected, errorCode: nil, latency: nil)
    #expect(ends() == [["taken": 1, "failed": 1], ["waiting": 1], [:]])
    // In any order, and before the outcome.
    slots.receipt(at: 3_100, of: "p", on: "phone", .opened, latency: nil)
    slots.receipt(at: 3_200, of: "p", on: "phone", .arrived, latency: nil)
    slots.receipt(at: 3_300, of: "q", on: "phone", .arrived, latency: nil)
    slots.outcome(at: 3_400, of: "q", on: "phone", .sent, errorCode: nil, latency: nil)
    #expect(ends() == [["opened": 1, "failed": 1], ["arrived": 1], [:]])
    // Removes a notification, or was decided for before the first slot.
    slots.outcome(at: 3_500, of: "r", on: "phone", .sent, errorCode: nil, latency: nil)
    #expect(ends() == [["opened": 1, "failed": 1], ["arrived": 1], [:]])
    #expect(ends(4_000) == [["arrived": 1], [:], [:]])
    slots.receipt(at: 4_100, of: "p", on: "phone", .dismissed, latency: nil)
    #expect(ends(4_500) == [["arrived": 1], [:], [:]] && !slots.isPartial)
  }

  @Test("a message that was held counts once, by its final decision")
  func held() throws {
    let world = try BrowsedBroker()
    for (time, fields) in [
      (1_000, #""outcome":"deferred","reason":"active_conversation""#),
      (2_000, #""outcome":"notify","reason":"direct_message","presentation":"alert","pushId":"p""#),
    ] {
      try world.produce(
        #"{"type":"decision","userId":"u","conversationId":"c","messageId":"m",\#(fields)}"#, key: "u", to: .decisions,
        at: Milliseconds(time))
    }
    try world.flush()
    let browser = try world.browser()
    var slots = OverviewSlots(step: 1_000, count: 3)
    let parser = JSONParser()
    try browser.read(browser.ranges(of: .decisions, from: nil, until: nil), "reading") { record in
      OverviewReading.count(record, of: .decisions, parser, in: &slots)
      return true
    }
    let shown = slots.slots(now: 3_500)
    #expect(shown.map(\.shapes) == [[:], ["alert": 1], [:]])
    #expect(shown.map(\.decisions) == [[:], ["direct_message": 1], [:]])
  }

  @Test("P10: the overview's ends are those of the funnel, whatever comes in whatever order; and its memory is bounded")
  func sameAsFunnel() throws {
    var random = SeededGenerator(announcedFor: "overview")
    let seed = random.seed
    let coder = RecordCoder()
    func glance(_ json: String) throws -> OutcomesGlance {
      try coder.decode(OutcomesGlance.self, from: Array(json.utf8))
    }
    var slots = OverviewSlots(step: 1_000, count: 10)
    var bounded = OverviewSlots(step: 1_000, count: 10, followed: 40)
    var funnel = Funnel(FunnelTable(since: 0, until: 10_000))
    var later: [() throws -> Void] = []
    for number in 0..<300 {
      let id = "push-\(number)"
      let time = Milliseconds(random.below(10_000))
      slots.decision(at: time, reason: "relevant", shape: "alert", pushId: id)
      bounded.decision(at: time, reason: "relevant", shape: "alert", pushId: id)
      funnel.add(
        try coder.decode(
          FunnelDecision.self,
          from: Array(
            #"{"outcome":"notify","reason":"relevant","presentation":"alert","pushId":"\#(id)","decidedAt":\#(time)}"#
              .utf8)))
      for device in random.oneIn(3) ? ["a", "b"] : ["a"] {
        let result = OutcomeResult.allCases[random.below(OutcomeResult.allCases.count)]
        let code = random.oneIn(2) ? "lane_full" : "superseded"
        later.append {
          slots.outcome(at: time, of: id, on: device, result, errorCode: code, latency: nil)
          bounded.outcome(at: time, of: id, on: device, result, errorCode: code, latency: nil)
          funnel.add(
            try glance(
              #"{"type":"outcome","pushId":"\#(id)","deviceId":"\#(device)","result":"\#(result.rawValue)","attempts":1,"#
                + #""errorCode":"\#(code)","occurredAt":1,"finishedAt":2,"origin":{"topic":"t","partition":0,"offset":1}}"#
            ))
        }
        for state in ReceiptState.allCases where random.oneIn(3) {
          later.append {
            slots.receipt(at: time, of: id, on: device, state, latency: nil)
            bounded.receipt(at: time, of: id, on: device, state, latency: nil)
            funnel.add(
              try glance(
                #"{"type":"receipt","pushId":"\#(id)","deviceId":"\#(device)","state":"\#(state.rawValue)","#
                  + #""platform":"ios","occurredAt":2,"sentAt":1}"#))
          }
        }
      }
    }
    for step in later.shuffled(using: &random) { try step() }
    var sum: [String: Int] = [:]
    for slot in slots.slots(now: 9_999) { sum.merge(slot.ends, uniquingKeysWith: +) }
    #expect(sum == funnel.conclude().all.ends, "seed \(seed)")
    let followed = bounded.slots(now: 9_999).flatMap(\.ends.values).reduce(0, +)
    #expect(bounded.isPartial && followed <= 40, "seed \(seed)")
    _ = bounded.slots(now: 30_000)
    #expect(!bounded.isPartial, "room again")
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
