public import NudgeCodec
import NudgeSchema
import Wording

/// The state of one conversation for one person.
public struct PersonConversationRow: Encodable, Sendable, Equatable {
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

  /// Messages that wait for their final decision, or for the badge, by their places, oldest first.
  var holds: [Hold] {
    get { held ?? [] }
    set { held = newValue.isEmpty ? nil : newValue }
  }

  /// Sets the last edits, as a row of state has them.
  mutating func setEdits(_ known: [MessageEdit]) { edits = known.isEmpty ? nil : known }

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

  /// Changes the marks of a message, if it is known.
  mutating func mark(_ key: MessageKey, _ change: (inout RecentMessage.Marks) -> Void) {
    guard let index = recent.lastIndex(where: { $0.key == key }) else { return }
    let wasUnread = recent[index].marks.contains(.unread)
    change(&recent[index].marks)
    unread += (recent[index].marks.contains(.unread) ? 1 : 0) - (wasUnread ? 1 : 0)
  }

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

  /// Counts the unread messages again.
  mutating func recount() {
    unread = olderUnread + (pages?.count ?? 0) + older.count + recent.count { $0.marks.contains(.unread) }
  }
}

extension PersonConversationRow: PackedRow {
  /// The row's kind, for errors.
  public static let name: StaticString = "conversation"
  /// 2 has the scores of messages and the last alert, 3 older messages that are shown, 4 what is held, 5 what a catch-up told, 6 the senders,
  /// the deleted and the older messages, edits, and what the last alert stands for, 7 the texts of edits and what was found unhelpful, 8 why
  /// messages did not alert.
  public static var versions: RowVersions { RowVersions(8) }

  public init(packed row: inout RowReader) throws(RowFormatError) {
    self.init()
    var flags = RowFlags(bits: try row.unsigned())
    if flags.take() { lastOrigin = try row.origin() }
    if flags.take() { forgottenUpTo = try row.place() }
    if flags.take() { readUpTo = try row.place() }
    if flags.take() { readAhead = ReadAhead(key: MessageKey(try row.fixed()), stamp: try row.stamp()) }
    if flags.take() { withdrawnUpTo = try row.signed() }
    let hasScores = flags.take()
    if flags.take() { burst = Burst(alertedAt: try row.signed(), heldBack: Int(try row.signed())) }
    // Releases before the order of arrival kept only the keys of those that are shown.
    let shown = flags.take() ? try row.keys() : []
    if flags.take() {
      var held: [Hold] = []
      for _ in 0..<(try row.count()) {
        held.append(
          Hold(
            key: MessageKey(try row.fixed()), place: try row.place(), due: try row.signed(),
            kind: try row.choice(of: Hold.Kind.allCases)))
      }
      holds = held
    }
    if flags.take() { holdTimerAt = try row.signed() }
    if flags.take() { late = LateMessages(told: try row.keys(), edited: try row.keys()) }
    let hasSenders = flags.take()
    if flags.take() { deleted = try row.deletedMessages() }
    if flags.take() { readAhead?.waitsUntil = try row.signed() }
    if flags.take() { older = try row.olderMessages() }
    if flags.take() {
      pages = OlderPages(first: Int(try row.signed()), next: Int(try row.signed()), count: Int(try row.signed()))
    }
    if flags.take() {
      for _ in 0..<(try row.count()) { seen.append(UInt32(truncatingIfNeeded: try row.unsigned())) }
    }
    if flags.take() {
      var edits: [MessageEdit] = []
      for _ in 0..<(try row.count()) {
        var edit = MessageEdit(key: MessageKey(try row.fixed()), stamp: try row.stamp())
        if row.version >= 7, try row.byte() != 0 { edit.text = UInt32(truncatingIfNeeded: try row.unsigned()) }
        edits.append(edit)
      }
      setEdits(edits)
    }
    if flags.take() { burst?.rank = Int(try row.signed()) }
    if flags.take() {
      let time = try row.signed()
      lastWord = LastWord(at: time < 0 ? ~time : time, isUnhelpful: time >= 0)
    }
    let hasReasons = flags.take()
    olderUnread = Int(try row.signed())
    if !shown.isEmpty {
      let place = forgottenUpTo ?? .end(of: 0)
      older = shown.map { OlderMessage(key: $0, place: place, isShown: true) }
      olderUnread = max(0, olderUnread - shown.count)
    }
    recent = try row.messages()
    recount()
    var senders: [Int64] = []
    if hasSenders {
      for _ in 0..<(try row.count()) { senders.append(Int64(bitPattern: try row.fixed())) }
      for index in recent.indices {
        let place = Int(try row.byte())
        if place == 0 { continue }
        guard place <= senders.count else { throw row.error("it has messages of senders that it does not have") }
        recent[index].sender = senders[place - 1]
      }
    }
    if hasReasons {
      for index in recent.indices {
        let place = Int(try row.byte())
        guard place <= HeldBackReason.allCases.count else { throw row.error("it has a reason of a later release") }
        if place > 0 { recent[index].heldBack = HeldBackReason.allCases[place - 1] }
      }
    }
    guard hasScores else { return }
    var index = 0
    for _ in 0..<(try row.count()) {
      let way = try row.byte()
      index += Int(way & ~RecentMessage.hasSender)
      if way & RecentMessage.hasSender != 0 {
        guard index < recent.count, let sender = recent[index].sender else {
          throw row.error("it has a score of a message whose sender it does not have")
        }
        recent[index].judged = RecentMessage.Judged(
          sender: sender, score: Int16(truncatingIfNeeded: try row.signed()))
        continue
      }
      let place = Int(try row.byte())
      if place == senders.count { senders.append(Int64(bitPattern: try row.fixed())) }
      guard index < recent.count, place < senders.count else {
        throw row.error("it has scores of messages that it does not have")
      }
      recent[index].judged = RecentMessage.Judged(
        sender: senders[place], score: Int16(truncatingIfNeeded: try row.signed()))
    }
  }

  public func pack(into row: inout RowWriter) {
    var flags = RowFlags()
    flags.add(lastOrigin != nil)
    flags.add(forgottenUpTo != nil)
    flags.add(readUpTo != nil)
    flags.add(readAhead != nil)
    flags.add(withdrawnUpTo != nil)
    let scores = recent.count { $0.judged != nil }
    flags.add(scores > 0)
    flags.add(burst != nil)
    flags.add(false)
    let holds = holds
    flags.add(!holds.isEmpty)
    flags.add(holdTimerAt != nil)
    flags.add(late != nil)
    var senders: [Int64] = []
    for case let sender? in recent.lazy.map(\.sender) where !senders.contains(sender) { senders.append(sender) }
    flags.add(!senders.isEmpty)
    flags.add(deleted != nil)
    flags.add(readAhead?.waitsUntil != nil)
    let (older, seen) = (older, seen)
    flags.add(!older.isEmpty)
    flags.add(pages != nil)
    flags.add(!seen.isEmpty)
    flags.add(edits != nil)
    flags.add(burst?.rank != nil)
    flags.add(lastWord != nil)
    let hasReasons = recent.contains { $0.heldBack != nil }
    flags.add(hasReasons)
    row.unsigned(flags.bits)
    if let lastOrigin { row.origin(lastOrigin) }
    if let forgottenUpTo { row.place(forgottenUpTo) }
    if let readUpTo { row.place(readUpTo) }
    if let readAhead {
      row.fixed(readAhead.key.bits)
      row.stamp(readAhead.stamp)
    }
    if let withdrawnUpTo { row.signed(withdrawnUpTo) }
    if let burst {
      row.signed(burst.alertedAt)
      row.signed(burst.heldBack)
    }
    if !holds.isEmpty {
      row.count(holds.count)
      for hold in holds {
        row.fixed(hold.key.bits)
        row.place(hold.place)
        row.signed(hold.due)
        row.choice(hold.kind, of: Hold.Kind.allCases)
      }
    }
    if let holdTimerAt { row.signed(holdTimerAt) }
    if let late {
      row.keys(late.told)
      row.keys(late.edited)
    }
    if let deleted { row.deletedMessages(deleted) }
    if let waitsUntil = readAhead?.waitsUntil { row.signed(waitsUntil) }
    if !older.isEmpty { row.olderMessages(older) }
    if let pages {
      row.signed(pages.first)
      row.signed(pages.next)
      row.signed(pages.count)
    }
    if !seen.isEmpty {
      row.count(seen.count)
      for key in seen { row.unsigned(UInt64(key)) }
    }
    if let edits {
      row.count(edits.count)
      for edit in edits {
        row.fixed(edit.key.bits)
        row.stamp(edit.stamp)
        row.byte(edit.text == nil ? 0 : 1)
        if let text = edit.text { row.unsigned(UInt64(text)) }
      }
    }
    if let rank = burst?.rank { row.signed(rank) }
    if let lastWord { row.signed(lastWord.isUnhelpful ? lastWord.at : ~lastWord.at) }
    row.signed(olderUnread)
    row.messages(recent)
    // Few people write most messages: each is written once.
    if !senders.isEmpty {
      row.count(senders.count)
      for sender in senders { row.fixed(UInt64(bitPattern: sender)) }
      for message in recent {
        row.byte(message.sender.flatMap { senders.firstIndex(of: $0) }.map { UInt8($0 + 1) } ?? 0)
      }
    }
    if hasReasons {
      for message in recent {
        row.byte(message.heldBack.flatMap { HeldBackReason.allCases.firstIndex(of: $0) }.map { UInt8($0 + 1) } ?? 0)
      }
    }
    // The scores of those that have one, with the way from the one before.
    guard scores > 0 else { return }
    row.count(scores)
    var last = 0
    for (index, message) in recent.enumerated() {
      guard let judged = message.judged else { continue }
      let way = UInt8(index - last)
      last = index
      if judged.sender == message.sender {
        row.byte(way | RecentMessage.hasSender)
        row.signed(Int(judged.score))
        continue
      }
      row.byte(way)
      if let place = senders.firstIndex(of: judged.sender) {
        row.byte(UInt8(place))
      } else {
        row.byte(UInt8(senders.count))
        row.fixed(UInt64(bitPattern: judged.sender))
        senders.append(judged.sender)
      }
      row.signed(Int(judged.score))
    }
  }
}
