import NudgeCodec
import NudgeSchema
import Relevance
import StreamRuntime
import Wording

/// The timeline record being processed, with the fields that all records written for it share.
final class Cause: Sendable {
  /// The record's position on the timeline.
  let position: RecordPosition
  let partition: Int32
  /// The origin of the records that it causes.
  let ownOrigin: Origin
  let envelope: Envelope
  /// When the event happened: its own time, or the time ingest accepted it if that is earlier (D11). People's actions are judged by it.
  let happenedAt: Milliseconds
  /// When the event reached Nudge, if that was well after it happened; otherwise the time it happened.
  let arrivedAt: Milliseconds
  /// The event's stamp in last-writer-wins order (D12).
  let stamp: EventStamp
  /// The record's own cause; for candidates the chat event.
  let origin: Origin
  /// The event that started the chain.
  let source: RecordPosition

  /// The prefix of the ids of all events caused by the record.
  private let eventIdPrefix: String

  /// - Parameter own: The origin of the records that it causes.
  init(_ event: TimelineEvent, at own: Origin, partition: Int32) {
    ownOrigin = own
    position = own.position
    self.partition = partition
    envelope = event.envelope
    happenedAt = event.cappedAt
    arrivedAt = max(event.arrivedAt ?? event.cappedAt, event.cappedAt)
    stamp = event.stamp
    origin = event.origin
    source = event.source
    eventIdPrefix = "timeline-\(partition)-\(position.offset)-"
  }

  /// An event caused by the record. Its id contains the record's position and, if a record concerns many people, the person's index.
  ///
  /// - Parameter source: The event that started the chain, if it is not the record's own.
  func event<Body>(
    _ body: Body, named type: EventType, number: Int, index: Int32 = 0, source: RecordPosition? = nil
  ) -> DerivedEvent<Body> {
    var id = eventIdPrefix
    id += type.rawValue
    id += "-"
    id += String(number)
    if index > 0 { id += "-\(index)" }
    return DerivedEvent(
      Envelope(eventId: id, occurredAt: envelope.occurredAt), origin: ownOrigin.effect(index),
      source: source ?? self.source, body)
  }
}

/// The allowed times of events, in milliseconds since the epoch: 1970 to 9999. Sums with them never overflow.
private let allowedTimes: ClosedRange<Milliseconds> = 0...253_402_300_799_999

/// Reads a timeline record. Throws a `Rejection`, which names fields but never their values.
func readTimelineEvent(_ record: InputRecord, codec: RecordCodec) throws -> TimelineEvent {
  guard let value = record.value else { throw Rejection(.schemaViolation, "the record has no value") }
  let event = try Rejection.reading { try codec.decode(TimelineEvent.self, from: value) }
  guard allowedTimes.contains(event.envelope.occurredAt) else {
    throw Rejection(.schemaViolation, "occurredAt is not between the years 1970 and 9999")
  }
  switch event.body {
  case .candidate(let fields), .redecide(let fields):
    try checkCount(fields.recipients.count, field: "recipients")
  case .withdrawn(let fields):
    try checkCount(fields.userIds.count, field: "userIds")
  default: break
  }
  return event
}

private func checkCount(_ count: Int, field: String) throws {
  guard (1...MessageCandidate.maxRecipients).contains(count) else {
    throw Rejection(
      .schemaViolation, "\(field) names \(count) people; 1 to \(MessageCandidate.maxRecipients) are allowed")
  }
}

/// A candidate's message, with values that are computed once for all recipients, and only if one of them needs it. One thread uses it.
final class CandidateMessage {
  let candidate: MessageCandidate
  let key: MessageKey
  /// The key of the message's id, regardless of other senders that used the id.
  private let ownKey: MessageKey
  /// The key of the conversation in the person's learned preferences.
  private(set) lazy var conversationKey = MessageKey(candidate.conversationId)
  /// The key of the sender in the person's learned preferences.
  let sender: MessageKey
  let sentAt: Milliseconds
  private(set) lazy var text = MessageText(candidate.body)
  /// Whether the text is urgent. Ingest has already checked this, but without an operator's own words.
  private(set) lazy var isUrgent: Bool = {
    let words = policyVersion.policy.urgentWords
    if words == .standard, let urgent = candidate.urgent { return urgent }
    return text.isUrgent(words)
  }()
  /// The message's features for the relevance model; empty if ingest wrote none.
  let features: [UInt8]
  /// The body in a push.
  private(set) lazy var body = candidate.body.cut(toCharacters: policyVersion.policy.bodyCharacters)
  /// The body in a banner.
  private lazy var preview = candidate.body.cut(toCharacters: policyVersion.policy.previewCharacters)
  private let policyVersion: PolicyVersion

  convenience init(_ candidate: MessageCandidate, sentAt: Milliseconds, policy: PolicyVersion) {
    let key = MessageKey(candidate.messageId)
    self.init(
      policy.policy.applied(to: candidate, sentAt: sentAt), key, ownKey: key, sentAt: sentAt, policy)
  }

  private init(
    _ candidate: MessageCandidate, _ key: MessageKey, ownKey: MessageKey, sentAt: Milliseconds,
    _ policyVersion: PolicyVersion
  ) {
    self.candidate = candidate
    self.key = key
    self.ownKey = ownKey
    self.sentAt = sentAt
    self.policyVersion = policyVersion
    sender = MessageKey(candidate.sender.userId)
    features = candidate.conversation.features.flatMap(Base64Text.decode) ?? []
  }

  /// The message with the key by which a conversation knows it: by sender and id if another sender has used the id there.
  func apart(in conversation: PersonConversationRow) -> CandidateMessage {
    let key = conversation.key(of: ownKey, from: sender.value)
    return key == self.key ? self : CandidateMessage(candidate, key, ownKey: ownKey, sentAt: sentAt, policyVersion)
  }

  /// The sender if another sender has used the message's id; nil otherwise.
  var apartFrom: String? { key == ownKey ? nil : candidate.sender.userId }

  /// The title in the person's language. Ingest wrote it in English, because it does not know the recipients. If no text may be shown, the
  /// title contains only names.
  func title(showText: Bool, _ words: Wording, for userId: String) -> String {
    if let title = candidate.title(ofUnnamedGroupFor: userId, words) { return title }
    if showText { return words.title(translating: candidate.title, sender: candidate.sender) }
    guard candidate.conversation.kind == .group, let group = candidate.conversation.name else {
      return candidate.sender.displayName
    }
    return words.title(of: candidate.sender.displayName, in: group)
  }

  /// The translated body if ingest wrote fixed words in English, for attachments or for a message without visible text; nil otherwise.
  private func fixedBody(_ words: Wording) -> String? {
    if let attachment = candidate.attachment { return words.words(translating: candidate.body, of: attachment.kind) }
    let sender = candidate.sender.displayName
    return Wording.english.isNewMessage(candidate.body, from: sender) ? words.newMessage(from: sender) : nil
  }

  /// The body for a person (D8). It is in their language unless it is the sender's text.
  func body(showText: Bool, _ words: Wording) -> String {
    guard showText else { return words.newMessage(from: candidate.sender.displayName) }
    return fixedBody(words) ?? body
  }

  /// The text in a banner.
  func preview(showText: Bool, _ words: Wording) -> String {
    showText && fixedBody(words) == nil
      ? preview : body(showText: showText, words).cut(toCharacters: policyVersion.policy.previewCharacters)
  }
}

extension Wording {
  /// A title that ingest wrote in English (M3), in this language: the sender's name, or `Sender in Group`.
  func title(translating title: String, sender: Member) -> String {
    guard language != Wording.english.language else { return title }
    if let group = title.group(behind: sender) { return self.title(of: sender.displayName, in: group) }
    let prefix = "\(sender.displayName) with "
    guard title.utf8.starts(with: prefix.utf8) else { return title }
    return self.title(of: sender.displayName, with: [String(title.dropFirst(prefix.count))], further: 0)
  }
}

extension String {
  /// The group's name in a title from ingest; nil if it has none.
  func group(behind sender: Member) -> String? {
    let prefix = "\(sender.displayName) in "
    return utf8.starts(with: prefix.utf8) ? String(dropFirst(prefix.count)) : nil
  }
}

extension MessageCandidate {
  /// The most names of other members in the title of a group without a name.
  private static let shownOthers = 3

  /// The title for a member of a group without a name, with the names of others. Nil if the group has a name, or if ingest named nobody.
  func title(ofUnnamedGroupFor userId: String, _ words: Wording) -> String? {
    guard let others = conversation.others else { return nil }
    let names = others.filter { !sameId($0.userId, userId) }.prefix(Self.shownOthers).map(\.displayName)
    guard !names.isEmpty else { return nil }
    return words.title(of: sender.displayName, with: names, further: max(0, conversation.memberCount - 2 - names.count))
  }
}
