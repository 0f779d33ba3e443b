/// The patterns of all languages, prepared for finding them in a text. Each word of the text costs one lookup for itself and one for each
/// of its prefixes.
struct UrgencyIndex: Sendable {
  typealias Kind = UrgencyLexicon.Kind

  /// A range of words in a text.
  struct Span: Sendable {
    var start: Int
    var end: Int

    func overlaps(_ hit: Hit) -> Bool { start < hit.span.end && hit.span.start < end }
  }

  /// A term that the text contains.
  struct Hit: Sendable {
    var term: Int
    var span: Span
  }

  /// One word of an alternative.
  private struct Element: Sendable, Hashable {
    var scalars: [Unicode.Scalar]
    /// Whether it is the beginning of a word.
    var isStem = false
    var isAnyNumber: Bool { scalars == ["#"] }
    var isYear: Bool { scalars == ["#", "#"] }
  }

  private struct Pattern: Sendable {
    var kind: Kind
    /// The index of its language in `UrgencyLexicon.all`, as a bit; all bits for any language.
    var languages: UInt32
    /// The parts, each a sequence of terms.
    var parts: [[Int]]
    /// The index, in the first part, of the term by which the pattern is found.
    var anchor: Int
    var startsClause: Bool
    var endsClause: Bool
    /// Terms that must not follow.
    var excluded: [Int]
    /// The most words between two terms.
    var gap: Int
  }

  /// One way to express a term.
  private struct Alternative: Sendable {
    var term: Int
    /// The number of its words.
    var count: Int
    /// The hash of its second word; nil if it has none, or one that stands for several words.
    var second: UInt64?
    /// The words after the first.
    var rest: [Element]
  }

  private var termsByText: [String: Int] = [:]
  private var alternatives: [Alternative] = []
  private var byWord = UrgencyTable()
  private var byStem = UrgencyTable()
  /// The lengths of the stems in `byStem`, one bit each. The last bit stands for that length and all greater ones.
  private var stemLengths: UInt64 = 0
  /// Alternatives that begin with any number or any year.
  private var ofNumbers: [(alternative: Int, isYear: Bool)] = []
  private var alternativesOfTerm: [Int] = []
  private var patterns: [Pattern] = []
  /// Languages without marks, which are recognised by their script.
  private var unmarked: UInt32 = 0
  /// By term: the patterns that are found by it.
  private var patternsOfTerm: [[Int]] = []
  /// By term: the kinds of the patterns that are found by it, one bit each.
  private var kindsOfTerm: [UInt32] = []

  init(_ lexicons: [UrgencyLexicon], urgent: String = "") {
    for (place, lexicon) in lexicons.enumerated() {
      if lexicon[.mark].isEmpty { unmarked |= 1 << UInt32(place) }
      for kind in Kind.allCases {
        add(lexicon[kind], kind, lexicon.classes, languages: Self.isShared(kind, place) ? .max : 1 << UInt32(place))
      }
    }
    add(urgent, .urgent, [:], languages: .max)
    termsByText = [:]
    byWord.seal()
    byStem.seal()
  }

  /// Whether patterns of a kind count in texts of any language. Such patterns are long or unambiguous; a short text may be assigned to the
  /// wrong language; and people use English words in every language.
  private static func isShared(_ kind: Kind, _ place: Int) -> Bool {
    switch kind {
    case .alarm, .urgent, .help, .calm, .relief, .laughter, .idiom: true
    case .haste: place == 0
    default: false
    }
  }

  /// The words and phrases of an operator as patterns.
  static func pattern(_ texts: [String]) -> String {
    texts.map { text in
      let words = UrgencyText(text[...])
      return words.words.map { String(String.UnicodeScalarView(words.scalars[$0.start..<$0.end])) }.joined(
        separator: "_")
    }.filter { !$0.isEmpty }.joined(separator: ",")
  }

  // MARK: Reading patterns

  private mutating func add(_ text: String, _ kind: Kind, _ classes: [String: String], languages: UInt32) {
    for pattern in text.split(separator: ",") {
      let parts = pattern.split(separator: "&").map { $0.split(whereSeparator: \.isWhitespace).map(String.init) }
      var terms: [[Int]] = []
      var (startsClause, endsClause, excluded): (Bool, Bool, [Int]) = (false, false, [])
      var isUnspaced = false
      for (number, part) in parts.enumerated() {
        var sequence: [Int] = []
        for var text in part {
          if text.hasPrefix("!") {
            excluded.append(term(String(text.dropFirst()), classes))
            continue
          }
          if number == 0, text.hasPrefix("^") {
            startsClause = true
            text.removeFirst()
          }
          if number == 0, text.hasSuffix("$") {
            endsClause = true
            text.removeLast()
          }
          isUnspaced = isUnspaced || text.unicodeScalars.contains { $0.value >= 0x2E80 && $0.value < 0xAC00 }
          if !text.isEmpty { sequence.append(term(text, classes)) }
        }
        if !sequence.isEmpty { terms.append(sequence) }
      }
      guard let first = terms.first else { continue }
      let anchor = first.indices.min { alternativesOfTerm[first[$0]] < alternativesOfTerm[first[$1]] } ?? 0
      patternsOfTerm[first[anchor]].append(patterns.count)
      kindsOfTerm[first[anchor]] |= kind.bit
      patterns.append(
        Pattern(
          kind: kind, languages: languages, parts: terms, anchor: anchor, startsClause: startsClause,
          endsClause: endsClause,
          excluded: excluded, gap: isUnspaced ? kind.gap * 3 : kind.gap))
    }
  }

  private mutating func term(_ text: String, _ classes: [String: String]) -> Int {
    var alternatives = text.split(separator: "/").map(String.init)
    while let place = alternatives.firstIndex(where: { $0.hasPrefix("$") && $0.count > 1 }) {
      let name = alternatives.remove(at: place).dropFirst()
      let members = (classes[String(name)] ?? "").split { $0 == "/" || $0.isWhitespace }
      precondition(!members.isEmpty, "urgency: there is no class \(name)")
      alternatives += members.map(String.init)
    }
    let key = alternatives.joined(separator: "/")
    if let known = termsByText[key] { return known }
    let term = patternsOfTerm.count
    termsByText[key] = term
    patternsOfTerm.append([])
    kindsOfTerm.append(0)
    alternativesOfTerm.append(alternatives.count)
    for alternative in alternatives { add(alternative, to: term) }
    return term
  }

  private mutating func add(_ alternative: String, to term: Int) {
    var elements: [Element] = []
    for piece in alternative.split(separator: "_") {
      if piece == "#" || piece == "##" {
        elements.append(Element(scalars: Array(piece.unicodeScalars)))
        continue
      }
      let isStem = piece.hasSuffix("*")
      let words = UrgencyText(isStem ? piece.dropLast() : piece)
      elements += words.words.map { Element(scalars: Array(words.scalars[$0.start..<$0.end])) }
      if isStem, !elements.isEmpty { elements[elements.count - 1].isStem = true }
    }
    guard let first = elements.first else { return }
    let number = alternatives.count
    let rest = Array(elements.dropFirst())
    let second = rest.first.flatMap { $0.isStem || $0.isAnyNumber || $0.isYear ? nil : UrgencyText.hash($0.scalars) }
    alternatives.append(Alternative(term: term, count: elements.count, second: second, rest: rest))
    if first.isAnyNumber || first.isYear {
      ofNumbers.append((number, first.isYear))
    } else if first.isStem {
      byStem.add(number, for: UrgencyText.hash(first.scalars))
      stemLengths |= 1 << UInt64(min(63, first.scalars.count))
    } else {
      byWord.add(number, for: UrgencyText.hash(first.scalars))
    }
  }

  // MARK: Finding them

  /// All terms in the text, ordered by where they begin.
  func hits(in text: UrgencyText) -> [Hit] {
    var hits: [Hit] = []
    for position in 0..<text.count {
      let word = text[position]
      if word.isQuoted { continue }
      if byWord.mayHave(word.hash) {
        for place in byWord.places(of: word.hash) { add(byWord.values[place], at: position, text, &hits) }
      }
      if word.isNumber {
        let isYear = Self.isYear(word, text)
        for (number, isOfYears) in ofNumbers where !isOfYears || isYear { add(number, at: position, text, &hits) }
      }
      var hash = UrgencyText.seed
      var length: UInt64 = 0
      for scalar in text.scalars[word.start..<word.end] {
        hash = UrgencyText.combine(hash, scalar)
        length = min(63, length + 1)
        guard stemLengths >> length & 1 == 1, byStem.mayHave(hash) else { continue }
        for place in byStem.places(of: hash) { add(byStem.values[place], at: position, text, &hits) }
      }
    }
    return hits
  }

  /// Adds an alternative that begins with the word at a position, if its other words follow.
  @inline(__always)
  private func add(_ number: Int, at position: Int, _ text: UrgencyText, _ hits: inout [Hit]) {
    let count = alternatives[number].count
    if count > 1 {
      guard position + count <= text.count else { return }
      if let second = alternatives[number].second, second != text[position + 1].hash { return }
      guard follows(alternatives[number].rest, position, text) else { return }
    }
    hits.append(Hit(term: alternatives[number].term, span: Span(start: position, end: position + count)))
  }

  /// Whether a text may have evidence, because it has all terms of a pattern of evidence. Most texts do not.
  func mayHaveEvidence(_ hits: [Hit]) -> Bool {
    guard hits.contains(where: { kindsOfTerm[$0.term] & Kind.bitsOfEvidence != 0 }) else { return false }
    return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: patternsOfTerm.count / 64 + 1) { terms in
      terms.initialize(repeating: 0)
      for hit in hits { terms[hit.term / 64] |= 1 << UInt64(hit.term % 64) }
      return hits.contains { hit in
        kindsOfTerm[hit.term] & Kind.bitsOfEvidence != 0
          && patternsOfTerm[hit.term].contains { number in
            patterns[number].kind.bit & Kind.bitsOfEvidence != 0
              && patterns[number].parts.allSatisfy { $0.allSatisfy { terms[$0 / 64] >> UInt64($0 % 64) & 1 == 1 } }
          }
      }
    }
  }

  /// Whether a word is a year from 1900 to 2099.
  private static func isYear(_ word: UrgencyText.Word, _ text: UrgencyText) -> Bool {
    let digits = text.scalars[word.start..<word.end]
    return word.isNumber && digits.count == 4
      && (digits.starts(with: ["1", "9"] as [Unicode.Scalar]) || digits.starts(with: ["2", "0"] as [Unicode.Scalar]))
  }

  private func follows(_ rest: [Element], _ position: Int, _ text: UrgencyText) -> Bool {
    for (offset, element) in rest.enumerated() {
      let word = text[position + offset + 1]
      guard word.clause == text[position].clause else { return false }
      if element.isAnyNumber || element.isYear {
        guard word.isNumber, !element.isYear || Self.isYear(word, text) else { return false }
        continue
      }
      let scalars = text.scalars[word.start..<word.end]
      guard element.isStem ? scalars.starts(with: element.scalars) : scalars.elementsEqual(element.scalars) else {
        return false
      }
    }
    return true
  }

  /// The languages that the text may be in, as bits: those with the most marks in it or nearly as many; all if there are no marks.
  func languages(of hits: [Hit]) -> UInt32 {
    var counts = SIMD32<UInt16>(repeating: 0)
    for hit in hits where kindsOfTerm[hit.term] & Kind.mark.bit != 0 {
      for number in patternsOfTerm[hit.term] where patterns[number].kind == .mark {
        counts[patterns[number].languages.trailingZeroBitCount] += 1
      }
    }
    let most = counts.max()
    guard most > 0 else { return .max }
    return counts.indices.reduce(unmarked) { counts[$1] >= most - most / 3 ? $0 | 1 << UInt32($1) : $0 }
  }

  /// The words of every match of a kind of pattern in the text.
  func matches(of kind: Kind, among hits: [Hit], in text: UrgencyText, _ languages: UInt32) -> [Span] {
    var found: [Span] = []
    for (index, hit) in hits.enumerated() where kindsOfTerm[hit.term] & kind.bit != 0 {
      for number in patternsOfTerm[hit.term]
      where patterns[number].kind == kind && patterns[number].languages & languages != 0 {
        if let span = match(patterns[number], at: index, hits, text) { found.append(span) }
      }
    }
    return found
  }

  private func match(_ pattern: Pattern, at index: Int, _ hits: [Hit], _ text: UrgencyText) -> Span? {
    guard let span = sequence(pattern.parts[0], anchor: pattern.anchor, gap: pattern.gap, at: index, hits, text) else {
      return nil
    }
    let sentence = text[span.start].sentence
    if pattern.startsClause, span.start > 0, text[span.start - 1].clause == text[span.start].clause { return nil }
    if pattern.endsClause, span.end < text.count, text[span.end].clause == text[span.end - 1].clause { return nil }
    if !pattern.excluded.isEmpty,
      hits.contains(where: {
        pattern.excluded.contains($0.term) && $0.span.start >= span.end && $0.span.start - span.end < 4
          && text[$0.span.start].sentence == sentence
      })
    {
      return nil
    }
    for part in pattern.parts.dropFirst() {
      let isThere = hits.indices.contains {
        hits[$0].term == part[0] && text[hits[$0].span.start].sentence == sentence
          && sequence(part, anchor: 0, gap: pattern.gap, at: $0, hits, text) != nil
      }
      if !isThere { return nil }
    }
    return span
  }

  /// The words of terms that follow each other in one sentence, with the term at `anchor` being the hit at `index`.
  private func sequence(
    _ terms: [Int], anchor: Int, gap: Int, at index: Int, _ hits: [Hit], _ text: UrgencyText
  ) -> Span? {
    var span = hits[index].span
    let sentence = text[span.start].sentence
    for term in terms[(anchor + 1)...] {
      let next = hits[index...].first {
        $0.term == term && $0.span.start >= span.end && $0.span.start - span.end <= gap
          && text[$0.span.start].sentence == sentence && text.denials.isDisjoint(with: span.end..<$0.span.start)
      }
      guard let next else { return nil }
      span.end = next.span.end
    }
    for term in terms[..<anchor].reversed() {
      let previous = hits[..<index].last {
        $0.term == term && $0.span.end <= span.start && span.start - $0.span.end <= gap
          && text[$0.span.start].sentence == sentence && text.denials.isDisjoint(with: $0.span.end..<span.start)
      }
      guard let previous else { return nil }
      span.start = previous.span.start
    }
    return span
  }
}
