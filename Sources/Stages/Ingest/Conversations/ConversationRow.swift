public import NudgeSchema
public import Relevance

/// A conversation's state, apart from its members.
public struct ConversationRow: Sendable, Equatable, Codable {
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
    case formerTurns = "t"
    case earlyEdits = "d"
  }

  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    kind = try fields.decodeIfPresent(ConversationKind.self, forKey: .kind)
    name = try fields.decodeIfPresent(String.self, forKey: .name)
    snapshot = try fields.decodeStampIfPresent(forKey: .snapshot)
    floor = try fields.decodeStampIfPresent(forKey: .floor)
    memberCount = try fields.decode(Int.self, forKey: .memberCount)
    removedCount = try fields.decodeIfPresent(Int.self, forKey: .removedCount) ?? 0
    version = try fields.decode(Int64.self, forKey: .version)
    if let people = try fields.decodeIfPresent([String].self, forKey: .people) {
      let messages = Base64Text.decode(try fields.decode(String.self, forKey: .messages))
      let former = Base64Text.decode(try fields.decodeIfPresent(String.self, forKey: .former) ?? "")
      guard let messages, let former,
        let talk = RecentTalk(people: people, packedMessages: messages, packedFormer: former)
      else {
        throw DecodingError.dataCorruptedError(
          forKey: .messages, in: fields, debugDescription: "the last messages are not as they were packed")
      }
      self.talk = talk
    }
    for turn in try fields.decodeIfPresent([FormerTurn].self, forKey: .formerTurns) ?? [] { take(turn) }
    earlyEdits = try fields.decodeIfPresent([EarlyEdit].self, forKey: .earlyEdits) ?? []
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
public struct EarlyEdit: Sendable, Equatable, Codable {
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

/// One of the last messages in the format before `talk`: still read, no longer written.
struct FormerTurn: Decodable {
  var userId: String
  var at: Milliseconds
  var messageId: String
  var addressed: [String]

  init(userId: String, at: Milliseconds, messageId: String, addressed: [String]) {
    self.userId = userId
    self.at = at
    self.messageId = messageId
    self.addressed = addressed
  }

  private enum CodingKeys: String, CodingKey {
    case userId = "u"
    case at = "t"
    case messageId = "m"
    case addressed = "a"
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    userId = try fields.decode(String.self, forKey: .userId)
    at = try fields.decode(Milliseconds.self, forKey: .at)
    messageId = try fields.decode(String.self, forKey: .messageId)
    addressed = try fields.decodeIfPresent([String].self, forKey: .addressed) ?? []
  }
}

extension ConversationRow {
  /// Takes over a message; the traits of its text are unknown.
  mutating func take(_ turn: FormerTurn) {
    talk.append(
      TextTraits(), from: turn.userId, at: turn.at, messageId: turn.messageId, addressed: turn.addressed,
      partner: turn.addressed.first)
  }
}

extension ConversationRow {
  /// The people of the last messages: senders and addressed recipients.
  var recentPeople: [String] { talk.people }
}
