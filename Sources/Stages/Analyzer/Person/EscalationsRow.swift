public import NudgeCodec
import NudgeSchema

/// A person's messages that are pushed again unless they arrive or are read (decision 93). Each also has a row with its text, as held
/// messages have.
public struct EscalationsRow: Encodable, Sendable, Equatable {
  /// The most messages at a time. A further one is not pushed again.
  static let maxEntries = 16

  /// The next step.
  enum Step: Int, Encodable, Sendable, CaseIterable {
    /// It is pushed again.
    case again
    /// It goes to the webhook.
    case webhook
  }

  struct Entry: Encodable, Sendable, Equatable {
    var key: MessageKey
    var conversationId: String
    var place: MessagePlace
    /// Why it notified.
    var reason: DecisionReason
    var step: Step
    /// The time of the next step, by the wall clock.
    var due: Milliseconds
    var pushedAt: Milliseconds
    /// When it was pushed again. Absent before that, and if no device could be reached.
    var pushedAgainAt: Milliseconds?
  }

  /// In the order in which they became due or were added.
  var entries: [Entry] = []
  /// When the person's timer is due; absent if none is set.
  var timerAt: Milliseconds?

  /// Removes and returns the entries that are due.
  mutating func take(dueBy time: Milliseconds) -> [Entry] {
    let due = entries.filter { $0.due <= time }
    entries.removeAll { $0.due <= time }
    return due
  }

  /// Moves steps that are due at one time to another. Returns whether there are any.
  mutating func move(dueAt time: Milliseconds, to due: Milliseconds) -> Bool {
    let moved = entries.indices.filter { entries[$0].due == time }
    for index in moved { entries[index].due = due }
    return !moved.isEmpty
  }

  /// Removes and returns the entries of a conversation: those of one message, or all.
  mutating func take(_ key: MessageKey?, in conversationId: String) -> [Entry] {
    func isMeant(_ entry: Entry) -> Bool {
      sameId(entry.conversationId, conversationId) && key.map { $0 == entry.key } ?? true
    }
    let taken = entries.filter(isMeant)
    if !taken.isEmpty { entries.removeAll(where: isMeant) }
    return taken
  }
}

extension EscalationsRow: PackedRow, PackedFields {
  /// The row's kind, for errors.
  public static let name: StaticString = "escalations"
  public static var blank: Self { Self() }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.flags()
    try row.optional(&timerAt)
    try row.field(&entries)
  }
}

extension EscalationsRow.Step: PackedChoice {}

extension EscalationsRow.Entry: PackedFields {
  static var blank: Self {
    Self(
      key: .blank, conversationId: "", place: .blank, reason: .duplicate, step: .again, due: 0, pushedAt: 0)
  }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.flags()
    try row.field(&key)
    try row.field(&conversationId)
    try row.field(&place)
    try row.field(&reason)
    try row.field(&step)
    try row.field(&due)
    try row.field(&pushedAt)
    try row.optional(&pushedAgainAt)
  }
}
