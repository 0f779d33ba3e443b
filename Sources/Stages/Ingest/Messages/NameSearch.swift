import Foundation
import NudgeSchema
import Relevance

/// Texts folded for a search without regard to case or to how accents are written.
private func fold(_ text: String) -> [Unicode.Scalar] {
  let lowered = text.lowercased()
  let isASCII = lowered.utf8.allSatisfy { $0 < 0x80 }
  return Array((isASCII ? lowered : lowered.precomposedStringWithCanonicalMapping).unicodeScalars)
}

extension Unicode.Scalar {
  /// Scripts that put no space between words: there every place may be a word's boundary.
  private static let unspaced: [ClosedRange<UInt32>] = [
    0x0E00...0x0EFF,  // Thai, Lao
    0x1000...0x109F,  // Myanmar
    0x1780...0x17FF,  // Khmer
    0x3040...0x30FF, 0x31F0...0x31FF, 0xFF66...0xFF9F,  // Kana
    0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF,  // Han
  ]

  /// Whether it is a part of words, so that a word that ends beside it does not end there.
  fileprivate var isWordPart: Bool {
    if value < 0x80 {
      return (0x61...0x7A).contains(value) || (0x30...0x39).contains(value) || (0x41...0x5A).contains(value)
        || value == 0x5F
    }
    guard properties.isAlphabetic || properties.numericType != nil || properties.isGraphemeExtend else { return false }
    return !Self.unspaced.contains { $0.contains(value) }
  }
}

extension Unicode.Scalar {
  /// The word as a topic word of the text.
  fileprivate var kindInWord: TextTraits.ScalarKind {
    if isWordPart { return .word }
    return value >= 0x80 && Self.unspaced.contains { $0.contains(value) } ? .unspaced : .separator
  }
}

/// A display name, ready to be searched for.
struct SearchedName {
  fileprivate let scalars: [Unicode.Scalar]
  /// The hash of its first word; nil: it has none, e.g. in a script without spaces.
  fileprivate let firstWord: Int?

  /// nil for a name without any visible character.
  init?(_ name: String) {
    scalars = fold(name.trimmingCharacters(in: .whitespacesAndNewlines))
    guard !scalars.isEmpty else { return nil }
    firstWord = words(of: scalars).first
  }

  /// Hashes of its words, as `TextTraits` has them.
  var topicWords: [UInt16] { scalars.split { !$0.isWordPart }.map { TextTraits.hash(ofWord: $0) } }
}

/// The text of a message, searched for many names: a name whose first word is not among the text's is not looked for.
struct SearchedText {
  private let scalars: [Unicode.Scalar]
  private let wordHashes: Set<Int>

  init(_ text: String) {
    scalars = fold(text)
    wordHashes = Set(words(of: scalars))
  }

  /// Where the text contains the name as a whole word or words for the first time; nil: nowhere.
  func place(of name: SearchedName) -> Int? {
    if let word = name.firstWord, !wordHashes.contains(word) { return nil }
    let sought = name.scalars
    guard let first = sought.first, let last = sought.last, scalars.count >= sought.count else { return nil }
    for start in 0...(scalars.count - sought.count) where scalars[start] == first {
      let end = start + sought.count
      guard scalars[start..<end].elementsEqual(sought) else { continue }
      let continuesBefore = start > 0 && scalars[start - 1].isWordPart && first.isWordPart
      let continuesAfter = end < scalars.count && scalars[end].isWordPart && last.isWordPart
      if !continuesBefore && !continuesAfter { return start }
    }
    return nil
  }

  /// Whether nothing but blanks and signs such as `@` stands before a place.
  func isAtStart(_ place: Int) -> Bool { scalars[..<place].allSatisfy { $0.value <= 0x40 && !$0.isWordPart } }

  /// The text in lower case without any of the names, and without the colon or comma behind one.
  static func removing(_ names: [SearchedName], from text: String) -> String {
    var searched = SearchedText(text)
    for name in names {
      while let place = searched.place(of: name) {
        var rest = searched.scalars
        var end = place + name.scalars.count
        if end < rest.count, rest[end] == ":" || rest[end] == "," { end += 1 }
        rest.removeSubrange(place..<end)
        searched = SearchedText(scalars: rest)
      }
    }
    return String(String.UnicodeScalarView(searched.scalars))
  }

  private init(scalars: [Unicode.Scalar]) {
    self.scalars = scalars
    wordHashes = Set(words(of: scalars))
  }

  /// The traits that count for relevance, beside the names of addressed people.
  func traits(without names: [SearchedName]) -> TextTraits {
    TextTraits(
      folded: scalars, kind: { $0.kindInWord }, without: Set(names.flatMap(\.topicWords)))
  }
}

/// Hashes of the words of a text. They are compared within one process only.
private func words(of scalars: [Unicode.Scalar]) -> [Int] {
  var hashes: [Int] = []
  var hash = FNV1a()
  var isInWord = false
  for scalar in scalars {
    if scalar.isWordPart {
      if !isInWord { hash = FNV1a() }
      isInWord = true
      hash.combine(UInt64(scalar.value))
    } else if isInWord {
      hashes.append(Int(truncatingIfNeeded: hash.value))
      isInWord = false
    }
  }
  if isInWord { hashes.append(Int(truncatingIfNeeded: hash.value)) }
  return hashes
}

/// Names by their first words, so that those a text may contain are found without a look at the others.
struct NameIndex {
  private var byFirstWord: [Int: [Int]] = [:]
  /// Names without one, e.g. in scripts without spaces: each may be anywhere.
  private var wordless: [Int] = []

  init(_ names: [SearchedName?]) {
    for (index, name) in names.enumerated() {
      guard let name else { continue }
      if let word = name.firstWord { byFirstWord[word, default: []].append(index) } else { wordless.append(index) }
    }
  }

  /// Where among the names those are that the text may contain; all that it contains are among them.
  func mayBeNamed(in text: SearchedText) -> [Int] {
    text.wordsToFind.reduce(into: wordless) { $0 += byFirstWord[$1] ?? [] }
  }
}

extension SearchedText {
  fileprivate var wordsToFind: Set<Int> { wordHashes }
}
