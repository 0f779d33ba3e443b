public import NudgeCodec
import NudgeSchema
import Wording

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

extension RecentMessage {
  /// Beside the marks: the index of the place follows; else it is 0.
  fileprivate static let hasIndex: UInt8 = 0x80
  /// Beside the way to a score: it is of a message by the sender that is known of it.
  fileprivate static let hasSender: UInt8 = 0x80
}

extension MessageKey {
  init(_ bits: UInt64) { self.init(value: Int64(bitPattern: bits)) }
  var bits: UInt64 { UInt64(bitPattern: value) }
}

extension RowWriter {
  fileprivate mutating func keys(_ keys: [MessageKey]) {
    count(keys.count)
    for key in keys { fixed(key.bits) }
  }

  mutating func olderMessages(_ older: [OlderMessage]) {
    messages(
      older.map { RecentMessage(key: $0.key, place: $0.place, marks: $0.isShown ? [.unread, .shown] : .unread) })
  }

  /// Messages without their senders and scores. Times and offsets as what they are after the message before: a byte or two instead of six.
  mutating func messages(_ messages: [RecentMessage]) {
    count(messages.count)
    var (at, offset): (Int64, Int64) = (0, 0)
    for message in messages {
      fixed(message.key.bits)
      signed(message.place.at &- at)
      signed(message.place.order.offset &- offset)
      (at, offset) = (message.place.at, message.place.order.offset)
      let index = message.place.order.index
      byte(message.marks.rawValue & ~RecentMessage.hasIndex | (index == 0 ? 0 : RecentMessage.hasIndex))
      if index != 0 { signed(Int64(index)) }
    }
  }

  fileprivate mutating func deletedMessages(_ deleted: DeletedMessages) {
    count(deleted.known.count)
    for entry in deleted.known {
      fixed(entry.key.bits)
      signed(entry.writtenBy)
    }
    byte(deleted.unknownUpTo == nil ? 0 : 1)
    if let time = deleted.unknownUpTo { signed(time) }
  }

  mutating func place(_ place: MessagePlace) {
    signed(place.at)
    signed(place.order.offset)
    signed(Int64(place.order.index))
  }
}

extension RowReader {
  fileprivate mutating func keys() throws(RowFormatError) -> [MessageKey] {
    var keys: [MessageKey] = []
    for _ in 0..<(try count()) { keys.append(MessageKey(try fixed())) }
    return keys
  }

  mutating func olderMessages() throws(RowFormatError) -> [OlderMessage] {
    try messages().map { OlderMessage(key: $0.key, place: $0.place, isShown: $0.marks.contains(.shown)) }
  }

  /// Messages without their senders and scores.
  mutating func messages() throws(RowFormatError) -> [RecentMessage] {
    let count = try count()
    var messages: [RecentMessage] = []
    messages.reserveCapacity(count + 1)
    var (at, offset): (Int64, Int64) = (0, 0)
    for _ in 0..<count {
      let key = MessageKey(try fixed())
      at &+= try signed()
      offset &+= try signed()
      let bits = try byte()
      let index = bits & RecentMessage.hasIndex == 0 ? 0 : try signed32()
      messages.append(
        RecentMessage(
          key: key, place: MessagePlace(at: at, order: OriginOrder(offset: offset, index: index)),
          marks: RecentMessage.Marks(rawValue: bits & ~RecentMessage.hasIndex)))
    }
    return messages
  }

  fileprivate mutating func deletedMessages() throws(RowFormatError) -> DeletedMessages {
    var known: [DeletedMessages.Entry] = []
    for _ in 0..<(try count()) { known.append(.init(key: MessageKey(try fixed()), writtenBy: try signed())) }
    return DeletedMessages(known: known, unknownUpTo: try byte() == 0 ? nil : try signed())
  }

  mutating func place() throws(RowFormatError) -> MessagePlace {
    MessagePlace(at: try signed(), order: OriginOrder(offset: try signed(), index: try signed32()))
  }
}
