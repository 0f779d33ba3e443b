import Foundation

/// A catch-up: the unread messages that were held back from the user, in one push. An app shows them as a list with
/// links.
///
/// ```swift
/// ForEach(catchUp.groups, id: \.conversationId) { group in
///   ForEach(group.lines, id: \.messageId) { line in
///     Button("\(line.title): \(line.text)") { perform(router.receive(line.route, at: Date())) }
///   }
/// }
/// if catchUp.messagesBeyondLines > 0 { Text("and \(catchUp.messagesBeyondLines) more") }
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

    /// Where a tap on the line leads.
    public var route: Route { Route(conversationId: conversationId, messageId: messageId) }
  }

  /// The lines of one conversation.
  public struct Group: Sendable, Equatable {
    /// The conversation.
    public let conversationId: String
    /// Its lines, the most relevant first; at least one.
    public let lines: [Line]
    /// Where a tap on the group leads: to its most relevant message.
    public var route: Route { Route(conversationId: conversationId, messageId: lines.first?.messageId) }
  }

  /// The number of messages in the catch-up; 1 or more.
  public let messages: Int
  /// The number of their conversations; 1 or more.
  public let conversations: Int
  /// The most relevant messages, the most relevant first; at most three. Empty if the user wants no previews.
  public private(set) var lines: [Line]
  /// How the device presents it.
  public let presentation: PushPayload.Presentation
  /// The number of lines in the push. `lines` loses those that are read.
  private let pushedLines: Int
  /// The number of conversations of these lines.
  private let pushedConversations: Int

  init(messages: Int, conversations: Int, lines: [Line], presentation: PushPayload.Presentation) {
    self.messages = messages
    self.conversations = conversations
    self.lines = lines
    self.presentation = presentation
    pushedLines = lines.count
    pushedConversations = Set(lines.map(\.conversationId)).count
  }

  /// Where a tap on the notification leads: to the conversation if there is only one; nil for the list.
  public var route: Route? { conversations == 1 ? lines.first?.route : nil }

  /// The lines by conversation. Each conversation is at the place of its first line.
  public var groups: [Group] {
    var order: [String] = []
    var byConversation: [String: [Line]] = [:]
    for line in lines {
      if byConversation[line.conversationId] == nil { order.append(line.conversationId) }
      byConversation[line.conversationId, default: []].append(line)
    }
    return order.map { Group(conversationId: $0, lines: byConversation[$0] ?? []) }
  }

  /// The number of messages without a line.
  public var messagesBeyondLines: Int { max(0, messages - pushedLines) }

  /// The number of conversations without a line.
  public var conversationsBeyondLines: Int { max(0, conversations - pushedConversations) }

  /// The catch-up without lines that are read or deleted.
  func without(_ isGone: (Line) -> Bool) -> CatchUp {
    var rest = self
    rest.lines.removeAll(where: isGone)
    return rest
  }

  /// The lines in the push's field, which is a string with a JSON array; nil if it has another form.
  static func lines(_ text: String) -> [Line]? {
    try? JSONDecoder().decode([Line].self, from: Data(text.utf8))
  }
}
