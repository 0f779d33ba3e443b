/// The words of a message's text, found once for all of its recipients.
struct MessageText {
  /// Characters looked at: what comes later in a long text changes little, and the cost stays flat.
  static let maxCharacters = 2_000

  /// A question mark.
  let isQuestion: Bool
  /// Its words in lower case, each between two spaces.
  private let words: [UInt8]

  init(_ text: String) {
    if let plain = Self.plainWords(text) {
      words = plain.words
      isQuestion = plain.isQuestion
      return
    }
    let text = text.prefix(Self.maxCharacters)
    isQuestion = text.contains { $0 == "?" || $0 == "？" || $0 == "؟" }
    words = Self.spaced(Self.words(text))
  }

  /// The same for a text of ASCII alone, byte by byte: characters are found at a fiftieth of the cost. nil: it has others.
  private static func plainWords(_ text: String) -> (words: [UInt8], isQuestion: Bool)? {
    // A carriage return with a line feed is one character.
    guard text.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "\r") }) else { return nil }
    var words: [UInt8] = [UInt8(ascii: " ")]
    words.reserveCapacity(min(text.utf8.count, maxCharacters) + 2)
    var isQuestion = false
    var start = 1
    for byte in text.utf8.prefix(maxCharacters) {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        words.append(byte)
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): words.append(byte | 0x20)
      default:
        if byte == UInt8(ascii: "?") { isQuestion = true }
        guard words.count > start else { continue }
        words.append(UInt8(ascii: " "))
        start = words.count
      }
    }
    if words.count > start { words.append(UInt8(ascii: " ")) }
    return (words, isQuestion)
  }

  /// Whether one of the words is in the text.
  func isUrgent(_ urgentWords: UrgentWords) -> Bool { urgentWords.isIn(words) }

  /// Whether one of the keywords, of one or more words, is in the text, whole and whatever the case.
  func containsAny(of keywords: [String]) -> Bool {
    keywords.contains { keyword in
      let sought = Self.words(keyword[...])
      return !sought.isEmpty && words.contains(bytes: Self.spaced(sought))
    }
  }

  static func words(_ text: Substring) -> [String] {
    text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }

  private static func spaced(_ words: [String]) -> [UInt8] {
    Array(" \(words.joined(separator: " ")) ".utf8)
  }
}

extension [UInt8] {
  func contains(bytes sought: [UInt8]) -> Bool {
    guard sought.count <= count else { return false }
    return (0...(count - sought.count)).contains {
      self[$0..<($0 + sought.count)].elementsEqual(sought)
    }
  }
}
