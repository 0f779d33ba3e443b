public import NudgeCodec
public import NudgeSchema
public import StreamRuntime

/// A row of the analyzer's state, of one of thirteen kinds. The size of each kind has a limit of at most `StateLimits.maxRowBytes`, which
/// does not depend on how many conversations, messages or events a person has had.
///
/// It is indirect, because a row is passed on several times per decision, and then only a pointer is copied.
public indirect enum AnalyzerRow: StateRow, Equatable {
  /// `u`, userId: the state that changes with every message. At most 14.5 kB; usually 100 bytes.
  case user(UserRow)
  /// `p`, userId: preferences. They have their own row because they change rarely and may be large. At most 16 kB.
  case preferences(PreferencesRow)
  /// `c`, userId, conversationId: the person's part in a conversation. At most 3 kB. `ConversationBound` limits their number.
  case conversation(PersonConversationRow)
  /// `d`, userId, deviceId: how a device is reached. At most 16 kB; usually 300 bytes.
  case device(PersonDeviceRow)
  /// `n`, userId, deviceId: the receipts for a device's pushes of the last day. At most 4 kB; absent if the app reports nothing.
  case receipts(DeviceReceiptsRow)
  /// `t`, userId: the shifts of scores from feedback and behaviour. At most 1 kB; absent until there is feedback.
  case learned(LearnedPreferences)
  /// `r`, replayId: a replay's state in this task. `r`, replayId, userId: how often it notified a person. Some bytes; removed when the
  /// replay can no longer ask for anything.
  case replay(ReplayRow)
  /// `h`, userId, conversationId, hash of the messageId: a message that is held until its final decision, or that may be pushed again. At
  /// most 16 kB, usually 500 bytes. A conversation has at most `PersonConversationRow.maxHolds`, a person at most
  /// `EscalationsRow.maxEntries`.
  case held(HeldMessageRow)
  /// `g`, userId, conversationId: messages of the conversation that wait for the person's catch-up. At most 16 kB, usually 1 kB; absent for
  /// people without quiet hours, `digestTimes` and a budget of alerts.
  case missed(MissedRow)
  /// `e`, userId: the messages that are pushed again unless they arrive or are read. At most 6 kB, usually 60 bytes; absent without such
  /// messages.
  case escalations(EscalationsRow)
  /// `o`, userId, conversationId, number: older unread messages of a conversation. At most 1 kB, and at most `OlderMessagesRow.maxRows` per
  /// conversation; absent for people who read.
  case older(OlderMessagesRow)
  /// `w`, userId: the last catch-up of several messages, until they are read. At most 14 kB, usually 1 kB; absent without one.
  case told(ToldRow)
  /// `x`, hash of a userId or a conversationId: the person or the conversation was deleted.
  case erasure(PersonErasureRow)

  /// The kind of a row, by the first byte of its key. `home` says for each kind to which task its rows belong when tasks are split.
  enum Kind: UInt8, CaseIterable {
    case user = 0x75  // u
    case preferences = 0x70  // p
    case conversation = 0x63  // c
    case device = 0x64  // d
    case receipts = 0x6e  // n
    case learned = 0x74  // t
    case replay = 0x72  // r
    case held = 0x68  // h
    case missed = 0x67  // g
    case escalations = 0x65  // e
    case older = 0x6f  // o
    case told = 0x77  // w
    case erasure = 0x78  // x

    init?(of key: RowKey) {
      guard let byte = key.bytes.first else { return nil }
      self.init(rawValue: byte)
    }

    static var letters: String { allCases.map { String(UnicodeScalar($0.rawValue)) }.joined(separator: ", ") }
  }

  /// The key of a person's row.
  static func userKey(_ userId: String) -> RowKey { RowKey("u", userId) }
  /// The key of a person's preferences.
  static func preferencesKey(_ userId: String) -> RowKey { RowKey("p", userId) }
  /// The parent of the keys of a person's conversations.
  static func conversationsKey(_ userId: String) -> RowKey { RowKey("c", userId) }
  /// The key of a person's part in a conversation.
  static func conversationKey(_ userId: String, _ conversationId: String) -> RowKey {
    RowKey("c", userId, conversationId)
  }
  /// The key of a person's device.
  static func deviceKey(_ userId: String, _ deviceId: String) -> RowKey { RowKey("d", userId, deviceId) }

  /// The parent of the keys of a person's devices.
  static func devicesKey(_ userId: String) -> RowKey { RowKey("d", userId) }

  /// The parent of the keys of all messages held for a person.
  static func heldKey(_ userId: String) -> RowKey { RowKey("h", userId) }
  /// The key of a held message.
  static func heldKey(_ userId: String, _ conversationId: String, _ message: MessageKey) -> RowKey {
    RowKey("h", userId, conversationId, String(message.bits, radix: 36))
  }

  /// The parent of the keys of the rows that wait for a person's catch-up.
  static func missedKey(_ userId: String) -> RowKey { RowKey("g", userId) }
  /// The key of a conversation's row that waits for a person's catch-up.
  static func missedKey(_ userId: String, _ conversationId: String) -> RowKey { RowKey("g", userId, conversationId) }

  /// The parent of the keys of all older unread messages of a person.
  static func olderKey(_ userId: String) -> RowKey { RowKey("o", userId) }
  /// The key of some older unread messages of a conversation.
  static func olderKey(_ userId: String, _ conversationId: String, _ number: Int) -> RowKey {
    RowKey("o", userId, conversationId, String(number))
  }

  /// The key of a person's last catch-up.
  static func toldKey(_ userId: String) -> RowKey { RowKey("w", userId) }

  /// The key of a person's messages that may be pushed again.
  static func escalationsKey(_ userId: String) -> RowKey { RowKey("e", userId) }

  /// The key of the receipts of a person's device.
  static func receiptsKey(_ userId: String, _ deviceId: String) -> RowKey { RowKey("n", userId, deviceId) }

  /// The parent of the keys of the receipts of a person's devices.
  static func receiptsKey(_ userId: String) -> RowKey { RowKey("n", userId) }

  /// The parent of the keys of all replays, and of the days with pushes that were made again.
  static let replays = RowKey("r")
  /// The keys of the rows of a replay, or of such a day, that belong to a person.
  static func replayKeys(of userId: String, in replay: RowKey) -> [RowKey] {
    [userId, Resend.keyPart(ofPerson: userId)].map { RowKey(bytes: replay.bytes + [0] + $0.utf8) }
  }

  /// The parent of the keys of all erasures.
  static let erasures = RowKey("x")
  /// The key of the erasure of a person, by the hash of their id.
  static func erasureKey(_ hash: String) -> RowKey { RowKey("x", hash) }

  /// The key of a person's learned preferences.
  static func learnedKey(_ userId: String) -> RowKey { RowKey("t", userId) }

  /// Reads a row of the kind in the first byte of the key. Throws `StoreFailure` for a key that is not one of the analyzer's.
  public init(key: RowKey, bytes: UnsafeRawBufferPointer, coder: RecordCoder) throws {
    switch Kind(of: key) {
    case .user: self = .user(try UserRow(bytes: bytes))
    case .preferences: self = .preferences(try PreferencesRow(bytes: bytes))
    case .conversation: self = .conversation(try PersonConversationRow(bytes: bytes))
    case .device: self = .device(try PersonDeviceRow(bytes: bytes))
    case .receipts: self = .receipts(try DeviceReceiptsRow(bytes: bytes))
    case .learned: self = .learned(try LearnedPreferences(bytes: bytes))
    case .replay: self = .replay(try ReplayRow(bytes: bytes))
    case .held: self = .held(try HeldMessageRow(bytes: bytes))
    case .missed: self = .missed(try MissedRow(bytes: bytes))
    case .escalations: self = .escalations(try EscalationsRow(bytes: bytes))
    case .told: self = .told(try ToldRow(bytes: bytes))
    case .older: self = .older(try OlderMessagesRow(bytes: bytes))
    case .erasure: self = .erasure(try PersonErasureRow(bytes: bytes))
    case nil:
      throw StoreFailure(
        operation: "reading a row of the analyzer",
        reason:
          "its key begins with none of \(Kind.letters); the state is not the analyzer's, or was written by a newer one")
    }
  }

  public func encoded(coder: RecordCoder, at level: FormatLevel) throws -> [UInt8] {
    switch self {
    case .user(let row): try row.packed(at: level, capacity: 256)
    case .preferences(let row): try row.packed(at: level, capacity: 256)
    case .conversation(let row): try row.packed(at: level, capacity: 512)
    case .device(let row): try row.packed(at: level, capacity: 512)
    case .receipts(let row): try row.packed(at: level, capacity: 512)
    case .learned(let row): try row.packed(at: level, capacity: 256)
    case .replay(let row): try row.packed(at: level, capacity: 8)
    case .held(let row): try row.packed(at: level, capacity: 1_024)
    case .missed(let row): try row.packed(at: level, capacity: 1_024)
    case .escalations(let row): try row.packed(at: level, capacity: 256)
    case .told(let row): try row.packed(at: level, capacity: 1_024)
    case .older(let row): try row.packed(at: level, capacity: 512)
    case .erasure(let row): try row.packed(at: level)
    }
  }

  /// The row as JSON with sorted keys, for people to read.
  public func json(coder: RecordCoder) throws -> [UInt8] {
    switch self {
    case .user(let row): try coder.encode(row)
    case .preferences(let row): try coder.encode(row)
    case .conversation(let row): try coder.encode(row)
    case .device(let row): try coder.encode(row)
    case .receipts(let row): try coder.encode(row)
    case .learned(let row): try coder.encode(row)
    case .replay(let row): try coder.encode(row)
    case .held(let row): try coder.encode(row)
    case .missed(let row): try coder.encode(row)
    case .escalations(let row): try coder.encode(row)
    case .told(let row): try coder.encode(row)
    case .older(let row): try coder.encode(row)
    case .erasure(let row): try coder.encode(row)
    }
  }
}

extension AnalyzerStage {
  /// How its tasks are split. It does not pass records on, because a candidate is for several people.
  public static let splitRules = SplitRules(
    home: { key, bytes in try AnalyzerRow.home(of: key, bytes) },
    // A replay has a row and a timer in each task.
    homeOfTimer: { ReplayBudget.replayId(ofTimer: $0) == nil ? nil : .everyTask })
}

extension AnalyzerRow {
  /// The task to which a row belongs when there are more tasks than before.
  static func home(of key: RowKey, _ bytes: UnsafeRawBufferPointer) throws -> RowHome {
    let parts = key.parts
    switch Kind(of: key) {
    case .user, .preferences, .learned, .escalations, .told: if parts.count == 2 { return .taskOf(parts[1]) }
    case .conversation, .device, .receipts, .missed: if parts.count == 3 { return .taskOf(parts[1]) }
    case .held, .older: if parts.count == 4 { return .taskOf(parts[1]) }
    case .replay:
      if parts.count == 2 { return .everyTask }
      guard parts.count == 3 else { break }
      guard Resend.isBucket(parts[1]) else { return .taskOf(parts[2]) }
      // Either a push that was made again, whose id does not name the person, or a person who was notified.
      return Resend.person(ofKeyPart: parts[2]).map { RowHome.taskOf($0) } ?? .everyTask
    case .erasure:
      guard parts.count == 2, case .erasure(let row) = try AnalyzerRow(key: key, bytes: bytes, coder: RecordCoder())
      else { break }
      return row.pendingUserId.map { RowHome.taskOf($0) } ?? .everyTask
    case nil: break
    }
    throw StoreFailure(
      operation: "move a row of the analyzer",
      reason: "its key is of no kind this version knows; was the state written by a newer version?")
  }
}

/// Marks a deleted person. The row stays until they register again. Its key is a hash, so it does not identify them once their rows are
/// gone.
public struct PersonErasureRow: Encodable, Sendable, Equatable {
  /// The stamp of the deletion. Records of the person that are not later are dropped.
  var stamp: EventStamp
  /// The person's id while some of their rows remain; nil once all are gone.
  var pendingUserId: String?
}

extension PersonErasureRow: PackedRow, PackedFields {
  /// The row's kind, for errors.
  public static let name: StaticString = "erasure"
  public static var blank: Self { Self(stamp: .blank) }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.flags()
    try row.optional(&pendingUserId)
    try row.field(&stamp)
  }
}

/// A person's state in a form that people may see, without tokens and texts. It is built from the rows of a changelog, in order.
public struct PersonView: Sendable {
  /// A device of the person (T5).
  public struct Device: Sendable, Equatable, Encodable {
    public var deviceId: String
    /// The device's system.
    public var platform: Platform
    /// The hash of its token or endpoint.
    public var tokenHash: String
    /// The host of its push service; nil for FCM, or if the device cannot be reached.
    public var pushHost: String?
    /// Whether pushes go to it. False if it signed out, or if its token is gone or belongs to somebody else.
    public var isReachable: Bool
    public var version: Int64
    public var appVersion: String?
    /// When this version registered this token, in milliseconds since the epoch.
    public var registeredAt: Milliseconds
    /// When it was last active, to the day, in milliseconds since the epoch.
    public var lastSeenAt: Milliseconds
  }

  /// A message's state for the person.
  public struct MessageStanding: Sendable, Equatable, Encodable {
    /// Whether the person has read it or saw it in the open app.
    public var isRead: Bool
    public var countsOnBadge: Bool
    /// Whether a push was made for it.
    public var wasNotified: Bool
    /// Whether it was deleted, or the person left.
    public var isWithdrawn: Bool
    /// Until when it waits for its final decision, in milliseconds since the epoch; nil if it does not wait.
    public var heldUntil: Milliseconds?
    /// Whether it waits for the person's catch-up.
    public var waitsForCatchUp: Bool
    /// When that catch-up is due; nil if it waits for a device.
    public var catchUpAt: Milliseconds?
    /// Whether a catch-up told of it.
    public var wasToldByCatchUp: Bool
  }

  public let userId: String
  private var user: UserRow?
  private var preferences = PreferencesRow()
  private var conversations: [RowKey: PersonConversationRow] = [:]
  private var deviceRows: [RowKey: PersonDeviceRow] = [:]
  private var missed: [RowKey: MissedRow] = [:]
  private let keys: (user: RowKey, preferences: RowKey, conversations: RowKey, devices: RowKey, missed: RowKey)

  /// The view of a person, before any row was applied.
  public init(userId: String) {
    self.userId = userId
    keys = (
      AnalyzerRow.userKey(userId), AnalyzerRow.preferencesKey(userId), AnalyzerRow.conversationsKey(userId),
      RowKey("d", userId), AnalyzerRow.missedKey(userId)
    )
  }

  /// Whether a row of the analyzer's changelog belongs to the person.
  public func concerns(_ key: RowKey) -> Bool {
    key == keys.user || key == keys.preferences || key.isBelow(keys.devices) || key.isBelow(keys.conversations)
      || key.isBelow(keys.missed)
  }

  /// Applies a row of the person; nil means that it was removed. Throws if the row cannot be read.
  public mutating func take(_ key: RowKey, _ bytes: UnsafeRawBufferPointer?, coder: RecordCoder) throws {
    guard let bytes else {
      if key == keys.user { user = nil }
      if key == keys.preferences { preferences = PreferencesRow() }
      conversations[key] = nil
      deviceRows[key] = nil
      missed[key] = nil
      return
    }
    switch try AnalyzerRow(key: key, bytes: bytes, coder: coder) {
    case .user(let row): user = row
    case .preferences(let row): preferences = row
    case .conversation(let row): conversations[key] = row
    case .device(let row): deviceRows[key] = row
    case .missed(let row): missed[key] = row
    case .receipts, .learned, .replay, .held, .escalations, .older, .told, .erasure: break
    }
  }

  /// Whether an analyzer's driver has preferences of a person.
  public static func hasPreferences(
    of userId: String, in driver: StageDriver<AnalyzerStage>, partition: Int32
  ) -> Bool {
    guard let row = try? driver.row(AnalyzerRow.preferencesKey(userId), partition: partition) else { return false }
    if case .preferences = row { return true }
    return false
  }

  /// The preferences that were ever set, as JSON: each with its value and the event that set it. Keywords are the person's own words; a
  /// conversation with its own level is named by a hash.
  public func preferencesJSON(coder: RecordCoder) throws -> [UInt8] { try coder.encode(preferences) }

  /// Whether there is any state of the person.
  public var isKnown: Bool { user != nil || !deviceRows.isEmpty || !conversations.isEmpty }

  /// The badge now, in the unit of the person's preference or the policy.
  public var badge: Int {
    let user = user ?? UserRow()
    return user.badge(preferences.badgeMode?.value ?? user.policyBadgeMode ?? .conversations)
  }

  /// The devices. Reachable devices come first.
  public var devices: [Device] {
    deviceRows.map { key, row in
      Device(
        deviceId: key.parts.last ?? "", platform: row.platform, tokenHash: row.tokenHash, pushHost: row.webPush?.host,
        isReachable: row.isReachable,
        version: row.version, appVersion: row.appVersion, registeredAt: row.registeredAt, lastSeenAt: row.lastSeenAt)
    }.sorted { ($0.isReachable ? 0 : 1, $0.deviceId) < ($1.isReachable ? 0 : 1, $1.deviceId) }
  }

  /// A message's state; nil if nothing is stored about it any more.
  public func standing(of messageId: String, in conversationId: String) -> MessageStanding? {
    guard let row = conversations[AnalyzerRow.conversationKey(userId, conversationId)],
      let message = row.message(MessageKey(messageId))
    else { return nil }
    let waits = missed[AnalyzerRow.missedKey(userId, conversationId)]?.has(message) ?? false
    return MessageStanding(
      isRead: row.isRead(message.place, message), countsOnBadge: message.marks.contains(.unread),
      wasNotified: message.marks.contains(.notified), isWithdrawn: message.marks.contains(.withdrawn),
      heldUntil: row.holds.first { $0.key == message.key }?.due, waitsForCatchUp: waits,
      catchUpAt: waits ? user?.catchUpAt : nil, wasToldByCatchUp: row.isTold(message.key))
  }
}
