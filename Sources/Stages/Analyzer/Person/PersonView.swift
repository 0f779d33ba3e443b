public import NudgeSchema
public import StreamRuntime

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
  }

  public let userId: String
  private var user: UserRow?
  private var preferences = PreferencesRow()
  private var conversations: [RowKey: PersonConversationRow] = [:]
  private var deviceRows: [RowKey: PersonDeviceRow] = [:]
  private let keys: (user: RowKey, preferences: RowKey, conversations: RowKey, devices: RowKey)

  /// The view of a person, before any row was applied.
  public init(userId: String) {
    self.userId = userId
    keys = (
      AnalyzerRow.userKey(userId), AnalyzerRow.preferencesKey(userId), AnalyzerRow.conversationsKey(userId),
      RowKey("d", userId)
    )
  }

  /// Whether a row of the analyzer's changelog belongs to the person.
  public func concerns(_ key: RowKey) -> Bool {
    key == keys.user || key == keys.preferences || key.isBelow(keys.devices) || key.isBelow(keys.conversations)
  }

  /// Applies a row of the person; nil means that it was removed. Throws if the row cannot be read.
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
    return MessageStanding(
      isRead: row.isRead(message.place, message), countsOnBadge: message.marks.contains(.unread),
      wasNotified: message.marks.contains(.notified), isWithdrawn: message.marks.contains(.withdrawn),
      heldUntil: row.holds.first { $0.key == message.key }?.due)
  }
}
