public import NudgeCodec
import NudgeSchema
import StreamRuntime

/// Unread messages of a conversation that are older than those in its row, some of them a row: reading up to one of them leaves the right
/// number (D6).
public struct OlderMessagesRow: Codable, Sendable, Equatable {
  /// Messages of a row when it is made.
  static let size = 32
  /// Rows of a conversation. Earlier messages are known by their number alone.
  static let maxRows = 64

  /// By their places, oldest first.
  var messages: [OlderMessage]
}

/// An unread message that is older than the last ones.
struct OlderMessage: Codable, Sendable, Equatable {
  var key: MessageKey
  var place: MessagePlace
  /// A device may have it on its screen.
  var isShown: Bool
}

extension OlderMessagesRow: PackedRow {
  /// For errors.
  public static let name: StaticString = "older messages"

  public init(packed row: inout RowReader) throws(RowFormatError) { messages = try row.olderMessages() }

  public func pack(into row: inout RowWriter) { row.olderMessages(messages) }
}

/// The rows of `OlderMessagesRow` that a conversation has.
struct OlderPages: Codable, Sendable, Equatable {
  /// The number of the oldest row.
  var first: Int
  /// The number of the next one.
  var next: Int
  /// Messages in all of them.
  var count: Int

  var numbers: Range<Int> { first..<max(first, next) }
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
      var pages = conversation.pages ?? OlderPages(first: 0, next: 0, count: 0)
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
