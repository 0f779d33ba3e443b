import Foundation
import NudgeClient
import NudgeSchema
import Testing
import VirtualPhone

@testable import NudgeLab

/// The sound that people hear for ordinary messages. Nobody writes "urgent", and nobody is mentioned unless the scenario is about
/// mentions.
enum RightSoundScenario: String, CaseIterable, CustomTestStringConvertible, Scenario {
  case friend = "D14: a friend's \"Hey, are you free?\" in a direct chat alerts, with nothing set"
  case smallGroup = "D14: \"Hey team\" in a group of four is in the list at least, with nothing set"
  case answer = "D1: the answer to a message just written is shown"
  case answerToReply = "D1: the answer to a reply from the lock screen is shown"
  case all = "D14: level all: each message of the group alerts"
  case smart = "D14: level smart in a direct chat: an ordinary message is silent"
  case mentions = "D14: level mentions: mentions, replies to the person and keywords alert, the rest is on the badge"
  case none = "D14: level none: nothing is shown, and the badge counts"
  case mute = "D14: a mute stands above the level all"
  case starred = "D14: a starred sender alerts at level smart, in a direct chat and in a group"
  case mutedSender = "A muted sender is shown and counted nowhere, neither in groups nor in direct chats"
  case quietHours = "D2, D14: a level never breaks quiet hours"
  case badgeAfterQuietHours = "D6: messages that quiet hours suppressed raise the badge once they end"
  case burst = "Bursts: messages of a direct chat in quick succession sound once, and all are shown"
  case limit = "D4, D14: past the limit of analyses a direct message still alerts, and causes no notice"

  case oldEdit = "D13: the edit of a message behind 140 others replaces what is shown of it"
  case taps = "C3: ten taps on ten notifications each land on their own message"

  var testDescription: String { rawValue }
  var title: String { rawValue }

  /// Plays the story. Returns the phone whose observations are worth printing.
  func play(in world: PhoneWorld) throws -> Int? {
    switch self {
    case .friend: try Self.friend(world)
    case .smallGroup: try Self.smallGroup(world)
    case .answer: try Self.answer(world)
    case .answerToReply: try Self.answerToReply(world)
    case .all: try Self.all(world)
    case .smart: try Self.smart(world)
    case .mentions: try Self.mentions(world)
    case .none: try Self.none(world)
    case .mute: try Self.mute(world)
    case .starred: try Self.starred(world)
    case .mutedSender: try Self.mutedSender(world)
    case .quietHours: try Self.quietHours(world)
    case .badgeAfterQuietHours: try Self.badgeAfterQuietHours(world)
    case .burst: try Self.burst(world)
    case .limit: try Self.limit(world)
    case .oldEdit: try Self.oldEdit(world)
    case .taps: try Self.taps(world)
    }
  }

  // MARK: Parts of the stories

  /// The phone presents the message in this way, once.
  private static func expect(
    _ messageId: String, on phone: Int, as presentation: PushPayload.Presentation, _ world: PhoneWorld,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let shown = try world.see(messageId, on: phone)
    #expect(shown.entry.presentation == presentation, "\(messageId)", sourceLocation: sourceLocation)
    #expect(shown.options == presentation.background, "\(messageId)", sourceLocation: sourceLocation)
    #expect(world.shown(messageId, on: phone).count == 1, "\(messageId)", sourceLocation: sourceLocation)
  }

  /// The message is decided and not shown.
  private static func expectNotShown(
    _ messageId: String, to userId: String, on phone: Int, because reason: String? = nil, _ world: PhoneWorld,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let decision = try world.decision(messageId, for: userId)
    if let reason { #expect(decision.reason.rawValue == reason, "\(messageId)", sourceLocation: sourceLocation) }
    #expect(world.shown(messageId, on: phone).isEmpty, "\(messageId)", sourceLocation: sourceLocation)
  }

  // MARK: Nothing set

  private static func friend(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "sf.bob")
    try world.conversation("sf.c", ["sf.ann", "sf.bob"])
    try world.write("sf.m", in: "sf.c", from: "sf.ann", "Hey, are you free?")
    try expect("sf.m", on: phone, as: .alert, world)
    #expect(world.phone(phone).sounds == 1)
    return phone
  }

  private static func smallGroup(_ world: PhoneWorld) throws -> Int {
    let people = ["st.ann", "st.bob", "st.cleo", "st.dan"]
    let phones = try people.dropFirst().map { try world.phone(of: $0) }
    try world.conversation("st.c", people, group: "Team")
    try world.write("st.m", in: "st.c", from: "st.ann", "Hey team")
    for phone in phones {
      let shown = try world.see("st.m", on: phone)
      #expect(shown.options.contains(.list))
      #expect(shown.entry.title == "Ann in Team")
    }
    return phones[0]
  }

  private static func answer(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "sa.bob")
    try world.conversation("sa.c", ["sa.ada", "sa.bob"])
    try world.fleet.send(phone, .write("Are you coming?", conversationId: "sa.c"))
    try world.wait(for: "the message is sent") { world.phone(phone).lastWord == "Message sent" }
    try world.write("sa.m", in: "sa.c", from: "sa.ada", "Yes, in ten minutes")
    try expect("sa.m", on: phone, as: .alert, world)
    #expect(world.phone(phone).badge == 1)
    return phone
  }

  private static func answerToReply(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "sr.bob")
    try world.conversation("sr.c", ["sr.ada", "sr.bob"])
    try world.write("sr.m1", in: "sr.c", from: "sr.ada", "Shall we eat together?")
    try world.see("sr.m1", on: phone)
    try world.fleet.send(phone, .respond(.reply("Good idea, where?"), messageId: "sr.m1"))
    try world.wait(for: "the reply is sent") { world.phone(phone).lastWord == "Message sent" }
    try world.write("sr.m2", in: "sr.c", from: "sr.ada", "At the lake")
    let shown = try world.see("sr.m2", on: phone)
    #expect(shown.options.contains(.list))
    return phone
  }

  // MARK: Levels

  private static func all(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "la.bob")
    try world.conversation("la.c", ["la.ann", "la.bob", "la.cleo"], group: "Hikers")
    try world.prefer(phone) { $0.conversationLevels = [.init(conversationId: "la.c", level: .all)] }
    // More than a burst of 5 s apart, by the messages' own times.
    try world.write(
      "la.m1", in: "la.c", from: "la.ann", "The weather is fine here", at: Date(timeIntervalSinceNow: -10))
    try world.write("la.m2", in: "la.c", from: "la.cleo", "ok")
    for id in ["la.m1", "la.m2"] { try expect(id, on: phone, as: .alert, world) }
    return phone
  }

  private static func smart(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "ls.bob")
    try world.conversation("ls.c", ["ls.ann", "ls.bob"])
    try world.prefer(phone) { $0.defaultLevels = .init(direct: .smart) }
    try world.write("ls.m", in: "ls.c", from: "ls.ann", "The weather is fine here")
    try expect("ls.m", on: phone, as: .silent, world)
    return phone
  }

  private static func mentions(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "lm.bob")
    try world.conversation("lm.c", ["lm.ann", "lm.bob", "lm.cleo"], group: "Garden")
    try world.prefer(phone) {
      $0.conversationLevels = [.init(conversationId: "lm.c", level: .mentions)]
      $0.keywords = ["tomatoes"]
      $0.burstSeconds = 0
    }
    try world.write("lm.plain", in: "lm.c", from: "lm.ann", "The weather is fine here")
    try expectNotShown("lm.plain", to: "lm.bob", on: phone, because: "level", world)
    try world.wait(for: "the badge") { world.phone(phone).badge == 1 }
    try world.write("lm.mention", in: "lm.c", from: "lm.ann", "Can you water them?", mentions: ["lm.bob"])
    try expect("lm.mention", on: phone, as: .alert, world)
    try world.write("lm.keyword", in: "lm.c", from: "lm.cleo", "The tomatoes are ripe")
    try expect("lm.keyword", on: phone, as: .alert, world)
    try world.write("lm.own", in: "lm.c", from: "lm.bob", "I will be there at six")
    try world.write("lm.reply", in: "lm.c", from: "lm.cleo", "Fine with me", replyTo: "lm.own")
    try expect("lm.reply", on: phone, as: .alert, world)
    return phone
  }

  private static func none(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "ln.bob")
    try world.conversation("ln.c", ["ln.ann", "ln.bob"])
    try world.prefer(phone) { $0.conversationLevels = [.init(conversationId: "ln.c", level: .none)] }
    try world.write("ln.m", in: "ln.c", from: "ln.ann", "Hey, are you free?")
    try expectNotShown("ln.m", to: "ln.bob", on: phone, because: "level", world)
    try world.wait(for: "the badge") { world.phone(phone).badge == 1 }
    #expect(world.phone(phone).sounds == 0)
    return phone
  }

  private static func mute(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "lu.bob")
    try world.conversation("lu.c", ["lu.ann", "lu.bob"])
    try world.prefer(phone) {
      $0.conversationLevels = [.init(conversationId: "lu.c", level: .all)]
      $0.muted = [.init(conversationId: "lu.c", until: Date(timeIntervalSinceNow: 3_600))]
    }
    try world.write("lu.m", in: "lu.c", from: "lu.ann", "Hey, are you free?")
    try expectNotShown("lu.m", to: "lu.bob", on: phone, because: "conversation_muted", world)
    return phone
  }

  // MARK: Senders

  private static func starred(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "ss.bob")
    try world.conversation("ss.direct", ["ss.ann", "ss.bob"])
    try world.conversation("ss.group", ["ss.ann", "ss.bob", "ss.cleo"], group: "Hikers")
    try world.prefer(phone) {
      $0.defaultLevels = .init(direct: .smart, group: .smart)
      $0.starredSenders = ["ss.ann"]
    }
    try world.write("ss.m1", in: "ss.direct", from: "ss.ann", "The weather is fine here")
    try expect("ss.m1", on: phone, as: .alert, world)
    try world.write("ss.m2", in: "ss.group", from: "ss.ann", "The weather is fine here")
    try expect("ss.m2", on: phone, as: .alert, world)
    return phone
  }

  private static func mutedSender(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "sm.bob")
    try world.conversation("sm.group", ["sm.ann", "sm.bob", "sm.eve"], group: "Hikers")
    try world.conversation("sm.direct", ["sm.eve", "sm.bob"])
    try world.prefer(phone) { $0.mutedSenders = ["sm.eve"] }
    try world.write("sm.m1", in: "sm.group", from: "sm.eve", "Look at my new boots")
    try expectNotShown("sm.m1", to: "sm.bob", on: phone, because: "muted_sender", world)
    try world.write("sm.m2", in: "sm.group", from: "sm.ann", "Nice boots")
    #expect(try world.see("sm.m2", on: phone).options.contains(.list))
    try world.write("sm.m3", in: "sm.direct", from: "sm.eve", "Hey, are you free?")
    try expectNotShown("sm.m3", to: "sm.bob", on: phone, because: "muted_sender", world)
    #expect(world.shown("sm.m1", on: phone).isEmpty && world.phone(phone).badge == 1)
    return phone
  }

  // MARK: Quiet hours, bursts, limits

  private static func quietHours(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "sq.bob")
    try world.conversation("sq.c", ["sq.ann", "sq.bob"])
    try world.prefer(phone) {
      $0.quietHours = .set(
        .init(start: PhoneWorld.clock(minutesFromNow: -30), end: PhoneWorld.clock(minutesFromNow: 60), timeZone: nil))
      $0.conversationLevels = [.init(conversationId: "sq.c", level: .all)]
    }
    try world.write("sq.m", in: "sq.c", from: "sq.ann", "The weather is fine here")
    try expectNotShown("sq.m", to: "sq.bob", on: phone, because: "quiet_hours", world)
    #expect(world.phone(phone).sounds == 0)
    return phone
  }

  private static func badgeAfterQuietHours(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "se.bob")
    try world.conversation("se.c", ["se.ann", "se.bob"])
    // Quiet hours have a resolution of a minute: these end 15 to 75 s from now.
    let minutes = Int(Date().timeIntervalSince1970) % 60 < 45 ? 1 : 2
    try world.prefer(phone) {
      $0.quietHours = .set(
        .init(
          start: PhoneWorld.clock(minutesFromNow: -30), end: PhoneWorld.clock(minutesFromNow: minutes), timeZone: nil))
    }
    try world.write("se.m", in: "se.c", from: "se.ann", "The weather is fine here")
    try expectNotShown("se.m", to: "se.bob", on: phone, because: "quiet_hours", world)
    #expect(world.phone(phone).badge == 0)
    try world.wait(for: "the badge after quiet hours", atMost: 100) { world.phone(phone).badge == 1 }
    // The catch-up of one message is that message.
    try world.wait(for: "the catch-up", atMost: 100) { world.phone(phone).lockScreen.entries.count == 1 }
    #expect(world.phone(phone).lockScreen.entries.map(\.body) == ["The weather is fine here"])
    return phone
  }

  private static func burst(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "sb.bob")
    try world.conversation("sb.c", ["sb.ann", "sb.bob"])
    let ids = (1...4).map { "sb.m\($0)" }
    let began = Date()
    for (id, text) in zip(ids, ["Hey", "are you there?", "I found the keys", "they were in the car"]) {
      try world.write(id, in: "sb.c", from: "sb.ann", text)
    }
    guard Date().timeIntervalSince(began) < 4 else { return phone }
    try expect("sb.m1", on: phone, as: .alert, world)
    for id in ids.dropFirst() { try expect(id, on: phone, as: .silent, world) }
    #expect(world.phone(phone).sounds == 1)
    return phone
  }

  private static func limit(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "sl.bob")
    try world.prefer(phone) {
      $0.maxAnalysesPerHour = 1
      $0.fallback = .suppressAll
    }
    try world.fleet.send(phone, .open)
    try world.settle()
    try world.conversation("sl.direct", ["sl.ann", "sl.bob"])
    try world.conversation("sl.second", ["sl.cleo", "sl.bob"])
    try world.conversation("sl.group", ["sl.ann", "sl.bob", "sl.cleo"], group: "Hikers")
    // Direct messages need no analysis, however many come.
    try world.write("sl.m1", in: "sl.direct", from: "sl.ann", "Hey, are you free?")
    try world.write("sl.m2", in: "sl.second", from: "sl.cleo", "Lunch on Friday?")
    for id in ["sl.m1", "sl.m2"] { _ = try world.decision(id, for: "sl.bob") }
    try world.write("sl.g1", in: "sl.group", from: "sl.ann", "The weather is fine here")
    _ = try world.decision("sl.g1", for: "sl.bob")
    func notices() -> Int {
      (world.notes[phone] ?? []).count { if case .bannerShown(.notice) = $0.note { true } else { false } }
    }
    #expect(notices() == 0)
    try world.write("sl.g2", in: "sl.group", from: "sl.cleo", "ok")
    #expect(try world.decision("sl.g2", for: "sl.bob").reason == .analysisLimit)
    try world.wait(for: "the notice") { notices() == 1 }
    try world.fleet.send(phone, .close)
    try world.settle()
    try world.conversation("sl.third", ["sl.dan", "sl.bob"])
    try world.write("sl.m3", in: "sl.third", from: "sl.dan", "Hey, are you free?")
    try expect("sl.m3", on: phone, as: .alert, world)
    #expect(notices() == 1)
    return phone
  }

  // MARK: Edits

  private static func oldEdit(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "oe.bob")
    try world.conversation("oe.c", ["oe.ann", "oe.bob", "oe.cleo"], group: "Hikers")
    // Only mentions are shown, so that the first message stays on the screen.
    try world.prefer(phone) { $0.conversationLevels = [.init(conversationId: "oe.c", level: .mentions)] }
    try world.write("oe.m", in: "oe.c", from: "oe.ann", "Meet at five", mentions: ["oe.bob"])
    try expect("oe.m", on: phone, as: .alert, world)
    func expectEdit(_ text: String, after numbers: Range<Int>, title: String, times: Int) throws {
      for number in numbers { try world.write("oe.later\(number)", in: "oe.c", from: "oe.cleo", "ok") }
      try world.revise("oe.m", in: "oe.c", to: text)
      try world.wait(for: "the edit \(text)") { world.shown("oe.m", on: phone).count == 1 + times }
      let entry = try #require(world.phone(phone).lockScreen.entries.first { $0.messageId == "oe.m" })
      #expect((entry.title, entry.body, entry.replaced) == (title, text, times))
      #expect(!entry.isAlert)
    }
    try expectEdit("Meet at six", after: 0..<70, title: "Ann in Hikers", times: 1)
    try expectEdit("Meet at seven", after: 70..<140, title: "Ann in Hikers", times: 2)
    #expect(world.phone(phone).sounds == 1)
    return phone
  }
}

extension EmbeddedPipelineTests {
  @Suite("The right sound for everyone, embedded broker")
  struct RightSoundTests {
    @Test(arguments: RightSoundScenario.allCases)
    func plays(_ scenario: RightSoundScenario) throws {
      try SharedWorld.play(scenario, in: try SharedWorld.embedded.get())
    }
  }
}

extension PipelineTests {
  @Suite("The right sound for everyone")
  struct RightSoundTests {
    @Test(arguments: RightSoundScenario.allCases)
    func plays(_ scenario: RightSoundScenario) throws {
      try SharedWorld.play(scenario, in: try SharedWorld.kafka.get())
    }
  }
}
