public import NudgeCodec
import NudgeSchema

extension ConversationRow: PackedRow {
  /// What it is.
  public static let name: StaticString = "conversation"

  /// Reads the fields.
  public init(packed row: inout RowReader) throws(RowFormatError) {
    self.init()
    var flags = RowFlags(bits: try row.unsigned())
    if flags.take() { kind = try row.choice(of: ConversationKind.allCases) }
    if flags.take() { name = try row.text() }
    if flags.take() { snapshot = try row.stamp() }
    if flags.take() { floor = try row.stamp() }
    memberCount = Int(try row.signed())
    removedCount = Int(try row.signed())
    version = try row.signed()
    let count = try row.count()
    turns.reserveCapacity(count + 1)
    var at: Milliseconds = 0
    for _ in 0..<count {
      let (userId, messageId) = (try row.text(), try row.text())
      at &+= try row.signed()
      var addressed: [String] = []
      for _ in 0..<(try row.count()) { addressed.append(try row.text()) }
      turns.append(Turn(userId: userId, at: at, messageId: messageId, addressed: addressed))
    }
  }

  /// Writes the fields.
  public func pack(into row: inout RowWriter) {
    var flags = RowFlags()
    flags.add(kind != nil)
    flags.add(name != nil)
    flags.add(snapshot != nil)
    flags.add(floor != nil)
    row.unsigned(flags.bits)
    if let kind { row.choice(kind, of: ConversationKind.allCases) }
    if let name { row.text(name) }
    if let snapshot { row.stamp(snapshot) }
    if let floor { row.stamp(floor) }
    row.signed(memberCount)
    row.signed(removedCount)
    row.signed(version)
    row.count(turns.count)
    var at: Milliseconds = 0
    for turn in turns {
      row.text(turn.userId)
      row.text(turn.messageId)
      row.signed(turn.at &- at)
      at = turn.at
      row.count(turn.addressed.count)
      for person in turn.addressed { row.text(person) }
    }
  }
}
