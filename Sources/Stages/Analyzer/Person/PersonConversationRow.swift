import NudgeSchema
import Wording

/// The state of one conversation for one person.
public struct PersonConversationRow: Codable, Sendable, Equatable {
  /// Messages kept one by one. Packed they take some 16 bytes each.
  static let maxRecent = 32
  /// Unread messages older than those; beyond, some of them go to a row of their own. Packed they take some 12 bytes each.
  static let maxOlder = 64
  /// Read messages older than those whose ids are still known. Packed they take 4 bytes each.
  static let maxSeen = 32
  /// Messages whose last edit is known.
  static let maxEdits = 8

  /// The origin of the last chat event of this conversation that reached the person: what is not later is a repeat.
  var lastOrigin: Origin?
  /// The last messages by their places, oldest first.
  var recent: [RecentMessage] = []
  /// Unread messages older than all that are known one by one.
  var olderUnread = 0
  /// Unread messages older than those in `recent`, oldest first; absent until there is one.
  private var olderMessages: [OlderMessage]?
  /// The rows with those before them; absent until there is one.
  var pages: OlderPages?
  /// Stand for the ids of the last read messages older than those in `recent`; absent until there is one.
  private var seenKeys: [UInt32]?
  /// The last edits; absent until there is one.
  private(set) var edits: [MessageEdit]?
  /// The newest place that no longer fits `recent`: of messages up to it nothing is known one by one.
  var forgottenUpTo: MessagePlace?
  /// The person has read everything up to here, inclusive.
  var readUpTo: MessagePlace?
  /// A message that was read before it arrived here.
  var readAhead: ReadAhead?
  /// When the person last left, or the conversation was deleted: older messages are withdrawn.
  var withdrawnUpTo: Milliseconds?
  /// Deleted messages that are not in `recent`; absent until there is one.
  var deleted: DeletedMessages?
  /// The last alert; nil: none, or bursts are off.
  var burst: Burst?
  /// Messages that wait for their final decision, or for the badge, by their places, oldest first; nil: none.
  private var held: [Hold]?
  /// The state of messages with pushes that the person's catch-up needs; nil if it needs none.
  var late: LateMessages?
  /// The person's last word on whether being told of messages here helps; absent until they have given a verdict.
  var lastWord: LastWord?
  /// When the timer of what is held is due; nil: none is set.
  var holdTimerAt: Milliseconds?
  /// Unread messages in all.
  private(set) var unread = 0

  /// Notes the chat event that caused the current record. False: the event is a repeat.
  ///
  /// Only origins of one topic and partition can be compared. Another one means that the conversation's events now come
  /// from elsewhere (re-keyed records, more partitions): that counts as new, and from then on it is what is compared with.
  mutating func advance(to origin: Origin) -> Bool {
    if let last = lastOrigin, last.isComparable(to: origin), !origin.isLater(than: last) { return false }
    lastOrigin = origin
    return true
  }

  /// The entry of a message; nil: it is not among the last ones.
  func message(_ key: MessageKey) -> RecentMessage? { recent.last { $0.key == key } }

  /// Unread messages older than those in `recent`, oldest first.
  var older: [OlderMessage] {
    get { olderMessages ?? [] }
    set { olderMessages = newValue.isEmpty ? nil : newValue }
  }

  /// Stand for the ids of the last read messages older than those in `recent`.
  var seen: [UInt32] {
    get { seenKeys ?? [] }
    set { seenKeys = newValue.isEmpty ? nil : newValue }
  }

  /// The place of what arrives now: the order of a conversation is the order in which it reached Nudge.
  ///
  /// - Parameter time: When it arrived.
  func place(arrivingAt time: Milliseconds, order: OriginOrder) -> MessagePlace {
    let place = MessagePlace(at: time, order: order)
    guard let last = recent.last?.place, place <= last else { return place }
    return MessagePlace(at: last.order < order ? last.at : last.at + 1, order: order)
  }

  /// Adds a message not seen before. Returns the one that is no longer known for it.
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

  /// The key of a message with an id and a sender.
  func key(of id: MessageKey, from sender: Int64) -> MessageKey {
    guard let other = message(id)?.sender, other != sender else { return id }
    return id.apart(from: sender)
  }

  /// The keys of the messages with an id: one, or where several senders used the id, theirs.
  func keys(of messageId: String) -> [MessageKey] {
    let key = MessageKey(messageId)
    let known = recent.filter { $0.isNamed(key) }.map(\.key)
    return known.isEmpty ? [key] : known
  }

  /// Messages that wait for their final decision, or for the badge, by their places, oldest first.
  var holds: [Hold] {
    get { held ?? [] }
    set { held = newValue.isEmpty ? nil : newValue }
  }

  /// Records what the person says of being told of messages here. An older word than the last one changes nothing.
  mutating func record(_ word: LastWord) {
    if word.at >= lastWord?.at ?? .min { lastWord = word }
  }

  /// Changes the marks of a message, if it is known.
  mutating func mark(_ key: MessageKey, _ change: (inout RecentMessage.Marks) -> Void) {
    guard let index = recent.lastIndex(where: { $0.key == key }) else { return }
    let wasUnread = recent[index].marks.contains(.unread)
    change(&recent[index].marks)
    unread += (recent[index].marks.contains(.unread) ? 1 : 0) - (wasUnread ? 1 : 0)
  }

  /// Whether a message that is decided now counts as read before: the person has read everything up to a time, and it had arrived by then.
  ///
  /// Clocks differ (D11). So a message that came up to `tolerance` before that time may have come after it: it is unread, because a doubtful
  /// message must notify.
  func hasRead(_ place: MessagePlace, tolerance: Milliseconds) -> Bool {
    readUpTo.map { place.at + tolerance < $0.at } ?? false
  }

  /// Whether a message at this place, which arrived before, is read.
  /// - Parameter known: The message, if the row still has it.
  func isRead(_ place: MessagePlace, _ known: RecentMessage?) -> Bool {
    known?.marks.contains(.unread) != true && readUpTo.map { place <= $0 } ?? false
  }

  /// An unread message older than those in `recent` is taken back. Returns it; nil: it is not known here.
  mutating func removeOlder(_ key: MessageKey) -> OlderMessage? {
    guard let index = older.firstIndex(where: { $0.key == key }) else { return nil }
    defer { recount() }
    return older.remove(at: index)
  }

  /// Takes the oldest messages of a row that has too many.
  mutating func takePage() -> [OlderMessage]? {
    guard older.count >= Self.maxOlder else { return nil }
    let page = Array(older.prefix(OlderMessagesRow.size))
    older.removeFirst(page.count)
    return page
  }

  /// Remembers the ids of messages that were read, and are not in `recent`.
  mutating func see(_ keys: [MessageKey]) { seen = Array((seen + keys.map(\.short)).suffix(Self.maxSeen)) }

  /// Whether a message that is not known one by one has been here: it was read before, or is one of too many.
  func mayHaveSeen(_ key: MessageKey) -> Bool { olderUnread > 0 || seen.contains(key.short) }

  /// Takes an edit, with what stands for its text. False: a later one came before it (D12).
  mutating func edit(_ key: MessageKey, by stamp: EventStamp, text: UInt32?) -> Bool {
    var known = edits ?? []
    if let index = known.firstIndex(where: { $0.key == key }) {
      guard known[index].stamp < stamp else { return false }
      known.remove(at: index)
    }
    edits = Array((known + [MessageEdit(key: key, stamp: stamp, text: text)]).suffix(Self.maxEdits))
    return true
  }

  /// Whether a text is known not to be a message's last one.
  func isFormerText(_ text: String, of key: MessageKey) -> Bool {
    guard let last = edits?.first(where: { $0.key == key })?.text else { return false }
    return last != MessageEdit.short(text)
  }

  /// Sets the last edits, as a row of state has them.
  mutating func setEdits(_ known: [MessageEdit]) { edits = known.isEmpty ? nil : known }

  /// The person has read what arrived so far up to a place. `readUpTo` never moves backwards (D7).
  mutating func read(upTo place: MessagePlace) {
    if readUpTo.map({ $0 < place }) ?? true { readUpTo = place }
    for index in recent.indices where recent[index].place <= place { recent[index].marks.remove(.unread) }
    if held != nil { holds.removeAll { $0.place <= place } }
    readOlder { $0.place <= place }
    // Messages that fell out of `recent` are older than those in it.
    if let forgottenUpTo, place >= forgottenUpTo { (pages, olderUnread) = (nil, 0) }
    forgetReadEdits()
    recount()
  }

  /// The person has read up to a message older than those in `recent`. False: it is not known here.
  mutating func readOlder(upTo key: MessageKey) -> Bool {
    guard let message = older.first(where: { $0.key == key }) else { return false }
    if readUpTo.map({ $0 < message.place }) ?? true { readUpTo = message.place }
    readOlder { $0.place <= message.place }
    recount()
    return true
  }

  private mutating func readOlder(where isRead: (OlderMessage) -> Bool) {
    guard olderMessages != nil, let last = older.lastIndex(where: isRead) else { return }
    see(older[...last].map(\.key))
    older.removeFirst(last + 1)
    // Those in rows of their own came before.
    (pages, olderUnread) = (nil, 0)
  }

  /// Whether an unread message is shown on the person's devices, as far as is known here.
  func isShown(_ key: MessageKey) -> Bool {
    guard let known = message(key) else {
      return older.contains { $0.key == key && $0.isShown }
    }
    return known.marks.isSuperset(of: [.shown, .unread]) && !known.marks.contains(.withdrawn)
  }

  /// Nothing of the conversation counts any more.
  mutating func withdrawAll(at time: Milliseconds) {
    withdrawnUpTo = max(withdrawnUpTo ?? time, time)
    for index in recent.indices where recent[index].place.at <= time {
      recent[index].marks.remove(.unread)
      recent[index].marks.insert(.withdrawn)
    }
    if held != nil { holds.removeAll { $0.place.at <= time } }
    readOlder { $0.place.at <= time }
    if let forgottenUpTo, forgottenUpTo.at <= time { (pages, olderUnread) = (nil, 0) }
    recount()
  }

  /// Counts the unread messages again.
  mutating func recount() {
    unread = olderUnread + (pages?.count ?? 0) + older.count + recent.count { $0.marks.contains(.unread) }
  }
}

/// A message's place in its conversation: the order in which its messages reached Nudge. The time is that at which it did, or at which it was
/// written, where that is about the same.
struct MessagePlace: Codable, Sendable, Hashable, Comparable {
  var at: Milliseconds
  var order: OriginOrder

  static func < (a: MessagePlace, b: MessagePlace) -> Bool {
    a.at != b.at ? a.at < b.at : a.order < b.order
  }

  /// After all messages of that time.
  static func end(of time: Milliseconds) -> MessagePlace {
    MessagePlace(at: time, order: OriginOrder(offset: .max, index: .max))
  }
}

/// Stands for an id in a row, in 8 bytes: FNV-1a over the id's bytes.
struct MessageKey: Codable, Sendable, Hashable {
  var value: Int64

  init(_ messageId: String) { value = Int64(bitPattern: FNV1a.hash(messageId)) }

  init(value: Int64) { self.value = value }

  /// The key of a message whose id another sender has used before: a message is known by its sender and its id.
  func apart(from sender: Int64) -> MessageKey {
    // Multiplied, so that the two keys are not mixed by their own bits alone.
    MessageKey(value: value ^ (sender &* 0x9e37_79b9_7f4a_7c1))
  }

  /// Stands for the id in 4 bytes, where being wrong once in four billion times does no harm.
  var short: UInt32 { UInt32(truncatingIfNeeded: value ^ value >> 32) }

  init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Int64.self) }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

/// One message of a conversation.
struct RecentMessage: Codable, Sendable, Equatable {
  struct Marks: OptionSet, Codable, Sendable {
    var rawValue: UInt8
    /// Counts on the badge.
    static let unread = Marks(rawValue: 1)
    /// A push was made.
    static let notified = Marks(rawValue: 2)
    /// Taken back.
    static let withdrawn = Marks(rawValue: 4)
    /// The push shows something: a device may have it on its screen.
    static let shown = Marks(rawValue: 8)
    /// The person said that being told of it helped.
    static let foundHelpful = Marks(rawValue: 16)
    /// The person said that it did not.
    static let foundUnhelpful = Marks(rawValue: 32)
    /// The person's reaction was counted.
    static let reactedTo = Marks(rawValue: 64)
    /// It was shown without a sound. Absent in rows of releases that did not keep it.
    static let silent = Marks(rawValue: 128)
  }
  var key: MessageKey
  var place: MessagePlace
  var marks: Marks
  /// `MessageKey` of the sender's id; absent in rows of releases that did not keep it.
  var sender: Int64?
  /// Its score; nil: it was not judged.
  var judged: Judged?
  /// Why it did not alert; nil: it did, or the person had it before their eyes. Absent in rows of releases that did not keep it.
  var heldBack: HeldBackReason?

  /// Whether the message has an id that a key stands for.
  func isNamed(_ id: MessageKey) -> Bool { key == id || sender.map { key == id.apart(from: $0) } ?? false }

  /// The facts about a message that a later signal needs.
  struct Judged: Sendable, Equatable {
    /// `MessageKey` of the sender's id.
    var sender: Int64
    /// In thousandths.
    var score: Int16
  }

  init(
    key: MessageKey, place: MessagePlace, marks: Marks, sender: Int64? = nil, judged: Judged? = nil,
    heldBack: HeldBackReason? = nil
  ) {
    self.key = key
    self.place = place
    self.marks = marks
    self.sender = sender
    self.judged = judged
    self.heldBack = heldBack
  }

  // A list without names: there are many of them in a row.
  init(from decoder: any Decoder) throws {
    var fields = try decoder.unkeyedContainer()
    key = try fields.decode(MessageKey.self)
    let at = try fields.decode(Milliseconds.self)
    let offset = try fields.decode(Int64.self)
    place = MessagePlace(at: at, order: OriginOrder(offset: offset, index: try fields.decode(Int32.self)))
    marks = Marks(rawValue: try fields.decode(UInt8.self))
    if !fields.isAtEnd, try !fields.decodeNil() {
      judged = Judged(sender: try fields.decode(Int64.self), score: try fields.decode(Int16.self))
    }
    if !fields.isAtEnd, try !fields.decodeNil() { sender = try fields.decode(Int64.self) }
    if !fields.isAtEnd { heldBack = HeldBackReason(rawValue: try fields.decode(String.self)) }
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.unkeyedContainer()
    try fields.encode(key)
    try fields.encode(place.at)
    try fields.encode(place.order.offset)
    try fields.encode(place.order.index)
    try fields.encode(marks.rawValue)
    if let judged {
      try fields.encode(judged.sender)
      try fields.encode(judged.score)
    } else if sender != nil || heldBack != nil {
      try fields.encodeNil()
    }
    if let sender {
      try fields.encode(sender)
    } else if heldBack != nil {
      try fields.encodeNil()
    }
    if let heldBack { try fields.encode(heldBack.rawValue) }
  }
}

/// A read that overtook its message: `user.events` and `chat.events` are ordered only by arrival.
struct ReadAhead: Codable, Sendable, Equatable {
  /// How long messages that may come before it are held, in milliseconds.
  static let patience: Milliseconds = 10_000

  var key: MessageKey
  var stamp: EventStamp
  /// The end of that time, by the wall clock; absent in rows of releases that held none.
  var waitsUntil: Milliseconds?
}

/// The last edit of a message.
struct MessageEdit: Codable, Sendable, Equatable {
  var key: MessageKey
  var stamp: EventStamp
  /// Stands for its text; absent in rows of releases that did not keep it.
  var text: UInt32?

  static func short(_ text: String) -> UInt32 { MessageKey(text).short }
}
