import NudgeSchema
import Testing

@testable import NudgeLab

@Suite("The load that a chat log makes")
struct LoadScriptTests {
  private let coder = RecordCoder()

  private func message(
    _ nick: String, _ number: Int, log: String = "log", text: String = "hello", replyTo: [Int]? = nil
  ) -> ChatMessage {
    ChatMessage(log: log, number: number, at: 0, nick: nick, text: text, replyTo: replyTo)
  }

  private func chatEvents(_ events: [LoadEvent]) throws -> [ChatEventBody] {
    try events.filter { $0.topic == .chatEvents }.map { try coder.decode(ChatEvent.self, from: $0.value).body }
  }

  // MARK: Members

  @Test("members are the latest speakers: the one silent for longest leaves first")
  func lastSpeakers() {
    var speakers = LastSpeakers(limit: 3)
    let changes = ["a", "b", "c", "a", "d", "d", "b"].map { nick in
      (speakers.speak(nick), speakers.members.joined())
    }
    #expect(changes.map(\.0) == [true, true, true, false, true, false, true])
    #expect(changes.map(\.1) == ["a", "ab", "abc", "bca", "cad", "cad", "adb"])
  }

  @Test("a conversation is published before the message whenever its members change, and only then")
  func membership() throws {
    var script = LoadScript(run: "r", members: 2, seed: 1)
    var seen: [[String]] = []
    for (number, nick) in ["a", "b", "a", "c"].enumerated() {
      let events = try chatEvents(try script.events(for: message(nick, number), at: 1))
      guard case .messageCreated = events.last else {
        Issue.record("no message at the end of \(events)")
        continue
      }
      for case .conversationUpdated(let update) in events { seen.append(update.members.map(\.userId)) }
    }
    #expect(seen == [["a"], ["a", "b"], ["a", "c"]])
  }

  @Test("a message is due to every member but its sender")
  func recipients() throws {
    var script = LoadScript(run: "r", members: 3, seed: 1)
    let due = try ["a", "b", "c", "d", "c"].enumerated().map { number, nick in
      try script.events(for: message(nick, number), at: 77).compactMap(\.message).first
    }
    #expect(due.map { $0?.recipients } == [[], ["a"], ["a", "b"], ["b", "c"], ["b", "d"]])
    #expect(due.allSatisfy { $0?.at == 77 })
    #expect(Set(due.compactMap { $0?.messageId }).count == 5)
  }

  // MARK: Messages

  @Test("a message has its sender, mentions, its answered message, and a picture if it has no text")
  func fields() throws {
    var script = LoadScript(run: "r", members: 8, seed: 1)
    for nick in ["ann", "bob", "le petit"] { _ = try script.events(for: message(nick, 1), at: 1) }
    func created(_ message: ChatMessage) throws -> MessageCreated? {
      guard case .messageCreated(let created) = try chatEvents(try script.events(for: message, at: 1)).last else {
        return nil
      }
      return created
    }
    let named = try created(message("cem", 9, text: "ann: ask @le petit, not annabel", replyTo: [4, 7, 9]))
    #expect(named?.mentions == ["ann", "le petit"])
    #expect(named?.replyTo == "r/log/7")
    #expect(named?.messageId == "r/log/9")
    #expect(named?.sender?.displayName == "cem")
    let picture = try created(message("cem", 10, text: "", replyTo: []))
    #expect(picture?.text == nil && picture?.attachments?.count == 1)
    #expect(picture?.replyTo == nil && picture?.mentions == nil)
  }

  @Test("of two events in one millisecond the later has the greater event id")
  func eventIds() throws {
    var script = LoadScript(run: "r", members: 4, seed: 1)
    var ids: [String] = []
    for number in 0..<300 {
      let events = try script.events(for: message("n\(number % 9)", number), at: 5)
      for event in events {
        ids.append(
          event.topic == .chatEvents
            ? try coder.decode(ChatEvent.self, from: event.value).envelope.eventId
            : try coder.decode(UserEvent.self, from: event.value).envelope.eventId)
      }
    }
    #expect(ids.count > 300)
    #expect(
      zip(ids, ids.dropFirst()).allSatisfy {
        EventStamp(occurredAt: 5, eventId: $0) < EventStamp(occurredAt: 5, eventId: $1)
      })
  }

  @Test("every event is valid by the schema, with any nicks, logs and texts", arguments: [1, 2, 3] as [UInt64])
  func validity(seed: UInt64) throws {
    let odd = [
      "", "\u{0}\u{7}\n", String(repeating: "👨‍👩‍👧‍👦", count: 200), "tab\tbed", "\u{85}", " ", "ünïcödé", "a/b@c:d,",
      "\u{202E}rtl",
      String(repeating: "x", count: 100_000),
    ]
    var random = SeededRandom(seed: seed)
    let messages = (0..<200).map { number in
      ChatMessage(
        log: random.pick(odd), number: number, at: 0, nick: random.pick(odd), text: random.pick(odd) + random.pick(odd),
        replyTo: random.chance(50) ? [number - 1] : nil, kind: random.pick([nil, .direct, .group]))
    }
    var script = LoadScript(run: "r", members: 4, seed: seed)
    for message in messages {
      let person = LoadPerson(
        userId: ChatNames.user(message.nick), conversationId: ChatNames.conversation(message.log), friend: nil,
        seed: seed)
      for event in try script.introduce(person, at: 1) + script.events(for: message, at: 1) {
        if event.topic == .chatEvents {
          try coder.decode(ChatEvent.self, from: event.value).validate()
        } else {
          try coder.decode(UserEvent.self, from: event.value).validate()
        }
      }
    }
  }

  // MARK: People

  @Test("every author has one or two devices with their own tokens; a few have preferences")
  func people() throws {
    let cast = try LoadCast(.generated(seed: 1), messages: 500, seed: 1)
    let again = try LoadCast(.generated(seed: 1), messages: 500, seed: 1)
    #expect(cast.people == again.people)
    #expect(Set(cast.people.map(\.userId)) == Set(try all(GeneratedChatLog(seed: 1), limit: 500).map(\.nick)))
    let devices = cast.people.flatMap(\.devices)
    #expect(Set(cast.people.map(\.devices.count)) == [1, 2])
    #expect(Set(devices.map(\.token)).count == devices.count)
    #expect(Set(devices.map(\.deviceId)).count == devices.count)
    let everybody = (0..<500).map {
      LoadPerson(userId: "u\($0)", conversationId: "c", friend: "f", seed: 1)
    }
    #expect(Set(everybody.flatMap(\.devices).map(\.platform)) == [.ios, .android, .web])
    let having = everybody.count { $0.preferences(now: 1_700_000_000_000) != nil }
    #expect((100..<400).contains(having))
  }

  @Test(
    "a load by default stays below the 240 messages a minute that FCM takes for an Android device",
    arguments: [10.0, 50, 300])
  func belowFCMsLimit(rate: Double) throws {
    let log = GeneratedChatLog(seed: 1, groups: GeneratedChatLog.groups(rate: rate, duration: .seconds(60)))
    var members: [String: Set<String>] = [:]
    var received: [String: Int] = [:]
    for message in try all(log, limit: Int(rate * 60)) {
      members[message.log, default: []].insert(message.nick)
      for member in members[message.log, default: []] where member != message.nick { received[member, default: 0] += 1 }
    }
    let most = try #require(received.values.max())
    #expect(most < 240)
  }

  @Test("a log shorter than asked for is played to its end")
  func shortLog() throws {
    #expect(try LoadCast(.generated(seed: 1), messages: 3, seed: 1).messages == 3)
  }

  @Test("messages are due on a schedule fixed at the start")
  func pace() {
    let start = ContinuousClock.now
    let pace = Pace(LoadShape(rate: 200), start: start)
    #expect(pace.due(0) == start)
    #expect(pace.due(200) == start + .seconds(1))
    #expect(pace.due(1) == start + .milliseconds(5))
  }
}
