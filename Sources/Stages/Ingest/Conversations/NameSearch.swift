import Foundation
import NudgeSchema
import Relevance

/// A member's name as stored in a roster. Most texts contain none of its words, and need nothing further.
enum MemberName: Sendable {
  /// The hashes of the words with which its forms begin. The second is 0 if all begin alike. The name is prepared only for a text that
  /// contains one of them.
  case beginning(UInt64, UInt64)
  /// It may be in any text, so it is kept prepared.
  case anywhere(SearchedName)

  /// nil if the name has no visible character.
  init?(_ displayName: String) {
    guard let name = SearchedName(displayName) else { return nil }
    let words = name.forms.map(\.firstWord)
    guard let first = words[0], words.count <= 2, let other = words[words.count - 1] else {
      self = .anywhere(name)
      return
    }
    self = .beginning(first, other == first ? 0 : other)
  }
}

/// A display name prepared for searching: as a whole, or by the first name.
final class SearchedName: Sendable {
  /// One form of the name.
  struct Form: Sendable {
    let scalars: [Unicode.Scalar]
    /// The hash of its first word. Absent in scripts without spaces, and in Korean, where particles are part of the word, so that the name
    /// may be anywhere.
    let firstWord: UInt64?
    /// Whether it is also a word of a language. Then it counts only if it is used as a name.
    let isCommonWord: Bool
    /// Whether it is the whole name of several words, which distinguishes people with the same first name.
    let isLong: Bool

    init?(_ scalars: [Unicode.Scalar], isWhole: Bool) {
      guard let last = scalars.last else { return nil }
      self.scalars = scalars
      firstWord = last.isHangul ? nil : WordSet(scalars).words.first
      isLong = isWhole && scalars.split { !$0.isWordPart }.count > 1
      isCommonWord = !isLong && CommonNames.isCommonWord(scalars)
    }
  }

  /// The forms, the whole name first.
  let forms: [Form]

  /// nil if the name has no visible character.
  init?(_ name: String) {
    let name = name.trimmingCharacters(in: .whitespacesAndNewlines)
    guard let whole = Form(TextFolding.fold(name[...]), isWhole: true) else { return nil }
    forms = [whole] + Self.firstNames(in: whole.scalars).compactMap { Form($0, isWhole: false) }
  }

  /// The first names by which a person with this whole name is called.
  private static func firstNames(in name: [Unicode.Scalar]) -> [[Unicode.Scalar]] {
    let parts = name.split { $0.properties.isWhitespace || $0 == "," }.map(Array.init)
    guard parts.count > 1 else { return givenName(in: name).map { [$0] } ?? [] }
    // 田中 太郎 may be called by either.
    if parts.allSatisfy({ $0.allSatisfy { $0.isUnspaced } }) { return parts.filter { $0.count > 1 } }
    // Rossi, Anna
    let isLastNameFirst = name.firstIndex(of: ",") == parts[0].count
    let first = (isLastNameFirst ? parts[1...] : parts[...]).lazy
      .map { $0.filter { $0.isWordPart || $0.isUnspaced || $0 == "-" || $0 == "'" || $0 == "’" } }
      .first { !$0.isEmpty && !CommonNames.isTitle($0) }
    // An initial identifies nobody.
    guard let first, first.count > 1 || first[0].isUnspaced else { return [] }
    return [first]
  }

  /// The given name in a Korean or Chinese name of three characters: 민수 in 김민수.
  private static func givenName(in name: [Unicode.Scalar]) -> [Unicode.Scalar]? {
    let isHan = name.allSatisfy { (0x4E00...0x9FFF).contains($0.value) }
    guard name.count == 3, isHan || name.allSatisfy(\.isHangul) else { return nil }
    return Array(name[1...])
  }
}

/// A message's text, prepared for searching many names. A name is searched only if its first word is among the text's words.
struct SearchedText {
  private let text: String
  private let scalars: [Unicode.Scalar]
  fileprivate let words: WordSet

  init(_ text: String) {
    self.text = text
    scalars = TextFolding.fold(text[...])
    words = WordSet(scalars)
  }

  /// The name of a member, prepared for searching; nil if the text cannot contain it.
  func name(of member: Roster.Entry) -> SearchedName? {
    switch member.name {
    case .beginning(let first, let other):
      guard words.contains(first) || other != 0 && words.contains(other) else { return nil }
      return member.displayName.flatMap { SearchedName($0) }
    case .anywhere(let name): return name
    case nil: return nil
    }
  }

  /// The ranges of whole names with several words. A first name within such a range belongs only to that person.
  func placesOfLongNames(_ names: some Sequence<SearchedName>) -> [Range<Int>] {
    var found: [Range<Int>] = []
    for name in names where name.forms[0].isLong { found += places(of: name.forms[0]) }
    return found
  }

  /// Where the text first addresses somebody by the name; nil if it does not.
  ///
  /// - Parameter taken: `placesOfLongNames` of everybody.
  func place(of name: SearchedName, besides taken: [Range<Int>] = []) -> Range<Int>? {
    guard name.forms.contains(where: mayHave) else { return nil }
    let whole = name.forms[0].scalars
    let found = name.forms.compactMap { form in
      places(of: form).first { place in
        if !form.isLong, taken.contains(where: { $0.overlaps(place) && !scalars[$0].elementsEqual(whole) }) {
          return false
        }
        return !form.isCommonWord || NameUse(text).isName(place)
      }
    }
    return found.min { $0.lowerBound < $1.lowerBound }
  }

  /// Whether the text has a form's first word, or the form may be anywhere.
  private func mayHave(_ form: SearchedName.Form) -> Bool { form.firstWord.map(words.contains) ?? true }

  /// The ranges where a form occurs as one or more whole words.
  private func places(of form: SearchedName.Form) -> [Range<Int>] {
    guard mayHave(form) else { return [] }
    let sought = form.scalars
    let (first, last) = (sought[0], sought[sought.count - 1])
    guard scalars.count >= sought.count else { return [] }
    var places: [Range<Int>] = []
    for start in 0...(scalars.count - sought.count) where scalars[start] == first {
      let end = start + sought.count
      guard scalars[start..<end].elementsEqual(sought) else { continue }
      if start > 0, scalars[start - 1].isWordPart, first.isWordPart { continue }
      if end < scalars.count, scalars[end].isWordPart, last.isWordPart {
        guard last.isHangul, KoreanParticles.make(scalars[end...].prefix(while: \.isWordPart)) else { continue }
      }
      places.append(start..<end)
    }
    return places
  }

  /// Whether only blanks and signs such as `@` precede an index.
  func isAtStart(_ place: Int) -> Bool { scalars[..<place].allSatisfy { $0.value <= 0x40 && !$0.isWordPart } }

  /// The text in lower case without any of the names, and without a colon or comma after a name.
  static func removing(_ names: [SearchedName], from text: String) -> String {
    var rest = SearchedText(text)
    for name in names {
      while let place = rest.place(of: name) {
        var scalars = rest.scalars
        var end = place.upperBound
        if end < scalars.count, scalars[end] == ":" || scalars[end] == "," { end += 1 }
        scalars.removeSubrange(place.lowerBound..<end)
        rest = SearchedText(String(String.UnicodeScalarView(scalars)))
      }
    }
    return String(String.UnicodeScalarView(rest.scalars))
  }

  /// The traits for the relevance model, without the names of addressed people.
  func traits(without names: [String]) -> TextTraits {
    // For ASCII text this folding gives the same result.
    TextTraits(
      folded: TextFolding.isPlain(text) ? scalars : foldForTopics(text), without: Set(names.flatMap(topicWords)))
  }
}

/// Hashes of a name's words, as in `TextTraits`.
private func topicWords(of name: String) -> [UInt16] {
  foldForTopics(name).split { !$0.isWordPart }.map { TextTraits.hash(ofWord: $0) }
}

/// The text in the form from which topic words are computed. Rows store their hashes, so this form must not change.
private func foldForTopics(_ text: String) -> [Unicode.Scalar] {
  let lowered = text.lowercased()
  let isASCII = lowered.utf8.allSatisfy { $0 < 0x80 }
  return Array((isASCII ? lowered : lowered.precomposedStringWithCanonicalMapping).unicodeScalars)
}

/// The different words of a text, by hash. They are compared only within one process.
///
/// A Set would hash the hashes again, for each member whose name may be in the text.
private struct WordSet {
  /// The words in the order of the text.
  private(set) var words: [UInt64] = []
  /// A hash table with open addressing: each word is at the index of its hash, or after it without a gap. 0 marks a free entry.
  private var table: [UInt64] = []

  init(_ scalars: [Unicode.Scalar]) {
    var hash = FNV1a()
    var isInWord = false
    for scalar in scalars {
      if scalar.isWordPart {
        if !isInWord { hash = FNV1a() }
        isInWord = true
        hash.combine(UInt64(scalar.value))
      } else if isInWord {
        words.append(max(1, hash.spread))
        isInWord = false
      }
    }
    if isInWord { words.append(max(1, hash.spread)) }
    guard words.count > 1 else { return }
    var size = 4
    while size < 2 * words.count { size *= 2 }
    table = [UInt64](repeating: 0, count: size)
    var count = 0
    for word in words {
      let place = place(of: word)
      guard table[place] == 0 else { continue }
      table[place] = word
      words[count] = word
      count += 1
    }
    words.removeLast(words.count - count)
  }

  /// The index of the word, or of a free entry for it.
  private func place(of word: UInt64) -> Int {
    var place = Int(truncatingIfNeeded: word) & (table.count - 1)
    while table[place] != 0, table[place] != word { place = (place + 1) & (table.count - 1) }
    return place
  }

  func contains(_ word: UInt64) -> Bool {
    table.isEmpty ? words.first == word : table[place(of: word)] == word
  }
}

/// Names by their first words, so that those that a text may contain are found without checking the others.
struct NameIndex {
  private var byFirstWord: [UInt64: [Int]] = [:]
  /// Names without a first word, which may be anywhere.
  private var wordless: [Int] = []

  init(_ names: some Sequence<MemberName?>) {
    for (index, name) in names.enumerated() {
      switch name {
      case .beginning(let first, let other):
        byFirstWord[first, default: []].append(index)
        if other != 0 { byFirstWord[other, default: []].append(index) }
      case .anywhere: wordless.append(index)
      case nil: break
      }
    }
  }

  /// The indices of the names that the text may contain. They include all that it does contain.
  func mayBeNamed(in text: SearchedText) -> [Int] {
    text.words.words.reduce(into: wordless) { $0 += byFirstWord[$1] ?? [] }
  }
}
