/// The messages that FCM stores for a device that is off, by FCM's rules.
///
/// For Android: of each collapse key the last, for at most four keys; 100 that do not collapse. One more, and all that are stored are
/// gone, and the app is told so (`onDeletedMessages`). Whether FCM stores what comes then is not documented; here it stores only what
/// collapses. APNs and browsers' services keep the last message of a collapse id.
struct StoredMessages: Sendable {
  static let mostUncollapsed = 100
  static let mostKeys = 4

  private(set) var messages: [(message: DeliveredMessage, until: Int64)] = []
  /// FCM has thrown messages away since the device was there last.
  private(set) var wereDeleted = false

  /// Stores a message. Returns those that are gone for it.
  mutating func add(_ message: DeliveredMessage, until: Int64) -> [DeliveredMessage] {
    let gone = makeRoom(for: message)
    if wereDeleted, message.isStoredOneByOne { return gone + [message] }
    messages.append((message, until))
    return gone
  }

  private mutating func makeRoom(for message: DeliveredMessage) -> [DeliveredMessage] {
    guard message.platform == .android else {
      return message.collapseId.map { id in remove { $0.collapseId == id } } ?? []
    }
    if let key = message.collapseKey {
      let former = remove { $0.collapseKey == key }
      let keys = Set(messages.compactMap(\.message.collapseKey))
      guard former.isEmpty, keys.count >= Self.mostKeys else { return former }
      // FCM does not say which keys it keeps.
      let oldest = messages.first { $0.message.collapseKey != nil }?.message.collapseKey
      return remove { $0.collapseKey == oldest }
    }
    guard !wereDeleted, messages.count(where: { $0.message.isStoredOneByOne }) >= Self.mostUncollapsed else {
      return []
    }
    wereDeleted = true
    return remove { _ in true }
  }

  private mutating func remove(where isGone: (DeliveredMessage) -> Bool) -> [DeliveredMessage] {
    let gone = messages.map(\.message).filter(isGone)
    messages.removeAll { isGone($0.message) }
    return gone
  }

  /// The device is there: gives what is stored, in order.
  mutating func take() -> (messages: [(message: DeliveredMessage, until: Int64)], wereDeleted: Bool) {
    defer { self = StoredMessages() }
    return (messages, wereDeleted)
  }
}

extension DeliveredMessage {
  /// Whether FCM stores it beside all others.
  fileprivate var isStoredOneByOne: Bool { platform == .android && collapseKey == nil }
}
