public import NudgeCodec
import NudgeSchema
import StreamRuntime
import Wording

/// A held message as it arrived, for one recipient. It is decided again when its wait ends.
public struct HeldMessageRow: Encodable, Sendable, Equatable {
  /// A header of the candidate's record, which the records written for it inherit.
  struct Header: Encodable, Sendable, Equatable {
    var name: String
    var value: [UInt8]
  }

  var candidate: MessageCandidate
  /// When the message was written, by the capped time (D11).
  var sentAt: Milliseconds
  /// When it was deferred, by the wall clock.
  var heldAt: Milliseconds
  /// The chat event.
  var source: RecordPosition
  var headers: [Header]
  /// The hourly limit if it was checked when the message arrived, so that an analysis is not used twice.
  var analysis: AnalysisUse?
  /// Devices that received a push when it arrived, because the person was using them.
  var pushedTo: [String] = []

  /// Cuts the text if the row would be too large.
  mutating func fit() {
    var characters = 1_000
    while characters > 0, packed(capacity: 1_024).count > StateLimits.maxRowBytes {
      candidate.body = String(candidate.body.prefix(characters))
      characters /= 4
    }
  }

  var recipient: Recipient? { candidate.recipients.first }
}

extension HeldMessageRow {
  /// The row of a candidate for one of its recipients. The text is cut where the row would be too large.
  init(
    _ candidate: MessageCandidate, for recipient: Recipient, sentAt: Milliseconds, heldAt: Milliseconds,
    source: RecordPosition, headers: [Header], analysis: AnalysisUse? = nil, pushedTo: [String] = []
  ) {
    self.init(
      candidate: candidate, sentAt: sentAt, heldAt: heldAt, source: source, headers: headers, analysis: analysis,
      pushedTo: pushedTo)
    self.candidate.recipients = [recipient]
    // The names are in the title then, which is this person's.
    if let title = candidate.title(ofUnnamedGroupFor: recipient.userId, .english) { self.candidate.title = title }
    self.candidate.conversation.others = nil
    // Ingest has told each recipient by its context whether they are mentioned.
    self.candidate.mentions = []
    fit()
  }
}

extension HeldMessageRow: PackedRow, PackedFields {
  /// The row's kind, for errors.
  public static let name: StaticString = "held message"
  /// Version 2 added the devices that already have a push.
  public static var versions: RowVersions { RowVersions(2) }
  public static var blank: Self {
    let conversation = CandidateConversation(kind: .direct, memberCount: 0, activeSpeakers: 0)
    let candidate = MessageCandidate(
      conversationId: "", messageId: "", sender: Member(userId: "", displayName: ""), conversation: conversation,
      title: "", body: "", recipients: [])
    return Self(candidate: candidate, sentAt: 0, heldAt: 0, source: .blank, headers: [])
  }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    var recipient = candidate.recipients.first ?? Recipient(userId: "", context: RecipientContext())
    try row.flags()
    let isGroup = row.flag(candidate.conversation.kind == .group)
    row.flag(&recipient.context.mentioned)
    row.flag(&recipient.context.named)
    row.flag(&recipient.context.answered)
    try row.field(&candidate.sender.userId)
    try row.field(&candidate.sender.displayName)
    try row.optional(&candidate.sender.avatarUrl)
    try row.optional(&candidate.conversation.name)
    try row.field(&candidate.conversation.memberCount)
    try row.field(&candidate.conversation.activeSpeakers)
    try row.optional(&candidate.conversation.features)
    let hasAddress = row.flag(candidate.attachment?.url != nil)
    try row.optional(&candidate.attachment, as: AttachmentForm(hasAddress: hasAddress))
    try row.optional(&candidate.replyTo)
    try row.optional(&recipient.context.lastSpokeAt)
    try row.optional(&recipient.context.messagesSince)
    try row.field(&recipient.context.exchange)
    try row.optional(&recipient.context.features)
    try row.field(&candidate.conversationId)
    try row.field(&candidate.messageId)
    try row.field(&candidate.title)
    try row.field(&candidate.body)
    try row.field(&recipient.userId)
    try row.field(&sentAt)
    try row.field(&heldAt)
    try row.field(&source)
    try row.field(&headers)
    let hasAnalysis = row.flag(analysis != nil)
    let analysisForm = AnalysisForm(
      hasWindow: row.flag(analysis?.windowStartedAt != nil), hasFallback: row.flag(analysis?.fallback != nil))
    try row.field(&analysis, as: OptionalForm(analysisForm, isThere: hasAnalysis))
    try row.optional(&pushedTo)
    guard Row.isReading else { return }
    candidate.conversation.kind = isGroup ? .group : .direct
    candidate.recipients = [recipient]
  }
}

extension HeldMessageRow.Header: PackedFields {
  static var blank: Self { Self(name: "", value: []) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&name)
    try row.field(&value, as: BytesForm())
  }
}

/// An attachment whose flags are the row's.
private struct AttachmentForm: PackedForm {
  var hasAddress: Bool

  func read(from row: inout RowReader) throws(RowFormatError) -> Attachment {
    Attachment(kind: try Attachment.Kind(packed: &row), url: hasAddress ? try row.text() : nil)
  }

  func write(_ attachment: Attachment, into row: inout RowWriter) {
    attachment.kind.pack(into: &row)
    if let url = attachment.url { row.text(url) }
  }
}

/// The hourly limit, whose flags are the row's.
private struct AnalysisForm: PackedForm {
  var hasWindow: Bool
  var hasFallback: Bool

  func read(from row: inout RowReader) throws(RowFormatError) -> AnalysisUse {
    AnalysisUse(
      used: Int(try row.signed()), limit: Int(try row.signed()), windowStartedAt: hasWindow ? try row.signed() : nil,
      fallback: hasFallback ? try AnalysisFallback(packed: &row) : nil)
  }

  func write(_ analysis: AnalysisUse, into row: inout RowWriter) {
    row.signed(analysis.used)
    row.signed(analysis.limit)
    if let windowStartedAt = analysis.windowStartedAt { row.signed(windowStartedAt) }
    analysis.fallback?.pack(into: &row)
  }
}

/// A waiting message, which may turn out to be read (decision 90).
struct Hold: Encodable, Sendable, Equatable {
  /// Why it waits. Rows of state store a kind as its index.
  enum Kind: Int, Encodable, Sendable, CaseIterable {
    /// A device reported the conversation as open. The message is on no badge, and its decision was `deferred`.
    case presence
    /// As `presence`, for a message that another check has decided. Only the badge waits.
    case badge
    /// Another device of the person is active, so the alert waits for some seconds. The message counts on the badge.
    case alert
  }

  var key: MessageKey
  var place: MessagePlace
  /// When the wait ends, by the wall clock.
  var due: Milliseconds
  var kind: Kind
}

extension Hold.Kind: PackedChoice {}

extension Hold: PackedFields {
  static var blank: Self { Self(key: .blank, place: .blank, due: 0, kind: .presence) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&key)
    try row.field(&place)
    try row.field(&due)
    try row.field(&kind)
  }
}

extension PersonConversationRow {
  /// The most messages held at a time.
  static let maxHolds = 16

  /// Whether the limit of held messages is reached, so that a further message is decided at once.
  var isFull: Bool { holds.count >= Self.maxHolds }

  /// Holds a message.
  mutating func hold(_ hold: Hold) {
    holds.insert(hold, at: holds.firstIndex { hold.place < $0.place } ?? holds.endIndex)
  }

  /// Removes and returns the waits of alerts.
  mutating func takeAlerts() -> [Hold] {
    let alerts = holds.filter { $0.kind == .alert }
    if !alerts.isEmpty { holds.removeAll { $0.kind == .alert } }
    return alerts
  }

  /// Removes and returns the waits that are due. Their messages count on the badge from now on.
  mutating func takeHolds(dueBy time: Milliseconds) -> [Hold] {
    let due = holds.filter { $0.due <= time }
    holds.removeAll { $0.due <= time }
    for hold in due { countUnread(hold) }
    return due
  }

  /// Ends waits at a time, unless they end before.
  mutating func endWaits(of ended: [Hold], at time: Milliseconds) {
    for index in holds.indices where ended.contains(where: { $0.key == holds[index].key }) {
      holds[index].due = min(holds[index].due, time)
    }
  }

  /// The place of the first unread message that has alerted, of those from a time on.
  func firstAlert(since time: Milliseconds) -> MessagePlace? {
    recent.first { message in
      message.place.at >= time && message.marks.isSuperset(of: [.unread, .notified, .shown]) && message.heldBack == nil
    }?.place
  }

  /// When the first wait ends; nil if nothing waits.
  var nextHoldDue: Milliseconds? { holds.lazy.map(\.due).min() }

  private mutating func countUnread(_ hold: Hold) {
    guard hold.kind != .alert else { return }
    if message(hold.key) != nil {
      mark(hold.key) { $0.insert(.unread) }
    } else {
      older.append(OlderMessage(key: hold.key, place: hold.place, isShown: false))
      older.sort { $0.place < $1.place }
      recount()
    }
  }
}

/// Why a hold ends.
enum HoldEnd: Equatable {
  /// The person has read the message or written after it.
  case read
  /// A device reported again that the conversation is open.
  case open(deviceId: String)
  /// It is due, so the message is decided again.
  case due
}

/// The last alert of a conversation for one person, and the messages since then that did not alert.
/// Twenty messages in a minute give one alert and then silent entries. A message that mentions, answers or names the person, or comes from
/// a starred sender, always alerts. So does a message of higher rank than the one that alerted. Bursts use the messages' own times, so a
/// replay decides the same.
struct Burst: Encodable, Sendable, Equatable {
  /// The time of the message that alerted.
  var alertedAt: Milliseconds
  /// The number of later messages that would also have alerted.
  var heldBack = 0
  /// The rank of the message that alerted, 0 to 3; absent in rows of releases that did not store it.
  var rank: Int?

  /// Whether a message comes so soon after the alert, or so shortly before it, that it must not alert.
  func holds(_ time: Milliseconds, for length: Milliseconds) -> Bool {
    length > 0 && abs(time &- alertedAt) < length
  }
}

/// Without the importance, which has a place of its own in the conversation's row.
extension Burst: PackedFields {
  static var blank: Self { Self(alertedAt: 0) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&alertedAt)
    try row.field(&heldBack)
  }
}

extension Burst {
  /// Checks a message that wants to alert. Returns the burst that holds its alert back; nil if it may alert.
  ///
  /// - Parameters:
  ///   - last: The conversation's last alert before the message, and after it.
  ///   - time: The message's time.
  ///   - rank: The message's rank, 0 to 3.
  ///   - isPersonal: Whether it alerts regardless of earlier alerts.
  ///   - isAnew: Whether the message was decided before. Then its own alert does not hold it back.
  ///   - length: How long an alert holds back later ones; 0 to hold back none.
  static func alert(
    after last: inout Burst?, at time: Milliseconds, rank: Int, isPersonal: Bool, isAnew: Bool,
    length: Milliseconds
  ) -> Burst? {
    guard length > 0 else {
      last = nil
      return nil
    }
    if isAnew, last?.alertedAt == time { return nil }
    if !isPersonal, var current = last, current.holds(time, for: length), rank <= current.rank ?? 2 {
      current.heldBack += 1
      last = current
      return current
    }
    // A late message must never make an alert look older than it is.
    last = Burst(alertedAt: max(time, last?.alertedAt ?? time), rank: rank)
    return nil
  }
}
