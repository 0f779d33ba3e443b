import NudgeCodec
import NudgeSchema
import TestSupport
import Testing

@testable import Ingest

@Suite("State: the format of ingest's rows")
struct RowFormatTests {
  @Test(
    "every row comes back as it was, packed and as JSON written before; a part of one, or more than one, is refused")
  func rows() throws {
    var fields = FieldGenerator(SeededGenerator(announcedFor: "rows"))
    for number in 0..<60 {
      fields.isFull = number == 0
      let conversation = fields.conversationRow()
      let member = MemberRow(
        stamp: fields.maybe { $0.stamp() }, takesPart: fields.flag(), displayName: fields.maybe { $0.text() },
        avatarUrl: fields.maybe { $0.text() })
      var events = EventMemoryRow()
      events.horizon = fields.maybe { $0.integer() }
      events.recent = fields.list { $0.event() }
      events.archives = fields.list { $0.int() }
      let archive = EventArchiveRow(events: fields.list { $0.event() })
      let device = DeviceRow(tokenHash: fields.maybe { $0.text() }, stamp: fields.stamp())
      let owner = OwnerRow(
        owner: fields.maybe { OwnerRow.Owner(userId: $0.text(), deviceId: $0.text()) }, stamp: fields.stamp(),
        version: fields.integer())
      if fields.isFull {
        let all: [any Sendable] = [conversation, member, events, archive, device, owner]
        #expect(FieldWalk.emptyFields(of: all) == [])
      }
      try expectAlike(conversation)
      try expectAlike(member)
      try expectAlike(events)
      try expectAlike(archive)
      try expectAlike(device)
      try expectAlike(owner)
    }
  }

  private func expectAlike<Row: PackedRow & Equatable>(_ row: Row) throws {
    let read = try PackedRows(row)
    #expect(read.packed == row && read.json == row && read.truncated.isEmpty && read.refusesMore)
  }
}

extension FieldGenerator {
  fileprivate mutating func stamp() -> EventStamp { EventStamp(occurredAt: integer(), eventId: text()) }

  fileprivate mutating func event() -> RememberedEvent { RememberedEvent(occurredAt: integer(), hash: integer()) }

  fileprivate mutating func conversationRow() -> ConversationRow {
    var row = ConversationRow()
    row.kind = maybe { $0.choice() }
    row.name = maybe { $0.text() }
    row.snapshot = maybe { $0.stamp() }
    row.floor = maybe { $0.stamp() }
    row.memberCount = int()
    row.removedCount = random.below(100)
    row.version = integer()
    row.turns = list {
      Turn(userId: $0.text(), at: $0.integer(), messageId: $0.text(), addressed: $0.list { $0.text() })
    }
    return row
  }
}
