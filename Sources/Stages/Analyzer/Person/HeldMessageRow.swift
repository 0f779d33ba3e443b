public import NudgeCodec
import NudgeSchema
import StreamRuntime
import Wording

/// A held message as it was when it came, with one recipient: it is decided once more when its wait ends.
public struct HeldMessageRow: Encodable, Sendable, Equatable {
  /// A header of the candidate's record, which what comes of it inherits.
  struct Header: Encodable, Sendable, Equatable {
    var name: String
    var value: [UInt8]
  }

  var candidate: MessageCandidate
  /// When the message was written, as it is judged (D11).
  var sentAt: Milliseconds
  /// When it was deferred, by the wall clock.
  var heldAt: Milliseconds
  /// The chat event.
  var source: RecordPosition
  var headers: [Header]
  /// The hourly limit, where it was asked when the message came: an analysis is not used twice.
  var analysis: AnalysisUse?
  /// Devices that got a push when it came, because the person has them in their hands.
  var pushedTo: [String] = []

  /// Cuts the text where the row would be too large.
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
  /// For errors.
  public static let name: StaticString = "held message"
  /// 2 has the devices that got a push already.
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

/// A message that waits: it may turn out to be read (decision 90).
struct Hold: Encodable, Sendable, Equatable {
  /// Why it waits. Rows of state hold a kind by its place.
  enum Kind: Int, Encodable, Sendable, CaseIterable {
    /// A device said that the conversation is open. It is on no badge, and its decision was `deferred`.
    case presence
    /// The same, of a message that another check has decided: only the badge waits.
    case badge
    /// Another device of the person is active: the alert waits for some seconds. It counts on the badge.
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
  /// Messages held at a time.
  static let maxHolds = 16

  /// Whether the limit of held messages is reached, so that another one is decided at once.
  var isFull: Bool { holds.count >= Self.maxHolds }

  /// Holds a message.
  mutating func hold(_ hold: Hold) {
    holds.insert(hold, at: holds.firstIndex { hold.place < $0.place } ?? holds.endIndex)
  }

  /// Ends the waits of alerts.
  mutating func takeAlerts() -> [Hold] {
    let alerts = holds.filter { $0.kind == .alert }
    if !alerts.isEmpty { holds.removeAll { $0.kind == .alert } }
    return alerts
  }

  /// Ends the waits that are over. The messages count on the badge from now on.
  mutating func takeHolds(dueBy time: Milliseconds) -> [Hold] {
    let due = holds.filter { $0.due <= time }
    holds.removeAll { $0.due <= time }
    for hold in due { countUnread(hold) }
    return due
  }

  /// When the first of the waits ends; nil: nothing waits.
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

/// The reason why a hold ends.
enum HoldEnd: Equatable {
  /// The person has read it, or written after it.
  case read
  /// A device said once more that the conversation is open.
  case open(deviceId: String)
  /// Its time has come: it is decided, and by whoever took it.
  case due
}

/// The last alert of a conversation for one person, and what was shown without one since.
///
/// Twenty messages in a minute are one alert, and silent entries after it. A message that mentions, answers or names the
/// person, or comes from a starred sender, always alerts, and so does one that matters more than the message that alerted. Bursts go by the messages' own times, so that a replay decides the
/// same.
struct Burst: Encodable, Sendable, Equatable {
  /// The time of the message that alerted.
  var alertedAt: Milliseconds
  /// Messages since then that would have alerted too.
  var heldBack = 0
  /// The importance of that message, from 0 to 3; absent in rows of releases that did not keep it.
  var rank: Int?

  /// Whether a message comes so soon after the alert, or so shortly before it, that it is shown without one.
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
  /// A message is to alert. Returns the burst it belongs to where its alert is held back; nil: it alerts.
  ///
  /// - Parameters:
  ///   - last: The conversation's last alert before the message, and after it.
  ///   - time: The message's.
  ///   - rank: The message's importance, from 0 to 3.
  ///   - isPersonal: It alerts whatever came before.
  ///   - isAnew: The message was decided before, and is decided again: its own alert does not hold it back.
  ///   - length: How long an alert stands for what comes after it; 0: not at all.
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
    // A message that comes late never makes an alert look older than it is.
    last = Burst(alertedAt: max(time, last?.alertedAt ?? time), rank: rank)
    return nil
  }
}
