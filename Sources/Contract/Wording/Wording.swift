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
