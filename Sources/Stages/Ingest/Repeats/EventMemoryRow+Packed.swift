public import NudgeCodec
import NudgeSchema

extension EventMemoryRow: PackedRow {
  /// The row's name in errors.
  public static let name: StaticString = "events"
  /// Version 2 has the senders.
  public static var version: UInt8 { 2 }

  public init(packed row: inout RowReader) throws(RowFormatError) {
    self.init()
    var flags = RowFlags(bits: try row.unsigned())
    if flags.take() { horizon = try row.signed() }
    let hasSenders = flags.take()
    let hasOthers = flags.take()
    for _ in 0..<(try row.count()) { archives.append(Int(try row.signed())) }
    recent = try row.events()
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
    row.unsigned(flags.bits)
    if let horizon { row.signed(horizon) }
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

  public init(packed row: inout RowReader) throws(RowFormatError) { self.init(events: try row.events()) }

  public func pack(into row: inout RowWriter) { row.events(events) }
}

extension RowWriter {
  /// Events in the order given, their times as what they are after the one before.
  fileprivate mutating func events(_ events: [RememberedEvent]) {
    count(events.count)
    var occurredAt: Milliseconds = 0
    for event in events {
      signed(event.occurredAt &- occurredAt)
      occurredAt = event.occurredAt
      fixed(UInt64(bitPattern: event.hash))
    }
  }
}

extension RowReader {
  fileprivate mutating func events() throws(RowFormatError) -> [RememberedEvent] {
    let count = try count()
    var events: [RememberedEvent] = []
    events.reserveCapacity(count + 1)
    var occurredAt: Milliseconds = 0
    for _ in 0..<count {
      occurredAt &+= try signed()
      events.append(RememberedEvent(occurredAt: occurredAt, hash: Int64(bitPattern: try fixed())))
    }
    return events
  }
}
