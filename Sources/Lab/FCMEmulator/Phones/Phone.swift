internal import VirtualPhone

/// A device as its owner sees it: the lock screen and the number on the icon.
struct Phone: Sendable {
  /// The phone's number on the page, from 1, in the order of their first pushes.
  let number: Int
  private(set) var platform: DeliveredMessage.Platform
  /// Whether the app draws its notifications from data alone. Else the system draws them.
  private(set) var appDraws = false
  /// The user whom the last push was for.
  private(set) var owner: String
  private(set) var badge = 0
  private(set) var lockScreen = LockScreen()
  /// The number of pushes that have arrived.
  private(set) var pushes = 0
  /// How many of them were presented as alerts, with a sound.
  private(set) var sounds = 0
  /// How many of them were presented silently.
  private(set) var silentPushes = 0
  /// How many of them the system did not show, because it already showed its maximum for the app.
  private(set) var dropped = 0
  /// How many of them changed only the badge.
  private(set) var badgePushes = 0
  /// How many of them removed something from the screen or changed nothing visible: reads and deletions.
  private(set) var removals = 0
  /// The version of the page at the last change.
  private(set) var version = 0

  init(number: Int, for message: DeliveredMessage) {
    self.number = number
    platform = message.platform
    owner = message.recipientId
  }

  mutating func receive(_ message: DeliveredMessage, at now: Int64, version: Int) {
    self.version = version
    pushes += 1
    platform = message.platform
    if message.recipientId != owner {
      // The push is for another account: the former user's notifications were removed at sign-out (C6).
      owner = message.recipientId
      lockScreen.clear()
    }
    badge = message.badge ?? badge
    switch message.content {
    case .badge: badgePushes += 1
    case .read(let mark):
      removals += 1
      lockScreen.remove(mark)
    case .deleted(let messageId, let conversationId):
      removals += 1
      lockScreen.remove(messageId: messageId, in: conversationId)
    case .visible(let visible):
      appDraws = !message.hasNotification
      if platform == .android, lockScreen.isFull(for: visible.tag) {
        dropped += 1
        return
      }
      if visible.isAlert { sounds += 1 } else { silentPushes += 1 }
      lockScreen.show(LockScreen.Entry(visible, of: message, at: now))
    }
  }
}
