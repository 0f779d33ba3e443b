/// The history of a message that is said again because it neither arrived nor was read.
public struct Escalation: Codable, Sendable, Equatable {
  /// When the message was pushed first, in milliseconds since the epoch.
  public var pushedAt: Milliseconds
  /// When it was pushed once more; nil: this push is that one, or no device could be reached.
  public var pushedAgainAt: Milliseconds?
  /// The name shown for who wrote it. Only of the kind `escalation`.
  public var senderName: String?
  /// The group's name; nil: the conversation is direct, or the group has none. Only of the kind `escalation`.
  public var groupName: String?

  /// A history.
  public init(
    pushedAt: Milliseconds, pushedAgainAt: Milliseconds? = nil, senderName: String? = nil, groupName: String? = nil
  ) {
    self.pushedAt = pushedAt
    self.pushedAgainAt = pushedAgainAt
    self.senderName = senderName
    self.groupName = groupName
  }
}
