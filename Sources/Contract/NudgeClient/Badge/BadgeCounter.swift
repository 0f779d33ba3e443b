/// The number on the app's icon, counted on the device.
///
/// Each call that may change it returns the number to set.
public struct BadgeCounter: Sendable {
  /// What is counted; the user's preference `badgeMode`.
  public enum Mode: String, Sendable, Codable {
    /// Conversations with unread messages.
    case conversations
    /// Unread messages.
    case messages
  }

  private var mode: Mode
  /// Unread messages by conversation, never 0.
  private var unread: [String: Int] = [:]
  // Push and real-time channel bring the same message, in any order, and one of them maybe after it was read.
  private var counted = RecentMessages()
  private var openConversationId: String?
  /// What the services count and the device has heard nothing of, such as messages that were not notified; less than 0 where
  /// the device does not know yet what was read elsewhere.
  private var unheard = 0

  /// A counter with nothing unread.
  public init(mode: Mode = .conversations) {
    self.mode = mode
  }

  /// The number to show: 0 when all is read.
  public var value: Int { max(0, counted(in: mode) + unheard) }

  private func counted(in mode: Mode) -> Int {
    switch mode {
    case .conversations: unread.count
    case .messages: unread.values.reduce(0, +)
    }
  }

  /// A message of somebody else's has arrived: it counts once, and not in the open conversation, where it is read.
  public mutating func received(messageId: String, in conversationId: String) -> Int {
    if counted.insert(messageId), conversationId != openConversationId {
      unread[conversationId, default: 0] += 1
    }
    return value
  }

  /// A push says what the badge is to show. The services know of messages that this device has not heard of, and of what was
  /// read elsewhere: what is received and read from now on counts from there.
  public mutating func told(_ badge: Int) -> Int {
    unheard = badge - counted(in: mode)
    return value
  }

  /// A conversation was read, here or on another device.
  public mutating func read(_ conversationId: String) -> Int {
    unread[conversationId] = nil
    return value
  }

  /// A conversation is on the screen: it is read, and stays so until it is closed.
  public mutating func opened(_ conversationId: String) -> Int {
    openConversationId = conversationId
    return read(conversationId)
  }

  /// No conversation is on the screen, or the app is in the background.
  public mutating func closed() {
    openConversationId = nil
  }

  /// The list of conversations was loaded, as at every launch: these have so many unread messages, all others none.
  public mutating func refresh(unreadMessages: [String: Int]) -> Int {
    unread = unreadMessages.filter { $0.value > 0 && $0.key != openConversationId }
    unheard = 0
    return value
  }

  /// The user has changed what is counted.
  public mutating func modeChanged(to mode: Mode) -> Int {
    self.mode = mode
    // Of the other number the services have not told yet.
    unheard = 0
    return value
  }

  /// The user has signed out: 0.
  public mutating func signedOut() -> Int {
    self = BadgeCounter(mode: mode)
    return value
  }
}
