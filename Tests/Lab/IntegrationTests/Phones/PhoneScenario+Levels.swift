import NudgeClient
import NudgeSchema
import Testing
import VirtualPhone

@testable import NudgeLab

extension PhoneScenario {
  static func friend(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "y.bob")
    try world.conversation("y.direct", ["y.ann", "y.bob"])
    try world.conversation("y.small", ["y.ann", "y.bob", "y.cleo", "y.dan"], group: "Hikers")
    try world.conversation("y.large", ["y.ann", "y.bob"] + (0..<20).map { "y.other\($0)" }, group: "Town")
    try world.write("y.friend", in: "y.direct", from: "y.ann", "Hey, are you free?")
    #expect(try world.see("y.friend", on: phone).options == [.banner, .list, .sound, .badge])
    try world.write("y.team", in: "y.small", from: "y.ann", "Hey team")
    #expect(try world.see("y.team", on: phone).options == [.list, .badge])
    try world.write("y.town", in: "y.large", from: "y.ann", "ok")
    try world.wait(for: "the badge of three conversations") { world.phone(phone).badge == 3 }
    #expect(world.phone(phone).lockScreen.entries.map(\.messageId) == ["y.team", "y.friend"])
    return phone
  }

  /// Bob asks, and Ada's answer rings his phone, although he wrote a moment before.
  static func answer(_ world: PhoneWorld) throws -> Int {
    let bob = try world.phone(of: "w.bob")
    let ada = try world.phone(of: "w.ada", platform: .android)
    try world.conversation("w.c", ["w.ada", "w.bob"])
    try world.write("w.m1", in: "w.c", from: "w.bob", "are you coming?")
    try world.see("w.m1", on: ada)
    try world.fleet.send(ada, .respond(.reply("yes, in ten minutes"), messageId: "w.m1"))
    try world.wait(for: "the answer on Bob's phone") {
      world.phone(bob).lockScreen.entries.contains { $0.body == "yes, in ten minutes" && $0.isAlert }
    }
    #expect(world.phone(bob).badge == 1)
    return bob
  }

  static func levels(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "h.bob")
    for id in ["all", "mentions", "none"] {
      try world.conversation("h.\(id)", ["h.ann", "h.bob", "h.cy"], group: id)
    }
    try world.conversation("h.noisy", ["h.eve", "h.bob", "h.cy"], group: "Noise")
    try Self.prefer(world, phone) {
      $0.conversationLevels = [
        .init(conversationId: "h.all", level: .all), .init(conversationId: "h.mentions", level: .mentions),
        .init(conversationId: "h.none", level: .none),
      ]
      $0.mutedSenders = ["h.eve"]
    }
    for id in ["all", "mentions", "none"] {
      try world.write("h.\(id)1", in: "h.\(id)", from: "h.ann", "see you there")
    }
    try world.write("h.noise", in: "h.noisy", from: "h.eve", "look at this")
    #expect(try world.see("h.all1", on: phone).entry.isAlert)
    try world.write("h.mentions2", in: "h.mentions", from: "h.ann", "what do you think", mentions: ["h.bob"])
    #expect(try world.see("h.mentions2", on: phone).entry.isAlert)
    #expect(try world.decision("h.none1", for: "h.bob").reason == .level)
    #expect(try world.decision("h.noise", for: "h.bob").reason == .mutedSender)
    #expect(world.phone(phone).lockScreen.entries.map(\.messageId) == ["h.mentions2", "h.all1"])
    return phone
  }
}
