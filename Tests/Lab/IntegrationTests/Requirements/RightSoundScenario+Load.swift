import Foundation
import NudgeClient
import Testing
import VirtualPhone

@testable import NudgeLab

/// Taps, and how long messages take.
extension RightSoundScenario {
  static func taps(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "tp.bob")
    for number in 1...10 {
      try world.conversation("tp.c\(number)", ["tp.ann\(number)", "tp.bob"])
      try world.write("tp.m\(number)", in: "tp.c\(number)", from: "tp.ann\(number)", "Hey, are you free?")
    }
    for number in 1...10 { try world.see("tp.m\(number)", on: phone) }
    try tapAll(on: phone, "tp", world)
    try world.settle()
    return phone
  }

  /// Taps ten notifications in another order than they came: each leads to its own conversation and message.
  private static func tapAll(on phone: Int, _ prefix: String, _ world: PhoneWorld) throws {
    for number in [7, 2, 10, 1, 5, 3, 9, 4, 8, 6] {
      try world.fleet.tell(phone, .respond(.open, messageId: "\(prefix).m\(number)"))
      #expect(world.phone(phone).conversationId == "\(prefix).c\(number)")
      #expect(
        world.notes[phone]?.last { if case .highlighted = $0.note { true } else { false } }?.note
          == .highlighted(messageId: "\(prefix).m\(number)"))
      try world.fleet.tell(phone, .close)
    }
    try world.wait(for: "an empty badge") { world.phone(phone).badge == 0 }
    #expect(world.phone(phone).lockScreen.entries.isEmpty)
  }

  static func latency(_ world: PhoneWorld) throws -> Int {
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

  static func underLoad(_ world: PhoneWorld) throws -> Int {
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
    try world.wait(for: "the load") { world.decidedOfLoad >= 3 * 300 }
    for round in 1...10 { try expectInTime("ul", round, direct: one, group: ten, world) }
    try world.fleet.tell(one, .openConversation("ul.direct"))
    try world.fleet.tell(one, .closeConversation)
    try world.fleet.tell(one, .close)
    try world.wait(for: "an empty lock screen") { world.phone(one).lockScreen.entries.isEmpty }
    for number in 1...10 { try world.write("ul.m\(number)", in: "ul.c\(number)", from: "ul.ann\(number)", "Lunch?") }
    for number in 1...10 { try world.see("ul.m\(number)", on: one) }
    try tapAll(on: one, "ul", world)
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
