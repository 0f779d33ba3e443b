public import NudgeCodec
import NudgeSchema

/// The receipts of a device: the states that its pushes of the last day have reached. Only devices whose app sends reports have this row.
/// It takes about 40 bytes per push, at most 4 kB.
public struct DeviceReceiptsRow: Encodable, Sendable, Equatable {
  /// The most pushes stored. FCM stores the same number for a device that is off.
  static let maxPushes = 100
  /// The most conversations stored of those read on other devices.
  static let maxReads = 16
  /// How long after a push its receipts are recorded, in milliseconds.
  static let lifetime: Milliseconds = 86_400_000

  struct States: OptionSet, Encodable, Sendable {
    var rawValue: UInt8
    static let arrived = States(rawValue: 1)
    static let opened = States(rawValue: 2)
    static let dismissed = States(rawValue: 4)
    static let withdrawn = States(rawValue: 8)
    /// States after which a notification is no longer on the screen.
    static let gone: States = [.opened, .dismissed, .withdrawn]
  }

  /// A push of a message.
  struct Known: Encodable, Sendable, Equatable {
    var pushId: String
    var conversation: MessageKey
    /// When the message was written.
    var messageAt: Milliseconds
    /// When the push was made, if that was later than its message, as for an edit or a replay; otherwise `messageAt`.
    var sentAt: Milliseconds
    /// The states so far. Empty until the first report.
    var states: States
  }

  /// A conversation that was read on another device.
  struct ReadElsewhere: Encodable, Sendable, Equatable {
    var conversation: MessageKey
    /// Messages written until this time were read.
    var upTo: Milliseconds
  }

  /// The pushes by `sentAt`, oldest first.
  private(set) var pushes: [Known] = []
  /// The reads, in the order in which they were recorded.
  private(set) var reads: [ReadElsewhere] = []
  /// The `sentAt` of the newest push that was removed before its day had passed; absent if there was none. Nothing is recorded for pushes
  /// up to this time.
  private(set) var forgottenUpTo: Milliseconds?

  /// Removes what is older than a day.
  mutating func forget(at now: Milliseconds) {
    let oldest = now - Self.lifetime
    pushes.removeAll { $0.sentAt < oldest }
    reads.removeAll { $0.upTo < oldest }
    if let time = forgottenUpTo, time < oldest { forgottenUpTo = nil }
  }

  /// The index of a push; nil if it is not stored.
  func index(of pushId: String) -> Int? { pushes.lastIndex { sameId($0.pushId, pushId) } }

  /// Stores a push, and removes the oldest if there are too many. Returns the push's index; nil if the push is so old that it may have been
  /// stored and removed before.
  mutating func add(_ push: Known, at now: Milliseconds) -> Int? {
    guard push.sentAt >= now - Self.lifetime, push.sentAt > forgottenUpTo ?? .min else { return nil }
    if pushes.count >= Self.maxPushes, let oldest = pushes.first {
      guard oldest.sentAt < push.sentAt else { return nil }
      forgottenUpTo = oldest.sentAt
      pushes.removeFirst()
    }
    let index = pushes.firstIndex { push.sentAt < $0.sentAt } ?? pushes.endIndex
    pushes.insert(push, at: index)
    return index
  }

  /// Records a state of a push. Returns false if it was recorded before.
  mutating func reach(_ state: States, at index: Int) -> Bool { pushes[index].states.insert(state).inserted }

  /// Records that a conversation was read on another device.
  mutating func record(_ read: ReadElsewhere) {
    var read = read
    if let index = reads.firstIndex(where: { $0.conversation == read.conversation }) {
      read.upTo = max(read.upTo, reads.remove(at: index).upTo)
    }
    reads.append(read)
    if reads.count > Self.maxReads { reads.removeFirst() }
  }

  /// Whether a push was on the screen until its conversation was read on another device.
  func wasReadElsewhere(at index: Int) -> Bool {
    let push = pushes[index]
    guard !push.states.isEmpty, push.states.isDisjoint(with: .gone) else { return false }
    return reads.contains { $0.conversation == push.conversation && push.messageAt <= $0.upTo }
  }
}

extension DeviceReceiptsRow: PackedRow, PackedFields {
  /// The row's kind, for errors.
  public static let name: StaticString = "device receipts"
  public static var blank: Self { Self() }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.flags()
    try row.optional(&forgottenUpTo)
    try row.field(&pushes, as: KnownForm())
    try row.field(&reads)
  }
}

extension DeviceReceiptsRow.ReadElsewhere: PackedFields {
  static var blank: Self { Self(conversation: .blank, upTo: 0) }

  mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&conversation)
    try row.field(&upTo)
  }
}

/// Packs `sentAt` as its difference from the previous push's, and `messageAt` as its difference from `sentAt`. Each takes two or three
/// bytes instead of six.
private struct KnownForm: PackedForm {
  func read(from row: inout RowReader) throws(RowFormatError) -> [DeviceReceiptsRow.Known] {
    var pushes: [DeviceReceiptsRow.Known] = []
    var at: Int64 = 0
    for _ in 0..<(try row.count()) {
      let (pushId, conversation) = (try row.text(), try MessageKey(packed: &row))
      at &+= try row.signed()
      pushes.append(
        DeviceReceiptsRow.Known(
          pushId: pushId, conversation: conversation, messageAt: at &- (try row.signed()), sentAt: at,
          states: DeviceReceiptsRow.States(rawValue: try row.byte())))
    }
    return pushes
  }

  func write(_ pushes: [DeviceReceiptsRow.Known], into row: inout RowWriter) {
    row.count(pushes.count)
    var at: Int64 = 0
    for push in pushes {
      row.text(push.pushId)
      push.conversation.pack(into: &row)
      row.signed(push.sentAt &- at)
      at = push.sentAt
      row.signed(push.sentAt &- push.messageAt)
      row.byte(push.states.rawValue)
    }
  }
}
