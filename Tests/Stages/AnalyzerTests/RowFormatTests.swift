import NudgeCodec
import NudgeSchema
import StreamRuntime
import TestSupport
import Testing
import Wording

@testable import Analyzer

@Suite("State: the format of the analyzer's rows")
struct RowFormatTests {
  @Test(
    "every row comes back as it was, packed; one as JSON, a part of one and more than one are refused")
  func rows() throws {
    var fields = FieldGenerator(SeededGenerator(announcedFor: "rows"))
    for number in 0..<60 {
      fields.isFull = number == 0
      let rows = fields.rows()
      // A candidate of a row has no mentions, for example.
      if fields.isFull { #expect(FieldWalk.emptyFields(of: rows.filter { !($0 is HeldMessageRow) }) == []) }
      for row in rows { #expect(try comesBack(row)) }
      #expect(try comesBack(fields.preferencesRow()))
    }
  }

  @Test("each field of a row is in the row's list")
  func listedFields() throws {
    var fields = FieldGenerator(SeededGenerator(seed: 1), isFull: true)
    var listed = ListedFields()
    for _ in 0..<20 {
      for row in fields.rows() { try listed.take(row) }
      try listed.take(fields.preferencesRow(), blank: PreferencesRow())
    }
    #expect(listed.missing == [])
  }

  @Test("rows of the last release are read, and no row is written in a version that it cannot read")
  func goldenRows() throws {
    var fields = FieldGenerator(SeededGenerator(seed: 1))
    var samples: [any PackedRow] = []
    for number in 0..<2 {
      fields.isFull = number == 0
      samples += [fields.userRow(), fields.conversationRow(), fields.deviceRow()] as [any PackedRow]
      samples += [fields.preferencesRow(), fields.learned(), fields.heldRow()] as [any PackedRow]
      samples.append(ReplayRow(isStopped: fields.isFull, notifications: fields.int()))
      samples.append(fields.receiptsRow())
      samples.append(fields.missedRow())
      samples.append(fields.escalationsRow())
      samples.append(fields.toldRow())
      samples.append(fields.olderRow())
    }
    #expect(try GoldenRows("analyzer").faults(samples: samples) == [])
  }

  @Test("issue 57: a device's row from before there were subscriptions is read as it was")
  func deviceBeforeSubscriptions() throws {
    var fields = FieldGenerator(SeededGenerator(announcedFor: "deviceBeforeSubscriptions"))
    for _ in 0..<50 {
      var row = fields.deviceRow()
      (row.webPush, row.sealing) = (nil, nil)
      // Version 3 had neither the fields nor their flags, which are off here, and 4 changed nothing else.
      var bytes = row.packed()
      #expect(bytes.first == 4)
      bytes[0] = 3
      #expect(try bytes.withUnsafeBytes { try PersonDeviceRow(bytes: $0) } == row)
    }
  }

  @Test("preferences that one event set have its stamp once")
  func oneStamp() throws {
    let stamp = EventStamp(occurredAt: noon, eventId: "an event with a long id")
    var row = PreferencesRow()
    row.enabled = Stamped(value: true, stamp: stamp)
    row.quietHours = Stamped(value: QuietHours(start: "22:00", end: "07:00", timeZone: "Europe/Berlin"), stamp: stamp)
    row.locale = Stamped(value: "de", stamp: stamp)
    #expect(row.packed().count < 75)
    row.locale = Stamped(value: "de", stamp: EventStamp(occurredAt: noon, eventId: "another"))
    #expect(try PackedRows(row).packed == row)
  }

  @Test("a person's row of version 1, which knows no told badge, is read")
  func version1() throws {
    // Written by hand: no flags, two conversations and three messages unread, one device, no activity.
    let bytes: [UInt8] = [1, 0, 4, 6, 1, 5] + Array("phone".utf8) + [0]
    let row = try bytes.withUnsafeBytes { try UserRow(bytes: $0) }
    #expect(row == UserRow(unreadConversations: 2, unreadMessages: 3, devices: ["phone"]))
    #expect(row.packed() == [UserRow.version] + bytes.dropFirst())
  }

  @Test("a person's row of a release that kept the last message they wrote is read without it")
  func writtenMessage() throws {
    // Written by hand: flag 1; a message written in c1 at 3 by the event e; one conversation and one message unread.
    let bytes: [UInt8] = [4, 1, 2] + Array("c1".utf8) + [6, 1] + Array("e".utf8) + [2, 2, 0, 0]
    let row = try bytes.withUnsafeBytes { try UserRow(bytes: $0) }
    #expect(row == UserRow(unreadConversations: 1, unreadMessages: 1))
  }

  @Test("rows of the release before budgets are read, with none; a person without a budget has a row of the same size")
  func beforeBudgets() throws {
    var fields = FieldGenerator(SeededGenerator(announcedFor: "beforeBudgets"))
    for _ in 0..<60 {
      var (user, preferences) = (fields.userRow(), fields.preferencesRow())
      (user.spentAlerts, user.erasedUpTo) = (nil, nil)
      user.forgetSigns()
      (preferences.dailyAlerts, preferences.elements) = (nil, nil)
      #expect(try read(UserRow.self, [6] + user.packed().dropFirst()) == user)
      #expect(try read(PreferencesRow.self, [3] + preferences.packed().dropFirst()) == preferences)
    }
    var row = UserRow.first
    let bytes = row.packed().count
    row.hasMissed = true
    let withFlags = row.packed().count
    row.spentAlerts = SpentAlerts(day: 20_000, used: [10, 3, 0])
    #expect(bytes <= withFlags && row.packed().count <= withFlags + 7)
  }

  @Test("a device's row of the release before signs of life is read, with none")
  func beforeSignsOfLife() throws {
    var fields = FieldGenerator(SeededGenerator(announcedFor: "beforeSignsOfLife"))
    for _ in 0..<60 {
      var device = fields.deviceRow()
      #expect(try read(PersonDeviceRow.self, Array(device.packed())) == device)
      device.aliveAt = nil
      #expect(try read(PersonDeviceRow.self, [1] + device.packed().dropFirst()) == device)
    }
  }

  @Test("rows of the release before levels are read, with none of the new fields")
  func beforeLevels() throws {
    var fields = FieldGenerator(SeededGenerator(announcedFor: "beforeLevels"))
    for _ in 0..<60 {
      var (user, conversation, preferences) = (fields.userRow(), fields.conversationRow(), fields.preferencesRow())
      (user.badgeRaisedAt, user.badgeDueAt) = (nil, nil)
      (user.catchUpAt, user.hasMissed, user.spentAlerts, user.erasedUpTo) = (nil, nil, nil, nil)
      user.forgetSigns()
      (preferences.digestTimes, preferences.timeZone, preferences.dailyAlerts) = (nil, nil, nil)
      preferences.elements = nil
      (conversation.older, conversation.pages, conversation.seen) = ([], nil, [])
      conversation.edits = nil
      conversation.readAhead?.waitsUntil = nil
      conversation.recount()
      (conversation.holds, conversation.holdTimerAt, conversation.late) = ([], nil, nil)
      conversation.deleted = nil
      for index in conversation.recent.indices { conversation.recent[index].sender = nil }
      (preferences.directLevel, preferences.groupLevel) = (nil, nil)
      (preferences.conversationLevels, preferences.mutedSenders) = (nil, nil)
      // Behind the version byte that release wrote the same bytes: the new fields have flags behind its own.
      #expect(try read(UserRow.self, [4] + user.packed().dropFirst()) == user)
      #expect(try read(PersonConversationRow.self, [2] + conversation.packed().dropFirst()) == conversation)
      #expect(try read(PreferencesRow.self, [1] + preferences.packed().dropFirst()) == preferences)
    }
    // Written by hand: enabled, showPreviews off, set by the event e at 3.
    let preferences = try read(
      PreferencesRow.self, [1, 0x81, 0x02, 1, 6, 1] + Array("e".utf8) + [0, 1, 0, 0])
    #expect(preferences.enabled?.value == true && preferences.showPreviews?.value == false)
    #expect(EffectivePreferences(preferences, rules: AnalyzerRules(hash: standInHash)).directLevel.level == .all)
  }

  private func read<Row: PackedRow>(_: Row.Type, _ bytes: [UInt8]) throws -> Row {
    try bytes.withUnsafeBytes { try Row(bytes: $0) }
  }

  @Test("a conversation's row of version 1, which knows no scores, is read")
  func conversationVersion1() throws {
    var row = PersonConversationRow()
    row.olderUnread = 3
    row.recount()
    for number in 0..<4 {
      row.add(
        RecentMessage(
          key: MessageKey("m\(number)"),
          place: MessagePlace(at: noon, order: OriginOrder(offset: Int64(number), index: 0)),
          marks: .unread))
    }
    let bytes = [1] + row.packed().dropFirst()
    #expect(try bytes.withUnsafeBytes { try PersonConversationRow(bytes: $0) } == row)
  }

  @Test("a conversation of ordinary messages, each with its score, takes some 25 bytes a message")
  func size() throws {
    let scene = try Scene.withPhone()
    for number in 0..<100 { try scene.message("message-\(number)", at: noon + Int64(number) * 30 * second) }
    try scene.read(at: noon + hour)
    let row = try #require(try scene.driver.row(AnalyzerRow.conversationKey("ann", "c1")))
    #expect(try row.encoded(coder: RecordCoder(), at: .latest).count < 25 * PersonConversationRow.maxRecent)
  }

  @Test("a row of a later version stops the reader and says so")
  func laterVersion() {
    let error = #expect(throws: (any Error).self) {
      try [UInt8]([10, 1, 2]).withUnsafeBytes {
        try AnalyzerRow(key: AnalyzerRow.userKey("ann"), bytes: $0, coder: RecordCoder())
      }
    }
    #expect(error.map { "\($0)" }?.contains("later") == true)
  }
}

extension UserRow {
  fileprivate mutating func forgetSigns() {
    for index in activities.indices { (activities[index].personAt, activities[index].tabId) = (nil, nil) }
  }
}

extension FieldGenerator {
  /// A row of each kind but `PreferencesRow`.
  fileprivate mutating func rows() -> [any PackedRow & PackedFields & Equatable & Sendable] {
    [
      userRow(), conversationRow(), deviceRow(), receiptsRow(), learned(), heldRow(), missedRow(), toldRow(),
      escalationsRow(), olderRow(), ReplayRow(isStopped: flag(), notifications: int()),
      PersonErasureRow(stamp: stamp(), pendingUserId: maybe { $0.text() }),
    ]
  }

  fileprivate mutating func stamp() -> EventStamp { EventStamp(occurredAt: integer(), eventId: text()) }

  fileprivate mutating func place() -> MessagePlace {
    MessagePlace(at: integer(), order: OriginOrder(offset: integer(), index: int32()))
  }

  fileprivate mutating func userRow() -> UserRow {
    UserRow(
      activities: list {
        DeviceActivity(
          deviceId: $0.text(), state: $0.choice(), conversationId: $0.maybe { $0.text() }, stamp: $0.stamp(),
          personAt: $0.maybe { $0.integer() }, tabId: $0.maybe { $0.text() })
      },
      window: maybe { AnalysisWindow(startedAt: $0.integer(), used: $0.int()) }, noticedWindow: maybe { $0.integer() },
      unreadConversations: int(), unreadMessages: int(), toldBadge: maybe { $0.int() }, devices: list { $0.text() },
      hasTaught: flag() ? true : nil, conversations: maybe { $0.int() }, badgeRaisedAt: maybe { $0.integer() },
      badgeDueAt: maybe { $0.integer() }, catchUpAt: maybe { $0.integer() }, hasMissed: flag() ? true : nil,
      spentAlerts: maybe { SpentAlerts(day: $0.int(), used: $0.list { $0.int() }) },
      erasedUpTo: maybe { $0.integer() }, policyBadgeMode: flag() ? .messages : nil)
  }

  fileprivate mutating func missedRow() -> MissedRow {
    MissedRow(
      group: maybe { $0.text() },
      entries: list {
        MissedRow.Entry(
          key: MessageKey($0.text()), place: $0.place(), rank: $0.int(), alerts: $0.flag(),
          line: $0.maybe {
            MissedRow.Line(
              messageId: $0.text(), sender: $0.text(), text: $0.text(), senderId: $0.maybe { $0.text() },
              avatarUrl: $0.maybe { $0.text() })
          },
          late: $0.maybe {
            MissedRow.Late(
              missedBy: UInt32(truncatingIfNeeded: $0.integer()), devices: $0.int(), until: $0.integer())
          })
      }, older: int(), olderUpTo: maybe { $0.place() }, olderAlerts: flag())
  }

  fileprivate mutating func toldRow() -> ToldRow {
    ToldRow(
      pushId: text(), toldAt: integer(), messages: int(), conversations: int(), keys: list { MessageKey($0.text()) },
      lines: list {
        ToldRow.Line(
          key: MessageKey($0.text()), conversationId: $0.text(), messageId: $0.text(), title: $0.text(), text: $0.text()
        )
      })
  }

  fileprivate mutating func escalationsRow() -> EscalationsRow {
    EscalationsRow(
      entries: list {
        EscalationsRow.Entry(
          key: MessageKey($0.text()), conversationId: $0.text(), place: $0.place(), reason: $0.choice(),
          step: $0.choice(), due: $0.integer(), pushedAt: $0.integer(), pushedAgainAt: $0.maybe { $0.integer() })
      }, timerAt: maybe { $0.integer() })
  }

  fileprivate mutating func learned() -> LearnedPreferences {
    LearnedPreferences(
      entries: list {
        LearnedPreferences.Entry(subject: $0.choice(), key: $0.integer(), shift: $0.int(), at: $0.integer())
      })
  }

  fileprivate mutating func conversationRow() -> PersonConversationRow {
    var row = PersonConversationRow()
    row.lastOrigin = maybe {
      Origin(
        topic: $0.text(), partition: $0.int32(), offset: $0.integer(), index: $0.maybe { $0.int32() },
        generation: $0.maybe { max(1, $0.int32() & .max) })
    }
    row.olderUnread = random.below(1_000)
    for message in list({
      RecentMessage(
        key: MessageKey($0.text()), place: $0.place(),
        marks: RecentMessage.Marks(rawValue: UInt8($0.random.below(128))),
        sender: $0.maybe { [$0.integer(), 17, -4].randomElement(using: &$0.random)! },
        judged: $0.maybe {
          RecentMessage.Judged(
            sender: [$0.integer(), 17, -4].randomElement(using: &$0.random)!, score: Int16($0.random.below(1_001)))
        }, heldBack: $0.maybe { HeldBackReason.allCases[$0.random.below(HeldBackReason.allCases.count)] })
    }) {
      row.add(message)
    }
    row.forgottenUpTo = maybe { $0.place() }
    row.readUpTo = maybe { $0.place() }
    row.readAhead = maybe {
      ReadAhead(key: MessageKey($0.text()), stamp: $0.stamp(), waitsUntil: $0.maybe { $0.integer() })
    }
    row.withdrawnUpTo = maybe { $0.integer() }
    row.deleted = maybe {
      DeletedMessages(
        known: $0.list { .init(key: MessageKey($0.text()), writtenBy: $0.integer()) },
        unknownUpTo: $0.maybe { $0.integer() })
    }
    row.older = list {
      OlderMessage(key: MessageKey($0.text()), place: $0.place(), isShown: $0.flag())
    }
    row.pages = maybe {
      OlderPages(first: $0.random.below(9), next: 9 + $0.random.below(9), count: $0.random.below(300))
    }
    row.seen = list { MessageKey($0.text()).short }
    let edits = list {
      MessageEdit(key: MessageKey($0.text()), stamp: $0.stamp(), text: $0.maybe { MessageEdit.short($0.text()) })
    }
    row.edits = edits.isEmpty ? nil : edits
    row.burst = maybe { Burst(alertedAt: $0.integer(), heldBack: $0.int(), rank: $0.maybe { $0.int() }) }
    row.holds = list {
      Hold(key: MessageKey($0.text()), place: $0.place(), due: $0.integer(), kind: $0.choice())
    }
    row.lastWord = maybe {
      let time = $0.integer()
      return LastWord(at: time < 0 ? ~time : time, isUnhelpful: time >= 0)
    }
    row.holdTimerAt = maybe { $0.integer() }
    row.late = maybe {
      LateMessages(
        told: $0.list { MessageKey($0.text()) }, edited: $0.list { MessageKey($0.text()) })
    }
    row.recount()
    return row
  }

  fileprivate mutating func olderRow() -> OlderMessagesRow {
    OlderMessagesRow(
      messages: list { OlderMessage(key: MessageKey($0.text()), place: $0.place(), isShown: $0.flag()) })
  }

  fileprivate mutating func heldRow() -> HeldMessageRow {
    let context = RecipientContext(
      mentioned: flag(), named: flag(), answered: flag(), lastSpokeAt: maybe { $0.integer() },
      messagesSince: maybe { $0.int() }, exchange: int(), features: maybe { $0.text() })
    let recipient = Recipient(userId: text(), context: context)
    let sender = Member(userId: text(), displayName: text(), avatarUrl: maybe { $0.text() })
    let conversation = CandidateConversation(
      kind: choice(), name: maybe { $0.text() }, memberCount: int(), activeSpeakers: int(),
      features: maybe { $0.text() })
    return HeldMessageRow(
      MessageCandidate(
        conversationId: text(), messageId: text(), sender: sender, conversation: conversation, title: text(),
        body: text(),
        attachment: maybe { fields in Attachment(kind: fields.choice(), url: fields.maybe { $0.text() }) },
        replyTo: maybe { $0.text() }, recipients: [recipient]),
      for: recipient, sentAt: integer(), heldAt: integer(),
      source: RecordPosition(topic: text(), partition: int32(), offset: integer()),
      headers: list { HeldMessageRow.Header(name: $0.text(), value: Array($0.text().utf8)) },
      analysis: maybe {
        AnalysisUse(
          used: $0.int(), limit: $0.int(), windowStartedAt: $0.maybe { $0.integer() },
          fallback: $0.maybe { $0.choice() })
      }, pushedTo: flag() ? list { $0.text() } : [])
  }

  fileprivate mutating func preferencesRow() -> PreferencesRow {
    // Some fields are set by one event, some by events of their own.
    let common = stamp()
    func stamped<Value>(
      _ fields: inout FieldGenerator, _ value: (inout FieldGenerator) -> Value
    ) -> Stamped<Value>? {
      fields.maybe { Stamped(value: value(&$0), stamp: $0.random.oneIn(2) ? common : $0.stamp()) }
    }
    var row = PreferencesRow()
    row.enabled = stamped(&self) { $0.flag() }
    row.quietHours = stamped(&self) {
      $0.maybe { QuietHours(start: $0.text(), end: $0.text(), timeZone: $0.maybe { $0.text() }) }
    }
    row.maxAnalysesPerHour = stamped(&self) { $0.int() }
    row.fallback = stamped(&self) { $0.choice() }
    row.muted = stamped(&self) {
      $0.list {
        MutedConversation(
          conversationId: $0.text(), until: $0.maybe { $0.integer() }, exceptMentions: $0.maybe { $0.flag() })
      }
    }
    row.starredSenders = stamped(&self) { $0.list { $0.text() } }
    row.keywords = stamped(&self) { $0.list { $0.text() } }
    row.badgeMode = stamped(&self) { $0.choice() }
    row.showPreviews = stamped(&self) { $0.flag() }
    row.locale = stamped(&self) { $0.text() }
    row.learnSince = stamped(&self) { $0.integer() }
    row.burstSeconds = stamped(&self) { $0.int() }
    row.directLevel = stamped(&self) { $0.choice() }
    row.groupLevel = stamped(&self) { $0.choice() }
    row.conversationLevels = stamped(&self) {
      $0.list { KeyedLevel(conversation: MessageKey($0.text()), level: $0.choice()) }
    }
    row.mutedSenders = stamped(&self) { $0.list { MessageKey($0.text()) } }
    row.digestTimes = stamped(&self) { $0.maybe { $0.list { $0.text() } } }
    row.timeZone = stamped(&self) { $0.text() }
    row.dailyAlerts = stamped(&self) { $0.maybe { $0.int() } }
    let elements = list {
      ListedElement(
        list: $0.choice(), key: MessageKey($0.text()), stamp: $0.random.oneIn(2) ? common : $0.stamp(),
        isRemoved: $0.flag())
    }
    if !elements.isEmpty { row.elements = elements }
    return row
  }

  fileprivate mutating func receiptsRow() -> DeviceReceiptsRow {
    DeviceReceiptsRow(
      pushes: list {
        DeviceReceiptsRow.Known(
          pushId: $0.text(), conversation: MessageKey($0.text()), messageAt: $0.integer(), sentAt: $0.integer(),
          states: DeviceReceiptsRow.States(rawValue: UInt8(1 + $0.random.below(15))))
      },
      reads: list { DeviceReceiptsRow.ReadElsewhere(conversation: MessageKey($0.text()), upTo: $0.integer()) },
      forgottenUpTo: maybe { $0.integer() })
  }

  fileprivate mutating func deviceRow() -> PersonDeviceRow {
    PersonDeviceRow(
      token: maybe { $0.text() },
      webPush: maybe { WebPushSubscription(endpoint: $0.text(), p256dh: $0.text(), auth: $0.text()) },
      sealing: maybe { SealingKeys(p256dh: $0.text(), auth: $0.text()) }, tokenHash: text(), version: integer(),
      platform: choice(),
      projectId: maybe { $0.text() }, appVersion: maybe { $0.text() }, locale: maybe { $0.text() },
      registeredAt: integer(), lastSeenAt: integer(), timerAt: maybe { $0.integer() },
      aliveAt: maybe { $0.integer() }, renders: maybe { $0.flag() }, stamp: stamp())
  }
}
