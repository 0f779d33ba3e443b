import NudgeCodec
public import NudgeSchema
public import StreamRuntime

/// The pushes of an Android device that FCM may still hold, because the device has confirmed nothing since (P12). FCM stores 100 that
/// do not collapse for a device that is off, and throws all of them away at the next.
///
/// It is part of the device's row, which each push writes anyway, mostly in the step of its request. Devices that never report have none: of them nothing can be known.
struct Unconfirmed: Encodable, Sendable, Equatable {
  /// Conversations of which FCM stores the latest push each, by collapse keys of their own. With those of the badge and of the rest
  /// these are FCM's four.
  static let mostConversations = 2
  /// Further conversations that are counted one by one.
  static let mostCounted = 64

  /// A conversation that has no collapse key of its own, and its messages.
  struct Part: Encodable, Sendable, Equatable {
    /// FNV-1a of its id.
    var conversation: UInt64
    var messages: Int
  }

  /// The device's sign of life that the last push told of.
  var seenAt: Milliseconds
  /// The claim's version of its token: a later one is a new registration.
  var version: Int64
  /// Pushes sent since then that FCM stores one by one, or would without collapse keys.
  var pushes = 0
  /// The conversations with collapse keys of their own, by FNV-1a of their ids.
  var conversations: [UInt64] = []
  /// Those without.
  var rest: [Part] = []
  /// Messages that are in the catch-up beside those in `rest`, and their conversations.
  var furtherMessages = 0
  var furtherConversations = 0

  /// Counts a push of which the first request is made. Returns how it is sent to the device, if that seems to be off; nil: as any other.
  mutating func take(_ push: Push, after limit: Int) -> Collapse? {
    pushes += 1
    guard pushes > limit else { return nil }
    let conversation = push.conversationId.map(FNV1a.hash)
    let slot = conversation.flatMap { conversations.firstIndex(of: $0) }
    switch push.kind {
    case .message where push.replaces == true, .digest where push.replaces == true, .deleted: return Collapse(.quiet)
    case .read:
      rest.removeAll { $0.conversation == conversation }
      return slot.map { Collapse(.conversation, slot: $0) } ?? Collapse(.quiet)
    // The one collapses anyway, the other goes to no device.
    case .badge, .escalation: return nil
    case .message:
      if let slot { return Collapse(.conversation, slot: slot) }
      if let conversation, conversations.count < Self.mostConversations,
        !rest.contains(where: { $0.conversation == conversation })
      {
        conversations.append(conversation)
        return Collapse(.conversation, slot: conversations.count - 1)
      }
      // A message that is said again was counted, or is one of those that FCM stores one by one.
      if push.escalation == nil { count(conversation) }
    case .digest:
      furtherMessages += push.digest?.messages ?? 0
      furtherConversations += push.digest?.conversations ?? 0
    }
    return Collapse(
      .rest, messages: rest.reduce(furtherMessages) { $0 + $1.messages },
      conversations: rest.count + furtherConversations)
  }

  private mutating func count(_ conversation: UInt64?) {
    if let index = rest.firstIndex(where: { $0.conversation == conversation }) {
      rest[index].messages += 1
    } else if let conversation, rest.count < Self.mostCounted {
      rest.append(Part(conversation: conversation, messages: 1))
    } else {
      furtherMessages += 1
      // Which conversations these are is not known any more: one, at least.
      furtherConversations = max(furtherConversations, 1)
    }
  }
}

extension Unconfirmed: PackedFields {
  static var blank: Self { Self(seenAt: 0, version: 0) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&seenAt)
    try row.field(&version)
    try row.field(&pushes)
    try row.field(&conversations)
    try row.field(&rest)
    try row.field(&furtherMessages)
    try row.field(&furtherConversations)
  }
}

extension Unconfirmed.Part: PackedFields {
  static var blank: Self { Self(conversation: 0, messages: 0) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&conversation)
    try row.field(&messages)
  }
}

/// How a push replaces another that FCM stores for a device that seems to be off.
struct Collapse: Encodable, Sendable, Equatable {
  enum Kind: String, Encodable, Sendable, CaseIterable {
    /// The former push of its conversation.
    case conversation
    /// The former catch-up of all other conversations, whose counts it continues.
    case rest
    /// Another push that shows nothing, or that would change a notification that the device does not show yet.
    case quiet
  }

  var kind: Kind
  /// FCM's collapse key.
  var key: String
  /// How many messages a catch-up tells of, in how many conversations.
  var messages = 0
  var conversations = 0

  /// The key of pushes that change the badge alone.
  static let badgeKey = "badge"
}

extension Collapse {
  init(_ kind: Kind, slot: Int = 0, messages: Int = 0, conversations: Int = 0) {
    let key =
      switch kind {
      case .conversation: "away-\(slot)"
      case .rest: "away-rest"
      case .quiet: Self.badgeKey
      }
    self.init(kind: kind, key: key, messages: messages, conversations: conversations)
  }
}

extension Collapse.Kind: PackedChoice {}

extension Collapse: PackedFields {
  static var blank: Self { Self(.quiet) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&kind)
    try row.field(&key)
    try row.field(&messages)
    try row.field(&conversations)
  }
}

/// A person's lanes as operators may see them, without tokens and texts. Built from the rows of a changelog, in their order.
public struct LaneView: Sendable {
  /// A push that waits for a device.
  public struct Waiting: Sendable, Equatable, Encodable {
    public var pushId: String
    public var deviceId: String
    /// Requests made so far.
    public var attempts: Int
    /// A request was made, and no answer is recorded.
    public var isInAir: Bool
    /// When the first request was made, in milliseconds since the epoch.
    public var firstAttemptAt: Milliseconds?
    /// When the first of its failures was that its time budget counts from, in milliseconds since the epoch; nil: none counts.
    public var failingSince: Milliseconds?
    /// The earliest next request, in milliseconds since the epoch; 0: as soon as the lane is free.
    public var notBefore: Milliseconds
    /// The end of its freshness, in milliseconds since the epoch.
    public var expiresAt: Milliseconds
    /// The HTTP status of the last answer.
    public var httpStatus: Int?
    /// The error code of the last answer.
    public var errorCode: String?

    public init(
      pushId: String, deviceId: String, attempts: Int, isInAir: Bool, firstAttemptAt: Milliseconds?,
      failingSince: Milliseconds? = nil, notBefore: Milliseconds, expiresAt: Milliseconds, httpStatus: Int?,
      errorCode: String?
    ) {
      self.pushId = pushId
      self.deviceId = deviceId
      self.attempts = attempts
      self.isInAir = isInAir
      self.firstAttemptAt = firstAttemptAt
      self.failingSince = failingSince
      self.notBefore = notBefore
      self.expiresAt = expiresAt
      self.httpStatus = httpStatus
      self.errorCode = errorCode
    }
  }

  private let userId: String
  private let laneStart: [UInt8]
  private let overflows: RowKey
  private let devices: RowKey
  private var rows: [RowKey: [WaitingPush]] = [:]
  private var quarantinedDevices: Set<RowKey> = []

  /// A person's lanes, before any row was taken.
  public init(userId: String) {
    self.userId = userId
    // A lane's key without the device id at its end.
    laneStart = DeviceKey(userId: userId, deviceId: "").lane.bytes
    overflows = RowKey("o", userId)
    devices = RowKey("d", userId)
  }

  /// Whether a row of the dispatcher's changelog belongs to the person.
  public func concerns(_ key: RowKey) -> Bool {
    key.bytes.starts(with: laneStart) || key.isBelow(overflows) || key.isBelow(devices)
  }

  /// Takes a row of the person; nil: it was removed. Throws where it cannot be read.
  public mutating func take(_ key: RowKey, _ bytes: UnsafeRawBufferPointer?, coder: RecordCoder) throws {
    rows[key] = nil
    quarantinedDevices.remove(key)
    guard let bytes else { return }
    switch try DispatcherRow(key: key, bytes: bytes, coder: coder).content {
    case .lane(let row): rows[key] = row.items
    case .overflow(let row): rows[key] = row.items
    case .device(let row): if row.quarantined != nil { quarantinedDevices.insert(key) }
    }
  }

  /// Waiting pushes, in the order of each lane.
  public var waiting: [Waiting] {
    // A lane's own row ("w") comes before its overflow rows ("o").
    rows.sorted { Self.order($0.key) < Self.order($1.key) }.flatMap(\.value).map { item in
      Waiting(
        pushId: item.push.pushId, deviceId: item.target.deviceId, attempts: item.attempts, isInAir: item.inAir,
        firstAttemptAt: item.firstAttemptAt, failingSince: item.failingSince, notBefore: item.notBefore,
        expiresAt: item.push.expiresAt, httpStatus: item.httpStatus, errorCode: item.errorCode)
    }
  }

  private static func order(_ key: RowKey) -> (Int, RowKey) {
    (key.bytes.first == UInt8(ascii: "w") ? 0 : 1, key)
  }

  /// Devices whose token belongs to another sender, as FCM says: nothing is sent to them before they register again.
  public var quarantined: [String] { quarantinedDevices.compactMap(\.parts.last).sorted() }
}
