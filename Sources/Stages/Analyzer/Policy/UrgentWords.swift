/// Words and phrases that say a message cannot wait, by language. The language of a message is not known: a word of any counts.
public struct UrgentWords: Sendable, Equatable {
  /// Languages that write no spaces between words. Their words are found anywhere in a text.
  private static let unspacedLanguages: Set<String> = ["ja", "zh", "th"]

  /// The words by language, as in the policy file.
  public let byLanguage: [String: [String]]
  /// Whole words in lower case, by their length in bytes.
  private let wordsByLength: [[[UInt8]]]
  /// Texts of several words, or of languages without spaces, as `MessageText` has them.
  private let fragments: [[UInt8]]

  /// - Parameter byLanguage: The words of each language, by the first part of its BCP 47 tag.
  public init(_ byLanguage: [String: [String]]) {
    self.byLanguage = byLanguage
    var words: [[[UInt8]]] = []
    var fragments: [[UInt8]] = []
    for (language, texts) in byLanguage.sorted(by: { $0.key < $1.key }) {
      for text in texts {
        let parts = MessageText.words(text[...])
        guard let first = parts.first else { continue }
        if Self.unspacedLanguages.contains(language) {
          fragments.append(Array(parts.joined(separator: " ").utf8))
        } else if parts.count > 1 {
          fragments.append(Array(" \(parts.joined(separator: " ")) ".utf8))
        } else {
          let bytes = Array(first.utf8)
          while words.count <= bytes.count { words.append([]) }
          if !words[bytes.count].contains(bytes) { words[bytes.count].append(bytes) }
        }
      }
    }
    wordsByLength = words
    self.fragments = fragments
  }

  /// Whether one of them is among the words of a text, in lower case, each between two spaces.
  func isIn(_ text: [UInt8]) -> Bool {
    var start = 1
    while start < text.count {
      guard let end = text[start...].firstIndex(of: UInt8(ascii: " ")) else { break }
      let length = end - start
      if length < wordsByLength.count, wordsByLength[length].contains(where: { text[start..<end].elementsEqual($0) }) {
        return true
      }
      start = end + 1
    }
    return fragments.contains { text.contains(bytes: $0) }
  }

  /// Those of the default policy.
  public static let standard = UrgentWords([
    "en": [
      "urgent", "urgently", "asap", "emergency", "immediately", "critical", "deadline", "important", "sos",
    ],
    "de": [
      "dringend", "eilig", "sofort", "notfall", "wichtig", "unverzüglich", "schnellstmöglich", "so schnell wie möglich",
    ],
    "es": [
      "urgente", "urgentemente", "emergencia", "inmediatamente", "importante", "cuanto antes", "lo antes posible",
    ],
    "fr": [
      "urgent", "urgente", "urgence", "immédiatement", "important", "importante", "au plus vite", "dès que possible",
    ],
    "ja": ["至急", "緊急", "大至急", "急ぎ", "今すぐ", "重要"],
  ])
}
