import Foundation

/// A catch-up: what was held back from the user and is unread, in one push. An app shows it as a list with links.
///
/// ```swift
/// ForEach(catchUp.lines, id: \.messageId) { line in
///   Button("\(line.title): \(line.text)") { perform(router.receive(line.route, at: Date())) }
/// }
/// ```
public struct CatchUp: Sendable, Equatable {
  /// A message that the catch-up shows.
  public struct Line: Sendable, Equatable, Decodable {
    /// The conversation of the message.
    public let conversationId: String
    /// The message's id.
    public let messageId: String
    /// The sender's name, and the group's if the conversation has one.
    public let title: String
    /// The message's text, shortened.
    public let text: String

    /// The way to the message.
    public var route: Route { Route(conversationId: conversationId, messageId: messageId) }
  }

  /// How many messages it tells of; 1 or more.
  public let messages: Int
  /// In how many conversations they are; 1 or more.
  public let conversations: Int
  /// The most relevant messages, the first before all; at most three. Empty where the user wants no previews.
  public private(set) var lines: [Line]
  /// How the device presents it.
  public let presentation: PushPayload.Presentation

  init(messages: Int, conversations: Int, lines: [Line], presentation: PushPayload.Presentation) {
    self.messages = messages
    self.conversations = conversations
    self.lines = lines
    self.presentation = presentation
  }

  /// Where a tap on the notification leads: to the message, if there is only one; nil: to the list.
  public var route: Route? { messages == 1 ? lines.first?.route : nil }

  /// The same without the lines that are known to be read or deleted.
  func without(_ isGone: (Line) -> Bool) -> CatchUp {
    var rest = self
    rest.lines.removeAll(where: isGone)
    return rest
  }

  /// Reads the lines from the push's field, a JSON array in a text. nil: the text is not such an array.
  static func lines(_ text: String) -> [Line]? {
    try? JSONDecoder().decode([Line].self, from: Data(text.utf8))
  }
}
