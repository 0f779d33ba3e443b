import Foundation

/// Folds text for a search as people expect it: without regard to case, accents, width and composition.
///
/// Accents of Latin and Greek letters are ignored. Marks that form another letter in their script (kana's voicing, Indic and Thai vowels,
/// `й`) are kept.
public enum TextFolding {
  /// Whether a text has only ASCII characters, for which folding means lower case.
  public static func isPlain(_ text: String) -> Bool {
    text.utf8.withContiguousStorageIfAvailable { $0.reduce(0, |) < 0x80 } ?? text.utf8.allSatisfy { $0 < 0x80 }
  }

  /// The folded scalars of a text.
  public static func fold(_ text: Substring) -> [Unicode.Scalar] {
    if let plain = text.utf8.withContiguousStorageIfAvailable(plain) ?? nil { return plain }
    var text = String(text)
    if text.unicodeScalars.contains(where: needsComposition) { text = text.precomposedStringWithCompatibilityMapping }
    var folded: [Unicode.Scalar] = []
    folded.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars { append(scalar, to: &folded) }
    return folded
  }

  /// The folded scalars, and which of them were capitals.
  public static func foldWithCapitals(_ text: String) -> (scalars: [Unicode.Scalar], capitals: [Bool]) {
    let text =
      text.unicodeScalars.contains(where: needsComposition) ? text.precomposedStringWithCompatibilityMapping : text
    var folded: [Unicode.Scalar] = []
    var capitals: [Bool] = []
    for scalar in text.unicodeScalars {
      append(scalar, to: &folded)
      let isCapital = scalar.properties.isUppercase || scalar.properties.generalCategory == .titlecaseLetter
      while capitals.count < folded.count { capitals.append(isCapital) }
    }
    return (folded, capitals)
  }

  /// The folded scalars of an ASCII text; nil if it has other characters.
  private static func plain(_ bytes: UnsafeBufferPointer<UInt8>) -> [Unicode.Scalar]? {
    // Combines all bytes, because a loop that may end early would read one byte at a time.
    guard bytes.reduce(0, |) < 0x80 else { return nil }
    return bytes.map { Unicode.Scalar((0x41...0x5A).contains($0) ? $0 | 0x20 : $0) }
  }

  private static func append(_ scalar: Unicode.Scalar, to folded: inout [Unicode.Scalar]) {
    if scalar.value < 0x80 {
      folded.append((0x41...0x5A).contains(scalar.value) ? Unicode.Scalar(UInt8(scalar.value) | 0x20) : scalar)
    } else if scalar.value < tableEnd {
      let other = table[Int(scalar.value)]
      // 0 means that the character is removed.
      if other > 0, let first = Unicode.Scalar(other) { folded.append(first) }
      if scalar == "ß" || scalar == "ẞ" { folded.append("s") }
      if scalar == "æ" || scalar == "Æ" || scalar == "œ" || scalar == "Œ" { folded.append("e") }
    } else if isIgnored(scalar) {
      return
    } else {
      let lower = scalar.properties.lowercaseMapping.unicodeScalars
      folded.append(contentsOf: lower)
    }
  }

  /// Characters that only change how the previous one is displayed.
  private static func isIgnored(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x200B...0x200F, 0x2060, 0xFE00...0xFE0F, 0xFEFF, 0x1F3FB...0x1F3FF: true
    default: false
    }
  }

  /// A mark, a part of a Hangul syllable, or a form of another width, which may combine with the previous character.
  private static func needsComposition(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x300...0x36F, 0x1100...0x11FF, 0x3099, 0x309A, 0xFF01...0xFFEF: true
    default: false
    }
  }

  private static let tableEnd: UInt32 = 0x2000
  /// For each scalar below `tableEnd`: the scalar that it is folded to.
  private static let table: [UInt32] = (0..<tableEnd).map { value in
    guard let scalar = Unicode.Scalar(value) else { return value }
    switch scalar {
    case "ß", "ẞ": return 0x73
    case "æ", "Æ": return 0x61
    case "œ", "Œ": return 0x6F
    case "ı", "İ": return 0x69
    case "ø", "Ø": return 0x6F
    case "ł", "Ł": return 0x6C
    case "đ", "Đ", "ð", "Ð": return 0x64
    case "ё", "Ё": return 0x435
    // Soft hyphen; marks that combine with no letter; Arabic and Hebrew vowel marks, which most texts omit.
    case "\u{AD}", "\u{300}"..."\u{36F}", "\u{591}"..."\u{5BD}", "\u{64B}"..."\u{652}", "\u{670}", "\u{640}": return 0
    default: break
    }
    let lower = scalar.properties.lowercaseMapping.unicodeScalars.first ?? scalar
    switch value {
    case 0xC0...0x24F, 0x370...0x3FF, 0x1E00...0x1FFF:
      let base = String(lower).decomposedStringWithCanonicalMapping.unicodeScalars.first ?? lower
      return base == "ς" ? 0x3C3 : base.value
    default: return lower.value
    }
  }
}

/// Finds the words of a text among those of stored messages. A message costs one lookup per word, however many words the text has, because
/// a table shows by the low bits of a word's hash where in the text it may be.
struct WordSearch {
  private static let mask: UInt16 = 255
  private static let none = UInt16.max

  private let words: [UInt16]
  /// By the low bits of a word: the first index in `words` with these bits.
  private var first = [UInt16](repeating: none, count: Int(mask) + 1)
  /// By index in `words`: the next index with the same low bits.
  private var next: [UInt16]

  /// Prepares the search for the different words of a text; at most 65,534 are used.
  init(_ words: [UInt16]) {
    let words = words.count < Int(Self.none) ? words : Array(words.prefix(Int(Self.none) - 1))
    self.words = words
    next = [UInt16](repeating: Self.none, count: words.count)
    for place in words.indices.reversed() {
      let slot = Int(words[place] & Self.mask)
      next[place] = first[slot]
      first[slot] = UInt16(place)
    }
  }

  /// For each word the messages that contain it, the newest being bit 0. At most the last 64 are searched.
  func masks(in messages: [RememberedMessage]) -> [UInt64] {
    var masks = [UInt64](repeating: 0, count: words.count)
    guard !words.isEmpty else { return masks }
    var bit: UInt64 = 1
    for message in messages.reversed() {
      for lane in 0..<message.words.scalarCount {
        let word = message.words[lane]
        // 0 marks unused entries.
        if word == 0 { break }
        var place = first[Int(word & Self.mask)]
        while place != Self.none {
          if words[Int(place)] == word { masks[Int(place)] |= bit }
          place = next[Int(place)]
        }
      }
      bit <<= 1
    }
    return masks
  }
}

extension Unicode.Scalar {
  private static let unspacedScripts: [ClosedRange<UInt32>] = [
    0x0E00...0x0EFF,  // Thai, Lao
    0x1000...0x109F,  // Myanmar
    0x1780...0x17FF,  // Khmer
    0x3005...0x3007, 0x3040...0x30FF, 0x31F0...0x31FF, 0xFF66...0xFF9F,  // Kana
    0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF,  // Han
  ]

  /// Whether its script has no spaces between words, so that a word may begin or end anywhere.
  public var isUnspaced: Bool {
    value >= 0x0E00 && Self.unspacedScripts.contains { $0.contains(value) }
  }

  /// Whether the character is a letter, a mark or a digit of a script with spaces. A word does not end next to such a character.
  @inlinable public var isSpacedWordPart: Bool {
    // Inlined, because callers check each character of a text.
    guard value < 0x80 else { return isSpacedWordPartBeyondASCII }
    return (0x61...0x7A).contains(value) || (0x30...0x39).contains(value) || (0x41...0x5A).contains(value)
  }

  /// Whether it is part of words, so that a word does not end next to it. Nicknames contain `_`.
  @inlinable public var isWordPart: Bool { isSpacedWordPart || value == 0x5F }

  @usableFromInline var isSpacedWordPartBeyondASCII: Bool {
    guard properties.isAlphabetic || properties.numericType != nil || properties.isGraphemeExtend else { return false }
    return !isUnspaced
  }

  /// A syllable or a letter of Hangul.
  public var isHangul: Bool {
    (0xAC00...0xD7A3).contains(value) || (0x1100...0x11FF).contains(value) || (0x3130...0x318F).contains(value)
  }
}

/// Particles that Korean attaches to a noun: `회의는`, `민수야`.
public enum KoreanParticles {
  /// Whether these syllables, up to the end of a word, are only particles.
  public static func make(_ syllables: ArraySlice<Unicode.Scalar>) -> Bool {
    if syllables.isEmpty { return true }
    // Chains of particles are short. A longer word is not one.
    guard syllables.count <= 8 else { return false }
    return (1...min(longest, syllables.count)).contains { length in
      all.contains(String(String.UnicodeScalarView(syllables.prefix(length)))) && make(syllables.dropFirst(length))
    }
  }

  private static let longest = 4
  private static let all: Set<String> = [
    "은", "는", "이", "가", "을", "를", "의", "에", "에서", "에게", "께", "께서", "한테", "로", "으로", "와", "과", "랑", "이랑", "도", "만", "까지",
    "부터", "마다", "처럼", "보다", "밖에", "조차", "마저", "이나", "나", "든지", "이든지", "요", "이요", "이야", "야", "아", "이다", "다", "입니다",
    "이에요",
    "예요", "이고", "고", "인데", "인가", "인가요", "이라고", "라고", "이라는", "라는", "이란", "란", "이며", "하고", "하는", "하면", "하자", "한다", "해",
    "해요",
    "합니다", "할", "했", "했어", "했어요", "했습니다", "들", "님", "씨", "중", "때", "쯤", "입니까", "이었", "였", "이면", "라면", "이라면", "같은", "대로",
  ]
}

/// The features of a message's text, in any language.
public struct TextTraits: Sendable, Equatable {
  /// The most words that are used.
  public static let maxWords = 24
  /// The most characters of a text that are read.
  public static let maxCharacters = 2_000

  /// Unicode scalars of the text, at most 65,535.
  public var length: UInt16
  /// Whether it contains a question mark of any script.
  public var isQuestion: Bool
  /// Hashes of its different words that have at least three characters and are not numbers, and of pairs of characters in scripts without
  /// spaces. Never 0.
  public var words: [UInt16]

  /// The traits of an empty text.
  public init() {
    length = 0
    isQuestion = false
    words = []
  }

  /// The traits of a text's scalars in lower case.
  ///
  /// - Parameter names: Hashes of words that are names of addressed people, because they do not belong to the topic.
  public init(folded scalars: [Unicode.Scalar], without names: Set<UInt16> = []) {
    length = UInt16(clamping: scalars.count)
    isQuestion = false
    words = []
    var hash: UInt32 = Self.seed
    var count = 0
    var digits = 0
    var unspaced: UInt32 = 0
    func add(_ value: UInt16, in words: inout [UInt16]) {
      guard words.count < Self.maxWords, names.isEmpty || !names.contains(value), !words.contains(value) else { return }
      words.append(value)
    }
    for scalar in scalars.prefix(Self.maxCharacters) {
      switch scalar.value {
      // ?, Greek ;, Arabic, Armenian, Ethiopic, full width, interrobang, ⁇ ⁈ ⁉, ❓ ❔
      case 0x3F, 0x37E, 0x61F, 0x55E, 0x1367, 0xFF1F, 0x203D, 0x2047...0x2049, 0x2753, 0x2754: isQuestion = true
      default: break
      }
      let kind = ScalarKind(scalar)
      if kind == .word {
        hash = (hash ^ scalar.value) &* 16_777_619
        count += 1
        if (0x30...0x39).contains(scalar.value) { digits += 1 }
      } else {
        if count >= 3, digits < count { add(Self.fold(hash), in: &words) }
        hash = Self.seed
        count = 0
        digits = 0
      }
      if kind == .unspaced {
        if unspaced != 0 {
          add(Self.fold(((Self.seed ^ unspaced) &* 16_777_619 ^ scalar.value) &* 16_777_619), in: &words)
        }
        unspaced = scalar.value
      } else {
        unspaced = 0
      }
    }
    if count >= 3, digits < count { add(Self.fold(hash), in: &words) }
  }

  /// The role of a scalar in a word.
  private enum ScalarKind {
    /// A part of a word in a script with spaces.
    case word
    /// A character of a script without spaces.
    case unspaced
    /// A separator of words.
    case separator

    init(_ scalar: Unicode.Scalar) {
      self = scalar.isWordPart ? .word : scalar.isUnspaced ? .unspaced : .separator
    }
  }

  private static let seed: UInt32 = 0x811c_9dc5

  private static func fold(_ hash: UInt32) -> UInt16 {
    let folded = UInt16(truncatingIfNeeded: hash ^ hash >> 16)
    return folded == 0 ? 1 : folded
  }

  /// The hash of one word in lower case.
  public static func hash(ofWord scalars: some Sequence<Unicode.Scalar>) -> UInt16 {
    var hash = seed
    for scalar in scalars { hash = (hash ^ scalar.value) &* 16_777_619 }
    return fold(hash)
  }
}
