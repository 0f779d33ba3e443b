public import NudgeCodec
import NudgeSchema

extension EventMemoryRow: PackedRow {
  /// The row's name in errors.
  public static let name: StaticString = "events"
  /// Version 2 has the senders, 3 the events' marks, 4 the number of rows with writers.
  public static var versions: RowVersions { RowVersions(4) }

  public init(packed row: inout RowReader) throws(RowFormatError) {
    self.init()
    var flags = RowFlags(bits: try row.unsigned())
    if flags.take() { horizon = try row.signed() }
    let hasSenders = flags.take()
    let hasOthers = flags.take()
    if flags.take() { writerRows = Int(try row.signed()) }
    for _ in 0..<(try row.count()) { archives.append(Int(try row.signed())) }
    recent = try row.events(withMarks: row.version >= 3)
    guard hasSenders else {
      forgetSenders()
      return
    }
    if hasOthers { senders.othersUpTo = try row.signed() }
    for _ in 0..<(try row.count()) {
      let hash = Int64(bitPattern: try row.fixed())
      senders.senders.append(SenderClocks.Sender(hash: hash, latest: try row.signed(), lead: try row.signed()))
    }
  }

  public func pack(into row: inout RowWriter) {
    var flags = RowFlags()
    flags.add(horizon != nil)
    flags.add(true)
    flags.add(senders.othersUpTo != nil)
    flags.add(writerRows > 0)
    row.unsigned(flags.bits)
    if let horizon { row.signed(horizon) }
    if writerRows > 0 { row.signed(writerRows) }
    row.count(archives.count)
    for number in archives { row.signed(number) }
    row.events(recent)
    if let othersUpTo = senders.othersUpTo { row.signed(othersUpTo) }
    row.count(senders.senders.count)
    for sender in senders.senders {
      row.fixed(UInt64(bitPattern: sender.hash))
      row.signed(sender.latest)
      row.signed(sender.lead)
    }
  }
}

extension EventArchiveRow: PackedRow {
  /// The row's name in errors.
  public static let name: StaticString = "event archive"
  /// Version 2 has the events' marks.
  public static var versions: RowVersions { RowVersions(2) }

  public init(packed row: inout RowReader) throws(RowFormatError) {
    self.init(events: try row.events(withMarks: row.version >= 2))
  }

  public func pack(into row: inout RowWriter) { row.events(events) }
}

extension RowWriter {
  /// Events in the order given, their times as what they are after the one before. Marks are few: each is written once, in front.
  fileprivate mutating func events(_ events: [RememberedEvent]) {
    var places: [EventMark: Int] = [:]
    var marks: [EventMark] = []
    for event in events where places[event.mark] == nil {
      places[event.mark] = marks.count
      marks.append(event.mark)
    }
    count(marks.count)
    for mark in marks { fixed(mark.bits) }
    count(events.count)
    var occurredAt: Milliseconds = 0
    for event in events {
      signed(event.occurredAt &- occurredAt)
      occurredAt = event.occurredAt
      fixed(UInt64(bitPattern: event.hash))
      unsigned(UInt64(places[event.mark] ?? 0) << 1 | (event.message == 0 ? 0 : 1))
      if event.message != 0 { fixed(event.message) }
    }
  }
}

extension RowReader {
  fileprivate mutating func events(withMarks: Bool) throws(RowFormatError) -> [RememberedEvent] {
    var marks: [EventMark] = []
    if withMarks { for _ in 0..<(try self.count()) { marks.append(EventMark(bits: try fixed())) } }
    let count = try count()
    var events: [RememberedEvent] = []
    events.reserveCapacity(count + 1)
    var occurredAt: Milliseconds = 0
    for _ in 0..<count {
      occurredAt &+= try signed()
      var event = RememberedEvent(occurredAt: occurredAt, hash: Int64(bitPattern: try fixed()))
      if withMarks {
        let place = try unsigned()
        guard place >> 1 < UInt64(marks.count) else { throw error("an event has a mark that is not there") }
        event.mark = marks[Int(place >> 1)]
        if place & 1 == 1 { event.message = try fixed() }
      }
      events.append(event)
    }
    return events
  }
}
