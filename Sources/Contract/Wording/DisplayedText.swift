extension String {
  /// The text in a form that is safe to display. Control characters are removed, and so are the characters that change
  /// the direction of the following text (U+202A to U+202E, U+2066 to U+2069), because they can make one text look like
  /// another. Line ends stay; other white space becomes a blank. Marks of a single direction stay, because they do not
  /// affect other text.
  public var displayed: String {
    guard utf8.withContiguousStorageIfAvailable(Self.mayNeedCleaning) ?? true else { return self }
    var cleaned = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      switch scalar.value {
      case 0x0A: cleaned.append(scalar)
      case 0x0D, 0x09, 0x0B, 0x0C, 0x85: cleaned.append(" ")
      case 0x2028, 0x2029: cleaned.append("\n")
      case 0x00...0x1F, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069: break
      default: cleaned.append(scalar)
      }
    }
    // A line end of two characters counts as one.
    return String(cleaned).replacing(" \n", with: "\n")
  }

  /// As `displayed`, on one line: for names.
  public var displayedOnOneLine: String {
    let text = displayed
    return text.utf8.contains(0x0A) ? text.replacing("\n", with: " ") : text
  }

  /// Whether a screen shows anything of the text. White space, control characters, marks of a direction and characters
  /// without a width (U+200B, U+200D, U+2060, fillers such as U+3164) show nothing.
  public var isVisible: Bool { unicodeScalars.contains { $0.isVisible } }

  /// Whether the text contains a byte with which a character to remove may begin. Nearly no text does.
  private static func mayNeedCleaning(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var previous: UInt8 = 0
    for byte in bytes {
      if byte < 0x20 && byte != 0x0A || byte == 0x7F { return true }
      if previous == 0xC2 && byte < 0xA0 { return true }
      if previous == 0xE2 && (byte == 0x80 || byte == 0x81) { return true }
      previous = byte
    }
    return false
  }
}

extension Unicode.Scalar {
  fileprivate var isVisible: Bool {
    // Nearly every text begins with an ASCII character.
    if value < 0x80 { return value > 0x20 && value != 0x7F }
    // The blank Braille pattern shows nothing, although Unicode does not count it as a space.
    if value == 0x2800 || properties.isWhitespace || properties.isDefaultIgnorableCodePoint { return false }
    switch properties.generalCategory {
    case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator, .spaceSeparator: return false
    default: return true
    }
  }
}

extension String {
  /// The text, or if it has more grapheme clusters or bytes than allowed, its beginning followed by `…` (M3).
  ///
  /// - Parameters:
  ///   - characters: Grapheme clusters of the result, the `…` included; 1 or more.
  ///   - bytes: Bytes of the result in UTF-8, the `…` included; 3 or more.
  public func cut(toCharacters characters: Int, bytes: Int = .max) -> String {
    if utf8.count <= min(characters, bytes) { return self }
    let ellipsis = "…"
    var count = 0
    var size = 0
    // The last index at which the text may be cut before an ellipsis.
    var end = startIndex
    var index = startIndex
    while index < endIndex {
      let next = self.index(after: index)
      count += 1
      size += utf8.distance(from: index, to: next)
      if count > characters || size > bytes { return self[..<end] + ellipsis }
      if count < characters, size + ellipsis.utf8.count <= bytes { end = next }
      index = next
    }
    return self
  }
}
