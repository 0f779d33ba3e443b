import Foundation
import NudgeClient
import NudgeSchema
import Testing
import VirtualPhone

@testable import NudgeLab

/// Notifications for people who are about to read a message anyway, or seem to be.
enum AttentionScenario: String, CaseIterable, CustomTestStringConvertible, Scenario {
  case killed = "D1: Bob's phone dies with the chat open: his tablet rings after all, once, and the badge counts"
  case readingAlong = "D1: Ann writes while Bob reads along: nothing rings, not even after he has put the phone away"

  case laptop = "D17: Bob reads it on his laptop within seconds: the phone in his pocket stays silent"
  case notLooking = "D17: Bob's laptop is open, and he does not look: his phone rings some seconds later, once"

  var testDescription: String { rawValue }
  var title: String { rawValue }

  func play(in world: PhoneWorld) throws -> Int? {
    switch self {
    case .killed: try Self.killed(world)
    case .readingAlong: try Self.readingAlong(world)
    case .laptop: try Self.laptop(world)
    case .notLooking: try Self.notLooking(world)
    }
  }

  private static func killed(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "ak.bob")
    let tablet = try world.phone(of: "ak.bob", "tablet", platform: .android)
    try world.conversation("ak.c", ["ak.ann", "ak.bob"])
    try world.fleet.send(phone, .openConversation("ak.c"))
    try world.settle()
    try world.fleet.send(phone, .network(false))
    try world.write("ak.m", in: "ak.c", from: "ak.ann", "Hey, are you free?")
    let first = try world.decision("ak.m", for: "ak.bob")
    #expect(first.outcome == .deferred && first.reason == .activeConversation && first.badge == 0)
    let final = try world.finalDecision("ak.m", for: "ak.bob")
    #expect(final.outcome == .notify && final.badge == 1)
    let shown = try world.see("ak.m", on: tablet)
    #expect(shown.entry.isAlert && world.phone(tablet).badge == 1)
    #expect(world.shown("ak.m", on: tablet).count == 1)
    return tablet
  }

  private static func readingAlong(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "ar.bob")
    let tablet = try world.phone(of: "ar.bob", "tablet", platform: .android)
    try world.conversation("ar.c", ["ar.ann", "ar.bob"])
    try world.conversation("ar.c2", ["ar.cleo", "ar.bob"])
    try world.fleet.send(phone, .openConversation("ar.c"))
    try world.settle()
    try world.write("ar.m", in: "ar.c", from: "ar.ann", "I am on my way")
    #expect(try world.decision("ar.m", for: "ar.bob").outcome == .deferred)
    try world.fleet.send(phone, .close)
    let final = try world.finalDecision("ar.m", for: "ar.bob")
    #expect(final.outcome == .suppress && final.reason == .alreadyRead && final.badge == 0)
    // Another message reaches both; that one never did.
    try world.write("ar.m2", in: "ar.c2", from: "ar.cleo", "Lunch?")
    for device in [phone, tablet] {
      try world.see("ar.m2", on: device)
      #expect(world.shown("ar.m", on: device).isEmpty && world.phone(device).badge == 1)
    }
    return tablet
  }

  /// Bob's phone, and his laptop with the app open on the list of conversations.
  private static func atTheLaptop(_ prefix: String, _ world: PhoneWorld) throws -> (phone: Int, laptop: Int) {
    let phone = try world.phone(of: "\(prefix).bob")
    let laptop = try world.phone(of: "\(prefix).bob", "laptop")
    try world.conversation("\(prefix).c", ["\(prefix).ann", "\(prefix).bob"])
    try world.conversation("\(prefix).c2", ["\(prefix).cleo", "\(prefix).bob"])
    try world.fleet.send(laptop, .open)
    try world.settle()
    return (phone, laptop)
  }

  private static func laptop(_ world: PhoneWorld) throws -> Int {
    let (phone, laptop) = try atTheLaptop("al", world)
    try world.write("al.m", in: "al.c", from: "al.ann", "Hey, are you free?")
    let first = try world.decision("al.m", for: "al.bob")
    #expect(first.outcome == .deferred && first.reason == .activeElsewhere)
    try world.fleet.send(laptop, .openConversation("al.c"))
    let final = try world.finalDecision("al.m", for: "al.bob")
    #expect(final.outcome == .suppress && final.badge == 0)
    try world.fleet.send(laptop, .close)
    try world.settle()
    // The next one rings at once: nothing is active.
    try world.write("al.m2", in: "al.c2", from: "al.cleo", "Lunch?")
    try world.see("al.m2", on: phone)
    #expect(world.shown("al.m", on: phone).isEmpty && world.phone(phone).sounds == 1)
    return phone
  }

  private static func notLooking(_ world: PhoneWorld) throws -> Int {
    let (phone, _) = try atTheLaptop("an", world)
    try world.write("an.m", in: "an.c", from: "an.ann", "Hey, are you free?")
    #expect(try world.decision("an.m", for: "an.bob").outcome == .deferred)
    let shown = try world.see("an.m", on: phone)
    #expect(shown.entry.isAlert && world.phone(phone).badge == 1)
    #expect(try world.finalDecision("an.m", for: "an.bob").outcome == .notify)
    #expect(world.shown("an.m", on: phone).count == 1)
    return phone
  }
}

extension EmbeddedPipelineTests {
  @Suite("Attention, embedded broker")
  struct AttentionTests {
    @Test(arguments: AttentionScenario.allCases)
    func plays(_ scenario: AttentionScenario) throws {
      try SharedWorld.play(scenario, in: try SharedWorld.embedded.get())
    }
  }
}

extension PipelineTests {
  @Suite("Attention")
  struct AttentionTests {
    @Test(arguments: AttentionScenario.allCases)
    func plays(_ scenario: AttentionScenario) throws {
      try SharedWorld.play(scenario, in: try SharedWorld.kafka.get())
    }
  }
}
