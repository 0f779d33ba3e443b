import NudgeSchema
import Relevance
import StreamRuntime
import TestSupport
import Testing

@testable import Analyzer

@Suite("Repeats, replays and crashes")
struct RepeatTests {
  @Test("P7: a candidate whose origin is not later than the last of its conversation is dropped without a decision")
  func repeats() throws {
    let scene = try Scene.withPhone()
    let origins = (1...5).map { Origin(topic: "chat.events", partition: 0, offset: Int64($0)) }
    for (number, origin) in origins.enumerated() {
      #expect(!(try scene.message("m\(number)", origin: origin).isEmpty))
    }
    for first in origins.indices {
      for number in first..<origins.count {
        #expect(try scene.message("m\(number)", origin: origins[number]).isEmpty)
      }
    }
    // Another conversation, another index, another partition: not repeats.
    #expect(try scene.message("x", in: "c2", origin: origins[0]).decision != nil)
    let second = Origin(topic: "chat.events", partition: 0, offset: 5, index: 1)
    #expect(try scene.message("m6", origin: second).decision?.outcome == .notify)
    let moved = Origin(topic: "chat.events", partition: 3, offset: 1)
    #expect(try scene.message("m7", origin: moved).decision?.outcome == .notify)
    #expect(try scene.message("m7", origin: moved).isEmpty)
  }

  @Test(
    "P7: after the causes' topic was made again, low offsets of a higher generation are no repeats; each counts once")
  func generations() throws {
    let scene = try Scene.withPhone()
    func origin(_ offset: Int64, _ generation: Int32?) -> Origin {
      Origin(topic: "chat.events", partition: 0, offset: offset, generation: generation)
    }
    #expect(try scene.message("m1", origin: origin(1_000, nil)).decision?.outcome == .notify)
    #expect(try scene.message("m2", origin: origin(3, nil)).isEmpty)
    #expect(try scene.message("m2", origin: origin(3, 7)).decision?.outcome == .notify)
    #expect(try scene.message("m2", origin: origin(3, 7)).isEmpty)
    #expect(try scene.message("m0", origin: origin(2_000, nil)).isEmpty, "of the former life")
    #expect(try scene.message("m3", origin: origin(0, 8)).decision?.outcome == .notify)
  }

  @Test("D12: own messages, withdrawals, reads, preferences and devices that come twice have no second effect")
  func otherRepeats() throws {
    let scene = try Scene.withPhone()
    try scene.message("m1")
    try scene.message("m2")
    let position = Origin(topic: "chat.events", partition: 0, offset: 100)
    let withdrawn = TimelineEventBody.withdrawn(
      MessageWithdrawn(userIds: ["ann"], conversationId: "c1", messageId: "m1", cause: .deleted))
    #expect(!(try scene.send(withdrawn, at: noon, origin: position).isEmpty))
    #expect(try scene.send(withdrawn, at: noon, origin: position).isEmpty)
    let sent = TimelineEventBody.sent(MessageSent(userId: "ann", conversationId: "c1", messageId: "mine"))
    let next = Origin(topic: "chat.events", partition: 0, offset: 101)
    #expect(!(try scene.send(sent, at: noon, origin: next).isEmpty))
    try scene.message("m3", at: noon + hour, origin: Origin(topic: "chat.events", partition: 0, offset: 102))
    #expect(try scene.send(sent, at: noon + 5, origin: next).isEmpty)
    #expect(!(try scene.read(at: noon + hour + 9).isEmpty))
    #expect(try scene.read(at: noon + hour + 9).isEmpty)
  }

  @Test("O1: deciding again notifies only who was not notified before")
  func redecide() throws {
    let scene = Scene()
    #expect(try scene.message("m1").decision?.reason == .noDevice)
    try scene.gain("phone")
    let again = try scene.redecide("m1", at: noon, now: noon + minute)
    #expect(again.decision?.outcome == .notify)
    #expect(again.decision?.replayId == "replay-1")
    #expect(again.decision?.badge == 1)
    let third = try scene.redecide("m1", at: noon, now: noon + minute)
    #expect(third.decision?.reason == .duplicate)
    #expect(third.push == nil)
  }

  @Test("O1: deciding again a message too old to be known one by one never notifies twice")
  func redecideForgotten() throws {
    let scene = try Scene.withPhone()
    for number in 0..<50 { try scene.message("m\(number)", at: noon + Int64(number)) }
    for number in 0..<50 {
      let again = try scene.redecide("m\(number)", at: noon + Int64(number), now: noon + minute)
      #expect(again.decision?.reason == .duplicate)
      #expect(again.push == nil)
    }
  }

  @Test("O1: deciding again does not touch the badge, what is read, or the order of origins")
  func redecideIsHarmless() throws {
    let scene = try Scene.withPhone()
    try scene.activity("phone", in: nil, at: noon)
    let again = try scene.redecide("never seen", at: noon)
    #expect(again.decision?.outcome == .notify)
    #expect(again.decision?.badge == 0)
    #expect(again.banners.isEmpty)
    #expect(try scene.message("m1").decision?.badge == 1)
  }

  // MARK: Crash anywhere

  /// Random but plausible timeline records of a few people and conversations, with times that are not always in order and
  /// some records that come twice.
  private func history(seed: UInt64, count: Int) -> [(event: TimelineEvent, now: Milliseconds)] {
    var random = SeededGenerator(seed: seed)
    var events: [(TimelineEvent, Milliseconds)] = []
    var now = noon
    var offset: Int64 = 0
    let people = ["ann", "bea", "cleo"]
    for number in 0..<count {
      now += Int64.random(in: 0...(4 * minute), using: &random)
      let at = now - (Int.random(in: 0..<4, using: &random) == 0 ? Int64.random(in: 0...hour, using: &random) : 0)
      let user = people.randomElement(using: &random) ?? "ann"
      let conversation = "c\(Int.random(in: 0..<4, using: &random))"
      let device = "d\(Int.random(in: 0..<3, using: &random))"
      let message = "m\(number - Int.random(in: 0..<6, using: &random))"
      let body: TimelineEventBody
      switch Int.random(in: 0..<24, using: &random) {
      case 0..<9:
        var candidate = Scene.candidate(
          Int.random(in: 0..<8, using: &random) == 0 ? message : "m\(number)", in: conversation,
          to: people.filter { _ in Bool.random(using: &random) } + ["dan"],
          RecipientContext(
            mentioned: Int.random(in: 0..<5, using: &random) == 0, exchange: Int.random(in: 0..<4, using: &random)),
          group: Bool.random(using: &random) ? "Group" : nil)
        candidate.body = Bool.random(using: &random) ? "is it urgent?" : "hello"
        if candidate.conversation.kind == .group {
          var bytes: [UInt8] = []
          for _ in 0..<(FeatureLayout.messageCount + FeatureLayout.personCount) {
            bytes.append(.random(in: 0...64, using: &random))
          }
          bytes[0] = FeatureLayout.version
          candidate.conversation.features = Base64Text.encode(Array(bytes.prefix(FeatureLayout.messageCount)))
          candidate.recipients[0].context.features = Base64Text.encode(
            Array(bytes.suffix(FeatureLayout.personCount)))
        }
        if Int.random(in: 0..<10, using: &random) == 0 {
          candidate.replayId = "replay-\(Int.random(in: 0..<3, using: &random))"
          candidate.forced = Bool.random(using: &random) ? true : nil
          body = .redecide(candidate)
        } else if Int.random(in: 0..<60, using: &random) == 0 {
          body = .replayStopped(ReplayStopped(replayId: "replay-0"))
        } else {
          body = .candidate(candidate)
        }
      case 9: body = .sent(MessageSent(userId: user, conversationId: conversation, messageId: "m\(number)"))
      case 10..<13:
        body = .user(
          .activity(
            Activity(
              userId: user, deviceId: device, state: Bool.random(using: &random) ? .foreground : .background,
              conversationId: Bool.random(using: &random) ? conversation : nil)))
      case 13..<15:
        body = .user(
          .read(
            MessageRead(
              userId: user, conversationId: conversation, messageId: Bool.random(using: &random) ? message : nil,
              deviceId: device)))
      case 15:
        body = .user(
          .preferences(
            PreferencesUpdated(
              userId: user,
              preferences: PreferencesPatch(
                enabled: Int.random(in: 0..<6, using: &random) > 0,
                quietHours: Bool.random(using: &random)
                  ? .set(QuietHours(start: "22:00", end: "06:30", timeZone: "America/New_York")) : .set(nil),
                maxAnalysesPerHour: Int.random(in: 0...4, using: &random),
                muted: Bool.random(using: &random) ? [MutedConversation(conversationId: conversation)] : nil,
                badgeMode: Bool.random(using: &random) ? .messages : .conversations,
                locale: ["de", "ja-JP", "en"].randomElement(using: &random),
                learnSince: Int.random(in: 0..<5, using: &random) == 0 ? now - hour : nil,
                burstSeconds: Int.random(in: 0..<3, using: &random) * 300))))
      case 16:
        body = .withdrawn(
          MessageWithdrawn(
            userIds: people, conversationId: conversation,
            messageId: Int.random(in: 0..<5, using: &random) == 0 ? nil : message, cause: .deleted))
      case 17:
        body = .deviceLost(
          DeviceLost(
            userId: user, deviceId: device,
            tokenHash: AnalyzerRules(hash: standInHash).tokenHash("token-\(user)-\(device)"),
            version: Int64(number), cause: .signedOut))
      case 18..<20:
        body = .user(
          .feedback(
            FeedbackSubmitted(
              userId: user, conversationId: conversation, messageId: message,
              feedback: Bool.random(using: &random) ? .helpful : .notHelpful)))
      case 20..<22:
        let pushId = AnalyzerRules(hash: standInHash).pushId(
          userId: user, kind: .message, cause: .message(conversationId: conversation, messageId: message))
        let report = NotificationReport(
          userId: user, deviceId: device, pushId: pushId, conversationId: conversation, messageId: message)
        body = .user(
          [.notificationOpened(report), .notificationDismissed(report), .notificationReceived(report)]
            .randomElement(using: &random) ?? .notificationReceived(report))
      default:
        body = .deviceGained(
          DeviceGained(
            userId: user, deviceId: device, token: "token-\(user)-\(device)", version: Int64(number),
            platform: .android))
      }
      offset += 1
      let origin = Origin(topic: "chat.events", partition: 0, offset: offset)
      let event = TimelineEvent(
        Envelope(eventId: "e\(number)", occurredAt: at), origin: origin, source: origin.position, body)
      events.append((event, now))
      if Int.random(in: 0..<10, using: &random) == 0, let earlier = events.randomElement(using: &random) {
        events.append((earlier.0, now))
      }
    }
    return events
  }

  private struct Run: Equatable {
    var outputs: [[OutputRecord]]
    var rows: [RowKey: [UInt8]]
    var decisions = 0
    var pushes = 0
  }

  private func run(
    _ history: [(event: TimelineEvent, now: Milliseconds)], crashing: (Int) -> Bool
  ) throws -> Run {
    let driver = StageDriver(AnalyzerStage(rules: AnalyzerRules(hash: standInHash)), now: noon)
    var run = Run(outputs: [], rows: [:])
    for (number, (event, now)) in history.enumerated() {
      driver.now = now
      let result = try driver.send(event, to: .timeline, key: "any")
      #expect(result.rejection == nil)
      run.outputs.append(result.outputs)
      run.decisions += result.outputs.count { $0.topic == .decisions }
      run.pushes += result.outputs.count { $0.topic == .pushes }
      if crashing(number) { try driver.restart() }
    }
    let coder = RecordCoder()
    for user in ["ann", "bea", "cleo", "dan"] {
      var keys = [AnalyzerRow.userKey(user), AnalyzerRow.preferencesKey(user), AnalyzerRow.learnedKey(user)]
      keys += (0..<4).map { AnalyzerRow.conversationKey(user, "c\($0)") }
      keys += (0..<3).map { AnalyzerRow.deviceKey(user, "d\($0)") }
      keys += (0..<3).map { AnalyzerRow.receiptsKey(user, "d\($0)") }
      for key in keys { run.rows[key] = try driver.row(key)?.encoded(coder: coder, at: .latest) }
    }
    return run
  }

  @Test("Exactly-once: crashing anywhere gives the same outputs and the same state, byte for byte")
  func crashAnywhere() throws {
    for seed in UInt64(1)...8 {
      let history = history(seed: seed, count: 200)
      let whole = try run(history, crashing: { _ in false })
      #expect(whole.decisions > 70 && whole.pushes > 20, "seed \(seed)")
      var random = SeededGenerator(seed: seed &* 7919)
      let crashes = Set(history.indices.filter { _ in Int.random(in: 0..<6, using: &random) == 0 })
      let crashed = try run(history, crashing: { crashes.contains($0) })
      #expect(whole == crashed, "seed \(seed)")
      let always = try run(history, crashing: { _ in true })
      #expect(whole == always, "seed \(seed)")
    }
  }

  @Test("D11: a recorded timeline, replayed over restarts, gives the recorded decisions byte for byte")
  func recorded() throws {
    // A fixed seed, so that everything that is looked for below occurs.
    var random = SeededGenerator(seed: 9_629_877_149_393_520_697)
    let history = history(seed: random.seed, count: 2_500)
    let coder = RecordCoder()
    let timeline = try history.map { (bytes: try coder.encode($0.event), now: $0.now) }
    func decisions(restarting: (Int) -> Bool) throws -> [[UInt8]?] {
      let driver = StageDriver(AnalyzerStage(rules: AnalyzerRules(hash: standInHash)), now: noon)
      var decisions: [[UInt8]?] = []
      for (number, record) in timeline.enumerated() {
        driver.now = record.now
        let result = driver.send(bytes: record.bytes, to: .timeline, key: Array("any".utf8))
        decisions += result.outputs.filter { $0.topic == .decisions }.map(\.value)
        if restarting(number) { try driver.restart() }
      }
      return decisions
    }
    let recorded = try decisions { _ in false }
    let restarts = Set(timeline.indices.filter { _ in random.oneIn(40) })
    #expect(try decisions { restarts.contains($0) } == recorded, "seed \(random.seed)")
    // They are of all kinds, and some of them depend on what was taught.
    let texts = recorded.map { String(decoding: $0 ?? [], as: UTF8.self) }
    for part in ["\"learned_sender\"", "\"burst\"", "\"active_conversation\",\"result\"", "\"rules\":", "\"model\":"] {
      #expect(texts.contains { $0.contains(part) }, "\(part), seed \(random.seed)")
    }
    #expect(recorded.count > 1_000)
  }

  @Test("Exactly-once: any suffix of the candidates, once more after a restart, yields nothing new")
  func suffixAgain() throws {
    for seed in UInt64(1)...12 {
      let history = history(seed: seed, count: 120)
      let candidates = history.filter {
        switch $0.event.body {
        case .candidate, .sent, .withdrawn: true
        default: false
        }
      }
      let driver = StageDriver(AnalyzerStage(rules: AnalyzerRules(hash: standInHash)), now: noon)
      for (event, now) in history {
        driver.now = now
        try driver.send(event, to: .timeline, key: "any")
      }
      try driver.restart()
      var random = SeededGenerator(seed: seed)
      let rows = try allRows(driver)
      for _ in 0..<5 {
        for (event, _) in candidates.dropFirst(Int.random(in: 0..<candidates.count, using: &random)) {
          let result = try driver.send(event, to: .timeline, key: "any")
          #expect(result.outputs.isEmpty, "seed \(seed), \(event.envelope.eventId)")
        }
      }
      #expect(try allRows(driver) == rows, "seed \(seed)")
    }
  }

  private func allRows(_ driver: StageDriver<AnalyzerStage>) throws -> [AnalyzerRow?] {
    try ["ann", "bea", "cleo", "dan"].flatMap { user in
      try [AnalyzerRow.userKey(user)].map { try driver.row($0) }
        + (0..<4).map { try driver.row(AnalyzerRow.conversationKey(user, "c\($0)")) }
    }
  }

  @Test("D6: after any history the badge is the sum of what the conversations have unread")
  func countersAgree() throws {
    for seed in UInt64(100)...112 {
      let driver = StageDriver(AnalyzerStage(rules: AnalyzerRules(hash: standInHash)), now: noon)
      for (event, now) in history(seed: seed, count: 400) {
        driver.now = now
        try driver.send(event, to: .timeline, key: "any")
      }
      for user in ["ann", "bea", "cleo", "dan"] {
        let unread = try (0..<4).map { number -> Int in
          guard case .conversation(let row) = try driver.row(AnalyzerRow.conversationKey(user, "c\(number)")) else {
            return 0
          }
          #expect(row.unread == row.olderUnread + row.older.count + row.recent.count { $0.marks.contains(.unread) })
          return row.unread
        }
        guard case .user(let row) = try driver.row(AnalyzerRow.userKey(user)) else { continue }
        #expect(row.unreadMessages == unread.reduce(0, +), "seed \(seed), \(user)")
        #expect(row.unreadConversations == unread.count { $0 > 0 }, "seed \(seed), \(user)")
      }
    }
  }

  // MARK: Bounds

  @Test("State: rows stay small after 10,000 messages in 500 conversations, and the person's own stays as it was")
  func bounded() throws {
    let scene = try Scene.withPhone()
    let coder = RecordCoder()
    func size(_ key: RowKey) throws -> Int { try scene.driver.row(key)?.encoded(coder: coder, at: .latest).count ?? 0 }
    var sizes: [Int] = []
    for number in 0..<10_000 {
      let conversation = "conversation-\(number % 500)"
      let at = noon + Int64(number) * second
      let origin = scene.nextOrigin()
      scene.driver.now = at
      // Sent past the scene, which would read all that is written.
      let result = try scene.driver.send(
        TimelineEvent(
          Envelope(eventId: "message-\(number)", occurredAt: at), origin: origin, source: origin.position,
          .candidate(Scene.candidate("message-\(number)", in: conversation, group: "G"))), to: .timeline, key: "any")
      #expect(result.outputs.first?.topic == .decisions)
      if number % 7 == 0 { try scene.activity("device-\(number)", in: conversation, at: at) }
      if number % 11 == 0 { try scene.read(conversation, at: at) }
      if number % 1_000 == 999 { sizes.append(try size(AnalyzerRow.userKey("ann"))) }
    }
    #expect(sizes.max() ?? .max < 1_500, "\(sizes)")
    #expect((sizes.last ?? .max) - (sizes.first ?? 0) < 100, "\(sizes)")
    for number in 0..<500 {
      #expect(try size(AnalyzerRow.conversationKey("ann", "conversation-\(number)")) < 4_096)
    }
  }

  @Test("State: with the longest ids every row fits its bound")
  func worstCase() throws {
    let scene = Scene()
    let coder = RecordCoder()
    // Quotes take two bytes in JSON.
    func long(_ number: Int, _ length: Int = 256) -> String {
      let digits = String(number)
      return String(repeating: "\"", count: length - digits.count) + digits
    }
    for number in 0..<60 {
      try scene.gain(long(number), token: long(number, 6_400), at: noon + Int64(number), eventId: long(number, 128))
      try scene.send(
        .user(
          .activity(
            Activity(userId: "ann", deviceId: long(number), state: .foreground, conversationId: long(number + 1)))),
        at: noon + Int64(number), eventId: long(number, 128))
      try scene.wrote("own-\(number)", in: long(number + 1), at: noon + Int64(number))
    }
    for number in 0..<100 { try scene.message(long(number), in: long(0), at: noon + hour + Int64(number)) }
    let keys = [
      AnalyzerRow.userKey("ann"), AnalyzerRow.conversationKey("ann", long(0)), AnalyzerRow.deviceKey("ann", long(59)),
    ]
    for key in keys {
      let row = try #require(try scene.driver.row(key))
      #expect(try row.encoded(coder: coder, at: .latest).count <= StateLimits.maxRowBytes, "\(key.parts[0])")
    }
  }

  // MARK: Bad input

  @Test("M5: what cannot be read is refused with a reason that quotes nothing, and the next record is processed")
  func badInput() throws {
    let scene = try Scene.withPhone()
    let envelope = #""schemaVersion":1,"eventId":"e","occurredAt":1"#
    let position = #"{"topic":"t","partition":0,"offset":1}"#
    let derived = #"\#(envelope),"origin":\#(position),"source":\#(position)"#
    let cases: [(String?, DeadLetterCode)] = [
      (nil, .schemaViolation), ("", .invalidJSON), ("{", .invalidJSON), ("[]", .schemaViolation),
      (#"{"type":"message.candidate","secret":"hunter2"}"#, .schemaViolation),
      (#"{"schemaVersion":2,"type":"message.candidate"}"#, .unsupportedVersion),
      (#"{\#(derived),"type":"device.unknown"}"#, .unknownType),
      (#"{\#(derived),"type":"message.sent","userId":7,"secret":"hunter2"}"#, .schemaViolation),
      (#"{\#(derived),"type":"user.activity","userId":"u","deviceId":"d","state":"hunter2"}"#, .schemaViolation),
      (
        #"{\#(derived),"type":"message.withdrawn","userIds":[],"conversationId":"c","cause":"left"}"#, .schemaViolation
      ),
    ]
    for (text, code) in cases {
      let result = scene.driver.send(bytes: text.map { Array($0.utf8) }, to: .timeline, key: nil)
      #expect(result.rejection?.code == code, "\(text ?? "nil")")
      #expect(result.rejection?.message.contains("hunter2") == false)
      #expect(result.outputs.isEmpty)
    }
    for time in [Milliseconds.min, -1, .max] {
      let written = try scene.send(.candidate(Scene.candidate("m0")), at: time, origin: scene.nextOrigin())
      #expect(written.rejection?.code == .schemaViolation)
    }
    let crowd = (0...500).map { "user-\($0)" }
    let tooMany = try scene.send(.candidate(Scene.candidate("m0", to: crowd)), at: noon, origin: scene.nextOrigin())
    #expect(tooMany.rejection?.code == .schemaViolation)
    #expect(try scene.message("m1").decision?.outcome == .notify)
  }
}
