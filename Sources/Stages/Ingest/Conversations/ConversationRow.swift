public import NudgeCodec
public import NudgeSchema
public import Relevance

/// A conversation's state, apart from its members.
public struct ConversationRow: Sendable, Equatable, Encodable {
  /// Direct or group; nil: no snapshot has said so yet.
  public internal(set) var kind: ConversationKind?
  /// A group's name.
  public internal(set) var name: String?
  /// The last snapshot's stamp: state events that are not later have no effect.
  public internal(set) var snapshot: EventStamp?
  /// The latest stamp of the removed members that were forgotten: for people without a row, changes that are not later
  /// have no effect.
  public internal(set) var floor: EventStamp?
  /// People who take part.
  public internal(set) var memberCount = 0
  /// Rows of people who were removed.
  public internal(set) var removedCount = 0
  /// Rises whenever a member's row changes.
  public internal(set) var version: Int64 = 0
  /// The last messages, in the order they arrived. They take at most 8 kB of the row.
  public internal(set) var talk = RecentTalk()
  /// Edits of messages that have not come yet, the last ones.
  public internal(set) var earlyEdits: [EarlyEdit] = []

  init() {}

  private enum CodingKeys: String, CodingKey {
    case kind = "k"
    case name = "n"
    case snapshot = "s"
    case floor = "f"
    case memberCount = "m"
    case removedCount = "r"
    case version = "v"
    case people = "p"
    case messages = "e"
    case former = "o"
    case earlyEdits = "d"
  }

  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encodeIfPresent(kind, forKey: .kind)
    try fields.encodeIfPresent(name, forKey: .name)
    try fields.encodeStampIfPresent(snapshot, forKey: .snapshot)
    try fields.encodeStampIfPresent(floor, forKey: .floor)
    try fields.encode(memberCount, forKey: .memberCount)
    if removedCount > 0 { try fields.encode(removedCount, forKey: .removedCount) }
    try fields.encode(version, forKey: .version)
    if !talk.isEmpty {
      try fields.encode(talk.people, forKey: .people)
      try fields.encode(Base64Text.encode(talk.packedMessages), forKey: .messages)
      if !talk.former.isEmpty { try fields.encode(Base64Text.encode(talk.packedFormer), forKey: .former) }
    }
    if !earlyEdits.isEmpty { try fields.encode(earlyEdits, forKey: .earlyEdits) }
  }
}

/// An edit that overtook its message.
public struct EarlyEdit: Sendable, Equatable, Encodable {
  /// Edits of a conversation that are kept.
  static let limit = 4
  /// Characters of a text that are kept.
  static let characters = 400

  /// Stands for the message's id.
  public internal(set) var key: UInt64
  public internal(set) var stamp: EventStamp
  /// The new text.
  public internal(set) var text: String
}

extension ConversationRow {
  /// The people of the last messages: senders and addressed recipients.
  var recentPeople: [String] { talk.people }
}

extension ConversationRow: PackedRow {
  /// The row's name in errors.
  public static let name: StaticString = "conversation"
  /// 2 has a memory of the talk instead of the last messages, 3 the senders of the messages before, 4 edits of messages
  /// that have not come.
  public static var versions: RowVersions { RowVersions(4) }

  public init(packed row: inout RowReader) throws(RowFormatError) {
    self.init()
    var flags = RowFlags(bits: try row.unsigned())
    if flags.take() { kind = try row.choice(of: ConversationKind.allCases) }
    if flags.take() { name = try row.text() }
    if flags.take() { snapshot = try row.stamp() }
    if flags.take() { floor = try row.stamp() }
    let hasTalk = flags.take()
    let hasFormer = flags.take()
    let hasEarlyEdits = flags.take()
    memberCount = Int(try row.signed())
    removedCount = Int(try row.signed())
    version = try row.signed()
    var at: Milliseconds = 0
    for _ in 0..<(try row.count()) {
      let (userId, messageId) = (try row.text(), try row.text())
      at &+= try row.signed()
      var addressed: [String] = []
      for _ in 0..<(try row.count()) { addressed.append(try row.text()) }
      // Before there was `talk`: the traits of the text are unknown.
      talk.append(
        TextTraits(), from: userId, at: at, messageId: messageId, addressed: addressed, partner: addressed.first)
    }
    if hasEarlyEdits {
      for _ in 0..<(try row.count()) {
        earlyEdits.append(EarlyEdit(key: try row.fixed(), stamp: try row.stamp(), text: try row.text()))
      }
    }
    guard hasTalk else { return }
    var people: [String] = []
    for _ in 0..<(try row.count()) { people.append(try row.text()) }
    guard
      let talk = RecentTalk(
        people: people, packedMessages: try row.blob(), packedFormer: hasFormer ? try row.blob() : [])
    else {
      throw row.error("the last messages are not as they were packed")
    }
    self.talk = talk
  }

  public func pack(into row: inout RowWriter) {
    var flags = RowFlags()
    flags.add(kind != nil)
    flags.add(name != nil)
    flags.add(snapshot != nil)
    flags.add(floor != nil)
    flags.add(!talk.isEmpty)
    flags.add(!talk.former.isEmpty)
    flags.add(!earlyEdits.isEmpty)
    row.unsigned(flags.bits)
    if let kind { row.choice(kind, of: ConversationKind.allCases) }
    if let name { row.text(name) }
    if let snapshot { row.stamp(snapshot) }
    if let floor { row.stamp(floor) }
    row.signed(memberCount)
    row.signed(removedCount)
    row.signed(version)
    // Version 1 has its last messages here.
    row.count(0)
    if !earlyEdits.isEmpty {
      row.count(earlyEdits.count)
      for edit in earlyEdits {
        row.fixed(edit.key)
        row.stamp(edit.stamp)
        row.text(edit.text)
      }
    }
    guard !talk.isEmpty else { return }
    row.count(talk.people.count)
    for person in talk.people { row.text(person) }
    row.blob(talk.packedMessages)
    if !talk.former.isEmpty { row.blob(talk.packedFormer) }
  }
}
