import NudgeSchema
import Testing

@testable import StreamRuntime

@Suite("The order and result of a restore")
struct RestoreMachineTests {
  private func position(_ sequence: Int64, next: Int64 = 10) -> PositionRecord {
    PositionRecord(sequence: sequence, next: ["nudge.timeline": next], writer: "w")
  }

  private func header(_ sequence: Int64, offset: Int64, storedAt: Milliseconds = 0) -> StoreHeader {
    StoreHeader(position: position(sequence), changelogOffset: offset, storedAt: storedAt)
  }

  private func reach(
    _ machine: inout RestoreMachine, _ offset: Int64, _ position: PositionRecord?, continuesStore: Bool = true
  ) -> RestoreMachine.Action {
    machine.reached(offset, position: position, continuesStore: continuesStore)
  }

  private func committed(_ offset: Int64?, _ metadata: String = "") -> Result<[CommittedInput], IOFailure> {
    .success([CommittedInput(topic: .timeline, task: 3, offset: offset, metadata: metadata)])
  }

  private func machine() -> RestoreMachine { RestoreMachine(task: 3, maxStoreAge: 1000) }

  /// The changelog's ends are told.
  private func ends(
    _ machine: inout RestoreMachine, _ start: Int64, _ high: Int64, store: StoreHeader? = nil
  ) -> RestoreMachine.Action {
    machine.ends(LogEnds(start: start, high: high), store: store, wallNow: 0)
  }

  @Test("a restore retries unstable offsets, and does nothing else before they are stable")
  func unstable() {
    var machine = machine()
    let failure = IOFailure(kind: .unstable, operation: "committed", reason: "pending")
    #expect(machine.committed(.failure(failure), steadyNow: 100) == .askCommitted(notBefore: 150))
    #expect(machine.committed(committed(nil), steadyNow: 150) == .askEnds)
  }

  @Test("a task without a store reads its changelog from the start, to the high watermark noted then")
  func fresh() {
    var machine = machine()
    _ = machine.committed(committed(nil), steadyNow: 0)
    #expect(ends(&machine, 5, 9) == .read(from: 5, wipe: nil))
    #expect(reach(&machine, 8, nil) == .readOn, "the last stable offset has not passed the mark")
    #expect(reach(&machine, 9, nil) == .finish(.fresh))
  }

  @Test("a warm store needs only the tail, from its own position record on")
  func warm() {
    var machine = machine()
    _ = machine.committed(committed(10, "nudge:8"), steadyNow: 0)
    #expect(ends(&machine, 0, 44, store: header(7, offset: 40)) == .read(from: 39, wipe: nil))
    #expect(reach(&machine, 44, position(8)) == .finish(.position(position(8), moved: false)))
  }

  @Test("a restore that reads again continues from its store, so older rows do not overwrite later ones")
  func interrupted() {
    var machine = machine()
    _ = machine.committed(committed(10, "nudge:8"), steadyNow: 0)
    #expect(ends(&machine, 0, 44) == .read(from: 0, wipe: nil))
    #expect(reach(&machine, 30, position(5)) == .readOn)
    #expect(ends(&machine, 0, 44, store: header(5, offset: 30)) == .read(from: 29, wipe: nil))
    #expect(reach(&machine, 44, position(8)) == .finish(.position(position(8), moved: false)))
  }

  @Test("a store of a lost changelog is wiped, even if the new changelog is longer")
  func otherHistory() {
    var machine = machine()
    _ = machine.committed(committed(10, "nudge:8"), steadyNow: 0)
    _ = ends(&machine, 2, 44, store: header(7, offset: 40))
    #expect(reach(&machine, 43, position(8), continuesStore: false) == .readOn)
    #expect(reach(&machine, 44, position(8), continuesStore: false) == .read(from: 2, wipe: .otherHistory))
    #expect(ends(&machine, 2, 45) == .read(from: 2, wipe: nil))
    #expect(reach(&machine, 45, position(8)) == .finish(.position(position(8), moved: false)))
  }

  @Test("during a rebuild, committed offsets ahead of the position do not count as moved")
  func rebuilding() {
    var machine = machine()
    _ = machine.committed(committed(10, "nudge:8"), steadyNow: 0)
    _ = ends(&machine, 0, 4)
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
    var machine = machine()
    _ = machine.committed(committed(10, metadata), steadyNow: 0)
    let store = header(sequence, offset: offset, storedAt: storedAt)
    #expect(ends(&machine, 4, 44, store: store) == .read(from: 4, wipe: reason))
  }

  @Test("moved committed offsets are reported, and the position wins")
  func moved() {
    var machine = machine()
    _ = machine.committed(committed(0), steadyNow: 0)
    _ = ends(&machine, 0, 4)
    #expect(reach(&machine, 4, position(2)) == .finish(.position(position(2), moved: true)))
  }

  @Test("committed offsets without a position mean that the state is lost")
  func lost() {
    var machine = machine()
    _ = machine.committed(committed(10, "nudge:8"), steadyNow: 0)
    _ = ends(&machine, 0, 0)
    #expect(reach(&machine, 0, nil) == .stateLost)
  }
}

@Suite("Reading a changelog")
struct ChangelogRowsTests {
  private let coder = RecordCoder()

  private func position(_ sequence: Int64, history: String? = nil) throws -> [UInt8] {
    try coder.encode(PositionRecord(sequence: sequence, next: [:], writer: "w", history: history))
  }

  @Test("the last value of each key is taken, once, in key order")
  func taken() throws {
    var changelog = ChangelogRows(after: nil, offset: 0, coder: coder)
    try changelog.read(offset: 0, key: RowKey("b"), bytes: [2])
    try changelog.read(offset: 1, key: RowKey("a"), bytes: [1])
    try changelog.read(offset: 2, key: PositionRecord.key, bytes: position(1))
    try changelog.read(offset: 4, key: RowKey("a"), bytes: nil)
    #expect(changelog.bytes > 0)
    try changelog.read(offset: 5, key: PositionRecord.key, bytes: position(2))
    let rows = changelog.take()
    #expect(rows.map(\.key) == [RowKey("a"), RowKey("b")])
    #expect(rows.map(\.bytes) == [nil, [2]])
    #expect(changelog.position?.sequence == 2 && changelog.offsetBehindPosition == 6)
    #expect(changelog.take().isEmpty && changelog.bytes == 0)
  }

  @Test("rows can be taken before their position record, which moves the position later")
  func early() throws {
    var changelog = ChangelogRows(after: nil, offset: 0, coder: coder)
    try changelog.read(offset: 0, key: PositionRecord.key, bytes: position(1))
    try changelog.read(offset: 2, key: RowKey("a"), bytes: [9])
    #expect(changelog.take().map(\.bytes) == [[9]])
    #expect(changelog.position?.sequence == 1 && changelog.offsetBehindPosition == 1)
    try changelog.read(offset: 3, key: PositionRecord.key, bytes: position(2))
    #expect(changelog.position?.sequence == 2 && changelog.offsetBehindPosition == 4)
  }

  @Test("a changelog continues from a known position if it has that record or a later one of the same history")
  func known() throws {
    let known = PositionRecord(sequence: 3, next: [:], writer: "w", history: "h")
    func begun() -> ChangelogRows { ChangelogRows(after: known, offset: 9, coder: coder) }
    var same = begun()
    try same.read(offset: 8, key: PositionRecord.key, bytes: position(3, history: "h"))
    #expect(same.continuesKnown && same.offsetBehindPosition == 9)
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
    #expect(ChangelogRows(after: nil, offset: 0, coder: coder).continuesKnown)
  }

  @Test("a position record that cannot be read stops the restore instead of being skipped")
  func unreadable() throws {
    var changelog = ChangelogRows(after: nil, offset: 0, coder: coder)
    #expect(throws: (any Error).self) { try changelog.read(offset: 0, key: PositionRecord.key, bytes: [1]) }
    #expect(throws: StoreFailure.self) { try changelog.read(offset: 0, key: PositionRecord.key, bytes: nil) }
  }
}
