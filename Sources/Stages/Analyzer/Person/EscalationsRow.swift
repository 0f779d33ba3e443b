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

extension EscalationsRow: PackedRow {
  /// For errors.
  public static let name: StaticString = "escalations"

  public init(packed row: inout RowReader) throws(RowFormatError) {
    var flags = RowFlags(bits: try row.unsigned())
    timerAt = flags.take() ? try row.signed() : nil
    for _ in 0..<(try row.count()) {
      var flags = RowFlags(bits: try row.unsigned())
      entries.append(
        Entry(
          key: MessageKey(try row.fixed()), conversationId: try row.text(), place: try row.place(),
          reason: try row.choice(of: DecisionReason.allCases), step: try row.choice(of: Step.allCases),
          due: try row.signed(), pushedAt: try row.signed(), pushedAgainAt: flags.take() ? try row.signed() : nil))
    }
  }

  public func pack(into row: inout RowWriter) {
    var flags = RowFlags()
    flags.add(timerAt != nil)
    row.unsigned(flags.bits)
    if let timerAt { row.signed(timerAt) }
    row.count(entries.count)
    for entry in entries {
      var flags = RowFlags()
      flags.add(entry.pushedAgainAt != nil)
      row.unsigned(flags.bits)
      row.fixed(entry.key.bits)
      row.text(entry.conversationId)
      row.place(entry.place)
      row.choice(entry.reason, of: DecisionReason.allCases)
      row.choice(entry.step, of: Step.allCases)
      row.signed(entry.due)
      row.signed(entry.pushedAt)
      if let pushedAgainAt = entry.pushedAgainAt { row.signed(pushedAgainAt) }
    }
  }
}
