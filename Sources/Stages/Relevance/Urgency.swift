/// Whether a text says that it is urgent, which lets a message pass quiet hours.
///
/// It is a set of rules instead of a model: it gives the same result on every machine, and every pattern is readable (`UrgencyLexicon`).
/// Evidence counts unless something in its clause, sentence or text takes it back: a negation, a supposition, the past, a film, laughter. A
/// text's language is not known, so patterns of every language count.
public struct Urgency: Sendable {
  /// The most bytes, in UTF-8, that are read at the beginning of a text, and as many again at its end.
  static let maxBytes = 4_000

  private let index: UrgencyIndex

  /// Without an operator's own words.
  public static let standard = Urgency(index: UrgencyIndex(UrgencyLexicon.all))

  /// With an operator's own urgent words and phrases, in any language.
  public init(adding words: [String]) {
    let added = UrgencyIndex.pattern(words)
    self = added.isEmpty ? .standard : Urgency(index: UrgencyIndex(UrgencyLexicon.all, urgent: added))
  }

  private init(index: UrgencyIndex) { self.index = index }

  /// Whether the text is urgent. A long text is read at its beginning and its end.
  public func isUrgent(_ text: String) -> Bool {
    guard text.utf8.count > Self.maxBytes else { return isUrgent(part: text[...]) }
    return isUrgent(part: text.prefix(utf8: Self.maxBytes)) || isUrgent(part: text.suffix(utf8: Self.maxBytes))
  }

  private func isUrgent(part text: Substring) -> Bool {
    var words = UrgencyText(text)
    var hits = index.hits(in: words)
    guard index.mayHaveEvidence(hits) else { return false }
    let languages = index.languages(of: hits)
    let idioms = index.matches(of: .idiom, among: hits, in: words, languages)
    if !idioms.isEmpty { hits.removeAll { hit in idioms.contains { $0.overlaps(hit) } } }
    let negations = index.matches(of: .not, among: hits, in: words, languages)
    let negationsBehind = index.matches(of: .notBefore, among: hits, in: words, languages)
    for span in negations + negationsBehind { words.denials.formUnion(span.start..<span.end) }
    let evidence = Evidence(index, hits, words, languages, negations, negationsBehind)
    return evidence.isEnough(isLoud: words.hasExclamations || isShouted(text))
  }

  /// Whether it is written in capitals, in a script that has them.
  private func isShouted(_ text: Substring) -> Bool {
    var upper = 0
    var lower = 0
    for scalar in text.unicodeScalars {
      if scalar.value < 0x80 {
        if (0x41...0x5A).contains(scalar.value) {
          upper += 1
        } else if (0x61...0x7A).contains(scalar.value) {
          lower += 1
        }
      } else if scalar.properties.isUppercase {
        upper += 1
      } else if scalar.properties.isLowercase {
        lower += 1
      }
    }
    return upper >= 4 && upper >= 3 * lower
  }
}

extension String {
  /// Its end up to a number of bytes, without a partial character.
  fileprivate func suffix(utf8 count: Int) -> Substring {
    var start = utf8.index(endIndex, offsetBy: -count)
    while start < endIndex, start.samePosition(in: unicodeScalars) == nil { start = utf8.index(after: start) }
    return self[start...]
  }

  /// Its beginning up to a number of bytes, without a partial character.
  fileprivate func prefix(utf8 count: Int) -> Substring {
    var end = utf8.index(startIndex, offsetBy: count)
    while end > startIndex, end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return self[..<end]
  }
}

/// The words that take evidence back.
private struct Reversals {
  typealias Span = UrgencyIndex.Span

  private let words: UrgencyText
  /// Negations of what follows, but for those of a reversal.
  private var negations: [Span]
  /// Negations of what precedes.
  private let negationsBehind: [Span]
  private let suppositions: [Span]
  /// It can wait, or the alarm was false.
  private(set) var isCalm = false
  private var reliefs: [Span] = []
  private var laughter: [Span] = []
  /// Sentences about something else, about trifles, and about a later time.
  private var unreal: Set<Int> = []
  private let trifle: Set<Int>
  private let later: Set<Int>

  init(
    _ index: UrgencyIndex, _ hits: [UrgencyIndex.Hit], _ words: UrgencyText, _ languages: UInt32, _ negations: [Span],
    _ negationsBehind: [Span]
  ) {
    func matches(_ kind: UrgencyLexicon.Kind) -> [Span] { index.matches(of: kind, among: hits, in: words, languages) }
    func sentences(_ spans: [Span]) -> Set<Int> { Set(spans.map { words[$0.start].sentence }) }
    self.words = words
    self.negations = negations
    self.negationsBehind = negationsBehind
    suppositions = matches(.suppose)
    trifle = sentences(matches(.trifle))
    later = sentences(matches(.later))
    let (calm, joke, other) = (matches(.calm), matches(.laughter), matches(.unreal))
    isCalm = calm.contains { negation(of: $0) == nil }
    // Asked for, it is not said: all well with you?
    reliefs = matches(.relief).filter {
      negation(of: $0) == nil && !words.isQuestion(clause: words[$0.start].clause)
    }
    // A shorter pattern may match within one that is negated.
    let denied = joke.filter { negation(of: $0) != nil || isNegatedBehind($0) }
    laughter = joke.filter { span in !denied.contains { $0.start <= span.start && span.end <= $0.end } }
    unreal = sentences(
      other.filter {
        // In Portuguese `no` is "in the".
        guard let negation = negation(of: $0) else { return !isNegatedBehind($0) }
        return words[negation.start].hash == Self.no
      })
    let used = (calm + joke + other).compactMap { negation(of: $0)?.start }
    self.negations.removeAll { used.contains($0.start) }
  }

  private static let no = UrgencyText.hash("no".unicodeScalars)

  /// The negation right before a reversal: not a joke, not a false alarm.
  private func negation(of span: Span) -> Span? { negations.last { isBefore($0, span, within: 2) } }
  private func isNegatedBehind(_ span: Span) -> Bool { negationsBehind.contains { isBefore(span, $0, within: 0) } }

  private func isBefore(_ other: Span, _ span: Span, within distance: Int) -> Bool {
    other.end <= span.start && span.start - other.end <= distance
      && words[other.start].clause == words[span.start].clause
      && !(other.end..<span.start).contains(where: words.joinsClauses)
  }

  func takeBack(_ span: Span, of kind: UrgencyLexicon.Kind) -> Bool {
    let sentence = words[span.start].sentence
    if unreal.contains(sentence) { return true }
    if kind != .alarm, kind != .danger, trifle.contains(sentence) { return true }
    if [.help, .ask, .haste].contains(kind), later.contains(sentence) { return true }
    if negations.contains(where: { isBefore($0, span, within: kind == .alarm ? 3 : 4) }) { return true }
    // A negation far behind an alarm is about something else: the flight leaves in 10 minutes and you are not here.
    if negationsBehind.contains(where: { isBefore(span, $0, within: kind == .alarm ? 1 : 4) }) { return true }
    if [.alarm, .urgent, .danger].contains(kind), suppositions.contains(where: { isBefore($0, span, within: 8) }) {
      return true
    }
    if laughter.contains(where: { $0.start >= span.start || words[$0.start].sentence == sentence }) { return true }
    return reliefs.contains { relief in
      relief.start >= span.start
        || words[relief.start].clause == words[span.start].clause
          && !(relief.end..<max(relief.end, span.start)).contains(where: words.turns)
    }
  }
}

/// The evidence of each kind in a text, without evidence that is taken back.
private struct Evidence {
  private var kinds: Set<UrgencyLexicon.Kind> = []
  /// Whether the text is only a call for help, so that nothing in it could make it harmless.
  private var isCry = false

  init(
    _ index: UrgencyIndex, _ hits: [UrgencyIndex.Hit], _ words: UrgencyText, _ languages: UInt32,
    _ negations: [UrgencyIndex.Span], _ negationsBehind: [UrgencyIndex.Span]
  ) {
    let found = UrgencyLexicon.Kind.evidence.map {
      (kind: $0, spans: index.matches(of: $0, among: hits, in: words, languages))
    }
    guard found.contains(where: { !$0.spans.isEmpty }) else { return }
    let reversals = Reversals(index, hits, words, languages, negations, negationsBehind)
    guard !reversals.isCalm else { return }
    var cries: Set<Int> = []
    for (kind, spans) in found {
      for span in spans where !reversals.takeBack(span, of: kind) {
        let asks = words.isQuestion(clause: words[span.start].clause)
        kinds.insert(asks && kind == .alarm ? .danger : asks && kind == .urgent ? .haste : kind)
        if kind == .help, !asks { cries.formUnion(span.start..<span.end) }
      }
    }
    isCry = cries.count == words.count
  }

  /// - Parameter isLoud: Whether the text has exclamation marks or is written in capitals; evaluated only if it matters.
  func isEnough(isLoud: @autoclosure () -> Bool) -> Bool {
    if isCry || kinds.contains(.alarm) || kinds.contains(.urgent) { return true }
    let asks = kinds.contains(.ask) || kinds.contains(.help)
    if kinds.contains(.danger) || kinds.contains(.help), isLoud() { return true }
    return [kinds.contains(.danger), asks, kinds.contains(.haste)].count { $0 } >= 2
  }
}

/// Maps hashes to numbers. Looking up a hash that is not in the table, the usual case, costs a nanosecond or two.
struct UrgencyTable: Sendable {
  private var numbers: [UInt64: [Int]] = [:]
  /// A Bloom filter with two bits for each hash. It is small, so that it stays in the processor's cache.
  private var filter: [UInt64] = []
  private var keys: [UInt64] = []
  /// By index in `keys`: the range of its numbers in `values`. An empty range marks a free entry.
  private var places: [Range<Int32>] = []
  private(set) var values: [Int] = []

  mutating func add(_ number: Int, for key: UInt64) { numbers[key, default: []].append(number) }

  /// Call it after the last `add` and before the first lookup.
  mutating func seal() {
    var size = 64
    while size < 2 * numbers.count { size *= 2 }
    keys = [UInt64](repeating: 0, count: size)
    places = [Range<Int32>](repeating: 0..<0, count: size)
    // Eight to sixteen bits for each hash.
    filter = [UInt64](repeating: 0, count: size / 16)
    for (key, numbers) in numbers {
      let slot = slot(of: key)
      keys[slot] = key
      places[slot] = Int32(values.count)..<Int32(values.count + numbers.count)
      values += numbers
      let (word, bits) = filterPlace(of: key)
      filter[word] |= bits
    }
    numbers = [:]
  }

  /// Whether the hash may be in the table.
  @inline(__always) func mayHave(_ key: UInt64) -> Bool {
    let (word, bits) = filterPlace(of: key)
    return filter[word] & bits == bits
  }

  /// The range of a hash's numbers in `values`.
  func places(of key: UInt64) -> Range<Int> {
    let places = places[slot(of: key)]
    return Int(places.lowerBound)..<Int(places.upperBound)
  }

  @inline(__always) private func filterPlace(of key: UInt64) -> (word: Int, bits: UInt64) {
    let mixed = key ^ key >> 29
    return (Int(truncatingIfNeeded: mixed >> 12) & (filter.count - 1), 1 << (mixed & 63) | 1 << (mixed >> 6 & 63))
  }

  /// The index of the key, or of a free entry for it.
  private func slot(of key: UInt64) -> Int {
    var slot = Int(truncatingIfNeeded: key ^ key >> 32) & (keys.count - 1)
    while keys[slot] != key, !places[slot].isEmpty { slot = (slot + 1) & (keys.count - 1) }
    return slot
  }
}
