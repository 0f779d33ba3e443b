public import NudgeCodec
public import NudgeSchema

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

  mutating func note(_ occurredAt: Milliseconds, cappedAt: Milliseconds, from hash: Int64, now: Milliseconds) {
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
