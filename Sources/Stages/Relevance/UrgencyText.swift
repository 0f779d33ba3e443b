/// A text as folded words, each with its clause and sentence.
struct UrgencyText {
  struct Word {
    /// The range of its scalars in `scalars`.
    var start: Int
    var end: Int
    var hash: UInt64
    var clause: Int
    var sentence: Int
    var isNumber = false
    var isQuoted = false
  }

  private(set) var scalars: [Unicode.Scalar] = []
  private(set) var words: [Word] = []
  /// The indices of negating words. No pattern extends over one.
  var denials: Set<Int> = []
  /// Whether the text has two or more exclamation marks, anywhere.
  private(set) var hasExclamations = false
  /// Clauses that end with a question mark.
  private var questions: [Int] = []
  private var clause = 0
  private var sentence = 0
  private var isQuoted = false
  private var isCode = false

  var count: Int { words.count }
  subscript(position: Int) -> Word { words[position] }
  func isQuestion(clause: Int) -> Bool { questions.contains(clause) }

  init(_ text: Substring) {
    let text = TextFolding.fold(text)
    scalars.reserveCapacity(text.count)
    words.reserveCapacity(text.count / 4 + 1)
    var exclamations = 0
    let codeMarks = text.count { $0 == "`" }
    let hasCode = codeMarks > 0 && codeMarks.isMultiple(of: 2)
    var place = 0
    while place < text.count {
      let scalar = text[place]
      switch WordKind(scalar) {
      case .letter
      where (scalar == "h" || scalar == "w") && Self.linkStarts.contains { text[place...].starts(with: $0) }:
        // The words of a URL do not count.
        place = text[place...].firstIndex { $0 == " " || $0 == "\n" } ?? text.count
      case .letter:
        place = addWord(text, from: place, while: WordKind.isLetter)
      case .digit:
        place = addWord(text, from: place, while: WordKind.isDigit)
        words[words.count - 1].isNumber = true
      case .alone:
        add(scalar)
        place += 1
      case .picture:
        clause += 1
        add(scalar)
        clause += 1
        place += 1
      case .end:
        let endsHere = scalar != "." || place + 1 == text.count || WordKind(text[place + 1]) != .letter
        if scalar == "!" || scalar == "！" { exclamations += 1 }
        if scalar == "?" || scalar == "？" || scalar == "؟", let last = words.last { questions.append(last.clause) }
        if endsHere {
          clause += 1
          sentence += 1
        }
        place += 1
      case .pause:
        // A hyphen within a word does not end a clause.
        if scalar != "-" || place + 1 < text.count && WordKind(text[place + 1]) == .blank { clause += 1 }
        place += 1
      case .quote:
        isQuoted = scalar == "\"" ? !isQuoted : !"”»」』“".unicodeScalars.contains(scalar) || (scalar == "“" && !isQuoted)
        clause += 1
        place += 1
      case .code:
        if hasCode { isCode.toggle() }
        clause += 1
        place += 1
      case .blank: place += 1
      }
    }
    hasExclamations = exclamations >= 2
    // Quotation marks around the whole text say nothing.
    if !hasCode, words.allSatisfy(\.isQuoted) { for index in words.indices { words[index].isQuoted = false } }
  }

  /// Adds the scalars from an index on as a word.
  private mutating func addWord(from start: Int) {
    words.append(
      Word(
        start: start, end: scalars.count, hash: Self.hash(scalars[start...]), clause: clause, sentence: sentence,
        isQuoted: isQuoted || isCode))
  }

  private mutating func add(_ scalar: Unicode.Scalar) {
    scalars.append(scalar)
    addWord(from: scalars.count - 1)
  }

  /// Adds the word that begins at an index of the text, and shortens letters repeated for effect. Returns the index after the word.
  private mutating func addWord(
    _ text: [Unicode.Scalar], from start: Int, while isPart: (Unicode.Scalar) -> Bool
  ) -> Int {
    var end = start
    // The word is built at the end of `scalars`, so it needs no memory of its own.
    let first = scalars.count
    var run = 0
    while end < text.count {
      let scalar = text[end]
      if isPart(scalar) {
        run = scalars.count > first && scalars[scalars.count - 1] == scalar ? run + 1 : 1
        scalars.append(scalar)
        end += 1
        continue
      }
      if run >= 3 { shortenWord(from: first, run) }
      run = 0
      // `can't` is one word, `l'eau` is two.
      guard Self.isApostrophe(scalar), end + 1 < text.count, isPart(text[end + 1]) else { break }
      let letters = text[(end + 1)...].prefix(while: WordKind.isLetter)
      let rest = String(String.UnicodeScalarView(letters))
      guard Self.contractions.contains(rest) else { break }
      if rest == "s", !Self.joinedWithIs.contains(String(String.UnicodeScalarView(scalars[first...]))) {
        addWord(from: first)
        return end + 2
      }
      end += 1
    }
    if run >= 3 { shortenWord(from: first, run) }
    addWord(from: first)
    return end
  }

  /// Shortens `helppp` to `help`. `kkk`, which is laughter, stays.
  private mutating func shortenWord(from first: Int, _ run: Int) {
    guard let last = scalars.last, !WordKind.isDigit(last) else { return }
    scalars.removeLast(min(run - 1, scalars.count - first == run ? run - 3 : run - 1))
  }

  private static let linkStarts = ["http://", "https://", "www."].map { Array($0.unicodeScalars) }
  /// A switch is faster than a set. The end of every word calls it.
  private static func isApostrophe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "'", "’", "ʼ", "`", "´", "‘": true
    default: false
    }
  }
  /// The words that stay one word with `'s`, such as `it's`. Any other word loses it: `kitchen's` becomes `kitchen`.
  private static let joinedWithIs: Set<String> = [
    "it", "he", "she", "that", "there", "what", "who", "where", "how", "let", "here", "everything", "something",
    "someone",
  ]
  private static let contractions: Set<String> = ["s", "t", "m", "d", "re", "ll", "ve", "all"]

  /// Whether a word begins another statement, to which a negation before it does not extend.
  func joinsClauses(_ position: Int) -> Bool { Self.conjunctions.contains(words[position].hash) }

  private static let conjunctions = Set(
    ["and", "but", "und", "aber", "et", "mais", "y", "pero", "mas", "maar", "ale", "ve", "ama", "и", "а", "но"].map {
      hash($0.unicodeScalars)
    })

  /// Whether a word turns to something that what was said before it does not cover: I am fine but mum fell.
  func turns(_ position: Int) -> Bool { joinsClauses(position) || Self.turningWords.contains(words[position].hash) }

  private static let turningWords = Set(
    [
      "until", "however", "though", "jedoch", "doch", "bis", "jusqu", "hasta", "ma", "finche", "tot", "fakat", "dopoki",
      "但", "하지만", "근데", "그런데",
    ].map { hash($0.unicodeScalars) })

  static func hash(_ word: some Sequence<Unicode.Scalar>) -> UInt64 {
    word.reduce(seed) { combine($0, $1) }
  }
  static let seed: UInt64 = 0xcbf2_9ce4_8422_2325
  static func combine(_ hash: UInt64, _ scalar: Unicode.Scalar) -> UInt64 {
    (hash ^ UInt64(scalar.value)) &* 0x100_0000_01b3
  }

  /// The role of a folded scalar in words.
  private enum WordKind {
    case letter, digit
    /// A character of a script without spaces. Each is a word.
    case alone
    case picture
    case end, pause, quote, blank
    /// The mark before and behind code. An odd number of them in a text says nothing.
    case code

    init(_ scalar: Unicode.Scalar) {
      switch scalar.value {
      case 0x61...0x7A, 0x41...0x5A: self = .letter
      case 0x20, 0x09, 0x5F: self = .blank
      case 0x30...0x39: self = .digit
      case 0x21, 0x3F, 0x2E, 0x0A, 0x0D, 0x3B, 0x2026, 0x3002, 0xFF01, 0xFF1F, 0x61F, 0x6D4, 0xFF0E, 0x203C, 0x2049,
        0x0964:
        self = .end
      case 0xBF, 0xA1, 0x2C, 0x3A, 0x28, 0x29, 0x2D, 0x2013, 0x2014, 0x3001, 0xFF0C, 0xFF1A, 0x60C, 0x3010, 0x3011,
        0x5B, 0x5D, 0x7C,
        0x2F, 0xFF08, 0xFF09:
        self = .pause
      case 0x22, 0x201C, 0x201D, 0x201E, 0xAB, 0xBB, 0x300C, 0x300D, 0x300E, 0x300F: self = .quote
      case 0x60: self = .code
      case 0x00..<0x80, 0x3000, 0x2000...0x206F: self = .blank
      case 0x2600...0x27BF, 0x2B00...0x2BFF, 0x1F000...0x1FAFF: self = .picture
      case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3040...0x30FF, 0x31F0...0x31FF, 0x3400...0x4DBF,
        0x4E00...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF:
        self = .alone
      case 0xC0..<0x250, 0x370..<0x530, 0xAC00...0xD7A3, 0x3130...0x318F: self = .letter
      default:
        let properties = scalar.properties
        self =
          properties.isAlphabetic || properties.isGraphemeExtend
          ? .letter : properties.numericType != nil ? .digit : .blank
      }
    }

    @inline(__always) static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
      // ASCII letters first, because they are the most frequent.
      (0x61...0x7A).contains(scalar.value | 0x20) || scalar.value >= 0x80 && WordKind(scalar) == .letter
    }

    static func isDigit(_ scalar: Unicode.Scalar) -> Bool { WordKind(scalar) == .digit }
  }
}
