import Foundation
import HTTPTransport
import NudgeClient
import NudgeSchema
import Testing
import VirtualPhone

@testable import NudgeLab

/// Pushes that are not sent in time: FCM answers late, and meanwhile freshness ends, or too many wait.
enum LateScenario: String, CaseIterable, CustomTestStringConvertible, Scenario {
  case fullLane = "D18: more is written to Bob than his lane takes: the oldest are one notification, without his asking"
  case expired = "D18: what expired in Bob's lane is told at his own time, without what was deleted, with the last text"

  /// How long FCM's first answer takes: less than a request may.
  private static let delay = 8
  /// What a lane takes.
  private static let lane = 100

  var testDescription: String { rawValue }
  var title: String { rawValue }

  func play(in world: PhoneWorld) throws -> Int? {
    switch self {
    case .fullLane: try Self.fullLane(world)
    case .expired: try Self.expired(world)
    }
  }

  /// FCM answers the next request for a phone late.
  private static func block(_ phone: Int, _ world: PhoneWorld) throws {
    let fault = #"{"faults":[{"tokenPrefix":"\#(world.phone(phone).token)","delayMs":\#(delay * 1_000),"times":1}]}"#
    let client = try HTTPClient(HTTPClientConfiguration(plainProtocol: .http1))
    defer { client.shutdown(grace: .zero) }
    let request = HTTPRequest(
      method: .post, url: world.emulatorURL + "emulator/faults", headers: [("Content-Type", "application/json")],
      body: Array(fault.utf8), timeout: .seconds(10))
    #expect(try client.response(to: request).get().status == 200)
  }

  private static func left(_ device: String, _ world: PhoneWorld) -> [OutcomeBody] {
    world.outcomes(of: device).map(\.body).filter { $0.catchUp == true }
  }

  private static func fullLane(_ world: PhoneWorld) throws -> Int? {
    let phone = try world.phone(of: "lf.bob")
    try world.conversation("lf.c", ["lf.ann", "lf.bob"])
    try block(phone, world)
    try world.write("lf.m0", in: "lf.c", from: "lf.ann", "Message 0")
    #expect(try world.decision("lf.m0", for: "lf.bob").outcome == .notify)
    // One is on its way, and the rest of the lane waits.
    let count = lane + 12
    for number in 1..<count { try world.write("lf.m\(number)", in: "lf.c", from: "lf.ann", "Message \(number)") }
    #expect(try world.decision("lf.m\(count - 1)", for: "lf.bob").outcome == .notify)
    try world.wait(for: "all outcomes") { world.outcomes(of: "lf.bob/phone").count >= count }
    // A catch-up that comes while the lane is still full takes a place of its own. Each message is told once.
    try world.wait(for: "the catch-ups") {
      let told = try world.seeCatchUp(on: phone).reduce(0) { $0 + $1.catchUp.messages }
      let dropped = left("lf.bob/phone", world).count
      // One that waits alone is told as itself.
      let alone = dropped == 0 ? 0 : (1...dropped).count { world.shown("lf.m\($0)", on: phone).count == 1 }
      return told > 0 && told + alone == dropped
    }
    #expect(try world.seeCatchUp(on: phone).allSatisfy { $0.catchUp.conversations == 1 })
    let dropped = left("lf.bob/phone", world)
    #expect((12...14).contains(dropped.count))
    #expect(dropped.allSatisfy { $0.result == .gaveUp && $0.errorCode == "lane_full" })
    for number in 0..<count {
      let wasDropped = (1...dropped.count).contains(number)
      let shown = world.shown("lf.m\(number)", on: phone).count
      #expect(wasDropped ? shown <= 1 : shown == 1, "message \(number)")
    }
    return nil
  }

  private static func expired(_ world: PhoneWorld) throws -> Int? {
    let phone = try world.phone(of: "le.bob")
    let conversations = ["le.c1", "le.c2", "le.c3"]
    for conversation in ["le.c"] + conversations { try world.conversation(conversation, ["le.ann", "le.bob"]) }
    // A time that has just passed: until he has no more times of his own.
    var change = PreferencesChange()
    change.digestTimes = .set([QuietSpan.text((Int(Date().timeIntervalSince1970 / 60) - 60) % 1_440)])
    change.timeZone = "UTC"
    try world.fleet.send(phone, .prefer(change))
    try world.settle()
    try block(phone, world)
    try world.write("le.first", in: "le.c", from: "le.ann", "Hello")
    #expect(try world.decision("le.first", for: "le.bob").outcome == .notify)
    // An hour is how long a message is fresh.
    let nearlyOld = Date().addingTimeInterval(Double(delay) / 2 - 3_600)
    for (number, conversation) in conversations.enumerated() {
      try world.write(
        "le.m\(number)", in: conversation, from: "le.ann", "Text \(number)", at: nearlyOld + Double(number) / 100)
    }
    for number in conversations.indices {
      #expect(try world.decision("le.m\(number)", for: "le.bob").outcome == .notify)
    }
    try world.wait(for: "the end of their freshness") { left("le.bob/phone", world).count >= conversations.count }
    #expect(left("le.bob/phone", world).allSatisfy { $0.result == .expired && $0.attempts == 0 })
    try world.revise("le.m0", in: "le.c1", to: "The last text")
    try world.revise("le.m1", in: "le.c2", to: nil)
    // These come behind them on Bob's timeline.
    for (number, conversation) in conversations.enumerated() {
      try world.write("le.end\(number)", in: conversation, from: "le.ann", "Bye")
      _ = try world.decision("le.end\(number)", for: "le.bob")
    }
    change = PreferencesChange()
    change.digestTimes = .atQuietHoursEnd
    try world.fleet.send(phone, .prefer(change))
    let seen = try world.seeCatchUp(on: phone)
    #expect(seen.count == 1 && seen[0].entry.title == "2 messages in 2 conversations" && seen[0].entry.isAlert)
    #expect(Set(seen[0].catchUp.lines.map(\.text)) == ["The last text", "Text 2"])
    for number in conversations.indices { #expect(world.shown("le.m\(number)", on: phone).isEmpty) }
    return phone
  }
}

extension EmbeddedPipelineTests {
  @Suite("Pushes that are too late, embedded broker")
  struct LateTests {
    @Test(arguments: LateScenario.allCases)
    func plays(_ scenario: LateScenario) throws {
      try SharedWorld.play(scenario, in: try SharedWorld.embedded.get())
    }
  }
}

extension PipelineTests {
  @Suite("Pushes that are too late")
  struct LateTests {
    @Test(arguments: LateScenario.allCases)
    func plays(_ scenario: LateScenario) throws {
      try SharedWorld.play(scenario, in: try SharedWorld.kafka.get())
    }
  }
}
