/// Shares a thread's effects among groups, such as the projects requests go to, so that a slow group cannot use up all of them.
///
/// A group may have as many effects, waiting or in flight, as are free for all groups together (a dynamic threshold). One group
/// alone gets half of the limit, two a third each, and some always stay free for a group that has none. One thread uses it.
final class EffectBudget {
  private let limit: Int
  private(set) var total = 0
  private var counts: [String: Int] = [:]

  init(limit: Int) { self.limit = limit }

  func hasRoom(for group: String) -> Bool { counts[group, default: 0] < max(1, limit - total) }

  func add(_ group: String?) {
    total += 1
    if let group { counts[group, default: 0] += 1 }
  }

  func remove(_ group: String?) {
    total -= 1
    guard let group, let count = counts[group] else { return }
    counts[group] = count > 1 ? count - 1 : nil
  }
}
