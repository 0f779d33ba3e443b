/// A destination in the app.
public struct Route: Sendable, Equatable {
  /// The conversation to open.
  public let conversationId: String
  /// The message to scroll to; nil: stay where the conversation opens.
  public let messageId: String?

  /// A route to a conversation, or to a message in it.
  public init(conversationId: String, messageId: String? = nil) {
    self.conversationId = conversationId
    self.messageId = messageId
  }
}
