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
