import NudgeCodec
public import NudgeSchema
public import StreamRuntime

/// The pushes that FCM may still store for an Android device, because the device has confirmed nothing since (P12). For a device that is
/// off, FCM stores 100 pushes that do not collapse, and discards all of them when another arrives.
///
/// It is part of the device's row, which each push writes anyway, mostly in the step of its request. Devices that never send reports have
/// none, because nothing can be known of them.
struct Unconfirmed: Encodable, Sendable, Equatable {
  /// The most conversations with a collapse key of their own, of which FCM stores only the latest push. Together with those of the badge
  /// and of the rest, these are the four collapse keys that FCM allows.
  static let mostConversations = 2
  /// The most further conversations that are counted individually.
  static let mostCounted = 64

  /// A conversation without a collapse key of its own, with its number of messages.
  struct Part: Encodable, Sendable, Equatable {
    /// FNV-1a of its id.
    var conversation: UInt64
    var messages: Int
  }

  /// The device's sign of life in the last push.
  var seenAt: Milliseconds
  /// The claim's version of its token. A higher version is a new registration.
  var version: Int64
  /// The pushes sent since then that FCM stores individually, or would without collapse keys.
  var pushes = 0
  /// The conversations with collapse keys of their own, by FNV-1a of their ids.
  var conversations: [UInt64] = []
  /// The conversations without a collapse key of their own.
  var rest: [Part] = []
  /// The messages in the catch-up besides those in `rest`, and their conversations.
  var furtherMessages = 0
  var furtherConversations = 0

  /// Counts a push when its first request is made. Returns how it replaces others if the device seems to be off; nil to send it as usual.
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
    // The one collapses anyway; the other goes to no device.
    case .badge, .escalation: return nil
    case .message:
      if let slot { return Collapse(.conversation, slot: slot) }
      if let conversation, conversations.count < Self.mostConversations,
        !rest.contains(where: { $0.conversation == conversation })
      {
        conversations.append(conversation)
        return Collapse(.conversation, slot: conversations.count - 1)
      }
      // A message that is pushed again was already counted, or is one of those that FCM stores individually.
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
      // It is no longer known which conversations these are: at least one.
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
    /// It replaces the former push of its conversation.
    case conversation
    /// It replaces the former catch-up of all other conversations, and continues its counts.
    case rest
    /// It replaces another push that shows nothing, or that would change a notification that the device does not show yet.
    case quiet
  }

  var kind: Kind
  /// FCM's collapse key.
  var key: String
  /// The number of messages in a catch-up, and of their conversations.
  var messages = 0
  var conversations = 0

  /// The collapse key of pushes that only change the badge.
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

/// A person's lanes in a form that operators may see, without tokens and texts. It is built from the rows of a changelog, in order.
public struct LaneView: Sendable {
  /// A push that waits for a device.
  public struct Waiting: Sendable, Equatable, Encodable {
    public var pushId: String
    public var deviceId: String
    /// The number of requests so far.
    public var attempts: Int
    /// Whether a request was made without a recorded answer.
    public var isInAir: Bool
    /// When the first request was made, in milliseconds since the epoch.
    public var firstAttemptAt: Milliseconds?
    /// When the time budget began, with the first failure that counts, in milliseconds since the epoch; nil without one.
    public var failingSince: Milliseconds?
    /// The earliest time of the next request, in milliseconds since the epoch; 0 for as soon as the lane is free.
    public var notBefore: Milliseconds
    /// The end of its freshness, in milliseconds since the epoch.
    public var expiresAt: Milliseconds
    /// The HTTP status of the last answer.
    public var httpStatus: Int?
    /// The error code of the last answer.
    public var errorCode: String?
  }

  private let userId: String
  private let laneStart: [UInt8]
  private let overflows: RowKey
  private let devices: RowKey
  private var rows: [RowKey: [WaitingPush]] = [:]
  private var quarantinedDevices: Set<RowKey> = []

  /// The view of a person's lanes, before any row was applied.
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

  /// Applies a row of the person; nil means that it was removed. Throws if the row cannot be read.
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
    // A lane's own row ("w") precedes its overflow rows ("o").
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

  /// Devices whose token FCM assigns to another sender. Nothing is sent to them until they register again.
  public var quarantined: [String] { quarantinedDevices.compactMap(\.parts.last).sorted() }
}
