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

  /// The row of a candidate for one of its recipients. The text is cut where the row would be too large.
  init(
    _ candidate: MessageCandidate, for recipient: Recipient, sentAt: Milliseconds, heldAt: Milliseconds,
    source: RecordPosition, headers: [Header], analysis: AnalysisUse? = nil, pushedTo: [String] = []
  ) {
    self.candidate = candidate
    self.candidate.recipients = [recipient]
    // The names are in the title then, which is this person's.
    if let title = candidate.title(ofUnnamedGroupFor: recipient.userId, .english) { self.candidate.title = title }
    self.candidate.conversation.others = nil
    // Ingest has told each recipient by its context whether they are mentioned.
    self.candidate.mentions = []
    self.sentAt = sentAt
    self.heldAt = heldAt
    self.source = source
    self.headers = headers
    self.analysis = analysis
    self.pushedTo = pushedTo
    fit()
  }

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

extension HeldMessageRow: PackedRow {
  /// For errors.
  public static let name: StaticString = "held message"
  /// 2 has the devices that got a push already.
  public static var versions: RowVersions { RowVersions(2) }

  public init(packed row: inout RowReader) throws(RowFormatError) {
    var flags = RowFlags(bits: try row.unsigned())
    let isGroup = flags.take()
    let (mentioned, named, answered) = (flags.take(), flags.take(), flags.take())
    let sender = Member(
      userId: try row.text(), displayName: try row.text(), avatarUrl: flags.take() ? try row.text() : nil)
    let conversation = CandidateConversation(
      kind: isGroup ? .group : .direct, name: flags.take() ? try row.text() : nil,
      memberCount: Int(try row.signed()), activeSpeakers: Int(try row.signed()),
      features: flags.take() ? try row.text() : nil)
    var attachment: Attachment?
    let hasAddress = flags.take()
    if flags.take() {
      attachment = Attachment(
        kind: try row.choice(of: Attachment.Kind.allCases), url: hasAddress ? try row.text() : nil)
    }
    let replyTo = flags.take() ? try row.text() : nil
    let context = RecipientContext(
      mentioned: mentioned, named: named, answered: answered, lastSpokeAt: flags.take() ? try row.signed() : nil,
      messagesSince: flags.take() ? Int(try row.signed()) : nil, exchange: Int(try row.signed()),
      features: flags.take() ? try row.text() : nil)
    candidate = MessageCandidate(
      conversationId: try row.text(), messageId: try row.text(), sender: sender, conversation: conversation,
      title: try row.text(), body: try row.text(), attachment: attachment, replyTo: replyTo,
      recipients: [Recipient(userId: try row.text(), context: context)])
    sentAt = try row.signed()
    heldAt = try row.signed()
    source = try row.position()
    headers = []
    for _ in 0..<(try row.count()) { headers.append(Header(name: try row.text(), value: try row.blob())) }
    if flags.take() {
      let (used, limit) = (Int(try row.signed()), Int(try row.signed()))
      analysis = AnalysisUse(
        used: used, limit: limit, windowStartedAt: flags.take() ? try row.signed() : nil,
        fallback: flags.take() ? try row.choice(of: AnalysisFallback.allCases) : nil)
    } else {
      _ = (flags.take(), flags.take())
    }
    if flags.take() { for _ in 0..<(try row.count()) { pushedTo.append(try row.text()) } }
  }

  public func pack(into row: inout RowWriter) {
    let (sender, conversation) = (candidate.sender, candidate.conversation)
    let recipient = candidate.recipients.first ?? Recipient(userId: "", context: RecipientContext())
    let context = recipient.context
    var flags = RowFlags()
    flags.add(conversation.kind == .group)
    flags.add(context.mentioned)
    flags.add(context.named)
    flags.add(context.answered)
    flags.add(sender.avatarUrl != nil)
    flags.add(conversation.name != nil)
    flags.add(conversation.features != nil)
    flags.add(candidate.attachment?.url != nil)
    flags.add(candidate.attachment != nil)
    flags.add(candidate.replyTo != nil)
    flags.add(context.lastSpokeAt != nil)
    flags.add(context.messagesSince != nil)
    flags.add(context.features != nil)
    flags.add(analysis != nil)
    flags.add(analysis?.windowStartedAt != nil)
    flags.add(analysis?.fallback != nil)
    flags.add(!pushedTo.isEmpty)
    row.unsigned(flags.bits)
    row.text(sender.userId)
    row.text(sender.displayName)
    if let avatarUrl = sender.avatarUrl { row.text(avatarUrl) }
    if let name = conversation.name { row.text(name) }
    row.signed(conversation.memberCount)
    row.signed(conversation.activeSpeakers)
    if let features = conversation.features { row.text(features) }
    if let attachment = candidate.attachment {
      row.choice(attachment.kind, of: Attachment.Kind.allCases)
      if let url = attachment.url { row.text(url) }
    }
    if let replyTo = candidate.replyTo { row.text(replyTo) }
    if let lastSpokeAt = context.lastSpokeAt { row.signed(lastSpokeAt) }
    if let messagesSince = context.messagesSince { row.signed(messagesSince) }
    row.signed(context.exchange)
    if let features = context.features { row.text(features) }
    row.text(candidate.conversationId)
    row.text(candidate.messageId)
    row.text(candidate.title)
    row.text(candidate.body)
    row.text(recipient.userId)
    row.signed(sentAt)
    row.signed(heldAt)
    row.position(source)
    row.count(headers.count)
    for header in headers {
      row.text(header.name)
      row.blob(header.value)
    }
    if let analysis {
      row.signed(analysis.used)
      row.signed(analysis.limit)
      if let windowStartedAt = analysis.windowStartedAt { row.signed(windowStartedAt) }
      if let fallback = analysis.fallback { row.choice(fallback, of: AnalysisFallback.allCases) }
    }
    if !pushedTo.isEmpty {
      row.count(pushedTo.count)
      for deviceId in pushedTo { row.text(deviceId) }
    }
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
