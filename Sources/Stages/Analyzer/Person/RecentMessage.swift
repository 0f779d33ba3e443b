import NudgeCodec
import NudgeSchema
import Wording

/// A message's place in its conversation, which is ordered by when messages reached Nudge. The time is when the message did, or when it was
/// written if that is about the same.
struct MessagePlace: Encodable, Sendable, Hashable, Comparable {
  var at: Milliseconds
  var order: OriginOrder

  static func < (a: MessagePlace, b: MessagePlace) -> Bool {
    a.at != b.at ? a.at < b.at : a.order < b.order
  }

  /// The place after all messages of that time.
  static func end(of time: Milliseconds) -> MessagePlace {
    MessagePlace(at: time, order: OriginOrder(offset: .max, index: .max))
  }
}

extension MessagePlace: PackedFields {
  static var blank: Self { Self(at: 0, order: OriginOrder(offset: 0, index: 0)) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&at)
    try row.field(&order.offset)
    try row.field(&order.index)
  }
}

/// Represents an id in a row, in 8 bytes: FNV-1a over the id's bytes.
struct MessageKey: Encodable, Sendable, Hashable {
  var value: Int64

  init(_ messageId: String) { value = Int64(bitPattern: FNV1a.hash(messageId)) }

  init(value: Int64) { self.value = value }

  /// The key of a message whose id another sender has used before. Such a message is identified by sender and id.
  func apart(from sender: Int64) -> MessageKey {
    // Multiplied, so that the combined key does not depend on the two keys' own bits alone.
    MessageKey(value: value ^ (sender &* 0x9e37_79b9_7f4a_7c1))
  }

  /// Represents the id in 4 bytes, for uses in which one mistake in four billion does no harm.
  var short: UInt32 { UInt32(truncatingIfNeeded: value ^ value >> 32) }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

/// One message of a conversation.
struct RecentMessage: Encodable, Sendable, Equatable {
  struct Marks: OptionSet, Encodable, Sendable {
    var rawValue: UInt8
    /// The message counts on the badge.
    static let unread = Marks(rawValue: 1)
    /// A push was made.
    static let notified = Marks(rawValue: 2)
    /// The message was withdrawn.
    static let withdrawn = Marks(rawValue: 4)
    /// The push shows something, so a device may have it on its screen.
    static let shown = Marks(rawValue: 8)
    /// The person judged the notification as helpful.
    static let foundHelpful = Marks(rawValue: 16)
    /// The person judged the notification as not helpful.
    static let foundUnhelpful = Marks(rawValue: 32)
    /// The person's reaction was counted.
    static let reactedTo = Marks(rawValue: 64)
    // The eighth bit is not free: packed, it says that the index of the place follows.
  }
  var key: MessageKey
  var place: MessagePlace
  var marks: Marks
  /// `MessageKey` of the sender's id; absent in rows of releases that did not store it.
  var sender: Int64?
  /// The message's score; absent if it was not judged.
  var judged: Judged?
  /// Why it did not alert. Absent if it did, if the person was looking at it, and in rows of releases that did not store it.
  var heldBack: HeldBackReason?

  /// Whether it was shown without a sound.
  var isSilent: Bool {
    switch heldBack {
    case .burst, .budget, .mediumPriority: marks.contains(.shown)
    default: false
    }
  }

  /// Whether this is the message whose id has this key.
  func isNamed(_ id: MessageKey) -> Bool { key == id || sender.map { key == id.apart(from: $0) } ?? false }

  /// What later signals need to know about the message.
  struct Judged: Sendable, Equatable {
    /// `MessageKey` of the sender's id.
    var sender: Int64
    /// The score in thousandths.
    var score: Int16
  }

  // Encoded as an array, because a row has many of them.
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

/// A read that arrived before its message, because `user.events` and `chat.events` are not ordered relative to each other.
struct ReadAhead: Encodable, Sendable, Equatable {
  /// How long messages that may precede the awaited one are held, in milliseconds.
  static let patience: Milliseconds = 10_000

  var key: MessageKey
  var stamp: EventStamp
  /// The end of that wait, by the wall clock; absent in rows of releases that held none.
  var waitsUntil: Milliseconds?
}

/// Without the end of the time, which has a place of its own in the conversation's row.
extension ReadAhead: PackedFields {
  static var blank: Self { Self(key: .blank, stamp: .blank) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&key)
    try row.field(&stamp)
  }
}

/// The last edit of a message.
struct MessageEdit: Encodable, Sendable, Equatable {
  var key: MessageKey
  var stamp: EventStamp
  /// A hash of its text; absent in rows of releases that did not store it.
  var text: UInt32?

  static func short(_ text: String) -> UInt32 { MessageKey(text).short }
}

extension MessageEdit: PackedFields {
  static var blank: Self { Self(key: .blank, stamp: .blank) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&key)
    try row.field(&stamp)
    if row.version >= 7 { try row.field(&text) }
  }
}

extension RecentMessage {
  /// A bit beside the marks: the index of the place follows. If not set, the index is 0.
  fileprivate static let hasIndex: UInt8 = 0x80
  /// A bit beside the relative score: the message's sender is the one that is stored.
  fileprivate static let hasSender: UInt8 = 0x80
}

extension MessageKey: PackedFields {
  static var blank: Self { Self(value: 0) }

  init(_ bits: UInt64) { self.init(value: Int64(bitPattern: bits)) }
  var bits: UInt64 { UInt64(bitPattern: value) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) { try row.field(&value, as: FixedForm()) }
}

/// Messages without their senders and scores. Times and offsets as what they are after the message before: a byte or two instead of six.
struct MessagesForm: PackedForm {
  func read(from row: inout RowReader) throws(RowFormatError) -> [RecentMessage] {
    let count = try row.count()
    var messages: [RecentMessage] = []
    messages.reserveCapacity(count + 1)
    var (at, offset): (Int64, Int64) = (0, 0)
    for _ in 0..<count {
      let key = MessageKey(try row.fixed())
      at &+= try row.signed()
      offset &+= try row.signed()
      let bits = try row.byte()
      let index = bits & RecentMessage.hasIndex == 0 ? 0 : try Int32(packed: &row)
      messages.append(
        RecentMessage(
          key: key, place: MessagePlace(at: at, order: OriginOrder(offset: offset, index: index)),
          marks: RecentMessage.Marks(rawValue: bits & ~RecentMessage.hasIndex)))
    }
    return messages
  }

  func write(_ messages: [RecentMessage], into row: inout RowWriter) {
    row.count(messages.count)
    var (at, offset): (Int64, Int64) = (0, 0)
    for message in messages {
      row.fixed(message.key.bits)
      row.signed(message.place.at &- at)
      row.signed(message.place.order.offset &- offset)
      (at, offset) = (message.place.at, message.place.order.offset)
      let index = message.place.order.index
      row.byte(message.marks.rawValue & ~RecentMessage.hasIndex | (index == 0 ? 0 : RecentMessage.hasIndex))
      if index != 0 { row.signed(Int64(index)) }
    }
  }
}

/// Older messages, in the form of the last ones.
struct OlderMessagesForm: PackedForm {
  func read(from row: inout RowReader) throws(RowFormatError) -> [OlderMessage] {
    try MessagesForm().read(from: &row).map {
      OlderMessage(key: $0.key, place: $0.place, isShown: $0.marks.contains(.shown))
    }
  }

  func write(_ older: [OlderMessage], into row: inout RowWriter) {
    let messages = older.map {
      RecentMessage(key: $0.key, place: $0.place, marks: $0.isShown ? [.unread, .shown] : .unread)
    }
    MessagesForm().write(messages, into: &row)
  }
}

/// The last messages, with what is known of them.
struct RecentMessagesForm: PackedForm {
  var hasSenders = false
  var hasReasons = false
  var hasScores = false

  init(of messages: [RecentMessage]) {
    for message in messages {
      if message.sender != nil { hasSenders = true }
      if message.heldBack != nil { hasReasons = true }
      if message.judged != nil { hasScores = true }
    }
  }

  func read(from row: inout RowReader) throws(RowFormatError) -> [RecentMessage] {
    var messages = try MessagesForm().read(from: &row)
    var senders: [Int64] = []
    if hasSenders {
      senders = try ListForm(FixedForm()).read(from: &row)
      for index in messages.indices {
        let place = Int(try row.byte())
        if place == 0 { continue }
        guard place <= senders.count else { throw row.error("it has messages of senders that it does not have") }
        messages[index].sender = senders[place - 1]
      }
    }
    if hasReasons {
      for index in messages.indices {
        let place = Int(try row.byte())
        guard place <= HeldBackReason.allCases.count else { throw row.error("it has a reason of a later release") }
        if place > 0 { messages[index].heldBack = HeldBackReason.allCases[place - 1] }
      }
    }
    guard hasScores else { return messages }
    var index = 0
    for _ in 0..<(try row.count()) {
      let way = try row.byte()
      index += Int(way & ~RecentMessage.hasSender)
      if way & RecentMessage.hasSender != 0 {
        guard index < messages.count, let sender = messages[index].sender else {
          throw row.error("it has a score of a message whose sender it does not have")
        }
        messages[index].judged = RecentMessage.Judged(
          sender: sender, score: Int16(truncatingIfNeeded: try row.signed()))
        continue
      }
      let place = Int(try row.byte())
      if place == senders.count { senders.append(Int64(bitPattern: try row.fixed())) }
      guard index < messages.count, place < senders.count else {
        throw row.error("it has scores of messages that it does not have")
      }
      messages[index].judged = RecentMessage.Judged(
        sender: senders[place], score: Int16(truncatingIfNeeded: try row.signed()))
    }
    return messages
  }

  func write(_ messages: [RecentMessage], into row: inout RowWriter) {
    MessagesForm().write(messages, into: &row)
    var senders: [Int64] = []
    // Few people write most messages: each is written once.
    if hasSenders {
      for case let sender? in messages.lazy.map(\.sender) where !senders.contains(sender) { senders.append(sender) }
      ListForm(FixedForm()).write(senders, into: &row)
      for message in messages {
        row.byte(message.sender.flatMap { senders.firstIndex(of: $0) }.map { UInt8($0 + 1) } ?? 0)
      }
    }
    if hasReasons {
      for message in messages {
        row.byte(message.heldBack.flatMap { HeldBackReason.allCases.firstIndex(of: $0) }.map { UInt8($0 + 1) } ?? 0)
      }
    }
    // The scores of those that have one, with the way from the one before.
    guard hasScores else { return }
    row.count(messages.count { $0.judged != nil })
    var last = 0
    for (index, message) in messages.enumerated() {
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
