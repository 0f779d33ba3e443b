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

  /// - Parameter others: of a group without a name, some of its members but the sender.
  init(
    _ message: MessageCreated, senderName: String, conversation: ConversationRow, others: [Member]?, rules: IngestRules
  ) {
    title = Self.title(senderName: senderName, conversation: conversation, others: others)
    let text = (message.text ?? "").displayed
    if text.isVisible {
      body = rules.cutBody(text)
    } else if let attachments = message.attachments, let first = attachments.first {
      body = Wording.english.words(for: first.kind, count: attachments.count)
    } else {
      // A text of blanks counts as no text: the push says only that there is a message.
      body = Wording.english.newMessage(from: Self.cut(senderName))
    }
  }

  /// The title of a message's notification.
  static func title(senderName: String, conversation: ConversationRow, others: [Member]?) -> String {
    let sender = cut(senderName)
    if let group = titleOfGroup(conversation) { return Wording.english.title(of: sender, in: group) }
    guard let others else { return sender }
    let shown = others.prefix(shownOthers).map { cut($0.displayName) }
    return Wording.english.title(of: sender, with: shown, further: conversation.memberCount - 1 - shown.count)
  }

  /// Names of others in the title of a group without a name.
  static let shownOthers = 3

  private static func cut(_ name: String) -> String {
    name.cut(toCharacters: nameLimit.characters, bytes: nameLimit.bytes)
  }

  /// The title where nobody knows any more who wrote the message: the group's name; nil: it has none.
  static func titleOfGroup(_ conversation: ConversationRow) -> String? {
    guard conversation.kind != .direct else { return nil }
    return visibleName(conversation.name).map(cut)
  }

  /// A name as it is shown; nil: nothing of it can be seen.
  static func visibleName(_ name: String?) -> String? {
    guard let name = name?.displayedOnOneLine, name.isVisible else { return nil }
    return name
  }
}

extension IngestRules {
  /// A text cut to what a push may take.
  func cutBody(_ text: String) -> String { text.displayed.cut(toCharacters: bodyCharacters, bytes: bodyBytes) }
}
