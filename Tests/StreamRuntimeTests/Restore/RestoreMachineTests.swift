import NudgeSchema
import Testing

@testable import StreamRuntime

@Suite("The order of a restore, and what it concludes")
struct RestoreMachineTests {
  private func position(_ sequence: Int64, next: Int64 = 10) -> PositionRecord {
    PositionRecord(sequence: sequence, next: ["nudge.timeline": next], writer: "w")
  }

  private func header(_ sequence: Int64, offset: Int64, storedAt: Milliseconds = 0) -> StoreHeader {
    StoreHeader(position: position(sequence), changelogOffset: offset, storedAt: storedAt)
  }

  private func reach(
    _ machine: inout RestoreMachine, _ offset: Int64, _ position: PositionRecord?, continuesStore: Bool = true,
    holdsFirstTransaction: Bool = false
  ) -> RestoreMachine.Action {
    machine.reached(
      offset, position: position, continuesStore: continuesStore, holdsFirstTransaction: holdsFirstTransaction)
  }

  private func committed(_ offset: Int64?, _ metadata: String = "") -> Result<[CommittedInput], IOFailure> {
    .success([CommittedInput(topic: .timeline, task: 3, offset: offset, metadata: metadata)])
  }

  private func machine(_ store: StoreHeader?) -> RestoreMachine {
    RestoreMachine(task: 3, store: store, maxStoreAge: 1000)
  }

  @Test("unstable offsets are asked for again, later, and nothing else is done before they are stable")
  func unstable() {
    var machine = machine(nil)
    let failure = IOFailure(kind: .unstable, operation: "committed", reason: "pending")
    #expect(machine.committed(.failure(failure), steadyNow: 100) == .askCommitted(notBefore: 150))
    #expect(machine.committed(committed(nil), steadyNow: 150) == .askEnds)
  }

  @Test("a task without a store reads its changelog from the start, to the high watermark noted then")
  func fresh() {
    var machine = machine(nil)
    _ = machine.committed(committed(nil), steadyNow: 0)
    #expect(machine.ends(ChangelogEnds(start: 5, high: 9), wallNow: 0) == .read(from: 5, wipe: nil))
    #expect(reach(&machine, 8, nil) == .readOn, "the last stable offset has not passed the mark")
    #expect(reach(&machine, 9, nil) == .finish(.fresh))
  }

  @Test("a warm store needs only the tail, from its own position record on")
  func warm() {
    var machine = machine(header(7, offset: 40))
    _ = machine.committed(committed(10, "nudge:8"), steadyNow: 0)
    #expect(machine.ends(ChangelogEnds(start: 0, high: 44), wallNow: 0) == .read(from: 39, wipe: nil))
    #expect(reach(&machine, 44, position(8)) == .finish(.position(position(8), moved: false)))
  }

  @Test("a store of a changelog that was lost is wiped, though this one is longer, and all of this one is read")
  func otherHistory() {
    var machine = machine(header(7, offset: 40))
    _ = machine.committed(committed(10, "nudge:8"), steadyNow: 0)
    _ = machine.ends(ChangelogEnds(start: 2, high: 44), wallNow: 0)
    #expect(reach(&machine, 43, position(8), continuesStore: false) == .readOn)
    #expect(reach(&machine, 44, position(8), continuesStore: false) == .read(from: 2, wipe: .otherHistory))
    #expect(machine.ends(ChangelogEnds(start: 2, high: 45), wallNow: 0) == .read(from: 2, wipe: nil))
    #expect(reach(&machine, 45, position(8)) == .finish(.position(position(8), moved: false)))
  }

  @Test("in a rebuild the committed offsets are ahead of the position, and nobody has moved them")
  func rebuilding() {
    var machine = machine(nil)
    _ = machine.committed(committed(10, "nudge:8"), steadyNow: 0)
    _ = machine.ends(ChangelogEnds(start: 0, high: 4), wallNow: 0)
    var position = position(8, next: 3)
    position.rebuildTo = ["nudge.timeline": 9]
    #expect(reach(&machine, 4, position) == .finish(.position(position, moved: false)))
  }

  @Test(
    "a store that leads the group or the changelog, or is too old, is wiped",
    arguments: [
      (7, 40, 0, "nudge:6", RestoreMachine.WipeReason.ahead), (7, 99, 0, "nudge:7", .ahead),
      (7, 3, 0, "nudge:7", .tooOld), (7, 40, -2000, "nudge:7", .tooOld),
    ])
  func wipes(
    _ sequence: Int64, _ offset: Int64, _ storedAt: Milliseconds, _ metadata: String,
    _ reason: RestoreMachine.WipeReason
  ) {
    var machine = machine(header(sequence, offset: offset, storedAt: storedAt))
    _ = machine.committed(committed(10, metadata), steadyNow: 0)
    #expect(machine.ends(ChangelogEnds(start: 4, high: 44), wallNow: 0) == .read(from: 4, wipe: reason))
  }

  @Test("committed offsets that somebody moved are noted; the position stands")
  func moved() {
    var machine = machine(nil)
    _ = machine.committed(committed(0), steadyNow: 0)
    _ = machine.ends(ChangelogEnds(start: 0, high: 4), wallNow: 0)
    #expect(reach(&machine, 4, position(2)) == .finish(.position(position(2), moved: true)))
  }

  @Test("committed offsets without a position mean that the state is lost")
  func lost() {
    var machine = machine(nil)
    _ = machine.committed(committed(10, "nudge:8"), steadyNow: 0)
    _ = machine.ends(ChangelogEnds(start: 0, high: 0), wallNow: 0)
    #expect(reach(&machine, 0, nil) == .stateLost)
  }

  @Test(
    "rows and offsets of a first transaction without its position: the task begins anew; else its state is lost",
    arguments: [
      ("nudge:1", true, RestoreMachine.Action.finish(.fresh)), ("nudge:1", false, .stateLost),
      ("nudge:2", true, .stateLost), ("", true, .stateLost),
    ])
  func tornFirst(_ metadata: String, _ holdsFirstTransaction: Bool, _ action: RestoreMachine.Action) {
    var machine = machine(nil)
    _ = machine.committed(committed(10, metadata), steadyNow: 0)
    _ = machine.ends(ChangelogEnds(start: 0, high: 4), wallNow: 0)
    #expect(reach(&machine, 4, nil, holdsFirstTransaction: holdsFirstTransaction) == action)
  }
}

@Suite("A changelog read as groups")
struct ChangelogGroupsTests {
  private let coder = RecordCoder()

  private func position(_ sequence: Int64, history: String? = nil) throws -> [UInt8] {
    try coder.encode(PositionRecord(sequence: sequence, next: [:], writer: "w", history: history))
  }

  @Test("rows count once their position record has come, the last value of a key wins")
  func closed() throws {
    var groups = ChangelogGroups(after: nil, offset: 0, coder: coder)
    try groups.read(offset: 0, key: RowKey("a"), bytes: [1])
    try groups.read(offset: 1, key: RowKey("b"), bytes: [2])
    #expect(groups.takeClosed().isEmpty && groups.position == nil)
    try groups.read(offset: 2, key: PositionRecord.key, bytes: position(1))
    try groups.read(offset: 4, key: RowKey("a"), bytes: nil)
    try groups.read(offset: 5, key: PositionRecord.key, bytes: position(2))
    let rows = groups.takeClosed()
    #expect(rows.map(\.key) == [RowKey("a"), RowKey("b")])
    #expect(rows.map(\.bytes) == [nil, [2]])
    #expect(groups.position?.sequence == 2 && groups.offsetBehindPosition == 6)
    #expect(groups.tornKeys.isEmpty)
  }

  @Test("a log holds a first transaction only where all it has are rows of such, and no position")
  func firstTransaction() throws {
    let first = TransactionTag(sequence: 1, writer: "w")
    func holds(_ tags: [TransactionTag?], _ sequence: Int64? = nil) throws -> Bool {
      var groups = ChangelogGroups(after: nil, offset: 0, coder: coder)
      for (offset, tag) in tags.enumerated() {
        try groups.read(offset: Int64(offset), key: RowKey("a\(offset)"), bytes: [1], tag: tag)
      }
      if let sequence { try groups.read(offset: 9, key: PositionRecord.key, bytes: position(sequence)) }
      return groups.holdsFirstTransaction
    }
    #expect(try holds([first]))
    #expect(try holds([first, TransactionTag(sequence: 1, writer: "another")]))
    #expect(try !holds([]))
    #expect(try !holds([first, nil]))
    #expect(try !holds([first, TransactionTag(sequence: 2, writer: "w")]))
    #expect(try !holds([first], 1))
  }

  @Test("rows behind the last position record do not count, and are to be written again")
  func torn() throws {
    var groups = ChangelogGroups(after: nil, offset: 0, coder: coder)
    try groups.read(offset: 0, key: PositionRecord.key, bytes: position(1))
    try groups.read(offset: 2, key: RowKey("a"), bytes: [9])
    #expect(groups.takeClosed().isEmpty)
    #expect(groups.tornKeys == [RowKey("a")])
  }

  @Test("a log goes on from a known position where its record or a later one of the same history is there")
  func known() throws {
    let known = PositionRecord(sequence: 3, next: [:], writer: "w", history: "h")
    func begun() -> ChangelogGroups { ChangelogGroups(after: known, offset: 9, coder: coder) }
    var same = begun()
    try same.read(offset: 8, key: PositionRecord.key, bytes: position(3, history: "h"))
    #expect(same.continuesKnown && same.tornKeys.isEmpty && same.offsetBehindPosition == 9)
    var later = begun()
    try later.read(offset: 20, key: PositionRecord.key, bytes: position(4, history: "h"))
    #expect(later.continuesKnown)
    var none = begun()
    try none.read(offset: 20, key: RowKey("a"), bytes: [1])
    #expect(!none.continuesKnown)
    for history in [nil, "i"] {
      var other = begun()
      try other.read(offset: 20, key: PositionRecord.key, bytes: position(4, history: history))
      #expect(!other.continuesKnown)
    }
    #expect(ChangelogGroups(after: nil, offset: 0, coder: coder).continuesKnown)
  }

  private func position(_ sequence: Int64, by writer: String) throws -> [UInt8] {
    try coder.encode(PositionRecord(sequence: sequence, next: [:], writer: writer))
  }

  private func tag(_ sequence: Int64, _ writer: String = "w") -> TransactionTag {
    TransactionTag(sequence: sequence, writer: writer)
  }

  @Test("a tag says what its header says; another header is none")
  func tags() throws {
    let tag = TransactionTag(sequence: 42, writer: "ingest 1-0/7/2")
    #expect(TransactionTag(bytes: tag.bytes) == tag)
    #expect(String(decoding: tag.bytes, as: UTF8.self) == "42 ingest 1-0/7/2")
    for text in ["", "42", "x w", " w"] { #expect(TransactionTag(bytes: Array(text.utf8)) == nil) }
  }

  @Test("the row of a former owner, committed late between its successor's, does not count and is written over")
  func stranger() throws {
    var groups = ChangelogGroups(after: nil, offset: 0, coder: coder)
    try groups.read(offset: 0, key: RowKey("a"), bytes: [1], tag: tag(1, "old"))
    try groups.read(offset: 1, key: PositionRecord.key, bytes: position(1, by: "old"))
    try groups.read(offset: 3, key: RowKey("a"), bytes: [2], tag: tag(2))
    // Its own second transaction, that of its successor's number; and its successor's third.
    try groups.read(offset: 4, key: RowKey("a"), bytes: [9], tag: tag(2, "old"))
    try groups.read(offset: 5, key: PositionRecord.key, bytes: position(2))
    #expect(groups.tornKeys == [RowKey("a")] && groups.mark == nil)
    try groups.read(offset: 7, key: RowKey("b"), bytes: [3], tag: tag(3))
    try groups.read(offset: 8, key: RowKey("b"), bytes: [9], tag: tag(2, "old"))
    try groups.read(offset: 9, key: PositionRecord.key, bytes: position(3))
    #expect(groups.tornKeys == [RowKey("a"), RowKey("b")])
    // Written over, and only one of them.
    try groups.read(offset: 11, key: RowKey("a"), bytes: [2], tag: tag(4))
    try groups.read(offset: 12, key: PositionRecord.key, bytes: position(4))
    #expect(groups.tornKeys == [RowKey("b")])
    let rows = groups.takeClosed()
    #expect(rows.map(\.key) == [RowKey("a"), RowKey("b")] && rows.map(\.bytes) == [[2], [3]])
    try groups.read(offset: 14, key: RowKey("b"), bytes: [3], tag: tag(5))
    try groups.read(offset: 15, key: PositionRecord.key, bytes: position(5))
    #expect(groups.tornKeys.isEmpty && groups.mark == .init(offset: 16, sequence: 5))
  }

  @Test("where compaction has removed position records, the rows they closed count")
  func compacted() throws {
    var groups = ChangelogGroups(after: nil, offset: 0, coder: coder)
    for sequence in 1...4 as ClosedRange<Int64> {
      try groups.read(offset: sequence, key: RowKey("k\(sequence)"), bytes: [1], tag: tag(sequence, "w\(sequence)"))
    }
    try groups.read(offset: 9, key: RowKey("a"), bytes: [9], tag: tag(5, "other"))
    try groups.read(offset: 10, key: RowKey("b"), bytes: [9], tag: tag(6))
    try groups.read(offset: 11, key: PositionRecord.key, bytes: position(5))
    #expect(groups.takeClosed().map(\.key) == (1...4).map { RowKey("k\($0)") })
    #expect(groups.tornKeys == [RowKey("a"), RowKey("b")])
  }

  @Test("rows before the store's position are judged and not kept")
  func judged() throws {
    let known = PositionRecord(sequence: 3, next: [:], writer: "w")
    var groups = ChangelogGroups(after: known, offset: 9, mark: .init(offset: 4, sequence: 1), coder: coder)
    try groups.read(offset: 4, key: RowKey("a"), bytes: [1], tag: tag(2))
    try groups.read(offset: 5, key: RowKey("b"), bytes: [9], tag: tag(1, "old"))
    try groups.read(offset: 6, key: PositionRecord.key, bytes: position(2))
    try groups.read(offset: 8, key: PositionRecord.key, bytes: position(3))
    #expect(groups.takeClosed().isEmpty && groups.closedBytes == 0 && groups.tornKeys == [RowKey("b")])
    #expect(groups.continuesKnown && groups.offsetBehindPosition == 9)
    try groups.read(offset: 10, key: RowKey("a"), bytes: [2], tag: tag(4))
    try groups.read(offset: 11, key: PositionRecord.key, bytes: position(4))
    #expect(groups.takeClosed().map(\.bytes) == [[2]])
  }

  @Test("of a large group without position records all but the last two transactions can be taken before one comes")
  func early() throws {
    var groups = ChangelogGroups(after: nil, offset: 0, openBytes: 3000, coder: coder)
    var taken = 0
    for sequence in 1...200 as ClosedRange<Int64> {
      for row in 0..<3 {
        let key = RowKey("k\(sequence)", "\(row)")
        try groups.read(offset: sequence * 3 + Int64(row), key: key, bytes: [UInt8(row)], tag: tag(sequence))
      }
      taken += groups.takeClosed().count
    }
    #expect(taken > 500, "\(taken) of 600")
    #expect(groups.position == nil)
    try groups.read(offset: 999, key: PositionRecord.key, bytes: position(200))
    #expect(taken + groups.takeClosed().count == 600)
    #expect(groups.tornKeys.isEmpty)
  }

  @Test("rows before the store's position are not taken early: what came after them is in the store already")
  func notBeforeStore() throws {
    let known = PositionRecord(sequence: 100, next: [:], writer: "w")
    var groups = ChangelogGroups(
      after: known, offset: 101, mark: .init(offset: 0, sequence: 0), openBytes: 500, coder: coder)
    for offset in 1...99 as ClosedRange<Int64> {
      try groups.read(offset: offset, key: RowKey("a"), bytes: [UInt8(offset)], tag: tag(offset))
      #expect(groups.closedBytes == 0)
    }
    try groups.read(offset: 100, key: PositionRecord.key, bytes: position(100))
    #expect(groups.takeClosed().isEmpty)
  }

  @Test("rows of the last two transactions wait for their position record, however many they are")
  func notEarly() throws {
    var groups = ChangelogGroups(after: nil, offset: 0, openBytes: 1000, coder: coder)
    for row in 0..<500 as Range<Int64> {
      try groups.read(offset: row, key: RowKey("k\(row)"), bytes: [1], tag: tag(row % 2 + 1))
    }
    #expect(groups.takeClosed().isEmpty && groups.tornKeys.count == 500)
  }

  @Test("a position record that cannot be read stops the restore instead of being skipped")
  func unreadable() throws {
    var groups = ChangelogGroups(after: nil, offset: 0, coder: coder)
    #expect(throws: (any Error).self) { try groups.read(offset: 0, key: PositionRecord.key, bytes: [1]) }
    #expect(throws: StoreFailure.self) { try groups.read(offset: 0, key: PositionRecord.key, bytes: nil) }
  }
}
