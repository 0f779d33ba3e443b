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
    #expect(machine.reached(8, position: nil) == .readOn, "the last stable offset has not passed the mark")
    #expect(machine.reached(9, position: nil) == .finish(.fresh))
  }

  @Test("a warm store needs only the tail")
  func warm() {
    var machine = machine(header(7, offset: 40))
    _ = machine.committed(committed(10, "nudge:8"), steadyNow: 0)
    #expect(machine.ends(ChangelogEnds(start: 0, high: 44), wallNow: 0) == .read(from: 40, wipe: nil))
    #expect(machine.reached(44, position: position(8)) == .finish(.position(position(8), moved: false)))
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
    #expect(machine.reached(4, position: position(2)) == .finish(.position(position(2), moved: true)))
  }

  @Test("committed offsets without a position mean that the state is lost")
  func lost() {
    var machine = machine(nil)
    _ = machine.committed(committed(10, "nudge:8"), steadyNow: 0)
    _ = machine.ends(ChangelogEnds(start: 0, high: 0), wallNow: 0)
    #expect(machine.reached(0, position: nil) == .stateLost)
  }
}

@Suite("A changelog read as groups")
struct ChangelogGroupsTests {
  private let coder = RecordCoder()

  private func position(_ sequence: Int64) throws -> [UInt8] {
    try coder.encode(PositionRecord(sequence: sequence, next: [:], writer: "w"))
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

  @Test("rows behind the last position record do not count, and are to be written again")
  func torn() throws {
    var groups = ChangelogGroups(after: nil, offset: 0, coder: coder)
    try groups.read(offset: 0, key: PositionRecord.key, bytes: position(1))
    try groups.read(offset: 2, key: RowKey("a"), bytes: [9])
    #expect(groups.takeClosed().isEmpty)
    #expect(groups.tornKeys == [RowKey("a")])
  }

  @Test("a position record that cannot be read stops the restore instead of being skipped")
  func unreadable() throws {
    var groups = ChangelogGroups(after: nil, offset: 0, coder: coder)
    #expect(throws: (any Error).self) { try groups.read(offset: 0, key: PositionRecord.key, bytes: [1]) }
    #expect(throws: StoreFailure.self) { try groups.read(offset: 0, key: PositionRecord.key, bytes: nil) }
  }
}
