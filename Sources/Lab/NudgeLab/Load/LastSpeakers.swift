/// The members of a conversation of a log: its latest speakers.
struct LastSpeakers: Sendable, Equatable {
  /// The most members.
  let limit: Int
  /// User ids, the latest speaker last.
  private(set) var members: [String] = []

  init(limit: Int) { self.limit = max(limit, 1) }

  /// Adds a speaker. Returns whether the members have changed.
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
