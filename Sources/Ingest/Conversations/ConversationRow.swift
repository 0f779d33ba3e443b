public import NudgeSchema

/// What is known of a conversation, apart from its members.
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
  /// The last messages, oldest first, by the order they arrived in.
  public internal(set) var turns: [Turn] = []

  init() {}

  private enum CodingKeys: String, CodingKey {
    case kind = "k"
    case name = "n"
    case snapshot = "s"
    case floor = "f"
    case memberCount = "m"
    case removedCount = "r"
    case version = "v"
    case turns = "t"
  }

  /// Reads a row.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    kind = try fields.decodeIfPresent(ConversationKind.self, forKey: .kind)
    name = try fields.decodeIfPresent(String.self, forKey: .name)
    snapshot = try fields.decodeStampIfPresent(forKey: .snapshot)
    floor = try fields.decodeStampIfPresent(forKey: .floor)
    memberCount = try fields.decode(Int.self, forKey: .memberCount)
    removedCount = try fields.decodeIfPresent(Int.self, forKey: .removedCount) ?? 0
    version = try fields.decode(Int64.self, forKey: .version)
    turns = try fields.decodeIfPresent([Turn].self, forKey: .turns) ?? []
  }

  /// Writes a row.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encodeIfPresent(kind, forKey: .kind)
    try fields.encodeIfPresent(name, forKey: .name)
    try fields.encodeStampIfPresent(snapshot, forKey: .snapshot)
    try fields.encodeStampIfPresent(floor, forKey: .floor)
    try fields.encode(memberCount, forKey: .memberCount)
    if removedCount > 0 { try fields.encode(removedCount, forKey: .removedCount) }
    try fields.encode(version, forKey: .version)
    if !turns.isEmpty { try fields.encode(turns, forKey: .turns) }
  }
}

/// A message among the last ones of a conversation.
public struct Turn: Sendable, Equatable, Codable {
  /// Who wrote it.
  public internal(set) var userId: String
  /// When.
  public internal(set) var at: Milliseconds
  /// The message.
  public internal(set) var messageId: String
  /// Whom it named or answered: at most `Turn.addressedLimit` people.
  public internal(set) var addressed: [String]

  /// People one turn keeps as addressed.
  public static let addressedLimit = 4

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

  /// Reads a turn.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    userId = try fields.decode(String.self, forKey: .userId)
    at = try fields.decode(Milliseconds.self, forKey: .at)
    messageId = try fields.decode(String.self, forKey: .messageId)
    addressed = try fields.decodeIfPresent([String].self, forKey: .addressed) ?? []
  }

  /// Writes a turn.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(userId, forKey: .userId)
    try fields.encode(at, forKey: .at)
    try fields.encode(messageId, forKey: .messageId)
    if !addressed.isEmpty { try fields.encode(addressed, forKey: .addressed) }
  }

  /// About its bytes as JSON, where ids are ordinary; ids of nothing but quotes take twice as much.
  var size: Int { 48 + userId.utf8.count + messageId.utf8.count + addressed.reduce(0) { $0 + $1.utf8.count + 3 } }
}

extension ConversationRow {
  /// Messages that are kept at most.
  static let turnLimit = 20
  /// What they may take. Were all of it escaped, and the name and the stamps as long and as escaped as can be, the row
  /// would have 15 kB.
  static let turnBytes = 6_000

  /// Adds a message, and forgets the oldest beyond the bounds.
  mutating func append(_ turn: Turn) {
    turns.append(turn)
    var bytes = turns.reduce(0) { $0 + $1.size }
    while turns.count > Self.turnLimit || bytes > Self.turnBytes && turns.count > 1 {
      bytes -= turns.removeFirst().size
    }
  }
}
