/// Who takes part in a conversation of a log: the last so many different people who wrote.
struct LastSpeakers: Sendable, Equatable {
  /// Members at most.
  let limit: Int
  /// User ids, the latest speaker last.
  private(set) var members: [String] = []

  /// Nobody yet.
  init(limit: Int) { self.limit = max(limit, 1) }

  /// Notes that somebody writes. Returns whether the members are others than before.
  mutating func speak(_ userId: String) -> Bool {
    if let index = members.firstIndex(of: userId) {
      members.remove(at: index)
      members.append(userId)
      return false
    }
    if members.count == limit { members.removeFirst() }
    members.append(userId)
    return true
  }
}
