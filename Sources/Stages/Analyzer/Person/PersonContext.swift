import NudgeCodec
public import NudgeSchema
import ServiceKit
public import StreamRuntime

/// Processes one timeline record for one person: reads and writes the person's rows, and writes the output records.
///
/// The person's own row changes in memory, and `save()` writes it. The files in `Applying` add a method for each kind of event.
struct PersonContext {
  let userId: String
  /// The person's index among the recipients of the record. It makes the ids of their output records unique.
  let number: Int
  let cause: Cause
  let rules: AnalyzerRules
  let codec: RecordCodec
  let step: Step<AnalyzerStage>
  var user: UserRow

  /// The person's row before the record; nil if there was none.
  let before: UserRow?
  private let userKey: RowKey
  /// Records written to `nudge.pushes` so far. The dispatcher distinguishes them by the index of their origin.
  private var pushRecords: Int32 = 0
  /// Decisions written so far, which gives each its own id.
  private var decisionRecords: Int32 = 0
  /// The chat event that the output records name as their source; nil to name the timeline record's own source.
  var source: RecordPosition?
  /// Records written so far with `emit(change:)`.
  private var changeRecords: Int32 = 0
  /// Receipts written so far.
  private var receiptRecords: Int32 = 0
  /// Conversations whose unread messages have changed in this record.
  private(set) var unread: [BadgeChange.Conversation] = []
  /// The messages that have a final decision in this record.
  var concluded: [DecidedMessage] = []

  init(
    userId: String, number: Int, cause: Cause, rules: AnalyzerRules, codec: RecordCodec,
    step: Step<AnalyzerStage>
  ) throws {
    self.userId = userId
    self.number = number
    self.cause = cause
    self.rules = rules.with(step.policy)
    self.codec = codec
    self.step = step
    userKey = AnalyzerRow.userKey(userId)
    if case .user(let row) = try step.row(userKey) { before = row } else { before = nil }
    user = before ?? .first
  }

  /// Writes the person's row if it changed, and the unread numbers for an open app.
  mutating func save() throws {
    try showUnread()
    guard user != before ?? .first else { return }
    var row = user
    row.policyBadgeMode = rules.policy.badgeMode == .messages ? .messages : nil
    try step.set(.user(row), for: userKey)
  }

  // MARK: Other rows

  /// Reads the person's rows.
  var rows: PersonRows { PersonRows(userId: userId, step: step) }

  func preferences() throws -> PreferencesRow {
    if case .preferences(let row) = try step.row(AnalyzerRow.preferencesKey(userId)) { return row }
    return PreferencesRow()
  }

  /// The preferences, with defaults for those that the person never set.
  func effectivePreferences() throws -> EffectivePreferences {
    EffectivePreferences(try preferences(), rules: rules)
  }

  func conversation(_ conversationId: String) throws -> PersonConversationRow {
    if case .conversation(let row) = try step.row(
      AnalyzerRow.conversationKey(userId, conversationId))
    {
      return row
    }
    return PersonConversationRow()
  }

  /// Writes a conversation's row if it changed, and updates what depends on it: the badge, held messages, the catch-up and the rows of older
  /// messages.
  ///
  /// - Parameter end: Why a message that is held no longer, and was not withdrawn, stopped being held.
  mutating func keep(
    _ after: PersonConversationRow, was before: PersonConversationRow, for conversationId: String,
    holdsEnd end: HoldEnd = .read
  ) throws {
    guard after != before else { return }
    var after = after
    if before == PersonConversationRow() { try beginConversation(conversationId) }
    try removePages(after, was: before, of: conversationId)
    try movePages(&after, conversationId)
    user.count(unreadBefore: before.unread, after: after.unread)
    if before.unread != after.unread {
      unread.removeAll { sameId($0.conversationId, conversationId) }
      unread.append(BadgeChange.Conversation(conversationId: conversationId, unread: after.unread))
    }
    try step.set(.conversation(after), for: AnalyzerRow.conversationKey(userId, conversationId))
    if !before.holds.isEmpty { try endHolds(after, was: before, for: conversationId, by: end) }
    if user.hasMissed == true { try settleMissed(after, was: before, for: conversationId) }
    if before.late != nil { try settleShownCatchUp(after, was: before) }
  }

  func device(_ deviceId: String) throws -> PersonDeviceRow? { try rows.device(deviceId) }

  func set(_ row: PersonDeviceRow, for deviceId: String) throws {
    try step.set(.device(row), for: AnalyzerRow.deviceKey(userId, deviceId))
  }

  // MARK: Output

  mutating func emit(_ decision: DecisionBody) throws {
    let event = cause.event(decision, named: .decision, number: number, index: decisionRecords, source: source)
    try step.emit(bytes: codec.encode(event), to: .decisions, key: userId)
    decisionRecords += 1
  }

  func emit(_ banner: BannerEventBody) throws {
    let event = cause.event(banner, named: banner.type, number: number, source: source)
    try step.emit(bytes: codec.encode(event), to: .banners, key: userId)
  }

  /// Writes a change for an open app to show. One timeline record may cause several changes of one kind.
  mutating func emit(change: BannerEventBody) throws {
    let event = cause.event(change, named: change.type, number: number, index: changeRecords, source: source)
    try step.emit(bytes: codec.encode(event), to: .banners, key: userId)
    changeRecords += 1
  }

  /// - Parameter hasOwnId: True if the caller made the push's id from its message. False if it may be another: the id is then checked.
  mutating func emit(_ push: PushEventBody, hasOwnId: Bool = false) throws {
    if case .push(let fields) = push {
      try expectReceipts(of: fields, hasOwnId: hasOwnId)
      try countMade(fields)
    }
    let event = cause.event(push, named: push.type, number: number, index: pushRecords, source: source)
    try step.emit(bytes: codec.encode(event), to: .pushes, key: userId)
    pushRecords += 1
  }

  /// Writes a receipt with the time of the event that caused it.
  mutating func emit(_ receipt: ReceiptBody) throws {
    var event = cause.event(receipt, named: .receipt, number: number, index: receiptRecords)
    event.envelope.occurredAt = cause.happenedAt
    try step.emit(bytes: codec.encode(event), to: .outcomes, key: userId)
    receiptRecords += 1
  }
}

/// A message with its final decision.
struct DecidedMessage: Equatable {
  var conversationId: String
  var key: MessageKey
}

extension PersonContext {
  /// Counts a conversation that had no row. If the person has more than `ConversationBound.conversations`, removes those that have been
  /// inactive the longest, and their unread messages from the badge.
  ///
  /// A conversation with an event within `ConversationBound.idle`, or within twice the freshness limit if that is longer, is never removed, so
  /// a person may have more than the bound. Ages go by the events' own times, so a replay removes the same conversations. The check reads all
  /// of the person's conversations, so it runs only once per `ConversationBound.slack` new ones.
  mutating func beginConversation(_ conversationId: String) throws {
    let bound = rules.conversationBound
    // A person's row without a count comes from a release that did not count.
    let known = try user.conversations ?? step.rows(below: AnalyzerRow.conversationsKey(userId)).count
    user.conversations = known + 1
    guard known >= bound.conversations, (known - bound.conversations) % bound.slack == 0 else { return }

    let idleSince = cause.happenedAt - max(bound.idle, 2 * rules.policy.freshness)
    var rows: [(key: RowKey, row: PersonConversationRow, at: Milliseconds)] = []
    for (key, row) in try step.rows(below: AnalyzerRow.conversationsKey(userId)) {
      guard case .conversation(let row) = row else { continue }
      // A row without a time contains only the origin of an edit or a deletion, so it is kept.
      rows.append((key, row, row.lastEventAt ?? .max))
    }
    user.conversations = rows.count + 1
    let forgettable = rows.filter { $0.at < idleSince }.sorted { ($0.at, $0.key) < ($1.at, $1.key) }
    for (key, row, _) in forgettable.prefix(rows.count + 1 + bound.slack - bound.conversations) {
      user.count(unreadBefore: row.unread, after: 0)
      if let conversationId = key.parts.last {
        try forgetMissed(in: conversationId)
        try removePages(nil, was: row, of: conversationId)
      }
      try step.remove(key)
      user.conversations? -= 1
    }
  }
}

extension PersonConversationRow {
  /// The latest time of anything in the conversation; nil if nothing has a time.
  var lastEventAt: Milliseconds? {
    [
      recent.map(\.place.at).max(), forgottenUpTo?.at, readUpTo?.at, readAhead?.stamp.occurredAt, withdrawnUpTo,
      burst?.alertedAt,
    ].compactMap { $0 }.max()
  }
}

/// The cause of a push. The push's id depends only on person, kind and cause, so deciding again gives the same id.
enum PushCause {
  /// A message, whether it is shown or only counts on the badge. `senderId` is set only if another sender has used the same message id.
  case message(conversationId: String, messageId: String, senderId: String? = nil, anew: Anew? = nil)
  /// A record that changed the badge or read a conversation.
  case record(RecordPosition)

  /// Why a message gets another push.
  enum Anew {
    /// A replay notifies by force. Each such replay makes its own push.
    case forced(replayId: String)
    /// The push with this id failed.
    case failed(pushId: String)
    /// The message neither arrived nor was read.
    case again
  }
}

extension AnalyzerRules {
  /// The id of a push: the first 16 bytes of a hash as base64url, 22 characters. The hash covers the parts in order, each followed by a NUL,
  /// which no id contains.
  func pushId(userId: String, kind: Push.Kind, cause: PushCause) -> String {
    var bytes: [UInt8] = []
    // Enough for four ids of usual length.
    bytes.reserveCapacity(192)
    func add(_ part: String) {
      bytes.append(contentsOf: part.utf8)
      bytes.append(0)
    }
    add(userId)
    add(kind.rawValue)
    switch cause {
    case .message(let conversationId, let messageId, let senderId, let anew):
      add("message")
      add(conversationId)
      add(messageId)
      if let senderId {
        add("sender")
        add(senderId)
      }
      switch anew {
      case nil: break
      case .forced(let replayId):
        add("replay")
        add(replayId)
      case .failed(let pushId):
        add("failed")
        add(pushId)
      case .again: add("again")
      }
    case .record(let position):
      add("record")
      add(position.topic)
      add(String(position.partition))
      add(String(position.offset))
    }
    return Base64URL.encode(hash(bytes).prefix(16))
  }
}

/// A timer of a person. Its name says which timer it is; the key of `timer.fired` is the person.
enum PersonTimer: Equatable {
  /// The raised badge must be pushed.
  case badge
  /// The wait of held messages of a conversation ends.
  case hold(conversationId: String)
  /// The person catches up.
  case catchUp
  /// A message must be pushed again or go to the webhook.
  case escalation
  /// A device has been inactive for too long.
  case device(id: String)

  /// The timer with a name; nil if the name is not one of this person's timers.
  init?(_ name: String, of userId: String) {
    /// The text after a prefix.
    func rest(after prefix: String) -> String? {
      name.utf8.starts(with: prefix.utf8)
        ? String(decoding: name.utf8.dropFirst(prefix.utf8.count), as: UTF8.self) : nil
    }
    if let timer = [Self.badge, .catchUp, .escalation].first(where: { sameId($0.name(of: userId), name) }) {
      self = timer
    } else if let id = rest(after: Self.hold(conversationId: "").name(of: userId)) {
      self = .hold(conversationId: id)
    } else if let id = rest(after: Self.device(id: "").name(of: userId)) {
      self = .device(id: id)
    } else {
      return nil
    }
  }

  /// The timer's name. It is the same in state and topics of all releases.
  func name(of userId: String) -> String {
    switch self {
    case .badge: "badge/\(userId)"
    case .hold(let conversationId): "hold/\(userId)/\(conversationId)"
    case .catchUp: "catchup/\(userId)"
    case .escalation: "escalate/\(userId)"
    case .device(let id): "device/\(userId)/\(id)"
    }
  }
}

extension AnalyzerStage {
  /// `timer.fired` on the timeline.
  public static func value(of timer: DueTimer, coder: RecordCoder) throws -> [UInt8] {
    try coder.encode(
      DerivedEvent(
        Envelope(eventId: timer.eventId, occurredAt: timer.due), origin: timer.origin, source: timer.source,
        TimelineEventBody.timerFired(TimerFired(timer: timer.name, dueAt: timer.due))))
  }
}
