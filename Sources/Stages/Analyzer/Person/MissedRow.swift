public import NudgeCodec
import NudgeSchema
import Wording

/// The messages of a conversation that wait for the person's catch-up, until they are read or shown.
public struct MissedRow: Encodable, Sendable, Equatable {
  /// The most messages with an entry. Packed each takes about 16 bytes.
  static let maxEntries = 64
  /// The most entries with a text, which are the most relevant ones.
  static let maxLines = 2 * Digest.maxLines
  /// The most characters and bytes of a name.
  static let nameLimit = (characters: 60, bytes: 240)
  /// The most characters and bytes of a text, as in a push of the message alone.
  static let textLimit = (characters: 240, bytes: 720)
  /// The most characters and bytes of a line among others.
  static let lineLimit = (characters: 120, bytes: 480)
  /// The most bytes of an avatar's address that is stored.
  static let maxAvatarBytes = 300

  /// The words of a message.
  struct Line: Encodable, Sendable, Equatable {
    var messageId: String
    var sender: String
    var text: String
    /// Absent in rows of releases that did not store it.
    var senderId: String?
    var avatarUrl: String?

    /// The text of a line among others.
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
    /// Whether it would have alerted.
    var alerts: Bool
    /// The message's words; absent if other messages matter more.
    var line: Line?
    /// The push that was not sent in time; absent if the message was held back.
    var late: Late?

    /// Whether another device may still get the push.
    var isPending: Bool { late.map { !$0.isMissedByAll } ?? false }
    /// When the push ends there.
    var pendingUntil: Milliseconds { late?.until ?? 0 }
  }

  /// A push that was not sent in time. The message is in the catch-up if all of its devices missed it.
  struct Late: Encodable, Sendable, Equatable {
    /// The devices that missed it, one bit each.
    var missedBy: UInt32
    /// The number of devices of the push.
    var devices: Int
    /// When it ends on every device.
    var until: Milliseconds

    var isMissedByAll: Bool { missedBy.nonzeroBitCount >= devices }
  }

  /// The group's name; absent for a direct conversation or a group without a name.
  private(set) var group: String?
  /// The entries by their places, oldest first.
  private(set) var entries: [Entry] = []
  /// The number of messages without an entry. If one of them is deleted, it still counts.
  private(set) var older = 0
  /// The newest place of these messages; absent if there are none.
  private(set) var olderUpTo: MessagePlace?
  /// Whether one of these messages would have alerted.
  private(set) var olderAlerts = false

  static func cutName(_ name: String) -> String {
    name.displayedOnOneLine.cut(toCharacters: nameLimit.characters, bytes: nameLimit.bytes)
  }

  var isEmpty: Bool { entries.isEmpty && older == 0 }
  /// The number of waiting messages.
  var count: Int { entries.count + older }
  var alerts: Bool { olderAlerts || entries.contains { $0.alerts } }

  /// Adds a message. If there are too many, the least relevant first lose their text and then their entry. Texts that no catch-up can show
  /// go first: reads reach up to a place, so whenever such a message remains unread, enough later and more relevant messages remain too.
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

  /// A device missed a message's push. Returns true if now, for the first time, all devices have missed it.
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

  /// Whether no device received a message's push in time, so that the message waits here instead.
  func hasLate(_ key: MessageKey) -> Bool { entries.contains { $0.key == key && $0.late?.isMissedByAll ?? false } }

  /// When the last push ends, if all entries are pending; nil if other messages wait too.
  var pendingUntil: Milliseconds? {
    older == 0 && entries.allSatisfy(\.isPending) ? entries.map(\.pendingUntil).max() : nil
  }

  /// Removes the messages that no longer wait.
  mutating func keep(_ isMissed: (MessageKey, MessagePlace) -> Bool, olderUpTo isLeft: (MessagePlace) -> Bool) {
    entries.removeAll { !isMissed($0.key, $0.place) }
    if let place = olderUpTo, !isLeft(place) { forgetOlder() }
  }

  mutating func remove(_ key: MessageKey) { entries.removeAll { $0.key == key } }

  /// Removes the messages of people whom the person has muted since. `sender` finds the writer of a message without words, nil for one
  /// that is older than those whose writers are known. Such messages stay if anybody else wrote one that is known.
  mutating func removeMessages(of muted: [MessageKey], sender: (MessageKey) -> MessageKey?) {
    guard !muted.isEmpty else { return }
    let writers = entries.map { entry in entry.line?.senderId.map { MessageKey($0) } ?? sender(entry.key) }
    let isTheirs = writers.map { writer in writer.map { muted.contains($0) } }
    guard isTheirs.contains(true) else { return }
    let isTheirsAlone = !isTheirs.contains(false)
    entries = zip(entries, isTheirs).filter { !($0.1 ?? isTheirsAlone) }.map(\.0)
    if isTheirsAlone { forgetOlder() }
  }

  /// Whether a message waits here, with an entry or among those without one.
  func has(_ message: RecentMessage) -> Bool {
    entries.contains { $0.key == message.key } || older > 0 && olderUpTo.map { message.place <= $0 } ?? false
  }

  /// Stops counting messages without an entry.
  mutating func forgetOlder() {
    older = 0
    olderUpTo = nil
    olderAlerts = false
  }

  /// A message was edited. Its sender's name may have changed too.
  mutating func edit(_ key: MessageKey, _ text: String, from sender: Member?) {
    guard let index = entries.firstIndex(where: { $0.key == key }) else { return }
    entries[index].line?.text = Line.cut(text)
    guard let sender, entries[index].line?.senderId.map({ sameId($0, sender.userId) }) ?? true else { return }
    entries[index].line?.sender = Self.cutName(sender.displayName)
  }

  /// The only waiting message with its words; nil if there are others, or if its words are not stored.
  var only: (entry: Entry, line: Line, senderId: String)? {
    guard count == 1, let entry = entries.first, let line = entry.line, let senderId = line.senderId else { return nil }
    return (entry, line, senderId)
  }

  /// Removes and returns the messages that do not satisfy a condition; the others stay. A message that some device received after all is
  /// removed but not returned.
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
  /// The words of a message, cut to a line's limits.
  init(_ messageId: String, from sender: String, saying text: String, senderId: String?, avatarUrl: String?) {
    self.init(
      messageId: messageId, sender: MissedRow.cutName(sender), text: Self.cut(text), senderId: senderId,
      avatarUrl: avatarUrl.flatMap { $0.utf8.count <= MissedRow.maxAvatarBytes ? $0 : nil })
  }
}

extension MissedRow.Entry {
  /// Whether the other message matters more; of equal messages, whether it is later.
  func isLess(than other: MissedRow.Entry) -> Bool {
    rank != other.rank ? rank < other.rank : place < other.place
  }
}

extension PersonConversationRow {
  /// Whether a message still waits for the catch-up, because it is unread or waits for the badge.
  func isMissed(_ key: MessageKey, _ place: MessagePlace) -> Bool {
    if let known = message(key) { return known.marks.contains(.unread) || holds.contains { $0.key == key } }
    return isUnread(place)
  }

  /// Whether messages without an entry, up to a place, are unread.
  func isUnread(_ place: MessagePlace) -> Bool {
    !(readUpTo.map { place <= $0 } ?? false) && !(withdrawnUpTo.map { place.at <= $0 } ?? false)
  }
}

extension MissedRow: PackedRow, PackedFields {
  /// The row's kind, for errors.
  public static let name: StaticString = "missed"
  /// Version 2 added pushes that were not sent in time, version 3 the sender of a message.
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

/// A person's last catch-up of several messages, as their devices show it. Changes of its messages are pushed to the devices.
public struct ToldRow: Encodable, Sendable, Equatable {
  /// The most messages that are known individually, 8 bytes each.
  static let maxKeys = 256
  /// The most messages with their words, which are the most relevant ones.
  static let maxLines = 2 * Digest.maxLines
  /// How long the catch-up is kept up to date on the devices, in milliseconds: a day.
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
  /// The numbers of its messages and conversations.
  var messages: Int
  var conversations: Int
  var keys: [MessageKey]
  /// The most relevant message first.
  var lines: [Line]

  /// Removes messages of a conversation. Returns false if it contains none of them.
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
  /// The row's kind, for errors.
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
