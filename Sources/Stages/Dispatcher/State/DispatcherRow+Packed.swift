import NudgeCodec
import NudgeSchema

extension RecipientDeviceRow: PackedRow {
  static let name: StaticString = "device"
  /// Version 2 added revoked tokens, 3 unconfirmed pushes.
  static var versions: RowVersions { RowVersions(3) }

  init(packed row: inout RowReader) throws(RowFormatError) {
    var flags = RowFlags(bits: try row.unsigned())
    lastCause = flags.take() ? try row.origin() : nil
    quarantined = flags.take() ? Quarantine(tokenHash: try row.text(), version: try row.signed()) : nil
    revoked = flags.take() ? Quarantine(tokenHash: try row.text(), version: try row.signed()) : nil
    unconfirmed = flags.take() ? try Unconfirmed(packed: &row) : nil
  }

  func pack(into row: inout RowWriter) {
    var flags = RowFlags()
    flags.add(lastCause != nil)
    flags.add(quarantined != nil)
    flags.add(revoked != nil)
    flags.add(unconfirmed != nil)
    row.unsigned(flags.bits)
    if let lastCause { row.origin(lastCause) }
    for token in [quarantined, revoked] {
      guard let token else { continue }
      row.text(token.tokenHash)
      row.signed(token.version)
    }
    unconfirmed?.pack(into: &row)
  }
}

extension Unconfirmed {
  fileprivate init(packed row: inout RowReader) throws(RowFormatError) {
    self.init(seenAt: try row.signed(), version: try row.signed(), pushes: Int(try row.signed()))
    for _ in 0..<(try row.count()) { conversations.append(try row.unsigned()) }
    for _ in 0..<(try row.count()) {
      rest.append(Part(conversation: try row.unsigned(), messages: Int(try row.signed())))
    }
    furtherMessages = Int(try row.signed())
    furtherConversations = Int(try row.signed())
  }

  fileprivate func pack(into row: inout RowWriter) {
    row.signed(seenAt)
    row.signed(version)
    row.signed(pushes)
    row.count(conversations.count)
    for conversation in conversations { row.unsigned(conversation) }
    row.count(rest.count)
    for part in rest {
      row.unsigned(part.conversation)
      row.signed(part.messages)
    }
    row.signed(furtherMessages)
    row.signed(furtherConversations)
  }
}

extension LaneRow: PackedRow {
  static let name: StaticString = "lane"
  static var versions: RowVersions { WaitingPush.rowVersions }

  init(packed row: inout RowReader) throws(RowFormatError) {
    count = Int(try row.signed())
    firstOverflow = Int(try row.signed())
    endOverflow = Int(try row.signed())
    items = try row.items()
  }

  func pack(into row: inout RowWriter) {
    row.signed(count)
    row.signed(firstOverflow)
    row.signed(endOverflow)
    row.items(items)
  }
}

extension OverflowRow: PackedRow {
  static let name: StaticString = "overflow"
  static var versions: RowVersions { WaitingPush.rowVersions }

  init(packed row: inout RowReader) throws(RowFormatError) { items = try row.items() }

  func pack(into row: inout RowWriter) { row.items(items) }
}

extension RowWriter {
  fileprivate mutating func items(_ items: [WaitingPush]) {
    count(items.count)
    for item in items { item.pack(into: &self) }
  }
}

extension RowReader {
  fileprivate mutating func items() throws(RowFormatError) -> [WaitingPush] {
    var items: [WaitingPush] = []
    for _ in 0..<(try count()) { items.append(try WaitingPush(packed: &self)) }
    return items
  }
}
