public import NudgeCodec
public import NudgeSchema
import StreamRuntime

/// The members of a conversation, read from its rows and cached for the next message.
struct Roster {
  /// A member with the fields that a fan-out needs.
  struct Entry {
    var userId: String
    /// The partition of the person's timeline.
    var partition: Int32
    var displayName: String?
    var avatarUrl: String?
    /// The name to search in a message's text.
    var name: MemberName?

    init(userId: String, partition: Int32, row: MemberRow) {
      self.userId = userId
      self.partition = partition
      displayName = row.displayName
      avatarUrl = row.avatarUrl
      name = row.displayName.flatMap { MemberName($0) }
    }
  }

  /// The `ConversationRow.version` at which the roster was read.
  var version: Int64
  /// In the order of row keys.
  private(set) var entries: [Entry]
  /// Finds members by words of their names. Created on first use.
  private var names: NameIndex?
  /// The number of member rows with a stamp of their own, including those of removed members.
  var stampedRows: Int

  init(version: Int64, entries: [Entry], stampedRows: Int) {
    self.version = version
    self.entries = entries
    self.stampedRows = stampedRows
  }

  /// Whether the roster already matches a snapshot, which would then change nothing.
  func isDescribed(by snapshot: ConversationSnapshot) -> Bool {
    stampedRows == 0 && snapshot.members.count == entries.count
      && snapshot.members.allSatisfy { member in
        guard let entry = self[member.userId] else { return false }
        return sameId(member.displayName, entry.displayName ?? "") && sameId(member.avatarUrl, entry.avatarUrl)
      }
  }

  subscript(userId: String) -> Entry? {
    let (index, found) = place(of: userId)
    return found ? entries[index] : nil
  }

  /// The next `count` members after a user id, in the order of row keys; the first ones if the id is nil.
  func entries(after userId: String?, atMost count: Int) -> ArraySlice<Entry> {
    guard let userId else { return entries.prefix(count) }
    let (index, found) = place(of: userId)
    return entries[(found ? index + 1 : index)...].prefix(count)
  }

  /// The members among `people`, and the members whose names the text may contain. In order, each once.
  mutating func members(among people: [String], orNamedIn text: SearchedText?) -> [Entry] {
    var indexes = Set<Int>()
    for person in people {
      let (index, found) = place(of: person)
      if found { indexes.insert(index) }
    }
    if let text {
      let index = names ?? NameIndex(entries.lazy.map(\.name))
      names = index
      indexes.formUnion(index.mayBeNamed(in: text))
    }
    return indexes.sorted().map { entries[$0] }
  }

  mutating func put(_ entry: Entry) {
    names = nil
    let (index, found) = place(of: entry.userId)
    if found { entries[index] = entry } else { entries.insert(entry, at: index) }
  }

  mutating func remove(_ userId: String) {
    names = nil
    let (index, found) = place(of: userId)
    if found { entries.remove(at: index) }
  }

  private func place(of userId: String) -> (index: Int, found: Bool) {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].userId.utf8.lexicographicallyPrecedes(userId.utf8) { low = middle + 1 } else { high = middle }
    }
    return (low, low < entries.count && sameId(entries[low].userId, userId))
  }
}

/// The decoded rosters of a thread's tasks. With a cached roster, a message to a group need not read a row for each member.
///
/// A step takes a roster out, and puts it back only if it succeeds. So an undone step leaves no changed roster behind. A roster whose
/// version differs from that of the conversation's row is loaded again.
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

  /// Adds a roster. If the cache then has more than `limit` members, it removes the least recently used rosters until half of `limit` is
  /// left.
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

/// One person's membership in a conversation. The person's id is in the row's key.
public struct MemberRow: Sendable, Equatable, Encodable {
  /// The stamp of the change that the row reflects. Absent if that is the conversation's last snapshot.
  public internal(set) var stamp: EventStamp?
  /// Whether the person takes part. The row of a removed person stays, so that an older change does not bring them back.
  public internal(set) var takesPart: Bool
  /// The name shown to others. If it is absent, others see the user id.
  public internal(set) var displayName: String?
  /// The address of the person's picture; absent if there is none.
  public internal(set) var avatarUrl: String?

  /// Compares names byte by byte. Under canonical equivalence the row would keep whichever spelling of a name came first.
  public static func == (a: MemberRow, b: MemberRow) -> Bool {
    a.stamp == b.stamp && a.takesPart == b.takesPart && sameId(a.displayName, b.displayName)
      && sameId(a.avatarUrl, b.avatarUrl)
  }
}

extension MemberRow: PackedRow, PackedFields {
  /// The row's name in errors.
  public static let name: StaticString = "member"
  public static var blank: Self { Self(takesPart: false) }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.flags()
    row.flag(&takesPart)
    try row.optional(&stamp)
    try row.optional(&displayName)
    try row.optional(&avatarUrl)
  }
}
