import Relevance

/// Where a word that may be a name is used as one: called out, set off by a comma, or capitalised where only names are.
struct NameUse {
  private let scalars: [Unicode.Scalar]
  private let capitals: [Bool]
  /// Whether all or nearly all words are capitalised, so that capitals mean nothing.
  private let capitalsSayNothing: Bool

  init(_ text: String) {
    (scalars, capitals) = TextFolding.foldWithCapitals(text)
    var (words, capitalWords, small) = (0, 0, 0)
    for index in scalars.indices where scalars[index].isWordPart {
      if !capitals[index] { small += 1 }
      guard index == 0 || !scalars[index - 1].isWordPart else { continue }
      words += 1
      if capitals[index] { capitalWords += 1 }
    }
    capitalsSayNothing = small == 0 || words >= 4 && 4 * capitalWords >= 3 * words
  }

  /// Whether the word at a range of the folded text is used as a name.
  func isName(_ place: Range<Int>) -> Bool {
    guard place.upperBound <= scalars.count else { return false }
    let before = scalars[..<place.lowerBound].last { $0 != " " }
    let after = scalars[place.upperBound...].first { $0 != " " }
    let (startsClause, endsClause) = (before.map(Self.isSign) ?? true, after.map(Self.isSign) ?? true)
    if before == "@" || isGenitive(place.upperBound) { return true }
    let (previous, next) = (word(before: place.lowerBound), word(after: place.upperBound))
    let name = word(place)
    if CommonNames.months.contains(name), isDate(previous, next) { return false }
    // Mark, can you look? – Can you look, Mark?
    if startsClause, endsClause { return true }
    guard scalars[place].contains(where: { $0.properties.isCased }) else {
      let rest = scalars[place.upperBound...].drop { $0 == " " }
      return CommonNames.honorifics.contains { rest.starts(with: $0.unicodeScalars) }
    }
    let isCalled = previous.map { CommonNames.greetings.contains($0) } ?? false
    if startsClause || isCalled, let next, !endsClause {
      // Mark where are you – Mark the date; Will can you come – Will you come
      let isAuxiliary = CommonNames.auxiliaries.contains(name)
      if (isAuxiliary ? CommonNames.behindAuxiliary : CommonNames.behindCalled).contains(next) { return true }
      if startsClause || !isAuxiliary { return isCalled && !CommonNames.determiners.contains(next) }
    } else if isCalled {
      return true
    }
    guard capitals[place.lowerBound], !capitalsSayNothing, !startsClause else { return false }
    return previous.map { !CommonNames.determiners.contains($0) } ?? true
  }

  /// Mark’s bike, Deniz’e sor
  private func isGenitive(_ end: Int) -> Bool {
    end + 1 < scalars.count && (scalars[end] == "'" || scalars[end] == "’") && scalars[end + 1].isWordPart
      && !CommonNames.contractions.contains(word(after: end) ?? "")
  }

  /// 5 May, in May, May 5; April, May and June
  private func isDate(_ previous: String?, _ next: String?) -> Bool {
    func isNumber(_ word: String) -> Bool {
      word.unicodeScalars.first.map { (0x30...0x39).contains($0.value) } ?? false
    }
    if let next, isNumber(next) || CommonNames.months.contains(next) { return true }
    guard let previous else { return false }
    return isNumber(previous) || CommonNames.beforeMonths.contains(previous) || CommonNames.months.contains(previous)
  }

  private static func isSign(_ scalar: Unicode.Scalar) -> Bool { !scalar.isWordPart && !scalar.isUnspaced }

  private func word(_ place: Range<Int>) -> String { String(String.UnicodeScalarView(scalars[place])) }

  private func word(after end: Int) -> String? {
    let word = scalars[end...].drop { !$0.isWordPart }.prefix { $0.isWordPart || $0 == "'" }
    return word.isEmpty ? nil : String(String.UnicodeScalarView(word))
  }

  private func word(before start: Int) -> String? {
    let word = scalars[..<start].reversed().drop { !$0.isWordPart }.prefix { $0.isWordPart }
    return word.isEmpty ? nil : String(String.UnicodeScalarView(word.reversed()))
  }
}
