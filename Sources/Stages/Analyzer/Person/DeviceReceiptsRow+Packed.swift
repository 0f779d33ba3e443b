public import NudgeCodec
import NudgeSchema

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
