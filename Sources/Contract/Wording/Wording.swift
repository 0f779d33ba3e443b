public import NudgeSchema

/// The fixed words of notifications in one language. Each language is a file in `Languages` and an entry in `all`. A
/// missing word does not compile.
public struct Wording: Sendable, Equatable {
  /// The language, as the first part of a BCP 47 tag: `de`.
  public let language: String
  /// The text of an attachment without a message text.
  let image: String
  let video: String
  let audio: String
  let file: String
  let location: String
  /// The text in place of a message that must not be shown; `{sender}` is the sender's name.
  let newMessage: String
  /// The title of a group message; `{sender}` and `{group}` are names.
  let groupTitle: String
  /// The title of a message in a group without a name; `{others}` are names of other members.
  let unnamedGroupTitle: String
  /// The notice that smart analyses are used up; `{limit}` is their number per hour.
  let limitReached: String
  /// The sentence for each fallback.
  let usingSimpleRules: String
  let notifyingAll: String
  let suppressingAll: String
  /// How many messages in how many conversations; the plural forms have the placeholder `{count}`.
  let oneMessage: String
  let messages: String
  let inOneConversation: String
  let inConversations: String
  /// How the two are combined, with the placeholders `{messages}` and `{conversations}`.
  let catchUp: String
  /// Why a message was or was not notified.
  public let reasons: Reasons

  /// All languages. English is used for any other language.
  public static let all: [Wording] = [.english, .german, .spanish, .french, .japanese]

  /// The text for how many messages a person has missed in how many conversations; both 1 or more.
  public func catchUp(messages count: Int, conversations: Int) -> String {
    catchUp.replacing("{messages}", with: messages(count))
      .replacing(
        "{conversations}",
        with: conversations == 1
          ? inOneConversation : inConversations.replacing("{count}", with: String(conversations)))
  }

  /// The text for a number of messages, 1 or more.
  public func messages(_ count: Int) -> String {
    count == 1 ? oneMessage : messages.replacing("{count}", with: String(count))
  }

  /// The text that a message from a sender has arrived.
  public func newMessage(from sender: String) -> String {
    newMessage.replacing("{sender}", with: sender)
  }

  /// Whether a text is `newMessage(from:)`.
  public func isNewMessage(_ text: String, from sender: String) -> Bool {
    // Hardly any text begins like it, and comparing one byte is cheaper than building the text.
    (newMessage.utf8.first == UInt8(ascii: "{") || text.utf8.first == newMessage.utf8.first)
      && text.utf8.starts(with: newMessage.utf8.prefix { $0 != UInt8(ascii: "{") }) && text == newMessage(from: sender)
  }

  /// The title of a message from `sender` in a named group.
  public func title(of sender: String, in group: String) -> String { filled(groupTitle, sender, "{group}", group) }

  /// The title of a message from `sender` in a group without a name: it has the names of some other members, and the
  /// number of the remaining ones.
  public func title(of sender: String, with others: [String], further: Int) -> String {
    guard !others.isEmpty else { return sender }
    let names = others.joined(separator: language == "ja" ? "、" : ", ")
    return filled(unnamedGroupTitle, sender, "{others}", further > 0 ? "\(names) +\(further)" : names)
  }

  /// A template with both placeholders filled; the sender's comes first.
  private func filled(_ template: String, _ sender: String, _ name: String, _ value: String) -> String {
    var text = ""
    var rest = template.utf8[...]
    // Names may contain braces, so each placeholder is filled once, in one pass.
    for (place, value) in [("{sender}", sender), (name, value)] {
      guard let open = rest.firstIndex(of: UInt8(ascii: "{")), rest[open...].starts(with: place.utf8) else {
        return sender
      }
      text += template[rest.startIndex..<open]
      text += value
      rest = rest[rest.index(open, offsetBy: place.utf8.count)...]
    }
    text += template[rest.startIndex...]
    return text
  }
}

extension Wording {
  /// The words for a locale such as `de-CH` or `pt_BR`, by its language; English if there are none.
  public init(locale: String?) {
    let language = locale?.utf8.prefix { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
    // ASCII letters in lower case. No other byte turns into a letter.
    self =
      language.flatMap { language in Self.all.first { $0.language.utf8.elementsEqual(language.lazy.map { $0 | 0x20 }) }
      }
      ?? .english
  }
}

extension Wording {
  /// The text of an attachment without a message text.
  public func word(for kind: Attachment.Kind) -> String {
    switch kind {
    case .image: image
    case .video: video
    case .audio: audio
    case .file: file
    case .location: location
    }
  }

  /// The text of several attachments without a message text: the first one, and how many more there are.
  public func words(for kind: Attachment.Kind, count: Int) -> String {
    count > 1 ? "\(word(for: kind)) +\(count - 1)" : word(for: kind)
  }

  /// Ingest writes a body in English, because it does not know the recipient. This is such a body in this language; nil
  /// if the body is a sender's text.
  public func words(translating body: String, of kind: Attachment.Kind) -> String? {
    let english = Wording.english.word(for: kind)
    guard body.utf8.starts(with: english.utf8) else { return nil }
    let rest = body.utf8.dropFirst(english.utf8.count)
    guard !rest.isEmpty else { return word(for: kind) }
    guard rest.starts(with: " +".utf8), rest.count > 2, rest.count <= 4, let more = Int(String(rest.dropFirst(2)) ?? "")
    else { return nil }
    return words(for: kind, count: more + 1)
  }

  /// The notice that a person has reached the hourly limit (D4).
  public func limitNotice(_ fallback: AnalysisFallback, limit: Int) -> String {
    let consequence =
      switch fallback {
      case .simpleRules: usingSimpleRules
      case .notifyAll: notifyingAll
      case .suppressAll: suppressingAll
      }
    return "\(limitReached.replacing("{limit}", with: String(limit))) \(consequence)"
  }
}

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
