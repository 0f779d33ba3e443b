public import NudgeCodec
import NudgeSchema

/// The state of one conversation for one person.
public struct PersonConversationRow: Encodable, Sendable, Equatable {
  /// The most messages with an entry. Packed each takes about 16 bytes.
  static let maxRecent = 32
  /// The most older unread messages; further ones go to separate rows. Packed each takes about 12 bytes.
  static let maxOlder = 64
  /// The most ids of older read messages. Packed each takes 4 bytes.
  static let maxSeen = 32
  /// The most messages whose last edit is stored.
  static let maxEdits = 8

  /// The origin of the last chat event of this conversation for the person. An event that is not later is a repeat.
  var lastOrigin: Origin?
  /// The last messages by their places, oldest first.
  var recent: [RecentMessage] = []
  /// The number of unread messages that are older than all individually known ones.
  var olderUnread = 0
  /// Unread messages older than those in `recent`, oldest first; absent until there is one.
  private var olderMessages: [OlderMessage]?
  /// The rows with still older messages; absent until there are some.
  var pages: OlderPages?
  /// The keys of the last read messages that are older than those in `recent`; absent until there are some.
  private var seenKeys: [UInt32]?
  /// The last edits; absent until there is one.
  var edits: [MessageEdit]?
  /// The newest place that was removed from `recent`. Messages up to it are not known individually.
  var forgottenUpTo: MessagePlace?
  /// The person has read everything up to here, inclusive.
  var readUpTo: MessagePlace?
  /// A message that was read before it arrived here.
  var readAhead: ReadAhead?
  /// When the person last left or the conversation was deleted. Older messages are withdrawn.
  var withdrawnUpTo: Milliseconds?
  /// Deleted messages that are not in `recent`; absent until there is one.
  var deleted: DeletedMessages?
  /// The last alert; absent before the first one, or if bursts are off.
  var burst: Burst?
  /// Messages that wait for their final decision or for the badge, by place, oldest first; absent if none wait.
  private var held: [Hold]?
  /// The state of messages with pushes that the person's catch-up needs; absent if it needs none.
  var late: LateMessages?
  /// The person's last word on notifications of this conversation; absent until they have given a verdict.
  var lastWord: LastWord?
  /// When the timer for held messages is due; absent if none is set.
  var holdTimerAt: Milliseconds?
  /// The total number of unread messages.
  private(set) var unread = 0

  /// Unread messages older than those in `recent`, oldest first.
  var older: [OlderMessage] {
    get { olderMessages ?? [] }
    set { olderMessages = newValue.isEmpty ? nil : newValue }
  }

  /// The keys of the last read messages that are older than those in `recent`.
  var seen: [UInt32] {
    get { seenKeys ?? [] }
    set { seenKeys = newValue.isEmpty ? nil : newValue }
  }

  /// Messages that wait for their final decision or for the badge, by place, oldest first.
  var holds: [Hold] {
    get { held ?? [] }
    set { held = newValue.isEmpty ? nil : newValue }
  }

  /// Adds a new message. Returns the message that loses its entry for it.
  @discardableResult
  mutating func add(_ message: RecentMessage) -> RecentMessage? {
    let index = recent.firstIndex { message.place < $0.place } ?? recent.endIndex
    recent.insert(message, at: index)
    if message.marks.contains(.unread) { unread += 1 }
    guard recent.count > Self.maxRecent else { return nil }
    let oldest = recent.removeFirst()
    if oldest.marks.contains(.withdrawn) { delete(oldest.key, writtenBy: oldest.place.at) }
    if oldest.marks.contains(.unread) {
      let index = older.lastIndex { $0.place < oldest.place }.map { $0 + 1 } ?? 0
      older.insert(
        OlderMessage(key: oldest.key, place: oldest.place, isShown: oldest.marks.contains(.shown)), at: index)
    } else {
      see([oldest.key])
    }
    forgottenUpTo = max(forgottenUpTo ?? oldest.place, oldest.place)
    return oldest
  }

  /// Changes the marks of a message if it has an entry.
  mutating func mark(_ key: MessageKey, _ change: (inout RecentMessage.Marks) -> Void) {
    guard let index = recent.lastIndex(where: { $0.key == key }) else { return }
    let wasUnread = recent[index].marks.contains(.unread)
    change(&recent[index].marks)
    unread += (recent[index].marks.contains(.unread) ? 1 : 0) - (wasUnread ? 1 : 0)
  }

  /// Applies an edit, with a hash of its text. Returns false if a later edit was applied before (D12).
  mutating func edit(_ key: MessageKey, by stamp: EventStamp, text: UInt32?) -> Bool {
    var known = edits ?? []
    if let index = known.firstIndex(where: { $0.key == key }) {
      guard known[index].stamp < stamp else { return false }
      known.remove(at: index)
    }
    edits = Array((known + [MessageEdit(key: key, stamp: stamp, text: text)]).suffix(Self.maxEdits))
    return true
  }

  /// Counts the unread messages again.
  mutating func recount() {
    unread = olderUnread + (pages?.count ?? 0) + older.count + recent.count { $0.marks.contains(.unread) }
  }
}

extension PersonConversationRow: PackedRow, PackedFields {
  /// The row's kind, for errors.
  public static let name: StaticString = "conversation"
  /// Version 2 added the scores of messages and the last alert; 3 older messages that are shown; 4 held messages; 5 messages shown by a
  /// catch-up; 6 senders, deleted and older messages, edits, and the rank of the last alert; 7 the texts of edits and unhelpful
  /// notifications; 8 why messages did not alert.
  public static var versions: RowVersions { RowVersions(8) }

  public static var blank: Self { Self() }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    var form = RecentMessagesForm(of: recent)
    try row.flags()
    try row.optional(&lastOrigin)
    try row.optional(&forgottenUpTo)
    try row.optional(&readUpTo)
    try row.optional(&readAhead)
    try row.optional(&withdrawnUpTo)
    row.flag(&form.hasScores)
    try row.optional(&burst)
    // Releases before the order of arrival stored only the keys of the messages that are shown.
    var shown: [MessageKey] = []
    try row.optional(&shown)
    try row.optional(&held)
    try row.optional(&holdTimerAt)
    try row.optional(&late)
    row.flag(&form.hasSenders)
    try row.optional(&deleted)
    var waitsUntil = readAhead?.waitsUntil
    try row.optional(&waitsUntil)
    try row.optional(&olderMessages, as: OlderMessagesForm())
    try row.optional(&pages)
    try row.optional(&seenKeys)
    try row.optional(&edits)
    var rank = burst?.rank
    try row.optional(&rank)
    try row.optional(&lastWord)
    row.flag(&form.hasReasons)
    try row.field(&olderUnread)
    try row.field(&recent, as: form)
    guard Row.isReading else { return }
    readAhead?.waitsUntil = waitsUntil
    burst?.rank = rank
    if !shown.isEmpty {
      let place = forgottenUpTo ?? .end(of: 0)
      older = shown.map { OlderMessage(key: $0, place: place, isShown: true) }
      olderUnread = max(0, olderUnread - shown.count)
    }
    recount()
  }
}

extension PersonConversationRow {
  /// Records the chat event that caused the current record. Returns false if the event is a repeat.
  ///
  /// Only origins of one topic and partition can be compared. A different one means that the conversation's events now come from elsewhere
  /// (records with other keys, more partitions). It counts as new, and later origins are compared with it.
  mutating func advance(to origin: Origin) -> Bool {
    if let last = lastOrigin, last.isComparable(to: origin), !origin.isLater(than: last) { return false }
    lastOrigin = origin
    return true
  }

  /// The entry of a message; nil if it is not among the last ones.
  func message(_ key: MessageKey) -> RecentMessage? { recent.last { $0.key == key } }

  /// The place of a message that arrives now. A conversation's order is the order in which its messages reached Nudge.
  ///
  /// - Parameter time: When it arrived.
  func place(arrivingAt time: Milliseconds, order: OriginOrder) -> MessagePlace {
    let place = MessagePlace(at: time, order: order)
    guard let last = recent.last?.place, place <= last else { return place }
    return MessagePlace(at: last.order < order ? last.at : last.at + 1, order: order)
  }

  /// The key of a message with an id and a sender.
  func key(of id: MessageKey, from sender: Int64) -> MessageKey {
    guard let other = message(id)?.sender, other != sender else { return id }
    return id.apart(from: sender)
  }

  /// The keys of the messages with an id. There are several if several senders used the id.
  func keys(of messageId: String) -> [MessageKey] {
    let key = MessageKey(messageId)
    let known = recent.filter { $0.isNamed(key) }.map(\.key)
    return known.isEmpty ? [key] : known
  }

  /// Records the person's last word on notifications of this conversation. A word that is older than the last one changes nothing.
  mutating func record(_ word: LastWord) {
    if word.at >= lastWord?.at ?? .min { lastWord = word }
  }

  /// Whether a message that is decided now counts as already read: the person has read everything up to a time, and it had arrived by then.
  ///
  /// Clocks differ (D11). A message from up to `tolerance` before that time may in fact be later. It counts as unread, because a doubtful
  /// message must notify.
  func hasRead(_ place: MessagePlace, tolerance: Milliseconds) -> Bool {
    readUpTo.map { place.at + tolerance < $0.at } ?? false
  }

  /// Whether a message that arrived earlier, at this place, is read.
  /// - Parameter known: The message, if the row still has it.
  func isRead(_ place: MessagePlace, _ known: RecentMessage?) -> Bool {
    known?.marks.contains(.unread) != true && readUpTo.map { place <= $0 } ?? false
  }

  /// Removes a deleted unread message that is older than those in `recent`. Returns it; nil if it is not known here.
  mutating func removeOlder(_ key: MessageKey) -> OlderMessage? {
    guard let index = older.firstIndex(where: { $0.key == key }) else { return nil }
    defer { recount() }
    return older.remove(at: index)
  }

  /// Removes and returns the oldest messages if the row has too many.
  mutating func takePage() -> [OlderMessage]? {
    guard older.count >= Self.maxOlder else { return nil }
    let page = Array(older.prefix(OlderMessagesRow.size))
    older.removeFirst(page.count)
    return page
  }

  /// Stores the ids of messages that were read and are not in `recent`.
  mutating func see(_ keys: [MessageKey]) { seen = Array((seen + keys.map(\.short)).suffix(Self.maxSeen)) }

  /// Whether a message that is not known individually may have arrived before: it was read, or is one of too many unread ones.
  func mayHaveSeen(_ key: MessageKey) -> Bool { olderUnread > 0 || seen.contains(key.short) }

  /// Whether a text is known to be an outdated text of a message.
  func isFormerText(_ text: String, of key: MessageKey) -> Bool {
    guard let last = edits?.first(where: { $0.key == key })?.text else { return false }
    return last != MessageEdit.short(text)
  }

  /// The person has read everything that had arrived up to a place. `readUpTo` never moves backwards (D7).
  mutating func read(upTo place: MessagePlace) {
    if readUpTo.map({ $0 < place }) ?? true { readUpTo = place }
    for index in recent.indices where recent[index].place <= place { recent[index].marks.remove(.unread) }
    if !holds.isEmpty { holds.removeAll { $0.place <= place } }
    readOlder { $0.place <= place }
    // Messages that were removed from `recent` are older than those in it.
    if let forgottenUpTo, place >= forgottenUpTo { (pages, olderUnread) = (nil, 0) }
    forgetReadEdits()
    recount()
  }

  /// The person has read up to a message that is older than those in `recent`. Returns false if it is not known here.
  mutating func readOlder(upTo key: MessageKey) -> Bool {
    guard let message = older.first(where: { $0.key == key }) else { return false }
    if readUpTo.map({ $0 < message.place }) ?? true { readUpTo = message.place }
    readOlder { $0.place <= message.place }
    recount()
    return true
  }

  private mutating func readOlder(where isRead: (OlderMessage) -> Bool) {
    guard let last = older.lastIndex(where: isRead) else { return }
    see(older[...last].map(\.key))
    older.removeFirst(last + 1)
    // Messages in separate rows are older.
    (pages, olderUnread) = (nil, 0)
  }

  /// Whether an unread message is shown on the person's devices, as far as this row knows.
  func isShown(_ key: MessageKey) -> Bool {
    guard let known = message(key) else {
      return older.contains { $0.key == key && $0.isShown }
    }
    return known.marks.isSuperset(of: [.shown, .unread]) && !known.marks.contains(.withdrawn)
  }

  /// Withdraws everything in the conversation.
  mutating func withdrawAll(at time: Milliseconds) {
    withdrawnUpTo = max(withdrawnUpTo ?? time, time)
    for index in recent.indices where recent[index].place.at <= time {
      recent[index].marks.remove(.unread)
      recent[index].marks.insert(.withdrawn)
    }
    if !holds.isEmpty { holds.removeAll { $0.place.at <= time } }
    readOlder { $0.place.at <= time }
    if let forgottenUpTo, forgottenUpTo.at <= time { (pages, olderUnread) = (nil, 0) }
    recount()
  }
}
