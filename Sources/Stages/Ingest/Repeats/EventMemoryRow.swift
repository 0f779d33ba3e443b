public import NudgeCodec
public import NudgeSchema
import ServiceKit

/// The identity behind an event id: its type, its sender where that is part of the event, and whether it came with a user's token.
public struct EventMark: Sendable, Hashable {
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
public struct RememberedEvent: Sendable, Equatable, Comparable {
  /// When it happened, or when ingest took it where that is earlier.
  public var occurredAt: Milliseconds
  /// FNV-1a of the event id's bytes. Two ids of one conversation share it with a probability of about 2^-64.
  public var hash: Int64
  /// Its type and sender.
  public var mark = EventMark.unknown
  /// FNV-1a of the message's id; 0: the event creates none.
  public var message: UInt64 = 0

  /// FNV-1a of an id's bytes.
  static func hash(of id: String) -> Int64 { Int64(bitPattern: FNV1a.hash(id)) }

  init(occurredAt: Milliseconds, hash: Int64, mark: EventMark = .unknown, message: UInt64 = 0) {
    self.occurredAt = occurredAt
    self.hash = hash
    self.mark = mark
    self.message = message
  }

  /// Whether `a` happened first.
  public static func < (a: RememberedEvent, b: RememberedEvent) -> Bool {
    (a.occurredAt, a.hash) < (b.occurredAt, b.hash)
  }
}

/// The newest events of a conversation or a person.
public struct EventMemoryRow: Sendable, Equatable, Encodable {
  /// The time of the latest event that was forgotten; nil: nothing was forgotten.
  public internal(set) var horizon: Milliseconds?
  /// The newest, in no order.
  public internal(set) var recent: [RememberedEvent] = []
  /// The numbers of the archive rows, oldest first.
  public internal(set) var archives: [Int] = []
  /// Rows with writers of older messages that were begun so far; the last of them are kept.
  public internal(set) var writerRows = 0
  /// The senders of the latest events.
  public internal(set) var senders = SenderClocks()

  init() {}

  private enum CodingKeys: String, CodingKey {
    case horizon = "h"
    case recent = "e"
    case archives = "a"
    case senders = "s"
    case othersUpTo = "o"
    case marks = "m"
    case writerRows = "w"
  }

  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encodeIfPresent(horizon, forKey: .horizon)
    try fields.encode(EventList(events: recent), forKey: .recent)
    if !recent.marks.isEmpty { try fields.encode(recent.marks, forKey: .marks) }
    if !archives.isEmpty { try fields.encode(archives, forKey: .archives) }
    if writerRows > 0 { try fields.encode(writerRows, forKey: .writerRows) }
    try fields.encode(senders.senders.flatMap { [$0.hash, $0.latest, $0.lead] }, forKey: .senders)
    try fields.encodeIfPresent(senders.othersUpTo, forKey: .othersUpTo)
  }

  /// A row written before senders were kept: any sender may have sent what was forgotten.
  mutating func forgetSenders() { senders.othersUpTo = horizon }
}

/// Older events of a conversation or a person.
public struct EventArchiveRow: Sendable, Equatable, Encodable {
  /// The events, in no order.
  public internal(set) var events: [RememberedEvent]

  init(events: [RememberedEvent]) { self.events = events }

  private enum CodingKeys: String, CodingKey {
    case events = "e"
    case marks = "m"
  }

  public func encode(to encoder: any Encoder) throws {
    guard !events.marks.isEmpty else { return try EventList(events: events).encode(to: encoder) }
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(EventList(events: events), forKey: .events)
    try fields.encode(events.marks, forKey: .marks)
  }
}

extension [RememberedEvent] {
  /// Mark and message of each event, as rows write them; empty where no event has any.
  fileprivate var marks: [UInt64] {
    allSatisfy { $0.mark.isUnknown && $0.message == 0 } ? [] : flatMap { [$0.mark.bits, $0.message] }
  }
}

/// Events as rows write them: one flat array of times and hashes.
private struct EventList: Encodable {
  var events: [RememberedEvent]

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.unkeyedContainer()
    for event in events {
      try fields.encode(event.occurredAt)
      try fields.encode(event.hash)
    }
  }
}

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
