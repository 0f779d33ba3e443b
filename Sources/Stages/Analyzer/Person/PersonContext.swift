import NudgeCodec
import NudgeSchema
import StreamRuntime

/// One person's part of one timeline record: their rows while they change, and the records written for them. The folders of this
/// module extend it with a method for each event.
struct PersonContext {
  let userId: String
  /// The person's index among the recipients of the record. It makes the ids of their output records unique.
  let number: Int
  let cause: Cause
  let rules: AnalyzerRules
  let codec: RecordCodec
  let step: Step<AnalyzerStage>
  var user: UserRow

  /// The person's row before the record; nil: there was none.
  let before: UserRow?
  private let userKey: RowKey
  /// Records written to `nudge.pushes` so far: the dispatcher tells them apart by the index of their origin.
  private var pushRecords: Int32 = 0
  /// The same of decisions, so that each has an id of its own.
  private var decisionRecords: Int32 = 0
  /// The chat event that caused the outputs, where it is not the record's.
  var source: RecordPosition?
  /// Changes inside the app written so far.
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

  /// Writes the person's row, if it changed, and what is unread now to an app that is open.
  mutating func save() throws {
    try showUnread()
    guard user != before ?? .first else { return }
    var row = user
    row.policyBadgeMode = rules.policy.badgeMode == .messages ? .messages : nil
    try step.set(.user(row), for: userKey)
  }

  // MARK: Other rows

  /// The person's rows, to read them.
  var rows: PersonRows { PersonRows(userId: userId, step: step) }

  func preferences() throws -> PreferencesRow {
    if case .preferences(let row) = try step.row(AnalyzerRow.preferencesKey(userId)) { return row }
    return PreferencesRow()
  }

  /// The preferences with the defaults in place of what the person never set.
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

  /// Writes a conversation's row, if it changed, updates the person's badge counters, and decides about messages whose hold has ended.
  ///
  /// - Parameter end: Why the hold ended, for messages that are not withdrawn.
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
    if before.late != nil { try settleTold(after, was: before) }
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

  /// Writes what changes inside the app. A record may change several things of one kind.
  mutating func emit(change: BannerEventBody) throws {
    let event = cause.event(change, named: change.type, number: number, index: changeRecords, source: source)
    try step.emit(bytes: codec.encode(event), to: .banners, key: userId)
    changeRecords += 1
  }

  /// - Parameter hasOwnId: The push is known to have the id that follows from its message.
  mutating func emit(_ push: PushEventBody, hasOwnId: Bool = false) throws {
    if case .push(let fields) = push {
      try expectReceipts(of: fields, hasOwnId: hasOwnId)
      try countMade(fields)
    }
    let event = cause.event(push, named: push.type, number: number, index: pushRecords, source: source)
    try step.emit(bytes: codec.encode(event), to: .pushes, key: userId)
    pushRecords += 1
  }

  /// Writes a receipt, at the time of the event that caused it.
  mutating func emit(_ receipt: ReceiptBody) throws {
    var event = cause.event(receipt, named: .receipt, number: number, index: receiptRecords)
    event.envelope.occurredAt = cause.happenedAt
    try step.emit(bytes: codec.encode(event), to: .outcomes, key: userId)
    receiptRecords += 1
  }
}

/// A message that has its final decision.
struct DecidedMessage: Equatable {
  var conversationId: String
  var key: MessageKey
}
