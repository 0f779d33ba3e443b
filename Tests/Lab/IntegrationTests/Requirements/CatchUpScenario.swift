import Foundation
import NudgeClient
import NudgeSchema
import Testing
import VirtualPhone

@testable import NudgeLab

/// Catch-ups: notifications for messages that were held back.
///
/// A catch-up comes at a full minute, so each story has two parts, and all of them wait for their minute together.
enum CatchUpScenario: String, CaseIterable {
  case morning = "D18: Bob sleeps: what came is one notification when quiet hours end, without what was read or deleted"
  case ownTime = "D18: Bob's own time, previews off: he sees counts alone, once, on each of his devices"
  case budget =
    "D20: Bob wants one alert a day: the first sounds, mentions do too, the rest is silent and in his catch-up"

  /// What a story expects once its minute has come. Returns the phone whose observations are worth printing.
  private typealias Ending = () throws -> Int

  /// All stories at once.
  struct Together: Scenario {
    let title = "Catch-ups"

    func play(in world: PhoneWorld) throws -> Int? {
      let endings = try CatchUpScenario.allCases.map { story in (story, try story.begin(in: world)) }
      for (story, ending) in endings { world.printTimeline(of: try ending(), story.rawValue) }
      return nil
    }
  }

  private func begin(in world: PhoneWorld) throws -> Ending {
    switch self {
    case .morning: try Self.morning(world)
    case .ownTime: try Self.ownTime(world)
    case .budget: try Self.budget(world)
    }
  }

  /// The minute, at least 15 s ahead, at which Bob catches up, as `HH:MM` in UTC; and the one an hour before.
  private static func soon() -> (start: String, end: String) {
    let minute = Int(((Date().timeIntervalSince1970 + 15) / 60).rounded(.up))
    return (QuietSpan.text((minute - 60) % 1_440), QuietSpan.text(minute % 1_440))
  }

  private static func morning(_ world: PhoneWorld) throws -> Ending {
    let phone = try world.phone(of: "cm.bob")
    let tablet = try world.phone(of: "cm.bob", "tablet", platform: .android)
    try world.conversation("cm.c", ["cm.ann", "cm.bob"])
    try world.conversation("cm.c2", ["cm.cleo", "cm.bob"])
    try world.conversation("cm.c3", ["cm.dora", "cm.bob"])
    let (start, end) = soon()
    var change = PreferencesChange()
    change.quietHours = .set(.init(start: start, end: end, timeZone: nil))
    try world.fleet.send(phone, .prefer(change))
    try world.settle()
    try world.write("cm.m1", in: "cm.c", from: "cm.ann", "Can you feed the cat?")
    try world.write("cm.m2", in: "cm.c", from: "cm.ann", "Typo")
    try world.write("cm.m3", in: "cm.c2", from: "cm.cleo", "Lunch at one?")
    try world.write("cm.m4", in: "cm.c3", from: "cm.dora", "Good night")
    for message in ["cm.m1", "cm.m2", "cm.m3", "cm.m4"] {
      #expect(try world.decision(message, for: "cm.bob").reason == .quietHours)
    }
    try world.revise("cm.m2", in: "cm.c", to: nil)
    try world.revise("cm.m3", in: "cm.c2", to: "Lunch at two?")
    try world.fleet.send(tablet, .read(conversationId: "cm.c3"))
    try world.settle()
    return {
      for device in [phone, tablet] {
        let seen = try world.seeCatchUp(on: device)
        let (entry, catchUp) = seen[0]
        #expect(seen.count == 1 && entry.title == "2 messages in 2 conversations" && entry.isAlert)
        #expect(Set(catchUp.lines.map(\.text)) == ["Can you feed the cat?", "Lunch at two?"])
        for message in ["cm.m1", "cm.m2", "cm.m3", "cm.m4"] { #expect(world.shown(message, on: device).isEmpty) }
      }
      // A tap opens the first of its conversations.
      try world.fleet.send(phone, .respond(.open, messageId: nil))
      let first = try #require(try world.seeCatchUp(on: phone)[0].catchUp.lines.first)
      try world.wait(for: "the conversation is open") { world.phone(phone).conversationId == first.conversationId }
      return phone
    }
  }

  private static func ownTime(_ world: PhoneWorld) throws -> Ending {
    let phone = try world.phone(of: "co.bob")
    try world.conversation("co.g", ["co.ann", "co.bob"] + (0..<30).map { "co.p\($0)" }, group: "Hikers")
    var change = PreferencesChange()
    change.digestTimes = .set([soon().end])
    change.timeZone = "UTC"
    change.showPreviews = false
    try world.fleet.send(phone, .prefer(change))
    try world.settle()
    for number in 1...3 { try world.write("co.m\(number)", in: "co.g", from: "co.ann", "the weather is fine") }
    #expect(try world.decision("co.m3", for: "co.bob").outcome == .notify)
    return {
      let seen = try world.seeCatchUp(on: phone)
      #expect(seen.count == 1 && seen[0].entry.title == "3 messages in 1 conversation")
      #expect(seen[0].entry.body.isEmpty && seen[0].catchUp.lines.isEmpty && !seen[0].entry.isAlert)
      return phone
    }
  }

  private static func budget(_ world: PhoneWorld) throws -> Ending {
    let phone = try world.phone(of: "cb.bob")
    try world.conversation("cb.c", ["cb.ann", "cb.bob"])
    try world.conversation("cb.c2", ["cb.cleo", "cb.bob"])
    try world.conversation("cb.c3", ["cb.finn", "cb.bob"])
    try world.conversation("cb.c4", ["cb.gus", "cb.bob"])
    try world.conversation("cb.g", ["cb.dora", "cb.bob", "cb.eve"], group: "Hikers")
    var change = PreferencesChange()
    change.dailyAlerts = .set(1)
    change.starredSenders = ["cb.finn"]
    try world.fleet.send(phone, .prefer(change))
    try world.settle()
    try world.write("cb.m1", in: "cb.c", from: "cb.ann", "Can you feed the cat?")
    #expect(try world.see("cb.m1", on: phone).entry.isAlert)
    try world.write("cb.m2", in: "cb.c2", from: "cb.cleo", "Lunch at one?")
    let silent = try world.see("cb.m2", on: phone)
    #expect(!silent.entry.isAlert && silent.options == PushPayload.Presentation.silent.background)
    try world.write("cb.m3", in: "cb.g", from: "cb.dora", "What do you think, Bob?", mentions: ["cb.bob"])
    #expect(try world.see("cb.m3", on: phone).entry.isAlert)
    try world.write("cb.m4", in: "cb.c3", from: "cb.finn", "The train is late")
    #expect(try world.see("cb.m4", on: phone).entry.isAlert)
    try world.write("cb.m5", in: "cb.c4", from: "cb.gus", "Good night")
    #expect(try !world.see("cb.m5", on: phone).entry.isAlert)
    // Until now it would have come at 18:00.
    var sooner = PreferencesChange()
    sooner.digestTimes = .set([soon().end])
    sooner.timeZone = "UTC"
    try world.fleet.send(phone, .prefer(sooner))
    try world.settle()
    return {
      let seen = try world.seeCatchUp(on: phone)
      #expect(seen.count == 1 && seen[0].entry.title == "2 messages in 2 conversations" && !seen[0].entry.isAlert)
      #expect(Set(seen[0].catchUp.lines.map(\.text)) == ["Lunch at one?", "Good night"])
      return phone
    }
  }
}

extension EmbeddedPipelineTests {
  @Suite("Catch-ups, embedded broker")
  struct CatchUpTests {
    @Test("D18, D20: what was held back comes in one notification, when its time comes")
    func plays() throws { try SharedWorld.play(CatchUpScenario.Together(), in: try SharedWorld.embedded.get()) }
  }
}

extension PipelineTests {
  @Suite("Catch-ups")
  struct CatchUpTests {
    @Test("D18, D20: what was held back comes in one notification, when its time comes")
    func plays() throws { try SharedWorld.play(CatchUpScenario.Together(), in: try SharedWorld.kafka.get()) }
  }
}
