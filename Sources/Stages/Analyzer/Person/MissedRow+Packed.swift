public import NudgeCodec
import NudgeSchema

extension MissedRow: PackedRow {
  /// The row's kind, for errors.
  public static let name: StaticString = "missed"
  /// 2 has pushes that were not sent in time, 3 who wrote a message.
  public static var versions: RowVersions { RowVersions(3) }

  public init(packed row: inout RowReader) throws(RowFormatError) {
    var flags = RowFlags(bits: try row.unsigned())
    let group = flags.take() ? try row.text() : nil
    let olderAlerts = flags.take()
    let olderUpTo: MessagePlace? =
      flags.take()
      ? MessagePlace(at: try row.signed(), order: OriginOrder(offset: try row.signed(), index: try row.signed32()))
      : nil
    let older = Int(try row.signed())
    var entries: [Entry] = []
    var (at, offset): (Int64, Int64) = (0, 0)
    for _ in 0..<(try row.count()) {
      let key = MessageKey(try row.fixed())
      at &+= try row.signed()
      offset &+= try row.signed()
      var flags = RowFlags(bits: try row.unsigned())
      let alerts = flags.take()
      let index = flags.take() ? try row.signed32() : 0
      let rank = Int(try row.signed())
      var line =
        flags.take() ? Line(messageId: try row.text(), sender: try row.text(), text: try row.text()) : nil
      // Since version 2.
      let late =
        flags.take()
        ? Late(
          missedBy: UInt32(truncatingIfNeeded: try row.signed()), devices: Int(try row.signed()),
          until: try row.signed())
        : nil
      // Since version 3.
      if flags.take() { line?.senderId = try row.text() }
      if flags.take() { line?.avatarUrl = try row.text() }
      entries.append(
        Entry(
          key: key, place: MessagePlace(at: at, order: OriginOrder(offset: offset, index: index)), rank: rank,
          alerts: alerts, line: line, late: late))
    }
    self.init(group: group, entries: entries, older: older, olderUpTo: olderUpTo, olderAlerts: olderAlerts)
  }

  public func pack(into row: inout RowWriter) {
    var flags = RowFlags()
    flags.add(group != nil)
    flags.add(olderAlerts)
    flags.add(olderUpTo != nil)
    row.unsigned(flags.bits)
    if let group { row.text(group) }
    if let olderUpTo {
      row.signed(olderUpTo.at)
      row.signed(olderUpTo.order.offset)
      row.signed(Int64(olderUpTo.order.index))
    }
    row.signed(older)
    row.count(entries.count)
    // Times and offsets as what they are after the message before: a byte or two instead of six.
    var (at, offset): (Int64, Int64) = (0, 0)
    for entry in entries {
      row.fixed(entry.key.bits)
      row.signed(entry.place.at &- at)
      row.signed(entry.place.order.offset &- offset)
      (at, offset) = (entry.place.at, entry.place.order.offset)
      var flags = RowFlags()
      flags.add(entry.alerts)
      flags.add(entry.place.order.index != 0)
      flags.add(entry.line != nil)
      flags.add(entry.late != nil)
      flags.add(entry.line?.senderId != nil)
      flags.add(entry.line?.avatarUrl != nil)
      row.unsigned(flags.bits)
      if entry.place.order.index != 0 { row.signed(Int64(entry.place.order.index)) }
      row.signed(entry.rank)
      if let line = entry.line {
        row.text(line.messageId)
        row.text(line.sender)
        row.text(line.text)
      }
      if let late = entry.late {
        row.signed(Int64(late.missedBy))
        row.signed(late.devices)
        row.signed(late.until)
      }
      if let senderId = entry.line?.senderId { row.text(senderId) }
      if let avatarUrl = entry.line?.avatarUrl { row.text(avatarUrl) }
    }
  }
}
