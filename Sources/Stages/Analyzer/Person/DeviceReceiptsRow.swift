public import NudgeCodec
import NudgeSchema

/// The receipts that were recorded for a device: which states its pushes of the last day have reached. It exists for devices whose
/// app reports. Packed it takes some 40 bytes a push, at most 4 kB.
public struct DeviceReceiptsRow: Encodable, Sendable, Equatable {
  /// Pushes that are remembered; FCM stores as many for a device that is off.
  static let maxPushes = 100
  /// Conversations read elsewhere that are remembered.
  static let maxReads = 16
  /// How long after a push its receipts are recorded, in milliseconds.
  static let lifetime: Milliseconds = 86_400_000

  struct States: OptionSet, Encodable, Sendable {
    var rawValue: UInt8
    static let arrived = States(rawValue: 1)
    static let opened = States(rawValue: 2)
    static let dismissed = States(rawValue: 4)
    static let withdrawn = States(rawValue: 8)
    /// After these a notification is no longer on the screen.
    static let gone: States = [.opened, .dismissed, .withdrawn]
  }

  /// A push of a message.
  struct Known: Encodable, Sendable, Equatable {
    var pushId: String
    var conversation: MessageKey
    /// When the message was written.
    var messageAt: Milliseconds
    /// The same; of a push that was made later (an edit, a replay), when it was made.
    var sentAt: Milliseconds
    /// Empty: the push is expected to be reported, and was not yet.
    var states: States
  }

  /// A conversation that was read on another device.
  struct ReadElsewhere: Encodable, Sendable, Equatable {
    var conversation: MessageKey
    var upTo: Milliseconds
  }

  /// By `sentAt`, oldest first.
  private(set) var pushes: [Known] = []
  /// The newest last.
  private(set) var reads: [ReadElsewhere] = []
  /// The newest push that had to be forgotten before its time: of pushes up to it nothing is recorded any more.
  private(set) var forgottenUpTo: Milliseconds?

  init() {}

  init(pushes: [Known], reads: [ReadElsewhere], forgottenUpTo: Milliseconds?) {
    self.pushes = pushes
    self.reads = reads
    self.forgottenUpTo = forgottenUpTo
  }

  /// Whether nothing is remembered.
  var isEmpty: Bool { pushes.isEmpty && reads.isEmpty && forgottenUpTo == nil }

  /// Forgets what is older than a day.
  mutating func forget(at now: Milliseconds) {
    let oldest = now - Self.lifetime
    pushes.removeAll { $0.sentAt < oldest }
    reads.removeAll { $0.upTo < oldest }
    if let time = forgottenUpTo, time < oldest { forgottenUpTo = nil }
  }

  /// The place of a push; nil: it is not remembered.
  func index(of pushId: String) -> Int? { pushes.lastIndex { sameId($0.pushId, pushId) } }

  /// Remembers a push. Where there are too many, the oldest is forgotten. Returns its place; nil: it is too old to be told from one
  /// that was recorded before.
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

  /// Notes a state of a push. False: it was noted before.
  mutating func reach(_ state: States, at index: Int) -> Bool { pushes[index].states.insert(state).inserted }

  /// A conversation was read on another device.
  mutating func note(_ read: ReadElsewhere) {
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

extension DeviceReceiptsRow: PackedRow {
  /// The row's kind, for errors.
  public static let name: StaticString = "device receipts"

  public init(packed row: inout RowReader) throws(RowFormatError) {
    var flags = RowFlags(bits: try row.unsigned())
    let forgottenUpTo = flags.take() ? try row.signed() : nil
    var pushes: [Known] = []
    var at: Int64 = 0
    for _ in 0..<(try row.count()) {
      let pushId = try row.text()
      let conversation = MessageKey(value: Int64(bitPattern: try row.fixed()))
      at &+= try row.signed()
      let messageAt = at &- (try row.signed())
      pushes.append(
        Known(
          pushId: pushId, conversation: conversation, messageAt: messageAt, sentAt: at,
          states: States(rawValue: try row.byte())))
    }
    var reads: [ReadElsewhere] = []
    for _ in 0..<(try row.count()) {
      reads.append(
        ReadElsewhere(
          conversation: MessageKey(value: Int64(bitPattern: try row.fixed())), upTo: try row.signed()))
    }
    self.init(pushes: pushes, reads: reads, forgottenUpTo: forgottenUpTo)
  }

  public func pack(into row: inout RowWriter) {
    var flags = RowFlags()
    flags.add(forgottenUpTo != nil)
    row.unsigned(flags.bits)
    if let forgottenUpTo { row.signed(forgottenUpTo) }
    row.count(pushes.count)
    // Times as what they are after the push before: two or three bytes instead of six.
    var at: Int64 = 0
    for push in pushes {
      row.text(push.pushId)
      row.fixed(UInt64(bitPattern: push.conversation.value))
      row.signed(push.sentAt &- at)
      at = push.sentAt
      row.signed(push.sentAt &- push.messageAt)
      row.byte(push.states.rawValue)
    }
    row.count(reads.count)
    for read in reads {
      row.fixed(UInt64(bitPattern: read.conversation.value))
      row.signed(read.upTo)
    }
  }
}
