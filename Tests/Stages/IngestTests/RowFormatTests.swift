import NudgeCodec
import NudgeSchema
import Relevance
import StreamRuntime
import TestSupport
import Testing

@testable import Ingest

@Suite("State: the format of ingest's rows")
struct RowFormatTests {
  @Test(
    "every row comes back as it was, packed; one as JSON, a part of one and more than one are refused")
  func rows() throws {
    var fields = FieldGenerator(SeededGenerator(announcedFor: "rows"))
    for number in 0..<60 {
      fields.isFull = number == 0
      let rows = fields.rows()
      if fields.isFull { #expect(FieldWalk.emptyFields(of: rows.filter { !($0 is SweepRow) }) == []) }
      for row in rows { #expect(try comesBack(row)) }
    }
  }

  @Test("each field of a row is in the row's list")
  func listedFields() throws {
    var fields = FieldGenerator(SeededGenerator(seed: 1), isFull: true)
    var listed = ListedFields()
    for _ in 0..<20 {
      for row in fields.rows() { try listed.take(row) }
    }
    #expect(listed.missing == [])
  }

  @Test("rows of the last release are read, and no row is written in a version that it cannot read")
  func goldenRows() throws {
    var fields = FieldGenerator(SeededGenerator(seed: 1))
    var samples: [any PackedRow] = []
    for number in 0..<2 {
      fields.isFull = number == 0
      samples.append(fields.conversationRow())
      samples.append(
        MemberRow(
          stamp: fields.maybe { $0.stamp() }, takesPart: fields.flag(), displayName: fields.maybe { $0.text() },
          avatarUrl: fields.maybe { $0.text() }))
      var events = EventMemoryRow()
      events.horizon = fields.maybe { $0.integer() }
      events.recent = fields.list { $0.event() }
      events.archives = fields.list { $0.int() }
      samples.append(events)
      samples.append(EventArchiveRow(events: fields.list { $0.event() }))
      var writers = WritersRow()
      for event in fields.list({ $0.event() }) { writers.add(event) }
      samples.append(writers)
      samples.append(RegistrationRow(tokenHash: fields.maybe { $0.text() }, stamp: fields.stamp()))
      samples.append(
        OwnerRow(
          owner: fields.maybe { OwnerRow.Owner(userId: $0.text(), deviceId: $0.text()) }, stamp: fields.stamp(),
          version: fields.integer()))
      samples.append(
        FanOutRow(
          event: fields.text(),
          headers: fields.list { FanOutRow.Header(name: $0.text(), value: Array($0.text().utf8)) },
          after: fields.maybe { $0.text() }, nextIndex: Int32(fields.random.below(100)),
          passedOver: fields.list { $0.text() }))
    }
    #expect(try GoldenRows("ingest").faults(samples: samples) == [])
  }

  @Test("the last messages of a conversation's row as it was before there was a memory of the talk are taken over")
  func formerTurns() throws {
    var former = RowWriter(version: 1)
    former.unsigned(0)
    for number in [3, 0, 7] { former.signed(number) }
    former.count(2)
    for (userId, messageId, after, addressed) in [("ann", "m1", 5_000, []), ("bob", "m2", 60, ["ann", "cid"])] {
      former.text(userId)
      former.text(messageId)
      former.signed(after)
      former.count(addressed.count)
      for person in addressed { former.text(person) }
    }
    let packed = try former.bytes.withUnsafeBytes { try ConversationRow(bytes: $0) }
    #expect(packed.memberCount == 3 && packed.version == 7)
    #expect(packed.talk.sender(of: "m2") == "bob" && packed.talk.messages.map(\.at) == [5_000, 5_060])
    #expect(packed.talk.people == ["ann", "bob", "cid"])
  }

  @Test("M6: events of a row without marks, of an earlier release, are repeats by their ids alone")
  func formerEvents() throws {
    var archive = RowWriter(version: 1)
    archive.count(1)
    archive.signed(7)
    archive.fixed(UInt64(bitPattern: RememberedEvent.hash(of: "old")))
    var memory = RowWriter(version: 2)
    memory.unsigned(2)
    memory.count(1)
    memory.signed(0)
    memory.count(1)
    memory.signed(7)
    memory.fixed(UInt64(bitPattern: RememberedEvent.hash(of: "older")))
    memory.count(0)
    let pipeline = IngestPipeline()
    pipeline.driver.load(
      [(RowKey("e", "c", "c"), memory.bytes), (RowKey("e", "c", "c", "0"), archive.bytes)], partition: 0)
    try pipeline.group(["ann", "ben"])
    for id in ["old", "older"] {
      let result = try pipeline.message("c", id, from: "ann", envelope: pipeline.envelope(id))
      #expect(result.outputs.isEmpty && result.rejection == nil)
    }
    #expect(try pipeline.message("c", "new", from: "ann", envelope: pipeline.envelope("new")).outputs.count == 2)
    let rows = [RowKey("e", "c", "c"), RowKey("e", "c", "c", "0")]
    for row in rows { #expect(try pipeline.driver.row(row) != nil) }
  }
}

extension FieldGenerator {
  /// A row of each kind.
  fileprivate mutating func rows() -> [any PackedRow & PackedFields & Equatable & Sendable] {
    let conversation = conversationRow()
    let member = MemberRow(
      stamp: maybe { $0.stamp() }, takesPart: flag(), displayName: maybe { $0.text() },
      avatarUrl: maybe { $0.text() })
    var events = EventMemoryRow()
    events.horizon = maybe { $0.integer() }
    events.recent = list { $0.event() }
    events.archives = list { $0.int() }
    events.writerRows = 1 + random.below(100)
    events.senders.othersUpTo = maybe { $0.integer() }
    events.senders.senders = list {
      SenderClocks.Sender(hash: $0.integer(), latest: $0.integer(), lead: $0.integer())
    }
    let archive = EventArchiveRow(events: list { $0.event() })
    var writers = WritersRow()
    for event in list({ $0.event() }) { writers.add(event) }
    let device = RegistrationRow(tokenHash: maybe { $0.text() }, stamp: stamp())
    let owner = OwnerRow(
      owner: maybe { OwnerRow.Owner(userId: $0.text(), deviceId: $0.text()) }, stamp: stamp(),
      version: integer(), timerAt: maybe { $0.integer() })
    let erasure = ErasureRow(stamp: stamp(), isRestored: flag())
    let sweep = SweepRow(
      flag()
        ? .person(userId: text()) : flag() ? .conversation(conversationId: text()) : .pass,
      after: maybe { Array($0.text().utf8) }, pass: integer(), envelope: stamp(),
      cause: Origin(
        topic: text(), partition: 3, offset: integer(), index: maybe { $0.int32() },
        generation: maybe { max(1, $0.int32() & .max) }), nextIndex: 7)
    let fanOut = FanOutRow(
      event: text(),
      headers: list { FanOutRow.Header(name: $0.text(), value: Array($0.text().utf8)) },
      after: maybe { $0.text() }, nextIndex: Int32(random.below(100)),
      passedOver: list { $0.text() })
    return [conversation, member, events, archive, writers, device, owner, fanOut, erasure, sweep]
  }

  fileprivate mutating func stamp() -> EventStamp { EventStamp(occurredAt: integer(), eventId: text()) }

  fileprivate mutating func event() -> RememberedEvent {
    RememberedEvent(
      occurredAt: integer(), hash: integer(),
      mark: EventMark(.messageCreated, sender: random.below(2) == 0 ? "ann" : text(), byUser: flag()),
      message: UInt64(random.below(2)) * UInt64(bitPattern: integer()))
  }

  fileprivate mutating func conversationRow() -> ConversationRow {
    var row = ConversationRow()
    row.kind = maybe { $0.choice() }
    row.name = maybe { $0.text() }
    row.snapshot = maybe { $0.stamp() }
    row.floor = maybe { $0.stamp() }
    row.earlyEdits = list {
      EarlyEdit(key: UInt64(bitPattern: $0.integer()), stamp: $0.stamp(), text: $0.text())
    }
    row.memberCount = int()
    row.removedCount = random.below(100)
    row.version = integer()
    // A full row has more messages than are remembered whole, of few people with short ids.
    let people = ["é", "漢字", "p3"]
    for _ in 0..<(isFull ? RecentTalk.capacity + 3 : random.below(4)) {
      var text = TextTraits()
      text.length = UInt16(random.below(65_536))
      text.isQuestion = flag()
      text.words = list { UInt16($0.random.below(65_535) + 1) }
      row.talk.append(
        text, from: isFull ? people[random.below(3)] : self.text(), at: integer(), messageId: self.text(),
        addressed: isFull ? people : list { $0.text() }, partner: isFull ? people[0] : maybe { $0.text() })
    }
    return row
  }
}
