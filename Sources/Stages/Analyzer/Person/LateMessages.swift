import NudgeSchema

/// A conversation's memory of messages with pushes: a push that is not sent in time is told once, and by its last text.
struct LateMessages: Codable, Sendable, Equatable {
  /// The last messages kept of each kind.
  private static let maxTold = 64
  private static let maxEdited = 8

  /// Messages that a catch-up told of: their pushes may be missed no more, and a replay makes none.
  private(set) var told: [MessageKey] = []
  /// Unread messages whose text was changed after their push was made.
  private(set) var edited: [MessageKey] = []

  init(told: [MessageKey] = [], edited: [MessageKey] = []) {
    self.told = told
    self.edited = edited
  }

  fileprivate mutating func tell(_ keys: [MessageKey]) {
    told = Array((told.filter { !keys.contains($0) } + keys).suffix(Self.maxTold))
  }

  fileprivate mutating func edit(_ key: MessageKey) {
    edited = Array((edited.filter { $0 != key } + [key]).suffix(Self.maxEdited))
  }

  fileprivate mutating func forgetEdits(where isForgotten: (MessageKey) -> Bool) {
    edited.removeAll(where: isForgotten)
  }

  fileprivate var isEmpty: Bool { told.isEmpty && edited.isEmpty }
}

extension PersonConversationRow {
  /// Whether a catch-up told of a message, or waits to: its push may be missed no more, and is not made again.
  func isLeftToCatchUp(_ key: MessageKey) -> Bool {
    if late?.told.contains(key) ?? false { return true }
    guard let known = message(key) else { return false }
    return known.marks.contains(.notified) && known.marks.isDisjoint(with: [.shown, .withdrawn])
  }

  /// Whether a catch-up tells of an unread message.
  func isTold(_ key: MessageKey) -> Bool {
    late?.told.contains(key) ?? false && message(key)?.marks.contains(.unread) ?? false
  }

  /// No device got the message's push in time: nothing is shown of it.
  mutating func missPush(of key: MessageKey) { mark(key) { $0.remove(.shown) } }

  /// A catch-up tells of messages. Those are remembered whose push may still be missed, or be asked for by a replay.
  mutating func tell(_ entries: [MissedRow.Entry]) {
    let keys = entries.filter { message($0.key) != nil || isShown($0.key) || $0.late != nil }.map(\.key)
    guard !keys.isEmpty else { return }
    var row = late ?? LateMessages()
    row.tell(keys)
    late = row
  }

  /// The text of a message was changed. Its push may still wait.
  mutating func edit(_ key: MessageKey) {
    guard isShown(key) else { return }
    var row = late ?? LateMessages()
    row.edit(key)
    late = row
  }

  func wasEdited(_ key: MessageKey) -> Bool { late?.edited.contains(key) ?? false }

  /// A message that was read is not missed.
  mutating func forgetReadEdits() {
    guard var row = late, !row.edited.isEmpty else { return }
    row.forgetEdits { !isShown($0) }
    late = row.isEmpty ? nil : row
  }
}
