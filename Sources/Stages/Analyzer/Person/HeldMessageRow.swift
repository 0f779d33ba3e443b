public import NudgeCodec
import NudgeSchema
import StreamRuntime
import Wording

/// A held message as it was when it came, with one recipient: it is decided once more when its wait ends.
public struct HeldMessageRow: Codable, Sendable, Equatable {
  /// A header of the candidate's record, which what comes of it inherits.
  struct Header: Codable, Sendable, Equatable {
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
