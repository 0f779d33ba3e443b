/// Where in the app something leads.
public struct Route: Sendable, Equatable {
  /// The conversation to open.
  public let conversationId: String
  /// The message to scroll to, nil: where the conversation opens by itself.
  public let messageId: String?

  /// A conversation, and a message in it if known.
  public init(conversationId: String, messageId: String? = nil) {
    self.conversationId = conversationId
    self.messageId = messageId
  }
}
