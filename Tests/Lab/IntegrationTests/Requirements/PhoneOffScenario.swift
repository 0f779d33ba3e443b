import Foundation
import NudgeClient
import NudgeSchema
import Testing
import VirtualPhone

@testable import NudgeLab

/// Android phones that are off while more is written than FCM stores for them.
enum PhoneOffScenario: String, CaseIterable, CustomTestStringConvertible, Scenario {
  case weekend =
    "P12: Bob's phone is off for 500 messages: then it shows 60, the latest of two conversations, and counts all others"
  case withoutTheRule = "P12: the same without the rule: FCM throws all away, and Bob's app is told to ask"

  private static let messages = 500
  private static let conversations = 12
  /// Pushes that FCM keeps one by one.
  private static let kept = 60

  var testDescription: String { rawValue }
  var title: String { rawValue }

  /// The dispatcher's. Without FCM's limit of requests to a device, which would make it minutes.
  private var settings: [String: String] {
    [
      "NUDGE_FCM_DEVICE_PER_MINUTE": "0", "NUDGE_FCM_DEVICE_PER_HOUR": "0",
      "NUDGE_FCM_AWAY_AFTER": self == .withoutTheRule ? "0" : "\(Self.kept)",
    ]
  }

  /// Plays it in a world of its own.
  func play(on kind: PhoneWorld.Kind) throws {
    let world = try PhoneWorld(kind, name: self == .weekend ? "off" : "off-ruleless", settings: settings)
    defer {
      world.close()
      try? FileManager.default.removeItem(at: world.directory)
    }
    try SharedWorld.play(self, in: world)
  }

  func play(in world: PhoneWorld) throws -> Int? {
    let phone = try world.phone(of: "of.bob", platform: .android)
    for number in 0..<Self.conversations {
      try world.conversation("of.c\(number)", ["of.ann\(number)", "of.bob"])
    }
    try world.write("of.first", in: "of.c0", from: "of.ann0", "Hey, are you free?")
    try world.see("of.first", on: phone)
    try world.settle()
    // Signs of life are known to 10 s.
    let nextSign = Date().addingTimeInterval(11)

    try world.fleet.send(phone, .network(false))
    let before = try taken(1, world).count
    // In portions that a lane can hold.
    let portion = 4 * Self.conversations
    for start in stride(from: 0, to: Self.messages, by: portion) {
      let end = min(start + portion, Self.messages)
      for number in start..<end {
        let conversation = number % Self.conversations
        try world.write("of.m\(number)", in: "of.c\(conversation)", from: "of.ann\(conversation)", "Message \(number)")
      }
      _ = try taken(before + end, world)
    }
    let outcomes = try taken(before + Self.messages, world).dropFirst(before)
    #expect(Set(outcomes.map(\.pushId)).count == Self.messages)
    #expect(outcomes.allSatisfy { $0.result == .sent })

    try world.wait(for: "the next sign of life to count") { Date() > nextSign }
    let seen = world.notes[phone]?.count ?? 0
    try world.fleet.send(phone, .network(true))
    try world.settle()
    let notes = (world.notes[phone] ?? []).dropFirst(seen).map(\.note)
    switch self {
    case .weekend: try expectCatchUp(of: Array(outcomes), notes, on: phone, world)
    case .withoutTheRule:
      #expect(notes.contains(.messagesDeleted) && notes.contains(.synchronized))
      #expect(outcomes.allSatisfy { $0.collapseKey == nil })
      #expect(!notes.contains { if case .shown = $0 { true } else { false } })
    }
    #expect(world.outcomes(of: "of.bob/phone").count == before + Self.messages)

    // The phone is back: the next message is one as any other.
    try world.write("of.last", in: "of.c5", from: "of.ann5", "Hey, are you free?")
    try world.see("of.last", on: phone)
    #expect(try taken(before + Self.messages + 1, world).last?.collapseKey == nil)
    return nil
  }

  /// Waits until `count` pushes for Bob's phone have ended, and returns their outcomes.
  private func taken(_ count: Int, _ world: PhoneWorld) throws -> [OutcomeBody] {
    try world.wait(for: "\(count) outcomes", atMost: 60) { world.outcomes(of: "of.bob/phone").count >= count }
    return world.outcomes(of: "of.bob/phone").map(\.body)
  }

  private func expectCatchUp(
    of outcomes: [OutcomeBody], _ notes: [PhoneNote], on phone: Int, _ world: PhoneWorld
  ) throws {
    #expect(!notes.contains(.messagesDeleted))
    let keys = Dictionary(grouping: outcomes, by: \.collapseKey).mapValues(\.count)
    #expect(keys[nil] == Self.kept && Set(keys.keys) == [nil, "away-0", "away-1", "away-rest"], "\(keys)")
    var shown: [String] = []
    var catchUps: [CatchUp] = []
    for case .shown(_, _, let push) in notes {
      switch push.content {
      case .message(let message): shown.append(message.messageId)
      case .catchUp(let catchUp): catchUps.append(catchUp)
      default: break
      }
    }
    #expect(shown.count == Self.kept + 2 && Set(shown).count == shown.count)
    let catchUp = try #require(catchUps.first)
    #expect(catchUps.count == 1 && catchUp.messages == keys["away-rest"])
    #expect(catchUp.conversations == Self.conversations - 2 && catchUp.lines.count == 1)
    // Each push was shown, counted or replaced.
    let lapsed = (world.notes[phone] ?? []).count { if case .lapsed = $0.note { true } else { false } }
    #expect(shown.count + catchUps.count + lapsed == Self.messages)
    #expect(world.phone(phone).badge == Self.conversations)
  }
}

extension EmbeddedPipelineTests {
  @Suite("Phones that are off, embedded broker")
  struct PhoneOffTests {
    @Test(arguments: PhoneOffScenario.allCases)
    func plays(_ scenario: PhoneOffScenario) throws { try scenario.play(on: .embedded) }
  }
}

extension PipelineTests {
  @Suite("Phones that are off")
  struct PhoneOffTests {
    @Test(arguments: PhoneOffScenario.allCases)
    func plays(_ scenario: PhoneOffScenario) throws { try scenario.play(on: .kafka) }
  }
}
