import NudgeCodec
import NudgeSchema
import StreamRuntime
import TestSupport
import Testing

@testable import Analyzer

@Suite("State: the format of the analyzer's rows")
struct RowFormatTests {
  @Test(
    "every row comes back as it was, packed and as JSON written before; a part of one, or more than one, is refused")
  func rows() throws {
    var fields = FieldGenerator(SeededGenerator(announcedFor: "rows"))
    for number in 0..<60 {
      fields.isFull = number == 0
      let (user, conversation, device) = (fields.userRow(), fields.conversationRow(), fields.deviceRow())
      if fields.isFull {
        #expect(FieldWalk.emptyFields(of: [user, conversation, device] as [any Sendable]) == [])
      }
      let users = try PackedRows(user)
      #expect(users.packed == user && users.json == user && users.truncated.isEmpty && users.refusesMore)
      let conversations = try PackedRows(conversation)
      #expect(conversations.packed == conversation && conversations.json == conversation)
      #expect(conversations.truncated.isEmpty && conversations.refusesMore)
      let replay = ReplayRow(isStopped: fields.isFull || fields.random.oneIn(2), notifications: fields.int())
      let replays = try PackedRows(replay)
      #expect(replays.packed == replay && replays.json == replay && replays.truncated.isEmpty && replays.refusesMore)
      let devices = try PackedRows(device)
      #expect(devices.packed == device && devices.json == device && devices.truncated.isEmpty && devices.refusesMore)
    }
  }

  @Test("a person's row of version 1, which knows no told badge, is read")
  func version1() throws {
    // Written by hand: no flags, two conversations and three messages unread, one device, no activity.
    let bytes: [UInt8] = [1, 0, 4, 6, 1, 5] + Array("phone".utf8) + [0]
    let row = try bytes.withUnsafeBytes { try UserRow(bytes: $0, coder: RecordCoder()) }
    #expect(row == UserRow(unreadConversations: 2, unreadMessages: 3, devices: ["phone"]))
    #expect(row.packed() == [2] + bytes.dropFirst())
  }

  @Test("a conversation of ordinary messages takes some 15 bytes a message")
  func size() throws {
    let scene = try Scene.withPhone()
    for number in 0..<100 { try scene.message("message-\(number)", at: noon + Int64(number) * 30 * second) }
    let row = try #require(try scene.driver.row(AnalyzerRow.conversationKey("ann", "c1")))
    #expect(try row.encoded(coder: RecordCoder()).count < 15 * ConversationRow.maxRecent)
  }

  @Test("a row of a later version stops the reader and says so")
  func laterVersion() {
    let error = #expect(throws: (any Error).self) {
      try [UInt8]([9, 1, 2]).withUnsafeBytes {
        try AnalyzerRow(key: AnalyzerRow.userKey("ann"), bytes: $0, coder: RecordCoder())
      }
    }
    #expect(error.map { "\($0)" }?.contains("later") == true)
  }
}

extension FieldGenerator {
  fileprivate mutating func stamp() -> EventStamp { EventStamp(occurredAt: integer(), eventId: text()) }

  fileprivate mutating func place() -> MessagePlace {
    MessagePlace(at: integer(), order: OriginOrder(offset: integer(), index: int32()))
  }

  fileprivate mutating func userRow() -> UserRow {
    UserRow(
      activities: list {
        DeviceActivity(
          deviceId: $0.text(), state: $0.choice(), conversationId: $0.maybe { $0.text() }, stamp: $0.stamp())
      }, written: maybe { WrittenMessage(conversationId: $0.text(), stamp: $0.stamp()) },
      window: maybe { AnalysisWindow(startedAt: $0.integer(), used: $0.int()) }, noticedWindow: maybe { $0.integer() },
      unreadConversations: int(), unreadMessages: int(), toldBadge: maybe { $0.int() }, devices: list { $0.text() })
  }

  fileprivate mutating func conversationRow() -> ConversationRow {
    var row = ConversationRow()
    row.lastOrigin = maybe {
      Origin(topic: $0.text(), partition: $0.int32(), offset: $0.integer(), index: $0.maybe { $0.int32() })
    }
    row.olderUnread = random.below(1_000)
    for message in list({
      RecentMessage(
        key: MessageKey($0.text()), place: $0.place(),
        marks: RecentMessage.Marks(rawValue: UInt8($0.random.below(16))))
    }) {
      row.add(message)
    }
    row.forgottenUpTo = maybe { $0.place() }
    row.settledUpTo = maybe { $0.place() }
    row.readUpTo = maybe { $0.place() }
    row.readAhead = maybe { ReadAhead(key: MessageKey($0.text()), stamp: $0.stamp()) }
    row.withdrawnUpTo = maybe { $0.integer() }
    row.recount()
    return row
  }

  fileprivate mutating func deviceRow() -> DeviceRow {
    DeviceRow(
      token: maybe { $0.text() }, tokenHash: text(), version: integer(), platform: choice(),
      projectId: maybe { $0.text() }, appVersion: maybe { $0.text() }, locale: maybe { $0.text() },
      registeredAt: integer(), lastSeenAt: integer(), timerAt: maybe { $0.integer() }, stamp: stamp())
  }
}
