/// What the owner of a device sees of its notifications: lock screen and number on the icon.
struct Phone: Sendable {
  /// An entry of the lock screen.
  struct Entry: Sendable, Equatable, Encodable {
    /// What a later one replaces it by.
    var tag: String
    /// What it is grouped by.
    var thread: String
    var title: String
    var body: String
    var hasPicture: Bool
    /// It came with a sound; else silently.
    var isAlert: Bool
    /// The push that brought it, as it is now.
    var pushId: String
    /// When it came, in milliseconds since the epoch.
    var at: Int64
    /// How often it was replaced.
    var replaced: Int
  }

  /// Entries that are kept; of more the oldest go.
  static let capacity = 30

  /// Its number on the page, from 1 on, in the order in which the phones were first heard of.
  let number: Int
  private(set) var platform: DeliveredMessage.Platform
  /// Whom the last push was for.
  private(set) var owner: String
  private(set) var badge = 0
  /// The newest first.
  private(set) var entries: [Entry] = []
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
      entries = []
    }
    badge = message.badge ?? badge
    switch message.content {
    case .badge: break
    case .read(let conversationId): entries.removeAll { $0.thread == conversationId }
    case .deleted(let messageId): entries.removeAll { $0.tag == messageId }
    case .visible(let visible):
      if visible.isAlert { sounds += 1 }
      let former = entries.firstIndex { $0.tag == visible.tag }.map { entries.remove(at: $0) }
      entries.insert(
        Entry(
          tag: visible.tag, thread: visible.thread, title: visible.title, body: visible.body,
          hasPicture: visible.hasPicture, isAlert: visible.isAlert, pushId: message.pushId, at: now,
          replaced: former.map { $0.replaced + 1 } ?? 0), at: 0)
      if entries.count > Self.capacity { entries.removeLast() }
    }
  }
}
