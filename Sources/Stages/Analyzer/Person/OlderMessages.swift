public import NudgeCodec
import NudgeSchema
import StreamRuntime

/// Unread messages of a conversation that are older than those in its row. Several such rows store some messages each, so that reading up
/// to one of them leaves the right number (D6).
public struct OlderMessagesRow: Encodable, Sendable, Equatable {
  /// The number of messages in a new row.
  static let size = 32
  /// The most rows of a conversation. Still older messages are only counted.
  static let maxRows = 64

  /// The messages by their places, oldest first.
  var messages: [OlderMessage]
}

/// An unread message that is older than the last ones.
struct OlderMessage: Encodable, Sendable, Equatable {
  var key: MessageKey
  var place: MessagePlace
  /// Whether a device may show it.
  var isShown: Bool
}

extension OlderMessagesRow: PackedRow, PackedFields {
  /// The row's kind, for errors.
  public static let name: StaticString = "older messages"
  public static var blank: Self { Self(messages: []) }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&messages, as: OlderMessagesForm())
  }
}

/// The rows of `OlderMessagesRow` of a conversation.
struct OlderPages: Encodable, Sendable, Equatable {
  /// The number of the oldest row.
  var first: Int
  /// The number of the next row to be added.
  var next: Int
  /// The number of messages in all rows.
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

  /// Moves the oldest messages out of a conversation's row if it has too many.
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

  /// Reads up to the newest message in the rows for which a condition holds. Returns false if it holds for none of them.
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

  /// Whether a device may show a message, however many messages followed it.
  func isShown(_ key: MessageKey, _ conversation: PersonConversationRow, _ conversationId: String) throws -> Bool {
    if conversation.isShown(key) { return true }
    guard conversation.message(key) == nil, let pages = conversation.pages else { return false }
    for number in pages.numbers.reversed() {
      if let message = try older(conversationId, number).first(where: { $0.key == key }) { return message.isShown }
    }
    return false
  }

  /// Removes a deleted message from the rows. Returns nil if they do not contain it.
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

/// Deleted messages of a conversation that are not among its last ones. They are never shown, even if they arrive late or a replay asks for
/// them (D13).
struct DeletedMessages: Encodable, Sendable, Equatable {
  /// The most messages that are known individually. Packed each takes about 12 bytes.
  static let maxKnown = 64

  struct Entry: Encodable, Sendable, Equatable {
    var key: MessageKey
    /// The time until which the message was written.
    var writtenBy: Milliseconds
  }

  /// In the order of deletion.
  private(set) var known: [Entry] = []
  /// A message written until this time may be a deleted one that is no longer known; absent until that happens.
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

  /// Whether a message was deleted before it arrived.
  func isDeleted(_ key: MessageKey) -> Bool { deleted?.contains(key) ?? false }

  /// Whether a message may have been deleted. If that is not known, it counts as deleted.
  func mayBeWithdrawn(_ key: MessageKey, sentAt time: Milliseconds) -> Bool {
    if withdrawnUpTo.map({ time <= $0 }) ?? false { return true }
    if let known = message(key) { return known.marks.contains(.withdrawn) }
    return isDeleted(key) || deleted?.unknownUpTo.map { time <= $0 } ?? false
  }
}

/// What a conversation stores of messages with pushes, so that a push that is not sent in time is shown once, with its last text.
struct LateMessages: Encodable, Sendable, Equatable {
  /// The most messages of each kind.
  private static let maxTold = 64
  private static let maxEdited = 8

  /// Messages that a catch-up has shown. Their pushes can no longer be missed, and a replay does not repeat them.
  private(set) var told: [MessageKey] = []
  /// Unread messages that were edited after their push was made.
  private(set) var edited: [MessageKey] = []

  fileprivate mutating func record(_ keys: [MessageKey]) {
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
  /// Whether a catch-up has shown a message or will show it. Its push can no longer be missed and is not made again.
  func isLeftToCatchUp(_ key: MessageKey) -> Bool {
    if late?.told.contains(key) ?? false { return true }
    guard let known = message(key) else { return false }
    return known.marks.contains(.notified) && known.marks.isDisjoint(with: [.shown, .withdrawn])
  }

  /// Whether a catch-up has shown an unread message.
  func isTold(_ key: MessageKey) -> Bool {
    late?.told.contains(key) ?? false && message(key)?.marks.contains(.unread) ?? false
  }

  /// No device received the message's push in time, so nothing of it is shown.
  mutating func missPush(of key: MessageKey) { mark(key) { $0.remove(.shown) } }

  /// Records that a catch-up shows messages. Those are kept whose push may still be missed or repeated by a replay.
  mutating func recordCatchUp(_ entries: [MissedRow.Entry]) {
    let keys = entries.filter { message($0.key) != nil || isShown($0.key) || $0.late != nil }.map(\.key)
    guard !keys.isEmpty else { return }
    var row = late ?? LateMessages()
    row.record(keys)
    late = row
  }

  /// A message was edited. Its push may still wait.
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
