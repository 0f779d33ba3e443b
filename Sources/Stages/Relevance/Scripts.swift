extension Unicode.Scalar {
  private static let unspacedScripts: [ClosedRange<UInt32>] = [
    0x0E00...0x0EFF,  // Thai, Lao
    0x1000...0x109F,  // Myanmar
    0x1780...0x17FF,  // Khmer
    0x3005...0x3007, 0x3040...0x30FF, 0x31F0...0x31FF, 0xFF66...0xFF9F,  // Kana
    0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF,  // Han
  ]

  /// Whether its script puts no space between words: there every place may be a word's boundary.
  public var isUnspaced: Bool {
    value >= 0x0E00 && Self.unspacedScripts.contains { $0.contains(value) }
  }

  /// Whether it is a letter, a mark of one or a digit of a script with spaces, so that a word that ends beside it does not end there.
  @inlinable public var isSpacedWordPart: Bool {
    // Inlined: callers ask it of each character of a text.
    guard value < 0x80 else { return isSpacedWordPartBeyondASCII }
    return (0x61...0x7A).contains(value) || (0x30...0x39).contains(value) || (0x41...0x5A).contains(value)
  }

  /// Whether it is a part of words, so that a word that ends beside it does not end there. Nicknames have `_`.
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
