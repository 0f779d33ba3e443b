import NudgeSchema

/// The state of one conversation for one person.
public struct PersonConversationRow: Codable, Sendable, Equatable {
  /// Messages kept one by one. Packed they take some 16 bytes each.
  static let maxRecent = 32
  /// Older messages that are still shown. Packed they take 8 bytes each.
  static let maxOlderShown = 64

  /// The origin of the last chat event of this conversation that reached the person: what is not later is a repeat.
  var lastOrigin: Origin?
  /// The last messages by their places, oldest first.
  var recent: [RecentMessage] = []
  /// Unread messages older than those in `recent`.
  var olderUnread = 0
  /// Unread messages that are shown and older than those in `recent`, oldest first: an edit or a deletion still reaches them.
  /// nil: none.
  private(set) var olderShown: [MessageKey]?
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
  /// What the person's catch-up must know of messages with pushes; nil: nothing.
  var late: LateMessages?
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

  /// Adds a message not seen before. Returns the one that is no longer known for it.
  @discardableResult
  mutating func add(_ message: RecentMessage) -> RecentMessage? {
    let index = recent.firstIndex { message.place < $0.place } ?? recent.endIndex
    recent.insert(message, at: index)
    if message.marks.contains(.unread) { unread += 1 }
    guard recent.count > Self.maxRecent else { return nil }
    let oldest = recent.removeFirst()
    if oldest.marks.contains(.withdrawn) { delete(oldest.key, writtenBy: oldest.place.at) }
    if oldest.marks.contains(.unread) { olderUnread += 1 }
    if oldest.marks.isSuperset(of: [.unread, .shown]) {
      olderShown = Array(((olderShown ?? []) + [oldest.key]).suffix(Self.maxOlderShown))
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

  /// Changes the marks of a message, if it is known.
  mutating func mark(_ key: MessageKey, _ change: (inout RecentMessage.Marks) -> Void) {
    guard let index = recent.lastIndex(where: { $0.key == key }) else { return }
    let wasUnread = recent[index].marks.contains(.unread)
    change(&recent[index].marks)
    unread += (recent[index].marks.contains(.unread) ? 1 : 0) - (wasUnread ? 1 : 0)
  }

  /// Whether a message that arrives now counts as read before (D11).
  ///
  /// A person reads only messages that have arrived, and the clocks of senders differ. So a message dated up to `tolerance` before the
  /// place read up to may have been written after it: it is unread, because a doubtful message must notify.
  func hasRead(_ place: MessagePlace, tolerance: Milliseconds) -> Bool {
    readUpTo.map { place.at + tolerance < $0.at } ?? false
  }

  /// Whether a message at this place, which arrived before, is read.
  /// - Parameter known: The message, if the row still has it.
  func isRead(_ place: MessagePlace, _ known: RecentMessage?) -> Bool {
    known?.marks.contains(.unread) != true && readUpTo.map { place <= $0 } ?? false
  }

  /// An unread message older than those in `recent` is taken back. False: no such message is known to be shown.
  mutating func removeOlderShown(_ key: MessageKey) -> Bool {
    guard var shown = olderShown, let index = shown.firstIndex(of: key) else { return false }
    shown.remove(at: index)
    setOlderShown(shown)
    olderUnread -= 1
    recount()
    return true
  }

  /// Sets the older messages that are shown, as a row of state has them.
  mutating func setOlderShown(_ keys: [MessageKey]) { olderShown = keys.isEmpty ? nil : keys }

  /// The person has read what arrived so far up to a place. `readUpTo` never moves backwards (D7).
  mutating func read(upTo place: MessagePlace) {
    if readUpTo.map({ $0 < place }) ?? true { readUpTo = place }
    for index in recent.indices where recent[index].place <= place { recent[index].marks.remove(.unread) }
    if held != nil { holds.removeAll { $0.place <= place } }
    // Messages that fell out of `recent` are older than those in it. How many of them are read is unknown where the place is
    // among them: the count stays an upper bound until the person reads further.
    if let forgottenUpTo, place >= forgottenUpTo {
      olderUnread = 0
      olderShown = nil
    }
    forgetReadEdits()
    recount()
  }

  /// Whether an unread message is shown on the person's devices, as far as is known here.
  func isShown(_ key: MessageKey) -> Bool {
    guard let known = message(key) else { return olderShown?.contains(key) ?? false }
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
    if let forgottenUpTo, forgottenUpTo.at <= time {
      olderUnread = 0
      olderShown = nil
    }
    recount()
  }

  /// Counts the unread messages again.
  mutating func recount() {
    unread = olderUnread + recent.count { $0.marks.contains(.unread) }
  }
}

/// A message's place in its conversation: by the time it was written, then by the order its events came in.
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
  }
  var key: MessageKey
  var place: MessagePlace
  var marks: Marks
  /// `MessageKey` of the sender's id; absent in rows of releases that did not keep it.
  var sender: Int64?
  /// Its score; nil: it was not judged.
  var judged: Judged?

  /// Whether the message has an id that a key stands for.
  func isNamed(_ id: MessageKey) -> Bool { key == id || sender.map { key == id.apart(from: $0) } ?? false }

  /// The facts about a message that a later signal needs.
  struct Judged: Sendable, Equatable {
    /// `MessageKey` of the sender's id.
    var sender: Int64
    /// In thousandths.
    var score: Int16
  }

  init(key: MessageKey, place: MessagePlace, marks: Marks, sender: Int64? = nil, judged: Judged? = nil) {
    self.key = key
    self.place = place
    self.marks = marks
    self.sender = sender
    self.judged = judged
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
    if !fields.isAtEnd { sender = try fields.decode(Int64.self) }
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
    } else if sender != nil {
      try fields.encodeNil()
    }
    if let sender { try fields.encode(sender) }
  }
}

/// A read that overtook its message: `user.events` and `chat.events` are ordered only by arrival.
struct ReadAhead: Codable, Sendable, Equatable {
  var key: MessageKey
  var stamp: EventStamp
}
