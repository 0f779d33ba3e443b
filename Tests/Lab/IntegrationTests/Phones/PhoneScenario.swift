import Foundation
import NudgeClient
import NudgeSchema
import Testing
import VirtualPhone

@testable import NudgeLab

/// Stories of people with phones, named after the requirements. Each story has its own people.
enum PhoneScenario: String, CaseIterable, CustomTestStringConvertible, Scenario {
  case presentation = "D3, C1: each priority is presented as it must be"
  case friend =
    "D14: for a person who set nothing a friend's message rings, a small group's is in the list, a large group's is not"
  case answer = "D1: the answer to what somebody has just written rings their phone"
  case levels = "D14: all, mentions, none and muted senders, as the person chose"
  case deepLink = "C3, P2: a push leads to its conversation and message"
  case feedback = "D5: feedback changes later decisions"
  case reply = "C2, D1: a reply from the lock screen reaches the others, and the answer to it is shown"
  case readElsewhere = "D7: mark read lowers the badge on the second device"
  case activeConversation = "D1: the open conversation is silent, a report of more than two minutes ago is not one"
  case quietHours = "D2: in quiet hours only what is urgent"
  case limit = "D4: past the limit the fallback decides, and the person is told once"
  case group = "M3: a group's message names sender and group"
  case accountSwitch = "T2, C6: the former owner's messages never reach the phone"
  case reinstall = "T3: the old token is pruned, the new one works"
  case burst = "D3, P7: twenty messages in a second are grouped, and none is lost"
  case previews = "D8: with previews off no text leaves"
  case revision = "D13: an edit replaces what is shown, a deletion removes it"
  case script = "nudge device plays a script against the pipeline"

  var testDescription: String { rawValue }
  var title: String { rawValue }

  /// Plays the story. Returns the phone whose observations are worth printing.
  func play(in world: PhoneWorld) throws -> Int? {
    switch self {
    case .presentation: try Self.presentation(world)
    case .friend: try Self.friend(world)
    case .answer: try Self.answer(world)
    case .levels: try Self.levels(world)
    case .deepLink: try Self.deepLink(world)
    case .feedback: try Self.feedback(world)
    case .reply: try Self.reply(world)
    case .readElsewhere: try Self.readElsewhere(world)
    case .activeConversation: try Self.activeConversation(world)
    case .quietHours: try Self.quietHours(world)
    case .limit: try Self.limit(world)
    case .group: try Self.group(world)
    case .accountSwitch: try Self.accountSwitch(world)
    case .reinstall: try Self.reinstall(world)
    case .burst: try Self.burst(world)
    case .previews: try Self.previews(world)
    case .revision: try Self.revision(world)
    case .script: try Self.script(world)
    }
  }

  /// The owner of a phone changes preferences, which then apply to later messages.
  static func prefer(_ world: PhoneWorld, _ phone: Int, _ edit: (inout PreferencesChange) -> Void) throws {
    var change = PreferencesChange()
    edit(&change)
    try world.fleet.send(phone, .prefer(change))
    try world.settle()
  }

  // MARK: Presentation

  private static func presentation(_ world: PhoneWorld) throws -> Int {
    let phones = try [Device.Platform.ios, .android, .web].map {
      try world.phone(of: "p.bob", $0.rawValue, platform: $0)
    }
    try Self.prefer(world, phones[0]) { $0.defaultLevels = .init(direct: .smart) }
    try world.conversation("p.direct", ["p.ann", "p.bob"])
    try world.conversation("p.group", ["p.ann", "p.bob", "p.cleo", "p.dan"], group: "Hikers")
    try world.write("p.high", in: "p.direct", from: "p.ann", "This is urgent, call me")
    for phone in phones {
      let high = try world.see("p.high", on: phone)
      #expect(high.options == [.banner, .list, .sound, .badge])
      #expect((high.entry.title, high.entry.body) == ("Ann", "This is urgent, call me"))
      #expect(high.entry.isAlert)
    }
    try world.write("p.medium", in: "p.direct", from: "p.ann", "The weather is fine here")
    for phone in phones {
      let medium = try world.see("p.medium", on: phone)
      #expect(medium.options == [.list, .badge])
      #expect(!medium.entry.isAlert)
    }
    // The message is not meant for bob.
    try world.write("p.low", in: "p.group", from: "p.ann", "ok")
    #expect(try world.decision("p.low", for: "p.bob").priority == .low)
    try world.wait(for: "the badge of two conversations") { phones.allSatisfy { world.phone($0).badge == 2 } }
    for phone in phones {
      // In a small group it may be in the list; it never sounds.
      #expect(world.shown("p.low", on: phone).allSatisfy { $0.entry.presentation == .silent })
      let others = world.phone(phone).lockScreen.entries.map(\.messageId).filter { $0 != "p.low" }
      #expect(others == ["p.medium", "p.high"])
      #expect(world.phone(phone).sounds == 1)
    }
    return phones[0]
  }

  private static func deepLink(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "l.bob", platform: .android)
    try world.conversation("l.c", ["l.ann", "l.bob"])
    try world.write("l.m", in: "l.c", from: "l.ann", "Look at this")
    let shown = try world.see("l.m", on: phone)
    guard case .message(let message) = shown.push.content else {
      Issue.record("\(shown.push)")
      return phone
    }
    #expect((message.conversationId, message.messageId, message.senderId) == ("l.c", "l.m", "l.ann"))
    let link = try DeepLink(conversationId: message.conversationId)
    #expect(try DeepLink(link.text()).route == Route(conversationId: "l.c"))
    try world.fleet.send(phone, .respond(.open, messageId: "l.m"))
    #expect(world.phone(phone).conversationId == "l.c")
    #expect(world.notes[phone]?.contains { $0.note == .highlighted(messageId: "l.m") } == true)
    #expect(world.phone(phone).badge == 0)
    try world.settle()
    return phone
  }

  private static func group(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "g.bob")
    try world.conversation("g.c", ["g.ann", "g.bob", "g.cleo"], group: "Lunch")
    try world.write("g.m", in: "g.c", from: "g.ann", "At noon?", mentions: ["g.bob"])
    let shown = try world.see("g.m", on: phone)
    #expect((shown.entry.title, shown.entry.body, shown.entry.thread) == ("Ann in Lunch", "At noon?", "g.c"))
    return phone
  }

  private static func burst(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "b.bob")
    // Analyses have no limit here, so the state is the same for each message.
    var change = PreferencesChange()
    change.maxAnalysesPerHour = 0
    change.fallback = .notifyAll
    try world.fleet.send(phone, .prefer(change))
    try world.settle()
    try world.conversation("b.c", ["b.ann", "b.bob", "b.cleo"], group: "Builds")
    let ids = (1...20).map { "b.m\($0)" }
    for id in ids { try world.write(id, in: "b.c", from: "b.ann", "Build \(id) is done") }
    for id in ids { try world.see(id, on: phone) }
    #expect(Set(world.phone(phone).lockScreen.entries.map(\.thread)).count == 1)
    #expect(world.phone(phone).lockScreen.entries.compactMap(\.messageId) == Array(ids.reversed()))
    for id in ids { #expect(world.shown(id, on: phone).count == 1, "\(id)") }
    #expect(world.phone(phone).badge == 1)
    return phone
  }

  private static func previews(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "v.bob")
    var change = PreferencesChange()
    change.showPreviews = false
    try world.fleet.send(phone, .prefer(change))
    try world.settle()
    try world.conversation("v.c", ["v.ann", "v.bob"])
    let secret = "The password is xyzzy-4711"
    try world.write("v.m", in: "v.c", from: "v.ann", secret)
    let shown = try world.see("v.m", on: phone)
    #expect((shown.entry.title, shown.entry.body) == ("Ann", "New message from Ann"))
    // An edit shows nothing new either.
    try world.revise("v.m", in: "v.c", to: "It is xyzzy-4712")
    try world.write("v.m2", in: "v.c", from: "v.ann", "And xyzzy-4713")
    try world.see("v.m2", on: phone)
    #expect(world.shown("v.m", on: phone).count == 1)
    // Once the last request is recorded, all are.
    try world.wait(for: "the record of requests") { try world.requests().contains("v.m2") }
    #expect(!(try world.requests()).contains("xyzzy"))
    return phone
  }

  private static func revision(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "e.bob")
    try world.conversation("e.c", ["e.ann", "e.bob"])
    try world.write("e.m1", in: "e.c", from: "e.ann", "Meet at five")
    try world.write("e.m2", in: "e.c", from: "e.ann", "Bring the map")
    try world.see("e.m1", on: phone)
    try world.see("e.m2", on: phone)
    try world.revise("e.m1", in: "e.c", to: "Meet at six")
    try world.wait(for: "the edit") { world.shown("e.m1", on: phone).count == 2 }
    let edited = try #require(world.phone(phone).lockScreen.entries.first { $0.messageId == "e.m1" })
    #expect((edited.body, edited.replaced, edited.isAlert) == ("Meet at six", 1, false))
    try world.revise("e.m2", in: "e.c", to: nil)
    try world.wait(for: "the deletion") { world.phone(phone).lockScreen.entries.map(\.messageId) == ["e.m1"] }
    #expect(world.phone(phone).badge == 1)
    try world.revise("e.m1", in: "e.c", to: nil)
    try world.wait(for: "an empty phone") { world.phone(phone).lockScreen.entries.isEmpty }
    #expect(world.phone(phone).badge == 0)
    return phone
  }

  // MARK: A person acts

  private static func feedback(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "f.bob")
    try Self.prefer(world, phone) { $0.defaultLevels = .init(direct: .smart) }
    try world.conversation("f.c", ["f.ann", "f.bob"])
    try world.write("f.before", in: "f.c", from: "f.ann", "The weather is fine here")
    #expect(try world.see("f.before", on: phone).options == [.list, .badge])
    try world.fleet.send(phone, .respond(.helpful, messageId: "f.before"))
    try world.settle()
    try world.write("f.after", in: "f.c", from: "f.ann", "The weather is fine here")
    #expect(try world.see("f.after", on: phone).options == [.banner, .list, .sound, .badge])
    // The opposite feedback reverses it.
    try world.fleet.send(phone, .respond(.notHelpful, messageId: "f.after"))
    try world.settle()
    try world.write("f.last", in: "f.c", from: "f.ann", "The weather is fine here")
    #expect(try world.see("f.last", on: phone).options == [.list, .badge])
    return phone
  }

  private static func reply(_ world: PhoneWorld) throws -> Int {
    let bob = try world.phone(of: "r.bob")
    let cleo = try world.phone(of: "r.cleo", platform: .android)
    try world.conversation("r.c", ["r.ann", "r.bob", "r.cleo"], group: "Plans")
    try world.write("r.m1", in: "r.c", from: "r.ann", "Who is in?", mentions: ["r.bob"])
    try world.see("r.m1", on: bob)
    try world.fleet.send(bob, .respond(.reply("Count me in, Cleo?"), messageId: "r.m1"))
    try world.wait(for: "the reply on Cleo's phone") {
      world.phone(cleo).lockScreen.entries.contains { $0.body == "Count me in, Cleo?" }
    }
    #expect(world.phone(cleo).lockScreen.entries.first?.title == "Bob in Plans")
    try world.wait(for: "Message sent") { world.phone(bob).lastWord == "Message sent" }
    // Bob has read the group by writing in it, but has not opened it: the next message is shown.
    try world.wait(for: "the badge") { world.phone(bob).badge == 0 }
    try world.write("r.m2", in: "r.c", from: "r.ann", "Fine!", mentions: ["r.bob", "r.cleo"])
    try world.see("r.m2", on: cleo)
    try world.see("r.m2", on: bob)
    return bob
  }

  private static func readElsewhere(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "d.bob")
    let tablet = try world.phone(of: "d.bob", "tablet", platform: .android)
    try world.conversation("d.c1", ["d.ann", "d.bob"])
    try world.conversation("d.c2", ["d.cleo", "d.bob"])
    try world.write("d.m1", in: "d.c1", from: "d.ann", "One")
    try world.write("d.m2", in: "d.c2", from: "d.cleo", "Two")
    for device in [phone, tablet] {
      try world.see("d.m1", on: device)
      try world.see("d.m2", on: device)
      #expect(world.phone(device).badge == 2)
    }
    try world.fleet.send(phone, .respond(.markRead, messageId: "d.m1"))
    try world.wait(for: "the badge of both") { [phone, tablet].allSatisfy { world.phone($0).badge == 1 } }
    #expect(world.phone(tablet).lockScreen.entries.map(\.messageId) == ["d.m2"])
    try world.fleet.send(tablet, .openConversation("d.c2"))
    try world.wait(for: "no badge on either") { [phone, tablet].allSatisfy { world.phone($0).badge == 0 } }
    #expect(world.phone(phone).lockScreen.entries.isEmpty)
    return tablet
  }

  private static func activeConversation(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "a.bob")
    try world.conversation("a.c1", ["a.ann", "a.bob"])
    try world.conversation("a.c2", ["a.cleo", "a.bob"])
    try world.fleet.send(phone, .openConversation("a.c1"))
    try world.settle()
    try world.write("a.m1", in: "a.c1", from: "a.ann", "You see this")
    #expect(try world.decision("a.m1", for: "a.bob").reason == .activeConversation)
    // Elsewhere an in-app banner or the push, but only one of them.
    try world.write("a.m2", in: "a.c2", from: "a.cleo", "And this")
    #expect(try world.decision("a.m2", for: "a.bob").reason != .activeConversation)
    func timesArrived(_ messageId: String) -> Int {
      (world.notes[phone] ?? []).count { item in
        if case .received(let push) = item.note { push.messageId == messageId } else { false }
      }
    }
    try world.wait(for: "the other conversation's push, and a sight of it") {
      timesArrived("a.m2") == 1 && world.sights(of: "a.m2", on: phone).count == 1
    }
    #expect(timesArrived("a.m1") == 0)
    #expect(world.phone(phone).badge == 1)
    // The owner left three minutes ago, and the phone could not report it.
    let stale = try world.phone(of: "a.dan")
    try world.conversation("a.c3", ["a.ann", "a.dan"])
    try world.fleet.send(stale, .openConversation("a.c3"), at: Date(timeIntervalSinceNow: -180))
    try world.fleet.send(stale, .network(false), at: Date(timeIntervalSinceNow: -179))
    try world.settle()
    try world.write("a.m3", in: "a.c3", from: "a.ann", "Are you there?")
    #expect(try world.decision("a.m3", for: "a.dan").reason != .activeConversation)
    return phone
  }

  private static func quietHours(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "q.bob")
    let minute = Int(Date().timeIntervalSince1970 / 60)
    func clock(_ minute: Int) -> String { String(format: "%02d:%02d", minute / 60 % 24, minute % 60) }
    var change = PreferencesChange()
    change.quietHours = .set(.init(start: clock(minute - 30), end: clock(minute + 60), timeZone: nil))
    try world.fleet.send(phone, .prefer(change))
    try world.settle()
    try world.conversation("q.c", ["q.ann", "q.bob"])
    try world.write("q.medium", in: "q.c", from: "q.ann", "The weather is fine here")
    #expect(try world.decision("q.medium", for: "q.bob").reason == .quietHours)
    try world.write("q.high", in: "q.c", from: "q.ann", "This is urgent, call me")
    #expect(try world.see("q.high", on: phone).entry.isAlert)
    #expect(world.phone(phone).lockScreen.entries.map(\.messageId) == ["q.high"])
    change.quietHours = .off
    try world.fleet.send(phone, .prefer(change))
    try world.settle()
    try world.write("q.later", in: "q.c", from: "q.ann", "The weather is fine here")
    try world.see("q.later", on: phone)
    return phone
  }

  private static func limit(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "n.bob")
    var change = PreferencesChange()
    change.maxAnalysesPerHour = 1
    change.fallback = .simpleRules
    change.defaultLevels = .init(direct: .smart)
    try world.fleet.send(phone, .prefer(change))
    try world.fleet.send(phone, .open)
    try world.settle()
    try world.conversation("n.c", ["n.ann", "n.bob"])
    try world.write("n.m1", in: "n.c", from: "n.ann", "First")
    #expect(try world.decision("n.m1", for: "n.bob").reason == .relevant)
    try world.write("n.m2", in: "n.c", from: "n.ann", "Second")
    try world.write("n.m3", in: "n.c", from: "n.ann", "Third, urgent")
    #expect(try world.decision("n.m2", for: "n.bob").reason == .simpleRules)
    #expect(try world.decision("n.m3", for: "n.bob").priority == .high)
    let notice = "⚠️ Smart notification limit reached (1/hour). Using simple rules."
    func noticesShown() -> Int {
      (world.notes[phone] ?? []).count { item in
        if case .bannerShown(.notice(let shown)) = item.note { shown.text == notice } else { false }
      }
    }
    // Behind the banners of the messages, which stay for 4 s each.
    try world.wait(for: "the notice") { noticesShown() == 1 }
    try world.fleet.send(phone, .close)
    try world.settle()
    try world.write("n.m4", in: "n.c", from: "n.ann", "Fourth, urgent")
    let fourth = try world.see("n.m4", on: phone)
    guard case .message(let message) = fourth.push.content else { return phone }
    #expect(message.origin == .fallback)
    #expect(noticesShown() == 1)
    return phone
  }

  // MARK: Owners of a phone

  private static func accountSwitch(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "s.bob")
    try world.conversation("s.c1", ["s.ann", "s.bob"])
    try world.conversation("s.c2", ["s.ann", "s.eve"])
    try world.write("s.m1", in: "s.c1", from: "s.ann", "For Bob")
    try world.see("s.m1", on: phone)
    // The sign-out never arrives.
    try world.fleet.send(phone, .network(false))
    try world.fleet.send(phone, .signOut)
    #expect(world.phone(phone).lockScreen.entries.isEmpty)
    #expect(world.phone(phone).badge == 0)
    try world.fleet.send(phone, .network(true))
    try world.fleet.send(phone, .signIn(userId: "s.eve"))
    try world.settle()
    try world.write("s.m2", in: "s.c1", from: "s.ann", "For Bob alone")
    #expect(try world.decision("s.m2", for: "s.bob").reason == .noDevice)
    try world.write("s.m3", in: "s.c2", from: "s.ann", "For Eve")
    try world.see("s.m3", on: phone)
    #expect(world.phone(phone).lockScreen.entries.map(\.messageId) == ["s.m3"])
    try world.wait(for: "the record of requests") { try world.requests().contains("For Eve") }
    #expect(!(try world.requests()).contains("For Bob alone"))
    return phone
  }

  private static func reinstall(_ world: PhoneWorld) throws -> Int {
    let phone = try world.phone(of: "i.bob", platform: .android)
    let former = world.phone(phone).device.deviceId
    try world.conversation("i.c", ["i.ann", "i.bob"])
    try world.write("i.m1", in: "i.c", from: "i.ann", "Before")
    try world.see("i.m1", on: phone)
    try world.fleet.reinstall(phone)
    try world.settle()
    try world.write("i.m2", in: "i.c", from: "i.ann", "After")
    try world.see("i.m2", on: phone)
    try world.wait(for: "the old token to be refused") {
      world.outcomes(of: former).contains { $0.body.result == .invalidToken }
    }
    try world.write("i.m3", in: "i.c", from: "i.ann", "And then")
    try world.see("i.m3", on: phone)
    let new = world.phone(phone).device.deviceId
    try world.wait(for: "the outcome of the last") {
      world.outcomes(of: new).count { $0.body.result == .sent } == 2
    }
    // The token was pruned: nothing more was sent to it.
    #expect(world.outcomes(of: former).count { $0.body.result != .sent } == 1)
    return phone
  }

  // MARK: The command

  private static func script(_ world: PhoneWorld) throws -> Int? {
    try world.conversation("x.c", ["x.ann", "x.bob"])
    let script = """
      # Bob registers, is asked, answers, and goes.
      wait-registered
      wait-for How are you
      reply Fine, and you?
      wait-for Message sent
      show
      sign-out
      """
    let path = world.directory.appendingPathComponent("bob.script")
    try Data(script.utf8).write(to: path)
    let process = Process()
    let output = Pipe()
    process.executableURL = DemoProgram.directoryOfThisProgram().appendingPathComponent("nudge")
    process.arguments = [
      "device", "--user", "x.bob", "--script", path.path, "--emulator", world.emulatorURL, "--bootstrap-servers",
      world.bootstrapServers, "--topic-prefix", world.topics.prefix, "--kafka-property", "fetch.wait.max.ms=5",
    ]
    process.standardOutput = output
    try process.run()
    // The phone reports at once, but the services know its token a moment later, so Ann writes until she gets an answer.
    var asked = 0
    try world.wait(for: "the script to end") {
      if asked % 100 == 0 { try world.write("x.m\(asked)", in: "x.c", from: "x.ann", "How are you?") }
      asked += 1
      return !process.isRunning
    }
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    let notes = try text.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    let names = notes.compactMap { $0["note"] as? String }
    for name in ["signed-in", "registered", "received", "shown", "told", "show", "signed-out"] {
      #expect(names.contains(name), "\(text)")
    }
    #expect(notes.first { $0["note"] as? String == "shown" }?["body"] as? String == "How are you?")
    #expect(!text.contains("virtual-"), "tokens are no one's business")
    return nil
  }
}
