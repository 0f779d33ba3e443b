import Relevance

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
