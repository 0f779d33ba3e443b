import NudgeSchema
import Relevance
import Wording

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
