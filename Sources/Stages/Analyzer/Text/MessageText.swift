import Relevance

/// The words of a message's text, found once for all of its recipients.
struct MessageText {
  /// Unicode scalars looked at: what comes later in a long text changes little, and the cost stays flat.
  static let maxScalars = 2_000

  /// A question mark.
  let isQuestion: Bool
  private let text: String
  private let folded: [Unicode.Scalar]

  init(_ text: String) {
    let isShort = text.utf8.count <= Self.maxScalars
    self.text = isShort ? text : String(text.unicodeScalars.prefix(Self.maxScalars))
    folded = TextFolding.fold(self.text[...])
    isQuestion = folded.contains { $0 == "?" || $0 == "？" || $0 == "؟" }
  }

  /// Whether the text says that it cannot wait, by the policy's words too.
  func isUrgent(_ urgentWords: UrgentWords) -> Bool { urgentWords.urgency.isUrgent(text) }

  /// Whether one of the keywords, of one or more words, is in the text.
  func containsAny(of keywords: [String]) -> Bool {
    keywords.contains { Keyword($0)?.isIn(folded) ?? false }
  }
}
