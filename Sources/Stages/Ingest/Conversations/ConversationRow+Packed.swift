public import NudgeCodec
import NudgeSchema
import Relevance

extension ConversationRow: PackedRow {
  /// The row's name in errors.
  public static let name: StaticString = "conversation"
  /// 2 has a memory of the talk instead of the last messages, 3 the senders of the messages before, 4 edits of messages
  /// that have not come.
  public static var versions: RowVersions { RowVersions(4) }

  public init(packed row: inout RowReader) throws(RowFormatError) {
    self.init()
    var flags = RowFlags(bits: try row.unsigned())
    if flags.take() { kind = try row.choice(of: ConversationKind.allCases) }
    if flags.take() { name = try row.text() }
    if flags.take() { snapshot = try row.stamp() }
    if flags.take() { floor = try row.stamp() }
    let hasTalk = flags.take()
    let hasFormer = flags.take()
    let hasEarlyEdits = flags.take()
    memberCount = Int(try row.signed())
    removedCount = Int(try row.signed())
    version = try row.signed()
    var at: Milliseconds = 0
    for _ in 0..<(try row.count()) {
      let (userId, messageId) = (try row.text(), try row.text())
      at &+= try row.signed()
      var addressed: [String] = []
      for _ in 0..<(try row.count()) { addressed.append(try row.text()) }
      take(FormerTurn(userId: userId, at: at, messageId: messageId, addressed: addressed))
    }
    if hasEarlyEdits {
      for _ in 0..<(try row.count()) {
        earlyEdits.append(EarlyEdit(key: try row.fixed(), stamp: try row.stamp(), text: try row.text()))
      }
    }
    guard hasTalk else { return }
    var people: [String] = []
    for _ in 0..<(try row.count()) { people.append(try row.text()) }
    guard
      let talk = RecentTalk(
        people: people, packedMessages: try row.blob(), packedFormer: hasFormer ? try row.blob() : [])
    else {
      throw row.error("the last messages are not as they were packed")
    }
    self.talk = talk
  }

  public func pack(into row: inout RowWriter) {
    var flags = RowFlags()
    flags.add(kind != nil)
    flags.add(name != nil)
    flags.add(snapshot != nil)
    flags.add(floor != nil)
    flags.add(!talk.isEmpty)
    flags.add(!talk.former.isEmpty)
    flags.add(!earlyEdits.isEmpty)
    row.unsigned(flags.bits)
    if let kind { row.choice(kind, of: ConversationKind.allCases) }
    if let name { row.text(name) }
    if let snapshot { row.stamp(snapshot) }
    if let floor { row.stamp(floor) }
    row.signed(memberCount)
    row.signed(removedCount)
    row.signed(version)
    // Version 1 has its last messages here.
    row.count(0)
    if !earlyEdits.isEmpty {
      row.count(earlyEdits.count)
      for edit in earlyEdits {
        row.fixed(edit.key)
        row.stamp(edit.stamp)
        row.text(edit.text)
      }
    }
    guard !talk.isEmpty else { return }
    row.count(talk.people.count)
    for person in talk.people { row.text(person) }
    row.blob(talk.packedMessages)
    if !talk.former.isEmpty { row.blob(talk.packedFormer) }
  }
}
