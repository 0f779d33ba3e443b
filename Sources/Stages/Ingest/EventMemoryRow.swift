public import NudgeCodec
public import NudgeSchema
import ServiceKit

/// The identity behind an event id: its type, its sender where that is part of the event, and whether it came with a user's token.
public struct EventMark: Sendable, Hashable, Encodable {
  /// 0: unknown, in rows of earlier releases. Else bit 0 is set, bit 1 says that a user's token sent it, the rest is a hash.
  public internal(set) var bits: UInt64

  static let unknown = EventMark(bits: 0)

  init(bits: UInt64) { self.bits = bits }

  /// - Parameter sender: The sender, where the event names one. The hash is SHA-256, so that nobody finds a name that passes for another's.
  init(_ type: EventType, sender: String?, byUser: Bool) {
    let hash =
      sender.map { sender in
        SHA256Digest.of(Array("\(type.rawValue)\0\(sender)".utf8)).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      } ?? FNV1a.hash(type.rawValue)
    bits = hash & ~3 | (byUser ? 2 : 0) | 1
  }

  var isUnknown: Bool { bits == 0 }
  var isByUser: Bool { bits & 2 != 0 }

  /// Whether type and sender are the same, whoever sent it.
  func isSame(as other: EventMark) -> Bool { bits | 2 == other.bits | 2 }
}

/// An event that was processed: its time and a 64-bit hash of its id.
public struct RememberedEvent: Sendable, Equatable, Comparable, Encodable {
  /// When the event happened, or when ingest took it if that was earlier.
  public var occurredAt: Milliseconds
  /// FNV-1a of the event id's bytes. Two ids of one conversation share it with a probability of about 2^-64.
  public var hash: Int64
  /// Its type and sender.
  public var mark = EventMark.unknown
  /// FNV-1a of the id of the message that the event creates. 0 if it creates none.
  public var message: UInt64 = 0

  /// FNV-1a of an id's bytes.
  static func hash(of id: String) -> Int64 { Int64(bitPattern: FNV1a.hash(id)) }

  /// Whether `a` happened first.
  public static func < (a: RememberedEvent, b: RememberedEvent) -> Bool {
    (a.occurredAt, a.hash) < (b.occurredAt, b.hash)
  }
}

/// The newest events of a conversation or a person.
public struct EventMemoryRow: Sendable, Equatable, Encodable {
  /// The time of the latest event that was forgotten. Absent if none was.
  public internal(set) var horizon: Milliseconds?
  /// The newest events, in no particular order.
  public internal(set) var recent: [RememberedEvent] = []
  /// The numbers of the archive rows, oldest first.
  public internal(set) var archives: [Int] = []
  /// Rows with writers of older messages that were begun so far; the last of them are kept.
  public internal(set) var writerRows = 0
  /// The senders of the latest events.
  public internal(set) var senders = SenderClocks()

  /// A row written before senders were kept: any sender may have sent what was forgotten.
  mutating func forgetSenders() { senders.othersUpTo = horizon }
}

/// Older events of a conversation or a person.
public struct EventArchiveRow: Sendable, Equatable, Encodable {
  /// The events, in no order.
  public internal(set) var events: [RememberedEvent]
}

extension EventMemoryRow: PackedRow, PackedFields {
  /// The row's name in errors.
  public static let name: StaticString = "events"
  /// Version 2 has the senders, 3 the events' marks, 4 the number of rows with writers.
  public static var versions: RowVersions { RowVersions(4) }
  public static var blank: Self { Self() }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.flags()
    try row.optional(&horizon)
    let hasSenders = row.flag(true)
    let hasOthers = row.flag(senders.othersUpTo != nil)
    if row.flag(writerRows > 0) { try row.field(&writerRows) }
    try row.field(&archives)
    try row.field(&recent, as: EventsForm(hasMarks: row.version >= 3))
    guard hasSenders else { return forgetSenders() }
    try row.field(&senders.othersUpTo, if: hasOthers)
    try row.field(&senders.senders)
  }
}

extension SenderClocks.Sender: PackedFields {
  static var blank: Self { Self(hash: 0, latest: 0, lead: 0) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&hash, as: FixedForm())
    try row.field(&latest)
    try row.field(&lead)
  }
}

extension EventArchiveRow: PackedRow, PackedFields {
  /// The row's name in errors.
  public static let name: StaticString = "event archive"
  /// Version 2 has the events' marks.
  public static var versions: RowVersions { RowVersions(2) }
  public static var blank: Self { Self(events: []) }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&events, as: EventsForm(hasMarks: row.version >= 2))
  }
}

/// Events in the order given, their times as what they are after the one before. Marks are few: each is written once, in front.
private struct EventsForm: PackedForm {
  /// Rows of earlier versions have none.
  var hasMarks: Bool

  func write(_ events: [RememberedEvent], into row: inout RowWriter) {
    var places: [EventMark: Int] = [:]
    var marks: [EventMark] = []
    for event in events where places[event.mark] == nil {
      places[event.mark] = marks.count
      marks.append(event.mark)
    }
    row.count(marks.count)
    for mark in marks { row.fixed(mark.bits) }
    row.count(events.count)
    var occurredAt: Milliseconds = 0
    for event in events {
      row.signed(event.occurredAt &- occurredAt)
      occurredAt = event.occurredAt
      row.fixed(UInt64(bitPattern: event.hash))
      row.unsigned(UInt64(places[event.mark] ?? 0) << 1 | (event.message == 0 ? 0 : 1))
      if event.message != 0 { row.fixed(event.message) }
    }
  }

  func read(from row: inout RowReader) throws(RowFormatError) -> [RememberedEvent] {
    var marks: [EventMark] = []
    if hasMarks { for _ in 0..<(try row.count()) { marks.append(EventMark(bits: try row.fixed())) } }
    let count = try row.count()
    var events: [RememberedEvent] = []
    events.reserveCapacity(count + 1)
    var occurredAt: Milliseconds = 0
    for _ in 0..<count {
      occurredAt &+= try row.signed()
      var event = RememberedEvent(occurredAt: occurredAt, hash: Int64(bitPattern: try row.fixed()))
      if hasMarks {
        let place = try row.unsigned()
        guard place >> 1 < UInt64(marks.count) else { throw row.error("an event has a mark that is not there") }
        event.mark = marks[Int(place >> 1)]
        if place & 1 == 1 { event.message = try row.fixed() }
      }
      events.append(event)
    }
    return events
  }
}

/// The authors of older messages of a conversation, for answers and edits: 5 bytes a message.
public struct WritersRow: Sendable, Equatable, Encodable {
  /// Messages of a row: it has at most 7 kB.
  static let limit = 512
  /// Rows of a conversation. With more the oldest is overwritten.
  static let maxRows = 8

  /// When the last of them was written.
  public internal(set) var upTo: Milliseconds = 0
  /// The different writers.
  var marks: [UInt64] = []
  /// In the order in which they came.
  var messages = Messages()

  struct Messages: Sendable, Equatable, Encodable {
    /// Stand for the messages' ids.
    var keys: [UInt32] = []
    /// The index of each message's writer.
    var writers: [Int] = []
  }

  var count: Int { messages.keys.count }
  var isFull: Bool { count >= Self.limit }

  /// The author of a message, and how many messages of the row came after it; nil if the row does not have it.
  func writer(of message: UInt64) -> (mark: EventMark, later: Int)? {
    let key = Self.short(message)
    guard let index = messages.keys.lastIndex(of: key) else { return nil }
    return (EventMark(bits: marks[messages.writers[index]]), count - 1 - index)
  }

  mutating func add(_ event: RememberedEvent) {
    upTo = max(upTo, event.occurredAt)
    let place = marks.firstIndex(of: event.mark.bits) ?? marks.count
    if place == marks.count { marks.append(event.mark.bits) }
    messages.keys.append(Self.short(event.message))
    messages.writers.append(place)
  }

  private static func short(_ message: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: message ^ message >> 32) }
}

extension WritersRow: PackedRow, PackedFields {
  /// The row's name in errors.
  public static let name: StaticString = "writers"
  public static var blank: Self { Self() }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&upTo)
    try row.field(&marks, as: ListForm(FixedForm()))
    try row.field(&messages, as: MessagesForm(marks: marks.count))
  }
}

/// Each message with its writer's index.
private struct MessagesForm: PackedForm {
  var marks: Int

  func read(from row: inout RowReader) throws(RowFormatError) -> WritersRow.Messages {
    var messages = WritersRow.Messages()
    for _ in 0..<(try row.count()) {
      messages.keys.append(try UInt32(packed: &row))
      let writer = Int(try row.signed())
      guard (0..<marks).contains(writer) else { throw row.error("a message has a writer that is not there") }
      messages.writers.append(writer)
    }
    return messages
  }

  func write(_ messages: WritersRow.Messages, into row: inout RowWriter) {
    row.count(messages.keys.count)
    for (key, writer) in zip(messages.keys, messages.writers) {
      row.unsigned(UInt64(key))
      row.signed(writer)
    }
  }
}

/// How late each of the latest senders' events were, and how far their clocks run ahead: tells whether an event that is not
/// remembered may have been forgotten.
public struct SenderClocks: Sendable, Equatable, Encodable {
  struct Sender: Sendable, Equatable, Encodable {
    /// FNV-1a of the sender's id.
    var hash: Int64
    /// The time of the sender's latest event, by the sender's clock.
    var latest: Milliseconds
    /// How far ahead of ingest's clock an event of the sender was at most, in milliseconds.
    var lead: Milliseconds
  }

  /// Senders that are kept, those of the latest events. A row takes at most 16 × 20 bytes for them.
  static let limit = 16

  /// In no order.
  var senders: [Sender] = []
  /// The time of the latest event of senders that are no longer kept. Absent if all senders are kept.
  var othersUpTo: Milliseconds?

  init() {}

  mutating func record(_ occurredAt: Milliseconds, cappedAt: Milliseconds, from hash: Int64, now: Milliseconds) {
    let lead = occurredAt - cappedAt
    if let index = senders.firstIndex(where: { $0.hash == hash }) {
      if senders[index].latest < occurredAt { senders[index].latest = occurredAt }
      if senders[index].lead < lead { senders[index].lead = lead }
      return
    }
    senders.append(Sender(hash: hash, latest: occurredAt, lead: lead))
    guard senders.count > Self.limit, let oldest = senders.indices.min(by: { senders[$0].latest < senders[$1].latest })
    else { return }
    let dropped = min(senders.remove(at: oldest).latest, now)
    othersUpTo = max(othersUpTo ?? dropped, dropped)
  }

  /// Whether an event may be one of the sender's that was forgotten, when events up to `horizon` were.
  func maySend(
    at occurredAt: Milliseconds, cappedAt: Milliseconds, from hash: Int64, before horizon: Milliseconds
  ) -> Bool {
    if let sender = senders.first(where: { $0.hash == hash }) {
      return occurredAt <= sender.latest && occurredAt - sender.lead <= horizon
    }
    return othersUpTo.map { cappedAt <= min($0, horizon) } ?? false
  }
}
