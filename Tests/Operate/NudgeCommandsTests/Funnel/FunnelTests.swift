import Foundation
import NudgeSchema
import TestSupport
import Testing

@testable import NudgeCommands

@Suite("nudge funnel: how far messages got")
struct FunnelTests {
  private let hour: Milliseconds = 1_795_341_600_000
  private let coder = RecordCoder()

  private func decode<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
    try coder.decode(type, from: Array(json.utf8))
  }

  private func decision(
    _ pushId: String?, outcome: String = "notify", reason: String = "relevant", priority: String? = "high",
    presentation: String? = "alert", at time: Milliseconds
  ) throws -> FunnelDecision {
    var fields: [String: Any] = ["outcome": outcome, "reason": reason, "decidedAt": time, "userId": "ann"]
    fields["priority"] = priority
    fields["presentation"] = presentation
    fields["pushId"] = pushId
    return try decode(
      FunnelDecision.self, String(decoding: JSONSerialization.data(withJSONObject: fields), as: UTF8.self))
  }

  private func push(_ pushId: String, _ devices: [String: String]) throws -> FunnelPush {
    let targets = devices.map { #"{"deviceId":"\#($0)","platform":"\#($1)"}"# }.joined(separator: ",")
    return try decode(FunnelPush.self, #"{"type":"push","pushId":"\#(pushId)","targets":[\#(targets)]}"#)
  }

  private func outcome(_ pushId: String, _ device: String, _ result: String, code: String? = nil) throws
    -> OutcomesGlance
  {
    let code = code.map { #","errorCode":"\#($0)""# } ?? ""
    return try decode(
      OutcomesGlance.self,
      #"{"type":"outcome","pushId":"\#(pushId)","deviceId":"\#(device)","result":"\#(result)","attempts":1,"#
        + #""occurredAt":1,"finishedAt":2,"origin":{"topic":"nudge.pushes","partition":0,"offset":1}\#(code)}"#)
  }

  private func receipt(_ pushId: String, _ device: String, _ state: String) throws -> OutcomesGlance {
    try decode(
      OutcomesGlance.self,
      #"{"type":"receipt","pushId":"\#(pushId)","deviceId":"\#(device)","state":"\#(state)","platform":"ios","#
        + #""occurredAt":2,"sentAt":1}"#)
  }

  @Test("P10: each step counts what reached it, and each push and device stands somewhere")
  func steps() throws {
    var funnel = Funnel(FunnelTable(since: hour, until: hour + 7_200_000))
    funnel.add(try decision("p1", at: hour + 1))
    funnel.add(try decision("p2", reason: "notify_all", priority: "medium", at: hour + 3_600_000))
    funnel.add(try decision("p3", presentation: "badge", at: hour + 2))
    funnel.add(
      try decision(nil, outcome: "suppress", reason: "expired", priority: nil, presentation: nil, at: hour + 3))
    // Neither final nor in the span.
    funnel.add(try decision(nil, outcome: "deferred", at: hour + 4))
    funnel.add(try decision("late", at: hour + 7_200_000))
    funnel.add(try push("p1", ["phone": "ios", "tablet": "android"]))
    funnel.add(try push("p2", ["phone": "ios"]))
    funnel.add(try push("p3", ["phone": "ios"]))
    funnel.add(try push("late", ["phone": "ios"]))
    funnel.add(try decode(FunnelPush.self, #"{"type":"push.cancelled","userId":"ann"}"#))
    // Opened before it was taken, and before it arrived.
    funnel.add(try receipt("p1", "phone", "opened"))
    funnel.add(try receipt("p1", "phone", "arrived"))
    funnel.add(try outcome("p1", "phone", "sent"))
    funnel.add(try outcome("p1", "tablet", "gave_up", code: "UNAVAILABLE"))
    funnel.add(try outcome("p2", "phone", "sent"))
    funnel.add(try receipt("p2", "phone", "withdrawn"))
    funnel.add(try outcome("p3", "phone", "sent"))
    let table = funnel.conclude()
    #expect(
      table.all
        == FunnelCounts(
          decided: 4, notify: 3, pushed: 3, taken: 2, arrived: 1, opened: 1,
          ends: ["opened": 1, "failed": 1, "withdrawn": 1]))
    #expect(table.byReason["relevant"]?.pushed == 2 && table.byReason["notify_all"]?.pushed == 1)
    #expect(table.byReason["expired"] == FunnelCounts(decided: 1))
    #expect(table.byPriority.mapValues(\.decided) == ["high": 2, "medium": 1, "none": 1])
    #expect(table.byPlatform.mapValues(\.pushed) == ["ios": 2, "android": 1])
    #expect(table.byPlatform["ios"]?.decided == 0)
    #expect(table.byHour.mapValues(\.pushed) == [RFC3339.text(hour): 2, RFC3339.text(hour + 3_600_000): 1])
    let text = FunnelReport(table).text
    #expect(text.contains("by platform") && text.contains("by hour") && text.contains("66.7 %"), "\(text)")
    #expect(FunnelReport(FunnelTable(since: hour, until: hour + 1)).text.hasPrefix("No decision"))
  }

  @Test("P10: pushes that are no longer kept are counted by their outcomes and receipts")
  func withoutPushes() throws {
    var funnel = Funnel(FunnelTable(since: hour, until: hour + 1_000))
    funnel.add(try decision("p1", at: hour))
    funnel.add(try decision("p2", at: hour))
    funnel.add(try outcome("p1", "phone", "sent"))
    funnel.add(try outcome("p2", "phone", "sent"))
    funnel.add(try receipt("p2", "phone", "arrived"))
    let table = funnel.conclude()
    #expect(table.byPlatform.mapValues(\.pushed) == ["unknown": 1, "ios": 1])
    #expect(table.all.taken == 2 && table.all.arrived == 1)
  }

  @Test("P10: several passes count the same as one, and each remembers its part")
  func passes() throws {
    var random = SeededGenerator(announcedFor: "funnel")
    let seed = random.seed
    var decisions: [FunnelDecision] = []
    var pushes: [FunnelPush] = []
    var outcomes: [OutcomesGlance] = []
    for number in 0..<600 {
      let id = "push-\(number)"
      decisions.append(
        try decision(
          id, reason: ["relevant", "notify_all", "simple_rules"][random.below(3)],
          priority: ["high", "medium", "low"][random.below(3)], at: hour + Milliseconds(random.below(36_000_000))))
      let devices = random.oneIn(3) ? ["a": "ios", "b": "web"] : ["a": "android"]
      if !random.oneIn(5) { pushes.append(try push(id, devices)) }
      for device in devices.keys where !random.oneIn(9) {
        outcomes.append(try outcome(id, device, ["sent", "sent", "expired", "cancelled"][random.below(4)]))
        for state in ["arrived", "opened", "dismissed", "withdrawn"] where random.oneIn(3) {
          outcomes.append(try receipt(id, device, state))
        }
      }
    }
    outcomes.shuffle(using: &random)
    func table(passes: Int) -> (FunnelTable, most: Int) {
      var table = FunnelTable(since: hour, until: hour + 86_400_000)
      var most = 0
      for pass in 0..<passes {
        var funnel = Funnel(table, pass: pass, of: passes)
        for decision in decisions { funnel.add(decision) }
        for push in pushes { funnel.add(push) }
        for outcome in outcomes { funnel.add(outcome) }
        most = max(most, funnel.remembered)
        table = funnel.conclude()
      }
      return (table, most)
    }
    let (one, many) = (table(passes: 1), table(passes: 7))
    #expect(one.0 == many.0, "seed \(seed)")
    #expect(many.most < one.most / 4, "seed \(seed)")
    #expect(one.0.all.ends.values.reduce(0, +) == one.0.all.pushed, "seed \(seed)")
  }
}
