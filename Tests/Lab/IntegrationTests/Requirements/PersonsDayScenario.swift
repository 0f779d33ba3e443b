import Foundation
import NudgeClient
import NudgeSchema
import Testing
import VirtualPhone

@testable import NudgeLab

/// What people live through, in ordinary words, with nothing set but what a story names (issue 62). Each story prints what `nudge explain` says
/// of its last message.
enum PersonsDayScenario: String, CaseIterable, CustomTestStringConvertible, Scenario {
  case lift = "The answer to one's message was written in a lift and comes two minutes late: it alerts"
  case deletedBefore = "A deletion that comes before its message: nothing is shown, and nothing counted"
  case late = "A message that was two hours on its way is told all the same; one of the day before is not"
  case openDevice = "The phone in the hand has a message at once, the tablet some seconds later"
  case night = "At night the burst pipe rings, the good night does not"
  case help = "\"hello\", and three seconds later \"help, accident, call me\": both sound"
  case askedInABusyGroup = "Eleven lines of chatter in a large group, and the answer to one's question still alerts"
  case called =
    "\"Tom, can you look?\", then \"Tom, are you there?\": both alert; \"mark the date, it may rain\" calls nobody"
  case keyword = "The keyword 会議 is found inside a sentence"
  case movedQuietHours = "Bob gets up early: what waited for the end of his quiet hours is told now"
  case catchUp = "What happens to the messages of a catch-up happens to it, and it goes with the last of them"
  case twoDevices = "The laptop mutes one conversation, the phone another: both are muted"
  case notHelpful = "👎 in a direct chat: the next message is silent; 👍: it alerts again"
  case renamed = "Whoever has another name since is named so by an edit"
  case everybody = "\"everybody, please\" with mentions of all alerts in a muted-to-mentions group"
  case longAgo = "An answer to one's message of six hundred messages ago is heard at level mentions"

  var testDescription: String { rawValue }
  var title: String { rawValue }

  func play(in world: PhoneWorld) throws -> Int? {
    switch self {
    case .lift: try Self.lift(world)
    case .deletedBefore: try Self.deletedBefore(world)
    case .late: try Self.late(world)
    case .openDevice: try Self.openDevice(world)
    case .night: try Self.night(world)
    case .help: try Self.help(world)
    case .askedInABusyGroup: try Self.askedInABusyGroup(world)
    case .called: try Self.called(world)
    case .keyword: try Self.keyword(world)
    case .movedQuietHours: try Self.movedQuietHours(world)
    case .catchUp: try Self.catchUp(world)
    case .twoDevices: try Self.twoDevices(world)
    case .notHelpful: try Self.notHelpful(world)
    case .renamed: try Self.renamed(world)
    case .everybody: try Self.everybody(world)
    case .longAgo: try Self.longAgo(world)
    }
  }

  // MARK: Parts of the stories

  private static func expect(
    _ messageId: String, on phone: Int, as presentation: PushPayload.Presentation, _ world: PhoneWorld,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let shown = try world.see(messageId, on: phone)
    #expect(shown.entry.presentation == presentation, "\(messageId)", sourceLocation: sourceLocation)
  }

  private static func ago(_ seconds: Double) -> Date { Date(timeIntervalSinceNow: -seconds) }

  private static func sleep(_ world: PhoneWorld, _ phone: Int) throws {
    try world.prefer(phone) {
      $0.quietHours = .set(
        .init(start: PhoneWorld.clock(minutesFromNow: -60), end: PhoneWorld.clock(minutesFromNow: 120), timeZone: nil))
    }
  }

  private static func explain(_ world: PhoneWorld, _ userId: String, _ messageId: String, says part: String) throws {
    let text = try world.nudge(["explain", "--user", userId, "--message", messageId])
    print(text)
    #expect(text.contains(part), "\(part)")
  }

  // MARK: Order

  private static func lift(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "dl.bob")
    try world.conversation("dl.c", ["dl.ann", "dl.bob"])
    try world.fleet.send(phone, .write("Are you coming?", conversationId: "dl.c"))
    try world.wait(for: "the message is sent") { world.phone(phone).lastWord == "Message sent" }
    try world.settle()
    try world.write("dl.m", in: "dl.c", from: "dl.ann", "I am in the lift, two minutes", at: ago(110))
    try expect("dl.m", on: phone, as: .alert, world)
    #expect(world.phone(phone).badge == 1)
    try explain(world, "dl.bob", "dl.m", says: "ALERT")
    return phone
  }

  private static func deletedBefore(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "dd.bob")
    try world.conversation("dd.c", ["dd.ann", "dd.bob"])
    try world.revise("dd.m", in: "dd.c", to: nil)
    try world.write("dd.m", in: "dd.c", from: "dd.ann", "wrong chat, sorry", at: ago(1))
    #expect(try world.decision("dd.m", for: "dd.bob").reason == .withdrawn)
    // An edit that comes first is what the message says.
    try world.revise("dd.m2", in: "dd.c", to: "see you at six")
    try world.write("dd.m2", in: "dd.c", from: "dd.ann", "see you at five", at: ago(1))
    #expect(try world.see("dd.m2", on: phone).entry.body == "see you at six")
    #expect(world.shown("dd.m", on: phone).isEmpty && world.phone(phone).badge == 1)
    try explain(world, "dd.bob", "dd.m", says: "withdrawn")
    return phone
  }

  private static func late(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "dt.bob")
    try world.conversation("dt.c", ["dt.ann", "dt.bob"])
    try world.conversation("dt.c2", ["dt.cleo", "dt.bob"])
    try world.write("dt.old", in: "dt.c2", from: "dt.cleo", "from my holidays", at: ago(25 * 3_600))
    #expect(try world.decision("dt.old", for: "dt.bob").reason == .history)
    try world.write("dt.m", in: "dt.c", from: "dt.ann", "The key is under the mat", at: ago(2 * 3_600))
    #expect(try world.decision("dt.m", for: "dt.bob").reason == .expired)
    // One message is its own catch-up.
    try world.see("dt.m", on: phone)
    #expect(world.phone(phone).badge == 1 && world.shown("dt.old", on: phone).isEmpty)
    try explain(world, "dt.bob", "dt.m", says: "expired")
    try explain(world, "dt.bob", "dt.old", says: "long before it arrived")
    return phone
  }

  // MARK: Devices

  private static func openDevice(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "do.bob")
    let tablet = try world.phone(of: "do.bob", "tablet", platform: .android)
    try world.conversation("do.c", ["do.ann", "do.bob"])
    try world.fleet.send(phone, .open)
    try world.settle()
    try world.write("do.m", in: "do.c", from: "do.ann", "Hey, are you free?")
    try world.wait(for: "do.m on the phone in the hand") { world.sights(of: "do.m", on: phone).count == 1 }
    let inHand = try #require(world.sights(of: "do.m", on: phone).first)
    try world.see("do.m", on: tablet)
    let onTable = try #require(world.sights(of: "do.m", on: tablet).first)
    // The tablet waits 4 s for a message of medium priority. `LatencyScenario` holds the limits from the event on.
    #expect(1..<8 ~= onTable.timeIntervalSince(inHand))
    // What cannot wait waits nowhere.
    try world.write("do.m2", in: "do.c", from: "do.ann", "emergency, call me now")
    try world.see("do.m2", on: tablet)
    #expect(try world.finalDecision("do.m", for: "do.bob").outcome == .notify)
    try explain(world, "do.bob", "do.m", says: "active_elsewhere")
    return phone
  }

  private static func twoDevices(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "dw.bob")
    let laptop = try world.phone(of: "dw.bob", "laptop", platform: .android)
    try world.conversation("dw.c1", ["dw.ann", "dw.bob"])
    try world.conversation("dw.c2", ["dw.cleo", "dw.bob"])
    try world.prefer(phone) { $0.muted = .changed(add: [.init(conversationId: "dw.c1")]) }
    try world.prefer(laptop) { $0.muted = .changed(add: [.init(conversationId: "dw.c2")]) }
    try world.write("dw.m1", in: "dw.c1", from: "dw.ann", "Hey")
    try world.write("dw.m2", in: "dw.c2", from: "dw.cleo", "Hey")
    for message in ["dw.m1", "dw.m2"] {
      #expect(try world.decision(message, for: "dw.bob").reason == .conversationMuted)
    }
    try explain(world, "dw.bob", "dw.m1", says: "muted")
    return phone
  }

  // MARK: The night

  private static func night(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "dn.bob")
    try world.conversation("dn.g", ["dn.ann", "dn.bob", "dn.cleo"], group: "House")
    try world.conversation("dn.c", ["dn.ann", "dn.bob"])
    try sleep(world, phone)
    try world.write("dn.own", in: "dn.g", from: "dn.bob", "good night everybody")
    try world.write("dn.h1", in: "dn.g", from: "dn.cleo", "hahaha yes 😂", replyTo: "dn.own")
    try world.write("dn.h2", in: "dn.c", from: "dn.ann", "don't worry, not urgent at all")
    try world.write("dn.h3", in: "dn.c", from: "dn.ann", "the deadline moved to Friday")
    for message in ["dn.h1", "dn.h2", "dn.h3"] {
      #expect(try world.decision(message, for: "dn.bob").reason == .quietHours, "\(message)")
    }
    #expect(world.phone(phone).sounds == 0)
    try world.write("dn.u1", in: "dn.g", from: "dn.ann", "EMERGENCY, water is pouring into the basement")
    try expect("dn.u1", on: phone, as: .alert, world)
    try world.write("dn.u2", in: "dn.c", from: "dn.ann", "it is urgent, call me")
    try expect("dn.u2", on: phone, as: .alert, world)
    try explain(world, "dn.bob", "dn.u1", says: "urgent")
    try explain(world, "dn.bob", "dn.h1", says: "quiet_hours")
    return phone
  }

  private static func help(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "dh.bob")
    try world.conversation("dh.c", ["dh.ann", "dh.bob"])
    try world.write("dh.m1", in: "dh.c", from: "dh.ann", "hello", at: ago(3))
    try world.write("dh.m2", in: "dh.c", from: "dh.ann", "help!! accident, call me")
    for message in ["dh.m1", "dh.m2"] { try expect(message, on: phone, as: .alert, world) }
    #expect(world.phone(phone).sounds == 2)
    try explain(world, "dh.bob", "dh.m2", says: "urgent")
    return phone
  }

  private static func movedQuietHours(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "dq.bob")
    try world.conversation("dq.c1", ["dq.ann", "dq.bob"])
    try world.conversation("dq.c2", ["dq.cleo", "dq.bob"])
    try sleep(world, phone)
    try world.write("dq.m1", in: "dq.c1", from: "dq.ann", "Breakfast at nine?")
    try world.write("dq.m2", in: "dq.c2", from: "dq.cleo", "The train is at ten")
    for message in ["dq.m1", "dq.m2"] {
      #expect(try world.decision(message, for: "dq.bob").reason == .quietHours)
    }
    #expect(world.phone(phone).badge == 0)
    try world.prefer(phone) { $0.quietHours = .off }
    #expect(try world.seeCatchUp(on: phone).map(\.catchUp.messages) == [2])
    #expect(world.phone(phone).badge == 2)
    try explain(world, "dq.bob", "dq.m1", says: "quiet_hours")
    return phone
  }

  private static func catchUp(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "du.bob")
    let tablet = try world.phone(of: "du.bob", "tablet", platform: .android)
    try world.conversation("du.c1", ["du.ann", "du.bob"])
    try world.conversation("du.c2", ["du.cleo", "du.bob"])
    try sleep(world, phone)
    try world.write("du.m1", in: "du.c1", from: "du.ann", "Breakfast at nine?")
    try world.write("du.m2", in: "du.c2", from: "du.cleo", "The train is at ten")
    for message in ["du.m1", "du.m2"] { _ = try world.decision(message, for: "du.bob") }
    try world.prefer(phone) { $0.quietHours = .off }
    func entries(_ device: Int) -> [String] { world.phone(device).lockScreen.entries.map { "\($0.title): \($0.body)" } }
    try world.wait(for: "the catch-up") { [phone, tablet].allSatisfy { entries($0).count == 1 } }
    try world.revise("du.m1", in: "du.c1", to: nil)
    try world.wait(for: "it tells of one message") {
      [phone, tablet].allSatisfy { entries($0).first?.hasPrefix("1 message in 1 conversation") ?? false }
    }
    try world.revise("du.m2", in: "du.c2", to: "The train is at eleven")
    try world.wait(for: "its last text") {
      [phone, tablet].allSatisfy { entries($0).first?.contains("eleven") ?? false }
    }
    try world.fleet.send(tablet, .read(conversationId: "du.c2"))
    try world.wait(for: "it is gone") { [phone, tablet].allSatisfy { entries($0).isEmpty } }
    #expect(world.phone(phone).badge == 0)
    try explain(world, "du.bob", "du.m2", says: "quiet_hours")
    return phone
  }

  // MARK: Who is meant

  private static func askedInABusyGroup(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "da.bob")
    try world.conversation("da.g", ["da.ann", "da.bob"] + (0..<40).map { "da.p\($0)" }, group: "Hikers")
    try world.write("da.own", in: "da.g", from: "da.bob", "Who can lend me a tent?")
    for number in 0..<11 { try world.write("da.l\(number)", in: "da.g", from: "da.p\(number)", "what a match") }
    try world.write("da.m", in: "da.g", from: "da.ann", "I can", replyTo: "da.own")
    try expect("da.m", on: phone, as: .alert, world)
    try explain(world, "da.bob", "da.m", says: "answer")
    return phone
  }

  private static func called(_ world: PhoneWorld) throws -> Int {
    let tom = try world.phone(of: "dc.tom")
    let mark = try world.phone(of: "dc.mark")
    let people = ["dc.ann", "dc.tom", "dc.mark"] + (0..<3).map { "dc.p\($0)" }
    try world.conversation("dc.g", people, group: "Six")
    try world.write("dc.m1", in: "dc.g", from: "dc.ann", "Tom, can you look?")
    try expect("dc.m1", on: tom, as: .alert, world)
    try world.write("dc.m2", in: "dc.g", from: "dc.ann", "Tom, are you there?")
    try expect("dc.m2", on: tom, as: .alert, world)
    try world.write("dc.m3", in: "dc.g", from: "dc.ann", "We should mark the date, it may rain")
    try expect("dc.m3", on: mark, as: .silent, world)
    try explain(world, "dc.tom", "dc.m2", says: "name")
    return tom
  }

  private static func keyword(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "dk.bob")
    try world.conversation("dk.g", ["dk.ann", "dk.bob"] + (0..<40).map { "dk.p\($0)" }, group: "Office")
    try world.prefer(phone) { $0.keywords = ["会議"] }
    try world.write("dk.m", in: "dk.g", from: "dk.ann", "明日の会議は三時からです")
    try expect("dk.m", on: phone, as: .alert, world)
    try explain(world, "dk.bob", "dk.m", says: "keyword")
    return phone
  }

  private static func everybody(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "de.bob")
    try world.conversation("de.g", ["de.ann", "de.bob"] + (0..<40).map { "de.p\($0)" }, group: "Choir")
    try world.prefer(phone) {
      $0.conversationLevels = .changed(add: [.init(conversationId: "de.g", level: .mentions)])
    }
    try world.write("de.m", in: "de.g", from: "de.ann", "we sing at eight, please answer", mentions: ["*"])
    try expect("de.m", on: phone, as: .alert, world)
    try explain(world, "de.bob", "de.m", says: "mention")
    return phone
  }

  private static func longAgo(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "dg.bob")
    try world.conversation("dg.g", ["dg.ann", "dg.bob", "dg.cleo"], group: "Choir")
    try world.prefer(phone) {
      $0.conversationLevels = .changed(add: [.init(conversationId: "dg.g", level: .mentions)])
    }
    try world.write("dg.own", in: "dg.g", from: "dg.bob", "Who has the scores?")
    for number in 0..<700 { try world.write("dg.l\(number)", in: "dg.g", from: "dg.cleo", "la la la") }
    try world.write("dg.m", in: "dg.g", from: "dg.ann", "I have them", replyTo: "dg.own")
    try expect("dg.m", on: phone, as: .alert, world)
    try explain(world, "dg.bob", "dg.m", says: "answer")
    return phone
  }

  // MARK: What a person says

  private static func notHelpful(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "df.bob")
    try world.conversation("df.c", ["df.ann", "df.bob"])
    try world.write("df.m1", in: "df.c", from: "df.ann", "Ten per cent on all shoes", at: ago(60))
    try expect("df.m1", on: phone, as: .alert, world)
    try world.fleet.send(phone, .respond(.notHelpful, messageId: "df.m1"))
    try world.settle()
    try world.write("df.m2", in: "df.c", from: "df.ann", "Twenty per cent on all shoes", at: ago(30))
    try expect("df.m2", on: phone, as: .silent, world)
    try explain(world, "df.bob", "df.m2", says: "rarely matter")
    try world.fleet.send(phone, .respond(.helpful, messageId: "df.m2"))
    try world.settle()
    try world.write("df.m3", in: "df.c", from: "df.ann", "Your shoes are here")
    try expect("df.m3", on: phone, as: .alert, world)
    return phone
  }

  private static func renamed(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "dr.bob")
    try world.conversation("dr.g", ["dr.ann", "dr.bob", "dr.cleo"], group: "Hikers")
    try world.write("dr.m1", in: "dr.g", from: "dr.ann", "Meet at five")
    try world.see("dr.m1", on: phone)
    try world.write("dr.m2", in: "dr.g", from: "dr.ann", "I have married", named: "Ann Berg")
    #expect(try world.see("dr.m2", on: phone).entry.title == "Ann Berg in Hikers")
    try world.revise("dr.m1", in: "dr.g", to: "Meet at six")
    try world.wait(for: "the edit") { world.shown("dr.m1", on: phone).count == 2 }
    #expect(world.shown("dr.m1", on: phone).last?.entry.title == "Ann Berg in Hikers")
    try explain(world, "dr.bob", "dr.m1", says: "edited")
    return phone
  }
}

extension EmbeddedPipelineTests {
  @Suite("A person's day, embedded broker")
  struct PersonsDayTests {
    @Test(arguments: PersonsDayScenario.allCases)
    func plays(_ scenario: PersonsDayScenario) throws {
      try SharedWorld.play(scenario, in: try SharedWorld.embedded.get())
    }
  }
}

extension PipelineTests {
  @Suite("A person's day")
  struct PersonsDayTests {
    @Test(arguments: PersonsDayScenario.allCases)
    func plays(_ scenario: PersonsDayScenario) throws {
      try SharedWorld.play(scenario, in: try SharedWorld.kafka.get())
    }
  }
}
