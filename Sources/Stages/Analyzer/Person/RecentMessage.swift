import NudgeCodec
import NudgeSchema
import Wording

/// A message's place in its conversation: the order in which its messages reached Nudge. The time is that at which it did, or at which it was
/// written, where that is about the same.
struct MessagePlace: Encodable, Sendable, Hashable, Comparable {
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
struct MessageKey: Encodable, Sendable, Hashable {
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

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

/// One message of a conversation.
struct RecentMessage: Encodable, Sendable, Equatable {
  struct Marks: OptionSet, Encodable, Sendable {
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

  // A list without names: there are many of them in a row.
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
struct ReadAhead: Encodable, Sendable, Equatable {
  /// How long messages that may come before it are held, in milliseconds.
  static let patience: Milliseconds = 10_000

  var key: MessageKey
  var stamp: EventStamp
  /// The end of that time, by the wall clock; absent in rows of releases that held none.
  var waitsUntil: Milliseconds?
}

/// The last edit of a message.
struct MessageEdit: Encodable, Sendable, Equatable {
  var key: MessageKey
  var stamp: EventStamp
  /// Stands for its text; absent in rows of releases that did not keep it.
  var text: UInt32?

  static func short(_ text: String) -> UInt32 { MessageKey(text).short }
}

extension RecentMessage {
  /// Beside the marks: the index of the place follows; else it is 0.
  fileprivate static let hasIndex: UInt8 = 0x80
  /// Beside the way to a score: it is of a message by the sender that is known of it.
  static let hasSender: UInt8 = 0x80
}

extension MessageKey {
  init(_ bits: UInt64) { self.init(value: Int64(bitPattern: bits)) }
  var bits: UInt64 { UInt64(bitPattern: value) }
}

extension RowWriter {
  mutating func keys(_ keys: [MessageKey]) {
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

  mutating func deletedMessages(_ deleted: DeletedMessages) {
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
  mutating func keys() throws(RowFormatError) -> [MessageKey] {
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

  mutating func deletedMessages() throws(RowFormatError) -> DeletedMessages {
    var known: [DeletedMessages.Entry] = []
    for _ in 0..<(try count()) { known.append(.init(key: MessageKey(try fixed()), writtenBy: try signed())) }
    return DeletedMessages(known: known, unknownUpTo: try byte() == 0 ? nil : try signed())
  }

  mutating func place() throws(RowFormatError) -> MessagePlace {
    MessagePlace(at: try signed(), order: OriginOrder(offset: try signed(), index: try signed32()))
  }
}
