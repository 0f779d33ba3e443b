import NudgeSchema

/// Messages of a conversation that were deleted, and are not among its last ones: nothing of them is shown, however late they come or
/// whoever asks for them (D13).
struct DeletedMessages: Codable, Sendable, Equatable {
  /// Messages known one by one. Packed they take some 12 bytes each.
  static let maxKnown = 64

  struct Entry: Codable, Sendable, Equatable {
    var key: MessageKey
    /// The message was written by then.
    var writtenBy: Milliseconds
  }

  /// In the order they came.
  private(set) var known: [Entry]
  /// A message written up to then may be one of the deleted ones that are no longer known; absent until there is one.
  private(set) var unknownUpTo: Milliseconds?

  init(known: [Entry] = [], unknownUpTo: Milliseconds? = nil) {
    self.known = known
    self.unknownUpTo = unknownUpTo
  }

  mutating func add(_ key: MessageKey, writtenBy time: Milliseconds) {
    if known.contains(where: { $0.key == key }) { return }
    known.append(Entry(key: key, writtenBy: time))
    guard known.count > Self.maxKnown else { return }
    let oldest = known.removeFirst()
    unknownUpTo = max(unknownUpTo ?? oldest.writtenBy, oldest.writtenBy)
  }

  func contains(_ key: MessageKey) -> Bool { known.contains { $0.key == key } }
}

extension PersonConversationRow {
  /// A message that is not among the last ones was deleted.
  mutating func delete(_ key: MessageKey, writtenBy time: Milliseconds) {
    var row = deleted ?? DeletedMessages()
    row.add(key, writtenBy: time)
    deleted = row
  }

  /// Whether a message was deleted before it came.
  func isDeleted(_ key: MessageKey) -> Bool { deleted?.contains(key) ?? false }

  /// Whether a message may have been taken back: where that is not known, it counts as taken back.
  func mayBeWithdrawn(_ key: MessageKey, sentAt time: Milliseconds) -> Bool {
    if withdrawnUpTo.map({ time <= $0 }) ?? false { return true }
    if let known = message(key) { return known.marks.contains(.withdrawn) }
    return isDeleted(key) || deleted?.unknownUpTo.map { time <= $0 } ?? false
  }
}
