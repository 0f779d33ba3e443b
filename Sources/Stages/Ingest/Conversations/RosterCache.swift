import StreamRuntime

/// The decoded rosters of all tasks of a thread, so that a message to a group need not read a row for each member again.
///
/// A roster is taken out for a step and put back when the step has succeeded, so an undone step leaves none. A roster whose version differs
/// from that of the conversation's row is loaded again.
struct RosterCache {
  private struct Cached {
    var roster: Roster
    var usedAt: UInt64
  }

  private var byPartition: [Int32: [RowKey: Cached]] = [:]
  private var members = 0
  private var uses: UInt64 = 0

  /// Takes a roster out.
  mutating func take(_ key: RowKey, partition: Int32) -> Roster? {
    guard let cached = byPartition[partition]?.removeValue(forKey: key) else { return nil }
    members -= cached.roster.entries.count + 1
    return cached.roster
  }

  /// Adds a roster. If there are more than `limit` members, the least recently used half is removed.
  mutating func put(_ roster: Roster, for key: RowKey, partition: Int32, limit: Int) {
    uses += 1
    byPartition[partition, default: [:]][key] = Cached(roster: roster, usedAt: uses)
    members += roster.entries.count + 1
    if members > limit { evict(to: limit / 2) }
  }

  /// Drops a task's rosters.
  mutating func forget(partition: Int32) {
    for cached in (byPartition.removeValue(forKey: partition) ?? [:]).values {
      members -= cached.roster.entries.count + 1
    }
  }

  private mutating func evict(to target: Int) {
    var oldest: [(usedAt: UInt64, partition: Int32, key: RowKey)] = []
    for (partition, rosters) in byPartition {
      for (key, cached) in rosters { oldest.append((cached.usedAt, partition, key)) }
    }
    oldest.sort { $0.usedAt < $1.usedAt }
    for entry in oldest where members > target { _ = take(entry.key, partition: entry.partition) }
  }
}
