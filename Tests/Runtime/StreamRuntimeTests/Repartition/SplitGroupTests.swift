import Kafka
import NudgeSchema
import TestSupport
import Testing

@testable import StreamRuntime

@Suite("Rows of a task that is split")
struct SplitGroupTests {
  /// Rows `k` of an id, `q` of an id that moves under another key, `s` that each task has.
  private static let rules = SplitRules(
    home: { key, _ in
      let parts = key.parts
      switch parts[0] {
      case "k": return .taskOf(parts[1])
      case "q": return .taskOf(parts[1], movedAs: RowKey("q", parts[1], "moved"))
      case "s": return .everyTask
      default: throw StoreFailure(operation: "move a row", reason: "no kind")
      }
    }, homeOfTimer: { $0.hasPrefix("everywhere") ? .everyTask : nil })

  private func timer(_ name: String, key: String) throws -> (RowKey, [UInt8]) {
    let position = RecordPosition(topic: "nudge.timeline", partition: 0, offset: 1)
    return (
      TimerKey(due: 1_000, name: name).row,
      try RecordCoder().encode(TimerRow(key: key, eventId: "e", origin: Origin(position), source: position))
    )
  }

  /// The rows of a former task, drawn at random.
  private func group(
    _ random: inout SeededGenerator, task: Int32, former: Int32, count: Int32
  ) throws -> SplitGroup {
    var rows: [RowKey: [UInt8]] = [:]
    for number in 0..<60 {
      let id = "id-\(random.below(100_000))"
      guard Murmur2.partition(of: Array(id.utf8), count: former) == task else { continue }
      let value = Array("\(random.next())".utf8)
      switch random.below(4) {
      case 0: rows[RowKey("q", id)] = value
      case 1:
        let timer = try timer("timer-\(number)", key: id)
        rows[timer.0] = timer.1
      default: rows[RowKey("k", id)] = value
      }
    }
    for number in 0..<random.below(4) { rows[RowKey("s", "\(number)")] = Array("\(random.next())".utf8) }
    let everywhere = try timer("everywhere", key: "a replay")
    rows[everywhere.0] = everywhere.1
    var group = SplitGroup(task: task, former: former, count: count, rules: Self.rules)
    group.rows[task] = rows
    return group
  }

  private func apply(_ writes: some Sequence<SplitGroup.Write>, to group: inout SplitGroup) {
    for write in writes { group.rows[write.task, default: [:]][write.key] = write.value }
  }

  @Test("after any part of the writes a new plan has the rest; each row ends in its task alone, once, as it was")
  func resumes() throws {
    var random = SeededGenerator(announcedFor: "SplitGroupTests")
    for _ in 0..<40 {
      let former = Int32(1 + random.below(6))
      let count = former * Int32(2 + random.below(4))
      let start = try group(&random, task: Int32(random.below(Int(former))), former: former, count: count)
      let plan = try start.draft()
      let writes = plan.copies + plan.removals
      let owned = (start.rows[start.task] ?? [:]).keys.filter { home($0) != .everyTask }
      #expect(plan.rows == owned.count)
      for cut in 0...writes.count {
        var group = start
        apply(writes.prefix(cut), to: &group)
        let rest = try group.draft()
        #expect(rest.rows == plan.rows && rest.digest == plan.digest, "after \(cut) writes")
        apply(rest.copies, to: &group)
        // A crash between the two: nothing is in no task.
        let between = try group.draft()
        #expect(between.copies.isEmpty && between.rows == plan.rows && between.digest == plan.digest)
        apply(between.removals, to: &group)
        let end = try group.draft()
        #expect(end.copies.isEmpty && end.removals.isEmpty && end.rows == plan.rows && end.digest == plan.digest)
        try expectInPlace(group, from: start)
      }
    }
  }

  private func home(_ key: RowKey) -> RowHome {
    if let timer = TimerKey(row: key) { return timer.name == "everywhere" ? .everyTask : .taskOf(timer.name) }
    return (try? Self.rules.home(key, UnsafeRawBufferPointer(start: nil, count: 0))) ?? .everyTask
  }

  /// Judges by the rows alone.
  private func expectInPlace(_ group: SplitGroup, from start: SplitGroup) throws {
    var expected: [Int32: [RowKey: [UInt8]]] = [:]
    for (key, bytes) in start.rows[start.task] ?? [:] {
      let id: String?
      var moved = key
      if let timer = TimerKey(row: key) {
        id = timer.name == "everywhere" ? nil : try RecordCoder().decode(TimerRow.self, from: bytes).key
      } else if key.parts[0] == "s" {
        id = nil
      } else {
        id = key.parts[1]
        if key.parts[0] == "q" { moved = RowKey("q", key.parts[1], "moved") }
      }
      for task in [group.task] + group.successors {
        guard let id else {
          expected[task, default: [:]][key] = bytes
          continue
        }
        if Murmur2.partition(of: Array(id.utf8), count: group.count) == task {
          expected[task, default: [:]][task == group.task ? key : moved] = bytes
        }
      }
    }
    #expect(group.rows.filter { !$0.value.isEmpty } == expected.filter { !$0.value.isEmpty })
  }

  @Test("a row that belongs to none of the tasks, or is of an unknown kind, stops the split")
  func misplaced() throws {
    let id = try #require((0..<100).map { "id-\($0)" }.first { Murmur2.partition(of: Array($0.utf8), count: 4) == 1 })
    var group = SplitGroup(task: 0, former: 4, count: 8, rules: Self.rules)
    group.rows[0] = [RowKey("k", id): [1]]
    #expect(throws: StateRepairError.self) { try group.draft() }
    group.rows[0] = [RowKey("z", id): [1]]
    #expect(throws: StoreFailure.self) { try group.draft() }
    // In a new task's changelog, too.
    group.rows = [4: [RowKey("k", id): [1]]]
    #expect(throws: StateRepairError.self) { try group.draft() }
  }
}
