public import NudgeCodec
import NudgeSchema
import Wording

/// The messages of a conversation that wait for the person's catch-up, until they are read or told.
public struct MissedRow: Encodable, Sendable, Equatable {
  /// Messages known one by one. Packed they take some 16 bytes each.
  static let maxEntries = 64
  /// Those of them whose text is kept: the most relevant ones.
  static let maxLines = 2 * Digest.maxLines
  /// Characters and bytes of a name.
  static let nameLimit = (characters: 60, bytes: 240)
  /// Characters and bytes of a text: what a push of the message alone shows.
  static let textLimit = (characters: 240, bytes: 720)
  /// Characters and bytes of a line among others.
  static let lineLimit = (characters: 120, bytes: 480)
  /// Bytes of an avatar's address that is kept.
  static let maxAvatarBytes = 300

  /// The words of a message.
  struct Line: Encodable, Sendable, Equatable {
    var messageId: String
    var sender: String
    var text: String
    /// Absent in rows of releases that did not keep it.
    var senderId: String?
    var avatarUrl: String?

    /// As a line among others.
    static func short(_ text: String) -> String {
      text.cut(toCharacters: MissedRow.lineLimit.characters, bytes: MissedRow.lineLimit.bytes)
    }

    static func cut(_ text: String) -> String {
      text.displayedOnOneLine.cut(toCharacters: MissedRow.textLimit.characters, bytes: MissedRow.textLimit.bytes)
    }
  }

  /// A message that was held back.
  struct Entry: Encodable, Sendable, Equatable {
    var key: MessageKey
    var place: MessagePlace
    /// How much it matters to the person, in thousandths.
    var rank: Int
    /// It would have alerted.
    var alerts: Bool
    /// nil: others matter more.
    var line: Line?
    /// The push that was not sent in time; nil: the message was held back.
    var late: Late?

    /// Whether another device may still get the push.
    var isPending: Bool { late.map { !$0.isMissedByAll } ?? false }
    /// When the push ends there.
    var pendingUntil: Milliseconds { late?.until ?? 0 }
  }

  /// A push that was not sent in time. The message is told where all of its devices missed it.
  struct Late: Encodable, Sendable, Equatable {
    /// The devices that missed it, a bit each.
    var missedBy: UInt32
    /// How many the push had.
    var devices: Int
    /// When it ends on every device.
    var until: Milliseconds

    var isMissedByAll: Bool { missedBy.nonzeroBitCount >= devices }
  }

  /// The group's name; nil: the conversation is direct, or the group has none.
  private(set) var group: String?
  /// By their places, oldest first.
  private(set) var entries: [Entry] = []
  /// Messages no longer known one by one. Where one of them is deleted it still counts.
  private(set) var older = 0
  /// The newest place of these; nil: there are none.
  private(set) var olderUpTo: MessagePlace?
  /// Whether one of these would have alerted.
  private(set) var olderAlerts = false

  static func cutName(_ name: String) -> String {
    name.displayedOnOneLine.cut(toCharacters: nameLimit.characters, bytes: nameLimit.bytes)
  }

  var isEmpty: Bool { entries.isEmpty && older == 0 }
  /// How many messages wait.
  var count: Int { entries.count + older }
  var alerts: Bool { olderAlerts || entries.contains { $0.alerts } }

  /// Adds a message. The least relevant of too many lose their text, then are only counted. First go texts that no catch-up can show:
  /// what is read is read up to a place, so whatever is left, enough later messages that matter more are left with it.
  mutating func add(_ entry: Entry) {
    guard !entries.contains(where: { $0.key == entry.key }) else { return }
    entries.insert(entry, at: entries.firstIndex { entry.place < $0.place } ?? entries.endIndex)
    let lines = entries.indices.filter { entries[$0].line != nil }
    if lines.count > Self.maxLines {
      let hidden = lines.filter { line in
        lines.count { line < $0 && entries[line].isLess(than: entries[$0]) } >= Digest.maxLines
      }
      let least = (hidden.isEmpty ? lines : hidden).min { entries[$0].isLess(than: entries[$1]) }
      if let least { entries[least].line = nil }
    }
    guard entries.count > Self.maxEntries,
      let index = entries.firstIndex(where: { $0.line == nil && !$0.isPending })
        ?? entries.firstIndex(where: { $0.line == nil })
    else { return }
    let oldest = entries.remove(at: index)
    if oldest.isPending { return }
    older += 1
    olderUpTo = max(olderUpTo ?? oldest.place, oldest.place)
    olderAlerts = olderAlerts || oldest.alerts
  }

  /// A device missed the push of a message. Returns whether all have now, and did not before.
  mutating func miss(_ entry: Entry, _ late: Late) -> Bool {
    guard let index = entries.firstIndex(where: { $0.key == entry.key }) else {
      var entry = entry
      entry.late = late
      add(entry)
      return late.isMissedByAll
    }
    guard var known = entries[index].late, !known.isMissedByAll else { return false }
    known.missedBy |= late.missedBy
    entries[index].late = known
    return known.isMissedByAll
  }

  /// A message whose push no device got in time, and that waits here instead.
  func hasLate(_ key: MessageKey) -> Bool { entries.contains { $0.key == key && $0.late?.isMissedByAll ?? false } }

  /// When the last push ends, where all entries are pending; nil: others wait, too.
  var pendingUntil: Milliseconds? {
    older == 0 && entries.allSatisfy(\.isPending) ? entries.map(\.pendingUntil).max() : nil
  }

  /// Removes the messages that no longer wait.
  mutating func keep(_ isMissed: (MessageKey, MessagePlace) -> Bool, olderUpTo isLeft: (MessagePlace) -> Bool) {
    entries.removeAll { !isMissed($0.key, $0.place) }
    if let place = olderUpTo, !isLeft(place) { forgetOlder() }
  }

  mutating func remove(_ key: MessageKey) { entries.removeAll { $0.key == key } }

  /// Counts no message that is not known one by one.
  mutating func forgetOlder() {
    older = 0
    olderUpTo = nil
    olderAlerts = false
  }

  /// The message has another text, and perhaps its sender another name.
  mutating func edit(_ key: MessageKey, _ text: String, from sender: Member?) {
    guard let index = entries.firstIndex(where: { $0.key == key }) else { return }
    entries[index].line?.text = Line.cut(text)
    guard let sender, entries[index].line?.senderId.map({ sameId($0, sender.userId) }) ?? true else { return }
    entries[index].line?.sender = Self.cutName(sender.displayName)
  }

  /// The only message that waits, with its words; nil: there are others, or its words are not known.
  var only: (entry: Entry, line: Line, senderId: String)? {
    guard count == 1, let entry = entries.first, let line = entry.line, let senderId = line.senderId else { return nil }
    return (entry, line, senderId)
  }

  /// Takes the messages that do not satisfy a condition out; those that do stay. A message that some device has after all is in neither.
  mutating func take(except stays: (Entry) -> Bool) -> MissedRow {
    var taken = self
    taken.entries.removeAll { $0.isPending || stays($0) }
    entries.removeAll { !stays($0) }
    forgetOlder()
    return taken
  }
}

extension MissedRow {
  init(group: String?) {
    self.init()
    self.group = group.map { Self.cutName($0) }
  }
}

extension MissedRow.Late {
  init(_ missed: PushMissed) {
    self.init(
      missedBy: 1 << UInt32(min(max(missed.device, 0), UserRow.maxDevices - 1)),
      devices: min(max(missed.devices, 1), UserRow.maxDevices), until: missed.expiresAt)
  }
}

extension MissedRow.Line {
  /// The words of a message, cut to what a line shows.
  init(_ messageId: String, from sender: String, saying text: String, senderId: String?, avatarUrl: String?) {
    self.init(
      messageId: messageId, sender: MissedRow.cutName(sender), text: Self.cut(text), senderId: senderId,
      avatarUrl: avatarUrl.flatMap { $0.utf8.count <= MissedRow.maxAvatarBytes ? $0 : nil })
  }
}

extension MissedRow.Entry {
  /// Whether the other one matters more; of equals the later one does.
  func isLess(than other: MissedRow.Entry) -> Bool {
    rank != other.rank ? rank < other.rank : place < other.place
  }
}

extension PersonConversationRow {
  /// Whether a message still waits for the catch-up: it is unread, or waits for the badge itself.
  func isMissed(_ key: MessageKey, _ place: MessagePlace) -> Bool {
    if let known = message(key) { return known.marks.contains(.unread) || holds.contains { $0.key == key } }
    return isUnread(place)
  }

  /// The same of messages up to a place that are not known one by one.
  func isUnread(_ place: MessagePlace) -> Bool {
    !(readUpTo.map { place <= $0 } ?? false) && !(withdrawnUpTo.map { place.at <= $0 } ?? false)
  }
}

extension MissedRow: PackedRow, PackedFields {
  /// The row's kind, for errors.
  public static let name: StaticString = "missed"
  /// 2 has pushes that were not sent in time, 3 who wrote a message.
  public static var versions: RowVersions { RowVersions(3) }
  public static var blank: Self { Self() }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.flags()
    try row.optional(&group)
    row.flag(&olderAlerts)
    try row.optional(&olderUpTo)
    try row.field(&older)
    try row.field(&entries, as: EntriesForm())
  }
}

/// Times and offsets as what they are after the message before: a byte or two instead of six.
private struct EntriesForm: PackedForm {
  func read(from row: inout RowReader) throws(RowFormatError) -> [MissedRow.Entry] {
    var entries = try [MissedRow.Entry](packed: &row)
    var (at, offset): (Int64, Int64) = (0, 0)
    for index in entries.indices {
      entries[index].place.at &+= at
      entries[index].place.order.offset &+= offset
      (at, offset) = (entries[index].place.at, entries[index].place.order.offset)
    }
    return entries
  }

  func write(_ entries: [MissedRow.Entry], into row: inout RowWriter) {
    row.count(entries.count)
    var (at, offset): (Int64, Int64) = (0, 0)
    for var entry in entries {
      let place = entry.place
      entry.place.at &-= at
      entry.place.order.offset &-= offset
      entry.pack(into: &row)
      (at, offset) = (place.at, place.order.offset)
    }
  }
}

extension MissedRow.Entry: PackedFields {
  static var blank: Self { Self(key: .blank, place: .blank, rank: 0, alerts: false) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&key)
    try row.field(&place.at)
    try row.field(&place.order.offset)
    try row.flags()
    row.flag(&alerts)
    if row.flag(place.order.index != 0) { try row.field(&place.order.index) }
    try row.field(&rank)
    try row.optional(&line)
    // Since version 2.
    try row.optional(&late)
    // Since version 3.
    var (senderId, avatarUrl) = (line?.senderId, line?.avatarUrl)
    try row.optional(&senderId)
    try row.optional(&avatarUrl)
    if Row.isReading {
      line?.senderId = senderId
      line?.avatarUrl = avatarUrl
    }
  }
}

/// Without what is known of the sender, which has flags of the entry.
extension MissedRow.Line: PackedFields {
  static var blank: Self { Self(messageId: "", sender: "", text: "") }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&messageId)
    try row.field(&sender)
    try row.field(&text)
  }
}

extension MissedRow.Late: PackedFields {
  static var blank: Self { Self(missedBy: 0, devices: 0, until: 0) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    var bits = Int64(missedBy)
    try row.field(&bits)
    missedBy = UInt32(truncatingIfNeeded: bits)
    try row.field(&devices)
    try row.field(&until)
  }
}

/// A person's last catch-up of several messages, as their devices show it: what happens to one of these changes it there.
public struct ToldRow: Encodable, Sendable, Equatable {
  /// Messages known one by one: 8 bytes each.
  static let maxKeys = 256
  /// Messages whose words are kept, the most relevant ones.
  static let maxLines = 2 * Digest.maxLines
  /// How long it is changed on the devices, in milliseconds: a day.
  static let shownFor: Milliseconds = 86_400_000

  struct Line: Encodable, Sendable, Equatable {
    var key: MessageKey
    var conversationId: String
    var messageId: String
    var title: String
    var text: String
  }

  var pushId: String
  var toldAt: Milliseconds
  /// How many messages it tells of, and in how many conversations.
  var messages: Int
  var conversations: Int
  var keys: [MessageKey]
  /// The most relevant first.
  var lines: [Line]

  /// Takes messages of a conversation out. Returns false if it has none of them.
  mutating func remove(_ gone: [MessageKey], leaving left: [MessageKey]) -> Bool {
    let known = keys.count { gone.contains($0) }
    guard known > 0 else { return false }
    keys.removeAll { gone.contains($0) }
    lines.removeAll { gone.contains($0.key) }
    messages = max(0, messages - known)
    if !keys.contains(where: { left.contains($0) }) { conversations = max(0, conversations - 1) }
    return true
  }
}

extension ToldRow: PackedRow, PackedFields {
  /// For errors.
  public static let name: StaticString = "told"
  public static var blank: Self { Self(pushId: "", toldAt: 0, messages: 0, conversations: 0, keys: [], lines: []) }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&pushId)
    try row.field(&toldAt)
    try row.field(&messages)
    try row.field(&conversations)
    try row.field(&keys)
    try row.field(&lines)
  }
}

extension ToldRow.Line: PackedFields {
  static var blank: Self { Self(key: .blank, conversationId: "", messageId: "", title: "", text: "") }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&key)
    try row.field(&conversationId)
    try row.field(&messageId)
    try row.field(&title)
    try row.field(&text)
  }
}
