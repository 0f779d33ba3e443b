public import NudgeCodec
public import NudgeSchema
public import Relevance

/// A conversation's state, apart from its members.
public struct ConversationRow: Sendable, Equatable, Encodable {
  /// Direct or group. Absent until a snapshot says so.
  public internal(set) var kind: ConversationKind?
  /// A group's name.
  public internal(set) var name: String?
  /// The last snapshot's stamp. State events that are not later have no effect.
  public internal(set) var snapshot: EventStamp?
  /// The latest stamp of the removed members that were forgotten: for people without a row, changes that are not later
  /// have no effect.
  public internal(set) var floor: EventStamp?
  /// The number of people who take part.
  public internal(set) var memberCount = 0
  /// The number of rows of people who were removed.
  public internal(set) var removedCount = 0
  /// Rises whenever a member's row changes.
  public internal(set) var version: Int64 = 0
  /// The last messages, in the order of their arrival. They take at most 8 kB of the row.
  public internal(set) var talk = RecentTalk()
  /// The last edits whose messages have not come yet.
  public internal(set) var earlyEdits: [EarlyEdit] = []
}

/// An edit that overtook its message.
public struct EarlyEdit: Sendable, Equatable, Encodable {
  /// The most edits that are kept for a conversation.
  static let limit = 4
  /// The most characters of a text that are kept.
  static let characters = 400

  /// The hash of the message's id.
  public internal(set) var key: UInt64
  public internal(set) var stamp: EventStamp
  /// The new text.
  public internal(set) var text: String
}

extension ConversationRow {
  /// The people of the last messages: senders and addressed recipients.
  var recentPeople: [String] { talk.people }
}

extension ConversationRow: PackedRow, PackedFields {
  /// The row's name in errors.
  public static let name: StaticString = "conversation"
  /// 2 has a memory of the talk instead of the last messages, 3 the senders of the messages before, 4 edits of messages
  /// that have not come.
  public static var versions: RowVersions { RowVersions(4) }
  public static var blank: Self { Self() }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.flags()
    try row.optional(&kind)
    try row.optional(&name)
    try row.optional(&snapshot)
    try row.optional(&floor)
    let (hasTalk, hasFormer) = (row.flag(!talk.isEmpty), row.flag(!talk.former.isEmpty))
    let hasEarlyEdits = row.flag(!earlyEdits.isEmpty)
    try row.field(&memberCount)
    try row.field(&removedCount)
    try row.field(&version)
    // Version 1 has its last messages here.
    var turns: [FormerTurn] = []
    try row.field(&turns)
    if hasEarlyEdits { try row.field(&earlyEdits) }
    if hasTalk {
      try row.field(&talk, as: TalkForm(hasFormer: hasFormer))
    } else {
      for turn in turns { turn.add(to: &talk) }
    }
  }
}

extension EarlyEdit: PackedFields {
  public static var blank: Self { Self(key: 0, stamp: .blank, text: "") }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&key, as: FixedForm())
    try row.field(&stamp)
    try row.field(&text)
  }
}

/// A message of a row from before `talk`. The traits of its text are unknown.
private struct FormerTurn: PackedFields {
  var userId = ""
  var messageId = ""
  /// The time since the previous message.
  var after: Milliseconds = 0
  var addressed: [String] = []

  static var blank: Self { Self() }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&userId)
    try row.field(&messageId)
    try row.field(&after)
    try row.field(&addressed)
  }

  func add(to talk: inout RecentTalk) {
    talk.append(
      TextTraits(), from: userId, at: (talk.messages.last?.at ?? 0) &+ after, messageId: messageId,
      addressed: addressed,
      partner: addressed.first)
  }
}

/// The packed form of the last messages, in which older messages have another form than the newest.
private struct TalkForm: PackedForm {
  var hasFormer: Bool

  func read(from row: inout RowReader) throws(RowFormatError) -> RecentTalk {
    guard
      let talk = RecentTalk(
        people: try [String](packed: &row), packedMessages: try row.blob(),
        packedFormer: hasFormer ? try row.blob() : [])
    else { throw row.error("the last messages are not as they were packed") }
    return talk
  }

  func write(_ talk: RecentTalk, into row: inout RowWriter) {
    talk.people.pack(into: &row)
    row.blob(talk.packedMessages)
    if hasFormer { row.blob(talk.packedFormer) }
  }
}
