import Foundation
import NudgeClient
import Testing
import VirtualPhone

@testable import NudgeLab

/// How long messages take to the phones. The limits are for a machine that does nothing else.
enum LatencyScenario: String, CaseIterable, CustomTestStringConvertible, Scenario {
  case behindOthers =
    "P9: one recipient gets a message within 3 s, a group of ten within 5 s, behind 200 other messages"
  case underLoad =
    "P9, C3: the same at 100 other messages a second; ten taps on ten notifications land where they should"

  var testDescription: String { rawValue }
  var title: String { rawValue }

  func play(in world: PhoneWorld) throws -> Int? {
    switch self {
    case .behindOthers: try Self.behindOthers(world)
    case .underLoad: try Self.underLoad(world)
    }
  }

  private static func behindOthers(_ world: PhoneWorld) throws -> Int {
    let one = try world.phone(of: "pl.bob")
    let people = (1...10).map { "pl.p\($0)" }
    let ten = try people.map { try world.phone(of: $0) }
    try world.conversation("pl.direct", ["pl.ann", "pl.bob"])
    try world.conversation("pl.group", ["pl.ann"] + people, group: "Choir")
    for number in 0..<20 {
      try world.conversation("pl.load\(number)", ["pl.x", "pl.y\(number)", "pl.z\(number)"], group: "Load")
    }
    for number in 0..<200 {
      try world.write("pl.l\(number)", in: "pl.load\(number % 20)", from: "pl.x", "Message \(number)")
    }
    try expectInTime("pl", 1, direct: one, group: ten, world)
    return one
  }

  /// Writes a direct message and one to a group, and holds how long they take to the phones against the limits.
  private static func expectInTime(
    _ prefix: String, _ round: Int, direct: Int, group: [Int], _ world: PhoneWorld
  ) throws {
    let (first, second) = ("\(prefix).one\(round)", "\(prefix).ten\(round)")
    let began = Date()
    try world.write(first, in: "\(prefix).direct", from: "\(prefix).ann", "Hey, are you free?")
    try world.write(second, in: "\(prefix).group", from: "\(prefix).ann", "Rehearsal at eight")
    try world.see(first, on: direct)
    for phone in group { try world.see(second, on: phone) }
    func seconds(_ messageId: String, on phone: Int) -> TimeInterval {
      let seen = world.notes[phone]?.first { item in
        if case .shown(let entry, _, _) = item.note { entry.messageId == messageId } else { false }
      }
      return seen?.at.timeIntervalSince(began) ?? .infinity
    }
    let slowest = group.map { seconds(second, on: $0) }.max() ?? 0
    print(
      String(format: "  one recipient after %.3f s, the last of ten after %.3f s", seconds(first, on: direct), slowest))
    #expect(seconds(first, on: direct) < 3)
    #expect(slowest < 5)
  }

  private static func underLoad(_ world: PhoneWorld) throws -> Int {
    let one = try world.phone(of: "ul.bob")
    let people = (1...10).map { "ul.p\($0)" }
    let ten = try people.map { try world.phone(of: $0) }
    try world.conversation("ul.direct", ["ul.ann", "ul.bob"])
    try world.conversation("ul.group", ["ul.ann"] + people, group: "Choir")
    for number in 1...10 { try world.conversation("ul.c\(number)", ["ul.ann\(number)", "ul.bob"]) }
    // 20 groups of four; one of each has a phone, which shows every message.
    for number in 0..<20 {
      _ = try world.phone(of: "ul.y\(number)", platform: .android)
      try world.conversation(
        "ul.load\(number)", ["ul.x\(number)", "ul.y\(number)", "ul.v\(number)", "ul.w\(number)"], group: "Load")
    }
    world.startLoad(perSecond: 100, prefix: "ul.l") { number in
      try world.write("ul.l\(number)", in: "ul.load\(number % 20)", from: "ul.x\(number % 20)", "Message \(number)")
    }
    // Each is for three people. What came before the services were warm is worked off first.
    try world.wait(for: "the load, half a second behind at most") {
      world.decidedOfLoad >= 3 * 300 && 3 * (world.publishedOfLoad - 50) <= world.decidedOfLoad
    }
    for round in 1...10 { try expectInTime("ul", round, direct: one, group: ten, world) }
    try world.fleet.send(one, .openConversation("ul.direct"))
    try world.fleet.send(one, .closeConversation)
    try world.fleet.send(one, .close)
    try world.wait(for: "an empty lock screen") { world.phone(one).lockScreen.entries.isEmpty }
    for number in 1...10 { try world.write("ul.m\(number)", in: "ul.c\(number)", from: "ul.ann\(number)", "Lunch?") }
    for number in 1...10 { try world.see("ul.m\(number)", on: one) }
    try world.tapAll(on: one, "ul")
    let load = world.pauseLoad()
    print(String(format: "  %d other messages in %.1f s", load.published, load.seconds))
    #expect(Double(load.published) >= 90 * load.seconds)
    // The pipeline kept up: a moment later the last of them is decided for all three.
    try world.wait(for: "the end of the load") { world.decidedOfLoad == 3 * load.published }
    world.stopLoad()
    try world.settle()
    return one
  }
}

extension EmbeddedPipelineTests {
  @Suite("How long messages take, embedded broker")
  struct LatencyTests {
    @Test(arguments: LatencyScenario.allCases)
    func plays(_ scenario: LatencyScenario) throws {
      try SharedWorld.play(scenario, in: try SharedWorld.embedded.get())
    }
  }
}

extension PipelineTests {
  @Suite("How long messages take")
  struct LatencyTests {
    @Test(arguments: LatencyScenario.allCases)
    func plays(_ scenario: LatencyScenario) throws {
      try SharedWorld.play(scenario, in: try SharedWorld.kafka.get())
    }
  }
}
