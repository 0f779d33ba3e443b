public import NudgeSchema
import Relevance
import StreamRuntime
import Wording

/// A conversation during a step: its rows, and the rules for changing them.
///
/// For membership the last writer by stamp wins (D12). A snapshot changes everybody at once: rows that it wrote have its stamp and none of
/// their own, rows of later single changes stay, and all others are removed. So the same events give the same rows, in whatever order they
/// arrive.
struct Conversation {
  let id: String
  let key: RowKey
  private(set) var row: ConversationRow { didSet { isChanged = true } }
  private var isChanged = false
  /// Whether the conversation has any state.
  private(set) var isKnown: Bool
  private let step: Step<IngestStage>
  private var roster: Roster?
  /// With more members than this, the roster is read in pages, and never completely for a message.
  private let wholeRoster: Int

  init(_ id: String, key: RowKey, roster: Roster?, wholeRoster: Int, in step: Step<IngestStage>) throws {
    self.wholeRoster = wholeRoster
    self.id = id
    self.key = key
    self.step = step
    if case .conversation(let row)? = try step.row(key) {
      self.row = row
      isKnown = true
    } else {
      row = ConversationRow()
      isKnown = false
    }
    self.roster = roster?.version == row.version ? roster : nil
  }

  /// Writes the conversation's own row if it changed. Returns the roster for the cache.
  func save() throws -> Roster? {
    if isChanged { try step.set(.conversation(row), for: key) }
    return isPaged ? nil : roster
  }

  /// Whether it is so large that a message is processed in pages of members.
  var isPaged: Bool { row.memberCount > wholeRoster }

  /// Stores a message among the last ones.
  mutating func remember(
    _ message: MessageCreated, _ text: TextTraits, at time: Milliseconds, addressed: [String], partner: String?
  ) {
    row.talk.append(
      text, from: message.senderId, at: time, messageId: message.messageId, addressed: addressed, partner: partner)
  }

  /// Applies the sender's name and picture in a message, unless a later message or change set others (D12).
  mutating func rename(_ known: MemberRow, _ message: MessageCreated, at time: Milliseconds) throws {
    guard let sender = message.sender, let name = NotificationText.visibleName(sender.displayName) else { return }
    var member = known
    member.displayName = name
    member.avatarUrl = sender.avatarUrl ?? known.avatarUrl
    guard member != known, (known.stamp ?? row.snapshot).map({ $0.occurredAt <= time }) ?? true,
      row.talk.lastTime(of: message.senderId).map({ $0 <= time }) ?? true
    else { return }
    try step.set(.member(member), for: RowKey("c", id, message.senderId))
    row.version += 1
    guard var roster = roster.take() else { return }
    roster.version = row.version
    roster.put(entry(message.senderId, member))
    self.roster = roster
  }

  /// The row of a member or a former one.
  func member(_ userId: String) throws -> MemberRow? {
    if case .member(let member)? = try step.row(RowKey("c", id, userId)) { return member }
    return nil
  }

  /// All members, in the order of their ids' bytes.
  mutating func members() throws -> [Roster.Entry] { try loadRoster().entries }

  /// The next `count` members after a user id in that order, or the first ones; and whether these are the last.
  mutating func members(
    after userId: String?, atMost count: Int
  ) throws -> (members: ArraySlice<Roster.Entry>, isLast: Bool) {
    // A step of a fan-out does not load a roster for its few members, because the cache cannot hold those of many large conversations.
    if isPaged || roster == nil, count < .max { return try page(after: userId, atMost: count) }
    let members = try loadRoster().entries(after: userId, atMost: count)
    return (members, members.count < count || members.endIndex == roster?.entries.endIndex)
  }

  /// For a group without a name: some members other than this one, whose names stand for the group's. Nil if it has a name or is direct.
  mutating func othersIfUnnamed(_ userId: String) throws -> [Member]? {
    guard row.kind == .group, NotificationText.titleOfGroup(row) == nil else { return nil }
    // One more than is shown, because the recipient may be among them.
    return try members(after: nil, atMost: NotificationText.shownOthers + 2).members
      .filter { !sameId($0.userId, userId) }.prefix(NotificationText.shownOthers + 1)
      .map {
        Member(
          userId: $0.userId, displayName: NotificationText.visibleName($0.displayName) ?? $0.userId.displayedOnOneLine)
      }
  }

  /// The next members, read only from their own rows.
  private func page(
    after userId: String?, atMost count: Int
  ) throws -> (members: ArraySlice<Roster.Entry>, isLast: Bool) {
    var found: [Roster.Entry] = []
    found.reserveCapacity(count)
    // The key that follows that of the previous member.
    var first = userId.map { RowKey(bytes: RowKey("c", id, $0).bytes + [0]) }
    while true {
      let page = try step.page(below: key, from: first, limit: count)
      for case (let memberKey, .member(let member)) in page.rows where member.takesPart {
        if found.count == count { return (found[...], false) }
        found.append(entry(self.userId(of: memberKey), member))
      }
      guard let next = page.next else { return (found[...], true) }
      if found.count == count { return (found[...], false) }
      first = next
    }
  }

  /// Members whom a message, or the last messages before it, may concern. They are found without reading each member. In a conversation
  /// that is read in pages, members who are only named are not included: each is found when their page is processed.
  ///
  /// - Parameter answered: The author of the message that it answers, if known.
  mutating func membersConcerned(by message: MessageCreated, answered: String? = nil) throws -> [Roster.Entry] {
    let people = (message.mentions ?? []) + row.recentPeople + (answered.map { [$0] } ?? [])
    if isPaged {
      var members: [ExactText: Roster.Entry] = [:]
      for person in people where members[ExactText(person)] == nil {
        if let member = try member(person), member.takesPart { members[ExactText(person)] = entry(person, member) }
      }
      return members.values.sorted { $0.userId.utf8.lexicographicallyPrecedes($1.userId.utf8) }
    }
    _ = try loadRoster()
    return roster?.members(
      among: people, orNamedIn: message.text.map { SearchedText($0) }) ?? []
  }

  /// Stores an edit of a message that has not arrived.
  mutating func keep(_ text: String, of messageId: String, by stamp: EventStamp) {
    let key = RecentTalk.key(messageId)
    if let known = row.earlyEdits.first(where: { $0.key == key }), stamp < known.stamp { return }
    let edit = EarlyEdit(key: key, stamp: stamp, text: String(text.prefix(EarlyEdit.characters)))
    row.earlyEdits = Array((row.earlyEdits.filter { $0.key != key } + [edit]).suffix(EarlyEdit.limit))
  }

  /// Removes and returns the text of an edit that arrived before its message; nil if there is none, or if it is older.
  mutating func takeEarlyEdit(of messageId: String, after stamp: EventStamp) -> String? {
    guard !row.earlyEdits.isEmpty else { return nil }
    let key = RecentTalk.key(messageId)
    guard let edit = row.earlyEdits.first(where: { $0.key == key }) else { return nil }
    row.earlyEdits.removeAll { $0.key == key }
    return stamp < edit.stamp ? edit.text : nil
  }

  /// The member who wrote a message, by the mark of its event; nil if none did. In a conversation that is read in pages, nobody is
  /// searched.
  mutating func writer(of mark: EventMark) throws -> String? {
    guard !isPaged else { return nil }
    return try members().first {
      EventMark(.messageCreated, sender: $0.userId, byUser: false).isSame(as: mark)
    }?.userId
  }

  /// Whether a snapshot would change the members or their names.
  mutating func isChanged(by snapshot: ConversationSnapshot, stamp: EventStamp) throws -> Bool {
    if let known = row.snapshot, stamp <= known { return false }
    return try !isDescribed(by: snapshot)
  }

  private mutating func isDescribed(by snapshot: ConversationSnapshot) throws -> Bool {
    try snapshot.members.count == row.memberCount && loadRoster().isDescribed(by: snapshot)
  }

  private mutating func loadRoster() throws -> Roster {
    if let roster { return roster }
    var entries: [Roster.Entry] = []
    entries.reserveCapacity(row.memberCount)
    var stamped = 0
    for (memberKey, member) in try memberRows() {
      if member.stamp != nil { stamped += 1 }
      if member.takesPart { entries.append(entry(userId(of: memberKey), member)) }
    }
    let loaded = Roster(version: row.version, entries: entries, stampedRows: stamped)
    roster = loaded
    return loaded
  }

  private func memberRows() throws -> [(RowKey, MemberRow)] {
    try step.rows(below: key).compactMap { memberKey, state in
      if case .member(let member) = state { (memberKey, member) } else { nil }
    }
  }

  private func userId(of memberKey: RowKey) -> String {
    String(decoding: memberKey.bytes.dropFirst(key.bytes.count + 1), as: UTF8.self)
  }

  private func entry(_ userId: String, _ member: MemberRow) -> Roster.Entry {
    Roster.Entry(userId: userId, partition: step.partition(of: userId, on: .timeline), row: member)
  }

  // MARK: Changes

  /// Applies a snapshot, unless a later one is known. Returns the members that it removes.
  mutating func replace(
    with snapshot: ConversationSnapshot, stamp: EventStamp
  ) throws -> [(userId: String, partition: Int32)] {
    if let known = row.snapshot, stamp <= known { return [] }
    isKnown = true
    row.kind = snapshot.kind
    row.name = snapshot.name
    row.snapshot = stamp
    if let floor = row.floor, floor <= stamp { row.floor = nil }
    // Producers may send the same members with every message. Then only the stamp changes.
    if try isDescribed(by: snapshot) { return [] }

    var listed: [ExactText: Member] = [:]
    for member in snapshot.members { listed[ExactText(member.userId)] = member }
    var left: [(userId: String, partition: Int32)] = []
    row.memberCount = 0
    row.removedCount = 0
    for (memberKey, known) in try memberRows() {
      let userId = userId(of: memberKey)
      let member = listed.removeValue(forKey: ExactText(userId))
      if let own = known.stamp, own > stamp {
        if known.takesPart { row.memberCount += 1 } else { row.removedCount += 1 }
      } else if let member {
        let new = Self.row(of: member)
        if new != known { try step.set(.member(new), for: memberKey) }
        row.memberCount += 1
      } else {
        try step.remove(memberKey)
        if known.takesPart { left.append((userId, step.partition(of: userId, on: .timeline))) }
      }
    }
    for member in snapshot.members where listed.removeValue(forKey: ExactText(member.userId)) != nil {
      try step.set(.member(Self.row(of: member)), for: RowKey("c", id, member.userId))
      row.memberCount += 1
    }
    row.version += 1
    roster = nil
    return left
  }

  private static func row(of member: Member) -> MemberRow {
    MemberRow(stamp: nil, takesPart: true, displayName: member.displayName, avatarUrl: member.avatarUrl)
  }

  /// Applies a join or a leave, unless a later change of the person is known. At most `remembering` removed members are kept. Returns
  /// whether a member left.
  mutating func change(
    _ change: MembershipChange, joins: Bool, stamp: EventStamp, remembering limit: Int
  ) throws -> Bool {
    let known = try member(change.userId)
    if let latest = known.map({ $0.stamp ?? row.snapshot }) ?? later(row.snapshot, row.floor), stamp <= latest {
      return false
    }
    isKnown = true
    let new =
      joins
      ? MemberRow(stamp: stamp, takesPart: true, displayName: change.displayName, avatarUrl: change.avatarUrl)
      : MemberRow(stamp: stamp, takesPart: false)
    try step.set(.member(new), for: RowKey("c", id, change.userId))
    if let known { if known.takesPart { row.memberCount -= 1 } else { row.removedCount -= 1 } }
    if joins { row.memberCount += 1 } else { row.removedCount += 1 }
    row.version += 1
    if var roster = roster.take() {
      roster.version = row.version
      if known?.stamp == nil { roster.stampedRows += 1 }
      if joins { roster.put(entry(change.userId, new)) } else { roster.remove(change.userId) }
      self.roster = roster
    }
    if row.removedCount > limit { try forgetRemoved(keeping: limit / 2) }
    return !joins && known?.takesPart == true
  }

  /// Whether a person joined after an event, by a later join or snapshot.
  func hasJoined(_ userId: String, after stamp: EventStamp) throws -> Bool {
    guard let known = try member(userId), known.takesPart, let since = known.stamp ?? row.snapshot else { return false }
    return since > stamp
  }

  /// Erases a deleted person: their row and, if they are among the people of the last messages, those messages. A person who registered and
  /// joined again after the deletion stays a member.
  mutating func erase(_ userId: String, deleted stamp: EventStamp) throws {
    if row.talk.people.contains(where: { sameId($0, userId) }) { row.talk = RecentTalk() }
    // The authors of early edits are unknown.
    if !row.earlyEdits.isEmpty { row.earlyEdits = [] }
    guard let known = try member(userId), try !hasJoined(userId, after: stamp) else { return }
    try step.remove(RowKey("c", id, userId))
    if known.takesPart { row.memberCount -= 1 } else { row.removedCount -= 1 }
    row.version += 1
    roster = nil
  }

  private func later(_ a: EventStamp?, _ b: EventStamp?) -> EventStamp? {
    guard let a, let b else { return a ?? b }
    return max(a, b)
  }

  /// Removes the rows of removed members with the oldest stamps. `floor` then represents all of them.
  private mutating func forgetRemoved(keeping limit: Int) throws {
    var removed: [(stamp: EventStamp, key: RowKey)] = []
    for (memberKey, member) in try memberRows() where !member.takesPart {
      if let stamp = member.stamp { removed.append((stamp, memberKey)) }
    }
    removed.sort { $0.stamp < $1.stamp }
    for (stamp, memberKey) in removed.dropLast(limit) {
      try step.remove(memberKey)
      row.floor = later(row.floor, stamp)
      row.removedCount -= 1
    }
    row.version += 1
    roster = nil
  }
}

/// A group conversation outside of the pipeline, processed by the pipeline's code. It is used to measure a candidate's context on chat
/// logs.
public struct OfflineConversation {
  private var row = ConversationRow()
  private var roster = Roster(version: 0, entries: [], stampedRows: 0)

  /// A group without members.
  public init() { row.kind = .group }

  /// Adds a person who is not a member yet.
  public mutating func join(_ userId: String, displayName: String) {
    guard roster[userId] == nil else { return }
    roster.put(
      Roster.Entry(
        userId: userId, partition: 0, row: MemberRow(stamp: nil, takesPart: true, displayName: displayName)))
    row.memberCount += 1
  }

  /// The candidate of a message with these members as recipients. The message then is among the last ones.
  public mutating func candidate(
    of message: MessageCreated, at time: Milliseconds, for recipients: [String]
  ) -> MessageCandidate {
    let contexts = RecipientContexts(message, at: time, to: roster.entries, in: row)
    let candidate = MessageCandidate(
      conversationId: message.conversationId, messageId: message.messageId,
      sender: Member(userId: message.senderId, displayName: message.senderId),
      conversation: CandidateConversation(
        kind: .group, memberCount: row.memberCount, activeSpeakers: contexts.activeSpeakers,
        features: contexts.messageFeatures),
      title: message.senderId, body: message.text ?? "",
      recipients: recipients.map { Recipient(userId: $0, context: contexts.context(of: $0)) })
    row.talk.append(
      contexts.traits, from: message.senderId, at: time, messageId: message.messageId, addressed: contexts.addressed,
      partner: contexts.partner)
    return candidate
  }

  /// The text without the names of members, and without a colon or comma after a name.
  public func text(withoutNames text: String) -> String {
    SearchedText.removing(roster.entries.compactMap { $0.displayName.flatMap { SearchedName($0) } }, from: text)
  }
}
