import Kafka
public import NudgeSchema

/// The rows of a former task and of the tasks that it is split into.
///
/// The new number of tasks is a multiple of the former one, so all rows of a new task come from one former task: the one whose number is
/// the new task's number modulo the former number of tasks. No row goes to another former task.
struct SplitGroup {
  /// A record to write to a changelog. An absent value is a tombstone.
  struct Write: Equatable {
    var task: Int32
    var key: RowKey
    var value: [UInt8]?
  }

  /// The writes that split the task.
  struct Draft {
    /// Rows for the new tasks.
    var copies: [Write] = []
    /// The number of `copies` of rows that each task has, and that the former task keeps.
    var shared = 0
    /// Tombstones for the former task's rows that have moved. They are written after the copies, so that no row is ever missing from all
    /// tasks.
    var removals: [Write] = []
    /// Rows that belong to one task, in all tasks of the group.
    var rows = 0
    /// A checksum over these rows, which moving them does not change.
    var digest: UInt64 = 0
  }

  let task: Int32
  let former: Int32
  let count: Int32
  let rules: SplitRules
  /// The rows of each task.
  var rows: [Int32: [RowKey: [UInt8]]] = [:]
  private let coder = RecordCoder()

  /// The tasks that the former one is split into, without itself.
  var successors: [Int32] { Array(stride(from: task + former, to: count, by: Int(former))) }

  /// Plans the remaining writes. After some or all writes of a plan, a new plan has the others.
  /// - Throws: `StateRepairError` for a row that belongs to none of these tasks, and errors of the rules.
  func draft() throws -> Draft {
    var draft = Draft()
    /// Rows of new tasks that are still in the former one. The former task's value wins.
    var moving: Set<RowKey> = []
    for (key, bytes) in rows[task] ?? [:] {
      switch try home(of: key, bytes) {
      case .everyTask:
        for successor in successors where rows[successor]?[key] != bytes {
          draft.copies.append(Write(task: successor, key: key, value: bytes))
          draft.shared += 1
        }
      case .taskOf(let id, let movedAs):
        let home = try owner(id, of: key, in: task)
        guard home != task else {
          count(key, bytes, &draft)
          continue
        }
        let movedKey = movedAs ?? key
        moving.insert(movedKey)
        count(movedKey, bytes, &draft)
        if rows[home]?[movedKey] != bytes { draft.copies.append(Write(task: home, key: movedKey, value: bytes)) }
        draft.removals.append(Write(task: task, key: key, value: nil))
      }
    }
    for successor in successors {
      for (key, bytes) in rows[successor] ?? [:] {
        guard case .taskOf(let id, _) = try home(of: key, bytes) else { continue }
        guard try owner(id, of: key, in: successor) == successor else { throw misplaced(key, in: successor) }
        if !moving.contains(key) { count(key, bytes, &draft) }
      }
    }
    return draft
  }

  private func home(of key: RowKey, _ bytes: [UInt8]) throws -> RowHome {
    if let timer = TimerKey(row: key) {
      if let home = rules.homeOfTimer(timer.name) { return home }
      return .taskOf(try coder.decode(TimerRow.self, from: bytes).key)
    }
    return try bytes.withUnsafeBytes { try rules.home(key, $0) }
  }

  private func owner(_ id: String, of key: RowKey, in task: Int32) throws -> Int32 {
    let owner = Murmur2.partition(of: Array(id.utf8), count: count)
    guard owner % former == self.task else { throw misplaced(key, in: task) }
    return owner
  }

  private func misplaced(_ key: RowKey, in task: Int32) -> StateRepairError {
    StateRepairError(
      "a row of task \(task) (\(key)) does not belong there: the state was not written with \(former) partitions, or somebody "
        + "has added partitions before. Nothing more was written")
  }

  private func count(_ key: RowKey, _ bytes: [UInt8], _ draft: inout Draft) {
    draft.rows += 1
    var hash = FNV1a()
    hash.combine(key.bytes)
    hash.combine(0 as UInt8)
    hash.combine(bytes)
    draft.digest &+= hash.spread
  }
}

/// The task or tasks to which a row belongs when a stage has more tasks than before.
public enum RowHome: Sendable, Equatable {
  /// The task that gets the records with this key. `movedAs` is the row's key in a task other than its former one. Absent: the key stays.
  case taskOf(String, movedAs: RowKey? = nil)
  /// Each task has a copy.
  case everyTask
}

/// A stage's rules for splitting its tasks (`TaskSplit`).
public struct SplitRules: Sendable {
  /// The fate of records that a former task has not processed yet.
  public enum Waiting: Sendable, Equatable {
    /// The former task passes them on to the task of their key.
    case passedOn
    /// The same, except for records with this header, which must be processed before the split.
    case passedOnUnless(header: String)
    /// They must be processed before the split.
    case mustBeProcessed
  }

  /// The fate by input. Records of an input that is not named must be processed before the split.
  public let waiting: [Topic: Waiting]
  /// Returns the home of a row. Throws for a row that the stage does not know.
  public let home: @Sendable (RowKey, UnsafeRawBufferPointer) throws -> RowHome
  /// Returns the home of a timer, by its name. Absent: the task that gets the records with the timer's key.
  public let homeOfTimer: @Sendable (String) -> RowHome?

  /// Makes the rules of a stage.
  public init(
    waiting: [Topic: Waiting] = [:], home: @escaping @Sendable (RowKey, UnsafeRawBufferPointer) throws -> RowHome,
    homeOfTimer: @escaping @Sendable (String) -> RowHome? = { _ in nil }
  ) {
    self.waiting = waiting
    self.home = home
    self.homeOfTimer = homeOfTimer
  }
}

/// A former task that is split into several.
public struct SplitTask: Sendable, Equatable, Encodable {
  /// Its number.
  public var task: Int32
  /// The number of rows that belong to one of the tasks that it is split into, itself included.
  public var rows: Int
  /// The number of those rows that must still move to a new task.
  public var moving: Int
  /// The number of copies still to be made of rows that each task has.
  public var copies: Int
  /// The bytes of keys and values to write.
  public var bytes: Int
  /// The most records of its inputs that it has not processed and passes on to their new tasks, by the topics' catalogue names. Transaction
  /// markers are counted too.
  public var waiting: [String: Int64]
}
