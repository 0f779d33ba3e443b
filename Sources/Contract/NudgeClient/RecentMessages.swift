/// The ids of the last messages that were handled: enough for one to be known again when it comes by another way, which
/// is within seconds or minutes.
struct RecentMessages: Sendable {
  private static let capacity = 256
  private var ids: [String] = []

  /// Whether the message is among them.
  func contains(_ messageId: String) -> Bool { ids.contains(messageId) }

  /// Whether the message was not among them; it is from now on, and the oldest is forgotten.
  mutating func insert(_ messageId: String) -> Bool {
    guard !ids.contains(messageId) else { return false }
    if ids.count == Self.capacity { ids.removeFirst() }
    ids.append(messageId)
    return true
  }
}
