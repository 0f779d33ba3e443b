import NudgeSchema
import StreamRuntime

/// The erasures of a thread's tasks, in memory. A hint that saves reading rows: it may name a row that an undone step made, and never lacks
/// one.
struct Erasures {
  private struct Task {
    var known: Set<RowKey> = []
    var sweeps: [RowKey] = []
  }

  private var tasks: [Int32: Task] = [:]

  static let erased = RowKey("x")
  static let sweeps = RowKey("y")

  static func key(ofUser userId: String, _ rules: IngestRules) -> RowKey { RowKey("x", rules.hash("user \(userId)")) }

  static func key(ofConversation conversationId: String, _ rules: IngestRules) -> RowKey {
    RowKey("x", rules.hash("conversation \(conversationId)"))
  }

  static func key(_ subject: SweepRow.Subject) -> RowKey {
    switch subject {
    case .person(let userId): RowKey("y", "u" + userId)
    case .conversation(let conversationId): RowKey("y", "c" + conversationId)
    }
  }

  /// Whether a task has erased anything: until then no event costs a hash.
  func isEmpty(partition: Int32) -> Bool { tasks[partition]?.known.isEmpty ?? true }

  func mayHave(_ key: RowKey, partition: Int32) -> Bool { tasks[partition]?.known.contains(key) ?? false }

  mutating func add(_ key: RowKey, partition: Int32) { tasks[partition, default: Task()].known.insert(key) }

  mutating func addSweep(_ key: RowKey, partition: Int32) {
    if tasks[partition]?.sweeps.contains(key) != true { tasks[partition, default: Task()].sweeps.append(key) }
  }

  /// The next pending sweep.
  func nextSweep(partition: Int32) -> RowKey? { tasks[partition]?.sweeps.first }

  /// Forgets a sweep whose row is gone.
  mutating func endSweep(_ key: RowKey, partition: Int32) { tasks[partition]?.sweeps.removeAll { $0 == key } }

  mutating func forget(partition: Int32) { tasks[partition] = nil }
}

extension IngestStage {
  /// The erasure with this key; nil: the person or conversation was never deleted.
  func erasure(_ key: @autoclosure () -> RowKey, _ step: Step<IngestStage>) throws -> ErasureRow? {
    guard !erasures.isEmpty(partition: step.partition) else { return nil }
    let key = key()
    guard erasures.mayHave(key, partition: step.partition), case .erasure(let row)? = try step.row(key) else {
      return nil
    }
    return row
  }

  /// Whether an event of a person is refused because they were deleted (D16).
  func isRefused(_ userId: String, _ stamp: EventStamp, _ step: Step<IngestStage>) throws -> Bool {
    try erasure(Erasures.key(ofUser: userId, rules), step)?.refuses(stamp) ?? false
  }

  /// Fails for an event of a person who was deleted.
  func requireNotErased(_ userId: String, _ stamp: EventStamp, _ step: Step<IngestStage>) throws {
    if try isRefused(userId, stamp, step) { throw Rejection.userDeleted }
  }

  mutating func set(_ row: ErasureRow, for key: RowKey, _ step: Step<IngestStage>) throws {
    try step.set(.erasure(row), for: key)
    erasures.add(key, partition: step.partition)
  }

  mutating func begin(_ sweep: SweepRow, _ step: Step<IngestStage>) throws {
    let key = Erasures.key(sweep.subject)
    try step.set(.sweep(sweep), for: key)
    erasures.addSweep(key, partition: step.partition)
    step.wake(at: step.now)
  }

  /// A task starts: loads the hint, and resumes pending sweeps.
  mutating func openErasures(in step: Step<IngestStage>) throws {
    for (key, _) in try step.rows(below: Erasures.erased) { erasures.add(key, partition: step.partition) }
    for (key, _) in try step.rows(below: Erasures.sweeps) { erasures.addSweep(key, partition: step.partition) }
    if erasures.nextSweep(partition: step.partition) != nil { step.wake(at: step.now) }
  }

  /// A bounded step of the next pending sweep.
  mutating func sweep(in step: Step<IngestStage>) throws {
    while let key = erasures.nextSweep(partition: step.partition) {
      guard case .sweep(let row)? = try step.row(key) else {
        erasures.endSweep(key, partition: step.partition)
        continue
      }
      switch row.subject {
      case .person(let userId): try sweep(userId, row, key, step)
      case .conversation(let conversationId): try sweepMembers(of: conversationId, row, key, step)
      }
      step.wake(at: step.now + rules.fanOutPause)
      return
    }
  }
}

extension Rejection {
  static let userDeleted = Rejection(
    .userDeleted, "the user was deleted; a later device.registered registers them again")
}
