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

/// An operator's own words and phrases that say a message cannot wait, by language. They add to what `Urgency` knows, and count
/// under its rules: a word that is denied says nothing. The language of a message is not known: a word of any counts.
public struct UrgentWords: Sendable, Equatable {
  /// The words by language, as in the policy file.
  public let byLanguage: [String: [String]]
  /// The rules with these words.
  let urgency: Urgency

  /// - Parameter byLanguage: The words of each language, by the first part of its BCP 47 tag.
  public init(_ byLanguage: [String: [String]]) {
    self.byLanguage = byLanguage
    urgency = Urgency(adding: byLanguage.sorted { $0.key < $1.key }.flatMap(\.value))
  }

  /// Compares the words.
  public static func == (one: Self, other: Self) -> Bool { one.byLanguage == other.byLanguage }

  /// Those of the default policy: none.
  public static let standard = UrgentWords([:])
}

/// A keyword of a person's (D8), found in a text as a person would find it.
///
/// Case, accents and width do not count, and a blank may be a hyphen. A word between spaces is found whole, in Korean with its
/// particles, in Arabic and Hebrew with its article and prepositions. In scripts without spaces it is found anywhere. Signs that
/// belong to it count: `C++`, `@here`, `#ops`, and so do pictures.
struct Keyword {
  private enum Element: Equatable {
    case scalar(Unicode.Scalar)
    /// Blanks, hyphens and the like between two words.
    case gap
  }

  private let elements: [Element]
  private let first: Unicode.Scalar
  private let last: Unicode.Scalar

  /// nil if it has no letter, digit or picture.
  init?(_ text: String) {
    var scalars = TextFolding.fold(text[...])[...]
    while let scalar = scalars.first, !Self.isWord(scalar), Self.isTrimmed(scalar, before: scalars.dropFirst().first) {
      scalars.removeFirst()
    }
    while let scalar = scalars.last, !Self.isWord(scalar), Self.isTrimmed(scalar, before: nil) { scalars.removeLast() }
    guard let first = scalars.first, let last = scalars.last, scalars.contains(where: { Self.names($0) }) else {
      return nil
    }
    self.first = first
    self.last = last
    var elements: [Element] = []
    for scalar in scalars {
      if Self.isGap(scalar) {
        if elements.last != .gap { elements.append(.gap) }
      } else {
        elements.append(.scalar(scalar))
      }
    }
    // `.NET`: what is not trimmed at its start counts.
    if elements.first == .gap { elements[0] = .scalar(first) }
    self.elements = elements
  }

  /// Whether a folded text has it.
  func isIn(_ text: [Unicode.Scalar]) -> Bool {
    var start = text.startIndex
    while let place = text[start...].firstIndex(of: first) {
      if let end = end(in: text, from: place), begins(in: text, at: place), ends(in: text, at: end) { return true }
      start = place + 1
    }
    return false
  }

  /// Where it ends in a text if it begins there.
  private func end(in text: [Unicode.Scalar], from start: Int) -> Int? {
    var place = start
    for element in elements {
      switch element {
      case .scalar(let scalar):
        guard place < text.count, text[place] == scalar else { return nil }
        place += 1
      case .gap:
        let gap = text[place...].prefix { Self.isGap($0) }
        guard !gap.isEmpty else { return nil }
        place = gap.endIndex
      }
    }
    return place
  }

  private func begins(in text: [Unicode.Scalar], at start: Int) -> Bool {
    guard start > 0, text[start - 1].isSpacedWordPart else { return true }
    // `@here` is not in an address, `#5` not in `F#5`.
    guard first.isSpacedWordPart else { return first != "@" && first != "#" }
    if first.isHangul != text[start - 1].isHangul { return true }
    let before = text[..<start].reversed().prefix { $0.isSpacedWordPart }.reversed()
    return Self.prefixes.contains(String(String.UnicodeScalarView(before)))
  }

  private func ends(in text: [Unicode.Scalar], at end: Int) -> Bool {
    guard end < text.count, last.isSpacedWordPart, text[end].isSpacedWordPart else { return true }
    // `API가`: where the script changes a word ends.
    guard text[end].isHangul, last.isHangul else { return text[end].isHangul || last.isHangul }
    return KoreanParticles.make(text[end...].prefix { $0.isHangul })
  }

  // MARK: Signs

  private static func isWord(_ scalar: Unicode.Scalar) -> Bool { scalar.isSpacedWordPart || scalar.isUnspaced }

  /// Signs that stand for nothing at the ends of a keyword.
  private static func isTrimmed(_ scalar: Unicode.Scalar, before next: Unicode.Scalar?) -> Bool {
    switch scalar {
    case ".", "/": return !(next.map(isWord) ?? false)
    case "@", "#", "+", "%", "*", "$", "&": return false
    default: break
    }
    switch scalar.properties.generalCategory {
    case .mathSymbol, .currencySymbol, .otherSymbol, .modifierSymbol:
      return scalar == "|" || scalar == "~" || scalar == "`"
    default: return true
    }
  }

  private static func isGap(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case " ", "\t", "\n", "\r", "\u{A0}", "\u{3000}", "-", "_", ".", "'", "’", "/", "\u{2010}", "\u{2011}", "–", "—",
      "・", "·", ":", ",":
      true
    default: false
    }
  }

  /// A letter, a digit, or a picture.
  private static func names(_ scalar: Unicode.Scalar) -> Bool {
    if isWord(scalar) { return true }
    switch scalar.properties.generalCategory {
    case .currencySymbol, .otherSymbol: return true
    default: return false
    }
  }

  // MARK: What is written together with a word

  /// Arabic and Hebrew words for `the`, `and`, `in`, `to`, `from` …, written before a word without a space.
  private static let prefixes: Set<String> = [
    "ال", "و", "وال", "ب", "بال", "ل", "لل", "ف", "فال", "ك", "كال", "ولل", "وبال", "ה", "ו", "ב", "ל", "מ", "ש", "כ",
    "וה", "שה", "מה",
    "בה", "לה", "ול", "וב",
  ]
}
