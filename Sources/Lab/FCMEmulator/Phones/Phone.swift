internal import VirtualPhone

/// What the owner of a device sees of its notifications: lock screen and number on the icon.
struct Phone: Sendable {
  /// Its number on the page, from 1 on, in the order in which the phones were first heard of.
  let number: Int
  private(set) var platform: DeliveredMessage.Platform
  /// Whom the last push was for.
  private(set) var owner: String
  private(set) var badge = 0
  private(set) var lockScreen = LockScreen()
  /// Pushes that have arrived.
  private(set) var pushes = 0
  /// How many of them made a sound.
  private(set) var sounds = 0
  /// The page's version as of the last change.
  private(set) var version = 0

  init(number: Int, for message: DeliveredMessage) {
    self.number = number
    platform = message.platform
    owner = message.recipientId
  }

  /// A push has arrived.
  mutating func receive(_ message: DeliveredMessage, at now: Int64, version: Int) {
    self.version = version
    pushes += 1
    platform = message.platform
    if message.recipientId != owner {
      // Another account: what the former one was shown went at sign-out (C6).
      owner = message.recipientId
      lockScreen.clear()
    }
    badge = message.badge ?? badge
    switch message.content {
    case .badge: break
    case .read(let conversationId): lockScreen.remove(thread: conversationId)
    case .deleted(let messageId): lockScreen.remove(messageId: messageId)
    case .visible(let visible):
      if visible.isAlert { sounds += 1 }
      lockScreen.show(LockScreen.Entry(visible, of: message, at: now))
    }
  }
}
