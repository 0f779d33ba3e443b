/// `push.missed`: from the dispatcher, when Nudge's own lateness kept a message from a device. No request was made for it, or its lane
/// was full. Where all devices of the push miss it, it waits for the person's catch-up.
public struct PushMissed: Codable, Sendable, Equatable {
  /// Why the push was not sent.
  public enum Cause: String, NamedValue {
    /// Its freshness ended while it waited.
    case expired
    /// More pushes waited for the device than its lane takes.
    case laneFull = "lane_full"
    /// It waited until quiet hours began.
    case quietHours = "quiet_hours"
  }

  /// The person.
  public var userId: String
  /// The push.
  public var pushId: String
  /// The device's place among the push's targets, from 0.
  public var device: Int
  /// How many targets the push had.
  public var devices: Int
  /// The message's conversation.
  public var conversationId: String
  /// The message.
  public var messageId: String
  /// Why.
  public var cause: Cause
  /// How it would have appeared.
  public var presentation: Presentation
  /// How much it matters.
  public var priority: Priority
  /// When the message was written.
  public var sentAt: Milliseconds
  /// When the push ends on every device.
  public var expiresAt: Milliseconds
  /// The sender's name.
  public var senderName: String
  /// The group's name; nil: the conversation is direct, or the group has none.
  public var groupName: String?
  /// The content of the push.
  public var text: String
  /// The text is that of an edit.
  public var edited: Bool?
  /// The sender; absent in records of releases that did not write it.
  public var senderId: String?
  /// Where the sender's picture is.
  public var avatarUrl: String?

  /// The event's fields.
  public init(
    userId: String, pushId: String, device: Int, devices: Int, conversationId: String, messageId: String, cause: Cause,
    presentation: Presentation, priority: Priority, sentAt: Milliseconds, expiresAt: Milliseconds, senderName: String,
    groupName: String? = nil, text: String, edited: Bool? = nil, senderId: String? = nil, avatarUrl: String? = nil
  ) {
    self.userId = userId
    self.pushId = pushId
    self.device = device
    self.devices = devices
    self.conversationId = conversationId
    self.messageId = messageId
    self.cause = cause
    self.presentation = presentation
    self.priority = priority
    self.sentAt = sentAt
    self.expiresAt = expiresAt
    self.senderName = senderName
    self.groupName = groupName
    self.text = text
    self.edited = edited
    self.senderId = senderId
    self.avatarUrl = avatarUrl
  }
}
