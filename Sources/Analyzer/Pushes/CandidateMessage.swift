import NudgeSchema
import Relevance

/// A candidate's message with what is worked out once for all of its recipients.
struct CandidateMessage {
  let candidate: MessageCandidate
  let key: MessageKey
  /// Stands for the sender in what the person has taught.
  let sender: MessageKey
  let sentAt: Milliseconds
  let text: MessageText
  /// The message's features for the relevance model; empty where ingest wrote none.
  let features: [UInt8]
  /// The body as a push shows it.
  let body: String
  /// The body as a banner shows it.
  let preview: String

  init(_ candidate: MessageCandidate, sentAt: Milliseconds, rules: AnalyzerRules) {
    self.candidate = candidate
    self.sentAt = sentAt
    key = MessageKey(candidate.messageId)
    sender = MessageKey(candidate.sender.userId)
    text = MessageText(candidate.body)
    features = candidate.conversation.features.flatMap(Base64Text.decode) ?? []
    body = candidate.body.cut(to: rules.pushBodyLimit)
    preview = candidate.body.cut(to: Banner.previewLength)
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

  /// The body where no text may be shown (D8).
  var bodyWithoutText: String { "New message from \(candidate.sender.displayName)" }
}

extension String {
  /// The text with at most `limit` characters, 1 or more; where it was longer, the last is `…` (M3).
  func cut(to limit: Int) -> String {
    guard let end = index(startIndex, offsetBy: limit, limitedBy: endIndex), end < endIndex else { return self }
    return self[..<index(before: end)] + "…"
  }
}
