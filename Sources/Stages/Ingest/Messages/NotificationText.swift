import NudgeSchema
import Wording

/// Title and body of a message's notification (M3). Characters that a screen would show otherwise than they were written, or that
/// could make it look
/// like another, are left out (`displayed`). Fixed words are English here: the analyzer says them in each recipient's language.
struct NotificationText {
  /// Grapheme clusters and bytes of a name in a title; the payload has 4,096 bytes for everything.
  static let nameLimit = (characters: 80, bytes: 320)

  let title: String
  let body: String

  init(_ message: MessageCreated, senderName: String, conversation: ConversationRow, rules: IngestRules) {
    title = Self.title(senderName: senderName, conversation: conversation)
    let text = (message.text ?? "").displayed
    if let attachment = message.attachments?.first, text.allSatisfy(\.isWhitespace) {
      body = Wording.english.words(for: attachment.kind, count: message.attachments?.count ?? 1)
    } else {
      body = rules.cutBody(text)
    }
  }

  /// The title of a message's notification.
  static func title(senderName: String, conversation: ConversationRow) -> String {
    let sender = senderName.cut(toCharacters: nameLimit.characters, bytes: nameLimit.bytes)
    return titleOfGroup(conversation).map { "\(sender) in \($0)" } ?? sender
  }

  /// The title where nobody knows any more who wrote the message: the group's name; nil: it has none.
  static func titleOfGroup(_ conversation: ConversationRow) -> String? {
    guard conversation.kind != .direct else { return nil }
    return conversation.name?.displayedOnOneLine.cut(toCharacters: nameLimit.characters, bytes: nameLimit.bytes)
  }
}

extension IngestRules {
  /// A text cut to what a push may take.
  func cutBody(_ text: String) -> String { text.displayed.cut(toCharacters: bodyCharacters, bytes: bodyBytes) }
}
