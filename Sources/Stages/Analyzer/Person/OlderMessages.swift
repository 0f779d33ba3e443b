public import NudgeCodec
import NudgeSchema
import StreamRuntime

/// Unread messages of a conversation that are older than those in its row, some of them a row: reading up to one of them leaves the right
/// number (D6).
public struct OlderMessagesRow: Encodable, Sendable, Equatable {
  /// Messages of a row when it is made.
  static let size = 32
  /// Rows of a conversation. Earlier messages are known by their number alone.
  static let maxRows = 64

  /// By their places, oldest first.
  var messages: [OlderMessage]
}

/// An unread message that is older than the last ones.
struct OlderMessage: Encodable, Sendable, Equatable {
  var key: MessageKey
  var place: MessagePlace
  /// A device may have it on its screen.
  var isShown: Bool
}

extension OlderMessagesRow: PackedRow, PackedFields {
  /// For errors.
  public static let name: StaticString = "older messages"
  public static var blank: Self { Self(messages: []) }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&messages, as: OlderMessagesForm())
  }
}

/// The rows of `OlderMessagesRow` that a conversation has.
struct OlderPages: Encodable, Sendable, Equatable {
  /// The number of the oldest row.
  var first: Int
  /// The number of the next one.
  var next: Int
  /// Messages in all of them.
  var count: Int

  var numbers: Range<Int> { first..<max(first, next) }
}

extension OlderPages: PackedFields {
  static var blank: Self { Self(first: 0, next: 0, count: 0) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&first)
    try row.field(&next)
    try row.field(&count)
  }
}

extension PersonContext {
  private func olderKey(_ conversationId: String, _ number: Int) -> RowKey {
    AnalyzerRow.olderKey(userId, conversationId, number)
  }

  private func older(_ conversationId: String, _ number: Int) throws -> [OlderMessage] {
    if case .older(let row)? = try step.row(olderKey(conversationId, number)) { return row.messages }
    return []
  }

  private func set(_ messages: [OlderMessage], _ conversationId: String, _ number: Int) throws {
    let key = olderKey(conversationId, number)
    if messages.isEmpty { return try step.remove(key) }
    try step.set(.older(OlderMessagesRow(messages: messages)), for: key)
  }

  /// Moves the oldest messages that a conversation's row knows out of it, where it has too many.
  func movePages(_ conversation: inout PersonConversationRow, _ conversationId: String) throws {
    while let messages = conversation.takePage() {
      var pages = conversation.pages ?? .blank
      try set(messages, conversationId, pages.next)
      pages.next += 1
      pages.count += messages.count
      if pages.numbers.count > OlderMessagesRow.maxRows {
        let forgotten = try older(conversationId, pages.first).count
        try set([], conversationId, pages.first)
        pages.first += 1
        pages.count -= forgotten
        conversation.olderUnread += forgotten
      }
      conversation.pages = pages
      conversation.recount()
    }
  }

  /// Removes the rows that a conversation no longer has.
  func removePages(
    _ after: PersonConversationRow?, was before: PersonConversationRow, of conversationId: String
  ) throws {
    guard let pages = before.pages else { return }
    let kept = after?.pages?.numbers ?? 0..<0
    for number in pages.numbers where !kept.contains(number) { try set([], conversationId, number) }
  }

  /// Reads up to the newest message in the rows for which a condition holds. False: it holds for none of them.
  func readPages(
    _ conversation: inout PersonConversationRow, _ conversationId: String, upTo isRead: (OlderMessage) -> Bool
  ) throws -> Bool {
    guard var pages = conversation.pages else { return false }
    var left = 0
    for number in pages.numbers.reversed() {
      let messages = try older(conversationId, number)
      guard let last = messages.lastIndex(where: isRead) else {
        left += messages.count
        continue
      }
      conversation.see(messages[...last].map(\.key))
      let unread = Array(messages[(last + 1)...])
      if !unread.isEmpty { try set(unread, conversationId, number) }
      for gone in pages.first..<(unread.isEmpty ? number + 1 : number) { try set([], conversationId, gone) }
      pages.first = unread.isEmpty ? number + 1 : number
      pages.count = left + unread.count
      conversation.pages = pages.count == 0 ? nil : pages
      conversation.olderUnread = 0
      conversation.readUpTo = max(conversation.readUpTo ?? messages[last].place, messages[last].place)
      conversation.recount()
      return true
    }
    return false
  }

  /// Whether a device may have a message on its screen, however many came after it.
  func isShown(_ key: MessageKey, _ conversation: PersonConversationRow, _ conversationId: String) throws -> Bool {
    if conversation.isShown(key) { return true }
    guard conversation.message(key) == nil, let pages = conversation.pages else { return false }
    for number in pages.numbers.reversed() {
      if let message = try older(conversationId, number).first(where: { $0.key == key }) { return message.isShown }
    }
    return false
  }

  /// Takes a deleted message out of the rows. Nil: they do not have it.
  func removeFromPages(
    _ key: MessageKey, _ conversation: inout PersonConversationRow, _ conversationId: String
  ) throws -> OlderMessage? {
    guard var pages = conversation.pages else { return nil }
    for number in pages.numbers.reversed() {
      let messages = try older(conversationId, number)
      guard let removed = messages.first(where: { $0.key == key }) else { continue }
      try set(messages.filter { $0.key != key }, conversationId, number)
      pages.count -= 1
      conversation.pages = pages.count == 0 ? nil : pages
      conversation.recount()
      return removed
    }
    return nil
  }
}

/// Messages of a conversation that were deleted, and are not among its last ones: nothing of them is shown, however late they come or
/// whoever asks for them (D13).
struct DeletedMessages: Encodable, Sendable, Equatable {
  /// Messages known one by one. Packed they take some 12 bytes each.
  static let maxKnown = 64

  struct Entry: Encodable, Sendable, Equatable {
    var key: MessageKey
    /// The message was written by then.
    var writtenBy: Milliseconds
  }

  /// In the order they came.
  private(set) var known: [Entry] = []
  /// A message written up to then may be one of the deleted ones that are no longer known; absent until there is one.
  private(set) var unknownUpTo: Milliseconds?

  mutating func add(_ key: MessageKey, writtenBy time: Milliseconds) {
    if known.contains(where: { $0.key == key }) { return }
    known.append(Entry(key: key, writtenBy: time))
    guard known.count > Self.maxKnown else { return }
    let oldest = known.removeFirst()
    unknownUpTo = max(unknownUpTo ?? oldest.writtenBy, oldest.writtenBy)
  }

  func contains(_ key: MessageKey) -> Bool { known.contains { $0.key == key } }
}

extension DeletedMessages: PackedFields {
  static var blank: Self { Self() }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&known)
    try row.field(&unknownUpTo)
  }
}

extension DeletedMessages.Entry: PackedFields {
  static var blank: Self { Self(key: .blank, writtenBy: 0) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&key)
    try row.field(&writtenBy)
  }
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

/// A conversation's memory of messages with pushes: a push that is not sent in time is told once, and by its last text.
struct LateMessages: Encodable, Sendable, Equatable {
  /// The last messages kept of each kind.
  private static let maxTold = 64
  private static let maxEdited = 8

  /// Messages that a catch-up told of: their pushes may be missed no more, and a replay makes none.
  private(set) var told: [MessageKey] = []
  /// Unread messages whose text was changed after their push was made.
  private(set) var edited: [MessageKey] = []

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

extension LateMessages: PackedFields {
  static var blank: Self { Self() }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&told)
    try row.field(&edited)
  }
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
