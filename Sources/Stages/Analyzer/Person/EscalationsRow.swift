public import NudgeCodec
import NudgeSchema

/// A person's messages that are said again unless they arrive or are read (decision 93). Each has a row of its own with its text, as a
/// message that is held has.
public struct EscalationsRow: Encodable, Sendable, Equatable {
  /// Messages at a time. One more is not said again.
  static let maxEntries = 16

  /// The step that comes next.
  enum Step: Int, Encodable, Sendable, CaseIterable {
    /// It is pushed once more.
    case again
    /// The webhook is told.
    case webhook
  }

  struct Entry: Encodable, Sendable, Equatable {
    var key: MessageKey
    var conversationId: String
    var place: MessagePlace
    /// Why it was notified.
    var reason: DecisionReason
    var step: Step
    /// When, by the wall clock.
    var due: Milliseconds
    var pushedAt: Milliseconds
    /// nil: it was not yet, or no device could be reached.
    var pushedAgainAt: Milliseconds?
  }

  /// In the order in which they became due or were added.
  var entries: [Entry] = []
  /// When the person's timer is due; nil: none is set.
  var timerAt: Milliseconds?

  /// Takes out what is due.
  mutating func take(dueBy time: Milliseconds) -> [Entry] {
    let due = entries.filter { $0.due <= time }
    entries.removeAll { $0.due <= time }
    return due
  }

  /// Steps that are due at a time are due at another. Returns whether there are any.
  mutating func move(dueAt time: Milliseconds, to due: Milliseconds) -> Bool {
    let moved = entries.indices.filter { entries[$0].due == time }
    for index in moved { entries[index].due = due }
    return !moved.isEmpty
  }

  /// Takes out what is of a conversation: one message, or all.
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
  /// For errors.
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
