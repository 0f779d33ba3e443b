public import NudgeCodec
import NudgeSchema

/// A person's last catch-up of several messages, as their devices show it: what happens to one of these changes it there.
public struct ToldRow: Codable, Sendable, Equatable {
  /// Messages known one by one: 8 bytes each.
  static let maxKeys = 256
  /// Messages whose words are kept, the most relevant ones.
  static let maxLines = 2 * Digest.maxLines
  /// How long it is changed on the devices, in milliseconds: a day.
  static let shownFor: Milliseconds = 86_400_000

  struct Line: Codable, Sendable, Equatable {
    var key: MessageKey
    var conversationId: String
    var messageId: String
    var title: String
    var text: String
  }

  var pushId: String
  var toldAt: Milliseconds
  /// How many messages it tells of, and in how many conversations.
  var messages: Int
  var conversations: Int
  var keys: [MessageKey]
  /// The most relevant first.
  var lines: [Line]

  /// Takes messages of a conversation out. Returns false if it has none of them.
  mutating func remove(_ gone: [MessageKey], leaving left: [MessageKey]) -> Bool {
    let known = keys.count { gone.contains($0) }
    guard known > 0 else { return false }
    keys.removeAll { gone.contains($0) }
    lines.removeAll { gone.contains($0.key) }
    messages = max(0, messages - known)
    if !keys.contains(where: { left.contains($0) }) { conversations = max(0, conversations - 1) }
    return true
  }
}

extension ToldRow: PackedRow {
  /// For errors.
  public static let name: StaticString = "told"

  public init(packed row: inout RowReader) throws(RowFormatError) {
    pushId = try row.text()
    toldAt = try row.signed()
    messages = Int(try row.signed())
    conversations = Int(try row.signed())
    keys = []
    for _ in 0..<(try row.count()) { keys.append(MessageKey(try row.fixed())) }
    lines = []
    for _ in 0..<(try row.count()) {
      lines.append(
        Line(
          key: MessageKey(try row.fixed()), conversationId: try row.text(), messageId: try row.text(),
          title: try row.text(), text: try row.text()))
    }
  }

  public func pack(into row: inout RowWriter) {
    row.text(pushId)
    row.signed(toldAt)
    row.signed(messages)
    row.signed(conversations)
    row.count(keys.count)
    for key in keys { row.fixed(key.bits) }
    row.count(lines.count)
    for line in lines {
      row.fixed(line.key.bits)
      row.text(line.conversationId)
      row.text(line.messageId)
      row.text(line.title)
      row.text(line.text)
    }
  }
}
