import NudgeSchema
import Relevance
import Wording

/// A candidate's message with what is worked out once for all of its recipients, who share it, and only where one of them
/// needs it. One thread uses it.
final class CandidateMessage {
  let candidate: MessageCandidate
  let key: MessageKey
  /// Stands for the sender in what the person has taught.
  let sender: MessageKey
  let sentAt: Milliseconds
  private(set) lazy var text = MessageText(candidate.body)
  /// The message's features for the relevance model; empty where ingest wrote none.
  let features: [UInt8]
  /// The body as a push shows it.
  private(set) lazy var body = candidate.body.cut(to: bodyLimit)
  /// The body as a banner shows it.
  private lazy var preview = candidate.body.cut(to: Banner.previewLength)
  private let bodyLimit: Int

  init(_ candidate: MessageCandidate, sentAt: Milliseconds, rules: AnalyzerRules) {
    self.candidate = candidate
    self.sentAt = sentAt
    key = MessageKey(candidate.messageId)
    sender = MessageKey(candidate.sender.userId)
    features = candidate.conversation.features.flatMap(Base64Text.decode) ?? []
    bodyLimit = rules.pushBodyLimit
  }

  /// The title where no text may be shown: made of names only.
  var titleWithoutText: String {
    switch candidate.conversation.kind {
    case .direct: candidate.sender.displayName
    case .group:
      candidate.conversation.name.map { "\(candidate.sender.displayName) in \($0)" }
        ?? candidate.sender.displayName
    }
  }

  /// Whether the body is a fixed word that stands for an attachment: ingest, which knows no recipient, wrote it in English.
  var isBodyFixed: Bool {
    candidate.attachment.map { Wording.english.word(for: $0.kind) == candidate.body } ?? false
  }

  /// The body for a person, in their language where it is not the sender's text (D8).
  func body(showText: Bool, _ words: Wording) -> String {
    guard showText else { return words.newMessage(from: candidate.sender.displayName) }
    guard isBodyFixed, let attachment = candidate.attachment else { return body }
    return words.word(for: attachment.kind)
  }

  /// The same as a banner shows it.
  func preview(showText: Bool, _ words: Wording) -> String {
    showText && !isBodyFixed ? preview : body(showText: showText, words).cut(to: Banner.previewLength)
  }
}

extension String {
  /// The text with at most `limit` characters, 1 or more; where it was longer, the last is `…` (M3).
  func cut(to limit: Int) -> String {
    // No character takes less than a byte.
    if utf8.count <= limit { return self }
    guard let end = index(startIndex, offsetBy: limit, limitedBy: endIndex), end < endIndex else { return self }
    return self[..<index(before: end)] + "…"
  }
}
