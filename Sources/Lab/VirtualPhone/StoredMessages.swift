/// The messages that FCM stores for a device that is off, by FCM's rules.
///
/// For Android, FCM keeps the last message of each collapse key, for at most four keys, and 100 messages that do not collapse. A further
/// message makes FCM drop all stored messages and tell the app (`onDeletedMessages`). Whether FCM stores messages after that is not
/// documented; here it stores only those that collapse. APNs and browsers' services keep the last message of a collapse id.
struct StoredMessages: Sendable {
  static let mostUncollapsed = 100
  static let mostKeys = 4
  /// The app's package: FCM's key of all notifications where their own keys do not count.
  private static let package = "\u{1}package"

  /// Whether messages with a notification replace each other whatever their keys, as Firebase's documentation says (decision 94).
  let notificationsCollapse: Bool
  private(set) var messages: [(message: DeliveredMessage, until: Int64)] = []
  /// Whether FCM has dropped messages since the device was last connected.
  private(set) var wereDeleted = false

  init(notificationsCollapse: Bool = false) { self.notificationsCollapse = notificationsCollapse }

  /// Stores a message. Returns the messages that FCM drops for it.
  mutating func add(_ message: DeliveredMessage, until: Int64) -> [DeliveredMessage] {
    let gone = makeRoom(for: message)
    if wereDeleted, isStoredOneByOne(message) { return gone + [message] }
    messages.append((message, until))
    return gone
  }

  private mutating func makeRoom(for message: DeliveredMessage) -> [DeliveredMessage] {
    guard message.platform == .android else {
      return message.collapseId.map { id in remove { $0.collapseId == id } } ?? []
    }
    if let key = key(of: message) {
      let stored = messages.compactMap { self.key(of: $0.message) }
      if stored.contains(key) { return remove(key) }
      // FCM does not say which keys it keeps.
      guard let oldest = stored.first, Set(stored).count >= Self.mostKeys else { return [] }
      return remove(oldest)
    }
    guard !wereDeleted, messages.count(where: { isStoredOneByOne($0.message) }) >= Self.mostUncollapsed else {
      return []
    }
    wereDeleted = true
    return remove { _ in true }
  }

  /// The key by which a message for Android replaces others.
  private func key(of message: DeliveredMessage) -> String? {
    notificationsCollapse && message.hasNotification ? Self.package : message.collapseKey
  }

  /// Whether FCM stores the message beside all others.
  private func isStoredOneByOne(_ message: DeliveredMessage) -> Bool {
    message.platform == .android && key(of: message) == nil
  }

  private mutating func remove(_ key: String) -> [DeliveredMessage] {
    let store = self
    return remove { store.key(of: $0) == key }
  }

  private mutating func remove(where isGone: (DeliveredMessage) -> Bool) -> [DeliveredMessage] {
    let gone = messages.map(\.message).filter(isGone)
    messages.removeAll { isGone($0.message) }
    return gone
  }

  /// Removes and returns the stored messages, in order, for a device that is connected again.
  mutating func take() -> (messages: [(message: DeliveredMessage, until: Int64)], wereDeleted: Bool) {
    defer { self = StoredMessages(notificationsCollapse: notificationsCollapse) }
    return (messages, wereDeleted)
  }
}
