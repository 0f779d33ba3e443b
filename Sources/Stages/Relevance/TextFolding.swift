import Foundation

/// Text folded for a search as people expect it: without regard to case, to accents, to width and to how they are composed.
///
/// Accents of Latin and Greek letters do not count; marks that make another letter in their script (kana's voicing, Indic
/// and Thai vowels, `й`) do.
public enum TextFolding {
  /// Whether a text has characters of ASCII alone, which are folded by making them lower case.
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

  /// The same, and which of them were capitals.
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

  /// The same of a text of ASCII alone. nil: it has others.
  private static func plain(_ bytes: UnsafeBufferPointer<UInt8>) -> [Unicode.Scalar]? {
    // All at once: a loop that may end early looks at one byte after the other.
    guard bytes.reduce(0, |) < 0x80 else { return nil }
    return bytes.map { Unicode.Scalar((0x41...0x5A).contains($0) ? $0 | 0x20 : $0) }
  }

  private static func append(_ scalar: Unicode.Scalar, to folded: inout [Unicode.Scalar]) {
    if scalar.value < 0x80 {
      folded.append((0x41...0x5A).contains(scalar.value) ? Unicode.Scalar(UInt8(scalar.value) | 0x20) : scalar)
    } else if scalar.value < tableEnd {
      let other = table[Int(scalar.value)]
      // 0: nothing is left of it.
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

  /// Characters that change how the one before is shown, and nothing of the text.
  private static func isIgnored(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x200B...0x200F, 0x2060, 0xFE00...0xFE0F, 0xFEFF, 0x1F3FB...0x1F3FF: true
    default: false
    }
  }

  /// A mark, a part of a Hangul syllable, or a form of another width: it may be one character with the one before.
  private static func needsComposition(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x300...0x36F, 0x1100...0x11FF, 0x3099, 0x309A, 0xFF01...0xFFEF: true
    default: false
    }
  }

  private static let tableEnd: UInt32 = 0x2000
  /// By scalar below `tableEnd`: the one it counts as.
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
    // Soft hyphen; marks that joined no letter; Arabic and Hebrew vowel marks, which most texts leave out.
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
