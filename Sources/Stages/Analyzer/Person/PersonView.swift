public import NudgeSchema
public import StreamRuntime

/// A person's state as people may see it, without tokens and texts. It is built from the rows of a changelog, in their order.
public struct PersonView: Sendable {
  /// A device of the person (T5).
  public struct Device: Sendable, Equatable, Encodable {
    public var deviceId: String
    /// The system it runs.
    public var platform: Platform
    /// Stands for its token or endpoint.
    public var tokenHash: String
    /// The host of its push service; nil: FCM, or it cannot be reached.
    public var pushHost: String?
    /// Whether pushes go to it; false: it signed out, its token is gone, or belongs to somebody else.
    public var isReachable: Bool
    public var version: Int64
    public var appVersion: String?
    /// When this token was registered by this version, in milliseconds since the epoch.
    public var registeredAt: Milliseconds
    /// When it was last heard of, to the day, in milliseconds since the epoch.
    public var lastSeenAt: Milliseconds
  }

  /// How a message stands with the person now.
  public struct MessageStanding: Sendable, Equatable, Encodable {
    /// The person has read it, or had it before their eyes.
    public var isRead: Bool
    public var countsOnBadge: Bool
    /// A push was made for it.
    public var wasNotified: Bool
    /// It was taken back, or the person left.
    public var isWithdrawn: Bool
    /// It waits for its final decision until then, in milliseconds since the epoch; nil: it does not.
    public var heldUntil: Milliseconds?
  }

  public let userId: String
  private var user: UserRow?
  private var preferences = PreferencesRow()
  private var conversations: [RowKey: PersonConversationRow] = [:]
  private var deviceRows: [RowKey: PersonDeviceRow] = [:]
  private let keys: (user: RowKey, preferences: RowKey, conversations: RowKey, devices: RowKey)

  /// A person of whom nothing is known yet.
  public init(userId: String) {
    self.userId = userId
    keys = (
      AnalyzerRow.userKey(userId), AnalyzerRow.preferencesKey(userId), AnalyzerRow.conversationsKey(userId),
      RowKey("d", userId)
    )
  }

  /// Whether a row of the analyzer's changelog is one of the person's.
  public func concerns(_ key: RowKey) -> Bool {
    key == keys.user || key == keys.preferences || key.isBelow(keys.devices) || key.isBelow(keys.conversations)
  }

  /// Takes a row of the person's; nil: it was removed. Throws where it cannot be read.
  public mutating func take(_ key: RowKey, _ bytes: UnsafeRawBufferPointer?, coder: RecordCoder) throws {
    guard let bytes else {
      if key == keys.user { user = nil }
      if key == keys.preferences { preferences = PreferencesRow() }
      conversations[key] = nil
      deviceRows[key] = nil
      return
    }
    switch try AnalyzerRow(key: key, bytes: bytes, coder: coder) {
    case .user(let row): user = row
    case .preferences(let row): preferences = row
    case .conversation(let row): conversations[key] = row
    case .device(let row): deviceRows[key] = row
    case .receipts, .learned, .replay, .held, .missed, .escalations, .older, .told, .erasure: break
    }
  }

  /// Whether a driver of the analyzer has preferences of a person.
  public static func hasPreferences(
    of userId: String, in driver: StageDriver<AnalyzerStage>, partition: Int32
  ) -> Bool {
    guard let row = try? driver.row(AnalyzerRow.preferencesKey(userId), partition: partition) else { return false }
    if case .preferences = row { return true }
    return false
  }

  /// The preferences that were ever set, as JSON: each with its value and the event that set it. Keywords are the person's own
  /// words, and a conversation with a level of its own is named by a hash.
  public func preferencesJSON(coder: RecordCoder) throws -> [UInt8] { try coder.encode(preferences) }

  /// Whether there is any state of the person.
  public var isKnown: Bool { user != nil || !deviceRows.isEmpty || !conversations.isEmpty }

  /// The badge now, by the person's own way of counting, else by the policy's.
  public var badge: Int {
    let user = user ?? UserRow()
    return user.badge(preferences.badgeMode?.value ?? user.policyBadgeMode ?? .conversations)
  }

  /// The devices, those that can be reached first.
  public var devices: [Device] {
    deviceRows.map { key, row in
      Device(
        deviceId: key.parts.last ?? "", platform: row.platform, tokenHash: row.tokenHash, pushHost: row.webPush?.host,
        isReachable: row.isReachable,
        version: row.version, appVersion: row.appVersion, registeredAt: row.registeredAt, lastSeenAt: row.lastSeenAt)
    }.sorted { ($0.isReachable ? 0 : 1, $0.deviceId) < ($1.isReachable ? 0 : 1, $1.deviceId) }
  }

  /// How a message stands; nil: nothing is known of it any more.
  public func standing(of messageId: String, in conversationId: String) -> MessageStanding? {
    guard let row = conversations[AnalyzerRow.conversationKey(userId, conversationId)],
      let message = row.message(MessageKey(messageId))
    else { return nil }
    return MessageStanding(
      isRead: row.isRead(message.place, message), countsOnBadge: message.marks.contains(.unread),
      wasNotified: message.marks.contains(.notified), isWithdrawn: message.marks.contains(.withdrawn),
      heldUntil: row.holds.first { $0.key == message.key }?.due)
  }
}
