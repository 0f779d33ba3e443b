import NudgeSchema

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

  /// `ConversationRow.version` of the rows from which it was read.
  var version: Int64
  /// In the order of row keys.
  private(set) var entries: [Entry]
  /// Finds members by words of their names. It is created on first use.
  private var names: NameIndex?
  /// The number of rows with their own stamp, including those of removed members.
  var stampedRows: Int

  init(version: Int64, entries: [Entry], stampedRows: Int) {
    self.version = version
    self.entries = entries
    self.stampedRows = stampedRows
  }

  /// Whether a snapshot would change nothing.
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

  /// The next `count` members after a user id in order, or the first ones.
  func entries(after userId: String?, atMost count: Int) -> ArraySlice<Entry> {
    guard let userId else { return entries.prefix(count) }
    let (index, found) = place(of: userId)
    return entries[(found ? index + 1 : index)...].prefix(count)
  }

  /// Those of these people, and of the people whose names the text may contain, who are members: in order, each once.
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
