/// What the text of a message tells, found once for all of its recipients.
struct MessageText {
  /// Words that say a message cannot wait.
  static let urgentWords: Set<String> = [
    "urgent", "urgently", "asap", "emergency", "immediately", "critical", "deadline", "important", "sos",
  ]
  /// Characters looked at: what comes later in a long text changes little, and the cost stays flat.
  static let maxCharacters = 2_000

  /// A word that cannot wait.
  let isUrgent: Bool
  /// A question mark.
  let isQuestion: Bool
  /// Its words in lower case, each between two spaces.
  private let words: [UInt8]

  init(_ text: String) {
    let text = text.prefix(Self.maxCharacters)
    isQuestion = text.contains { $0 == "?" || $0 == "？" || $0 == "؟" }
    let words = Self.words(text)
    isUrgent = words.contains { Self.urgentWords.contains($0) }
    self.words = Self.spaced(words)
  }

  /// Whether one of the keywords, of one or more words, is in the text, whole and whatever the case.
  func containsAny(of keywords: [String]) -> Bool {
    keywords.contains { keyword in
      let sought = Self.words(keyword[...])
      return !sought.isEmpty && words.contains(bytes: Self.spaced(sought))
    }
  }

  private static func words(_ text: Substring) -> [String] {
    text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }

  private static func spaced(_ words: [String]) -> [UInt8] {
    Array(" \(words.joined(separator: " ")) ".utf8)
  }
}

extension [UInt8] {
  fileprivate func contains(bytes sought: [UInt8]) -> Bool {
    guard sought.count <= count else { return false }
    return (0...(count - sought.count)).contains { self[$0..<($0 + sought.count)].elementsEqual(sought) }
  }
}
