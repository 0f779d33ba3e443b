import Foundation
import NudgeClient
import NudgeSchema
import ServiceKit
import Testing
import VirtualPhone

@testable import NudgeLab

/// Messages that matter and reach nobody.
enum EscalationScenario: String, CaseIterable, CustomTestStringConvertible, Scenario {
  case phoneOff =
    "D21: Bob's phone is off: he is pushed again, then the webhook is told, once; Cleo reads on her tablet: neither"

  var testDescription: String { rawValue }
  var title: String { rawValue }

  /// Times are those of the policy by a thirtieth: pushed again after 10 s, told to the webhook 5 s later.
  private static let policy = #"{"escalation": {"againSeconds": 10, "webhookSeconds": 5}}"#

  /// Plays it with services of its own, whose policy is another.
  func play(on kind: PhoneWorld.Kind) throws {
    let world = try PhoneWorld(kind, name: "escalation", policy: Self.policy)
    defer { world.close() }
    try SharedWorld.play(self, in: world)
    try? FileManager.default.removeItem(at: world.directory)
  }

  func play(in world: PhoneWorld) throws -> Int? {
    switch self {
    case .phoneOff: try Self.phoneOff(world)
    }
  }

  /// How often FCM took a push for a device.
  private static func sent(to deviceId: String, _ world: PhoneWorld) -> Int {
    world.outcomes(of: deviceId).count { $0.body.result == .sent }
  }

  private static func phoneOff(_ world: PhoneWorld) throws -> Int {
    let bob = try world.phone(of: "e.bob", platform: .android)
    let (cleo, tablet) = (try world.phone(of: "e.cleo"), try world.phone(of: "e.cleo", "tablet"))
    try world.conversation("e.direct", ["e.ann", "e.bob"])
    try world.conversation("e.group", ["e.ann", "e.cleo", "e.dan"], group: "Hikers")
    try world.settle()
    for phone in [bob, cleo] { try world.fleet.send(phone, .network(false)) }
    try world.write("e.m1", in: "e.direct", from: "e.ann", "This is urgent, call me")
    try world.write("e.m2", in: "e.group", from: "e.ann", "Can you open the hut?", mentions: ["e.cleo"])
    #expect(try world.decision("e.m1", for: "e.bob").priority == .high)
    #expect(try world.decision("e.m2", for: "e.cleo").priority == .high)
    try world.see("e.m2", on: tablet)
    try world.fleet.send(tablet, .openConversation("e.group"))
    try world.fleet.send(tablet, .close)

    try world.wait(for: "the second push to Bob's phone", atMost: 30) { sent(to: "e.bob/phone", world) == 2 }
    try world.wait(for: "the webhook", atMost: 30) { try !world.webhookRequests().requests.isEmpty }
    // Cleo's would be due by now, too.
    let deadline = Date().addingTimeInterval(3)
    try world.wait(for: "3 s", atMost: 10) { Date() > deadline }
    #expect(sent(to: "e.bob/phone", world) == 2)
    let pushedToCleo = try world.requests().split(separator: "\n").count {
      $0.contains("\"e.m2\"") && $0.contains("messages:send") && $0.contains("\"title\"")
    }
    #expect(pushedToCleo == 2, "one for each of her devices")

    let (secret, requests) = try world.webhookRequests()
    #expect(requests.map(\.status) == [200])
    let request = try #require(requests.first)
    #expect(request.body.type == "message.escalated" && request.body.data.pushedAgainAt != nil)
    #expect((request.body.data.userId, request.body.data.messageId) == ("e.bob", "e.m1"))
    #expect(request.body.data.senderName == "Ann")
    let line = try #require(try world.requests().split(separator: "\n").first { $0.contains("\"/webhook\"") })
    #expect(!line.contains("call me") && !line.contains(secret))
    let signed = (request.headers["webhook-signature"] ?? "").hasPrefix("v1,")
    #expect(signed && request.headers["webhook-id"] != nil && request.headers["webhook-timestamp"] != nil)

    // Bob's phone is back: one notification of the message, however often it was pushed.
    try world.fleet.send(bob, .network(true))
    try world.see("e.m1", on: bob)
    try world.settle()
    #expect(world.phone(bob).lockScreen.entries.count { $0.messageId == "e.m1" } == 1)
    return bob
  }
}

extension EmbeddedPipelineTests {
  @Suite("Said again, then elsewhere, embedded broker")
  struct EscalationTests {
    @Test(arguments: EscalationScenario.allCases)
    func plays(_ scenario: EscalationScenario) throws { try scenario.play(on: .embedded) }
  }
}

extension PipelineTests {
  @Suite("Said again, then elsewhere")
  struct EscalationTests {
    @Test(arguments: EscalationScenario.allCases)
    func plays(_ scenario: EscalationScenario) throws { try scenario.play(on: .kafka) }
  }
}
