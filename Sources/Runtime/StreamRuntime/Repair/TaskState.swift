/// The state of a task in Kafka.
public struct TaskState: Sendable, Equatable, Encodable {
  /// The condition of a task's state.
  public enum Condition: String, Sendable, Encodable {
    /// Neither a position nor committed offsets exist. The task starts at its inputs' first offsets.
    case neverRan
    /// The changelog has a position.
    case present
    /// The changelog has a position, and lost state is being rebuilt.
    case rebuilding
    /// The group has committed offsets, but the changelog has no position, or only one of a topic that was replaced. The task does not run.
    case lost
    /// An input ends before the position, because its topic was created again or lost records. The task does not run.
    case inputBehind
    /// An input is not the position's topic, which was deleted and created again. The task does not run.
    case inputReplaced
  }

  /// The task's number: the partition of each input, and of the changelog.
  public var task: Int32
  /// The condition of the state.
  public var condition: Condition
  /// The number of the task's transactions, from its position. Absent without a position.
  public var sequence: Int64?
  /// The next offset of each input, from its position, by the topics' catalogue names.
  public var next: [String: Int64]
  /// The offset of the last record to rebuild from, for each unfinished input.
  public var rebuildTo: [String: Int64]
  /// The group's committed offsets, by the topics' catalogue names. Inputs without one are absent.
  public var committed: [String: Int64]
  /// The sequence with which the offsets were committed. Absent if the offsets do not show what was processed, because another client
  /// committed one or an input has none.
  public var committedSequence: Int64?
  /// The ends of inputs that end before the position, by the topics' catalogue names.
  public var behind: [String: Int64] = [:]
  /// The catalogue names of inputs and of the changelog that were deleted and created again since the position.
  public var replaced: [String] = []
  /// The id of the repair that began the changelog. Absent if no repair did.
  public var history: String?

  /// Whether the task waits for an operator.
  public var isLost: Bool { [.lost, .inputBehind, .inputReplaced].contains(condition) }
}

/// The repair of a task whose state or input is lost.
public struct TaskRepair: Sendable, Equatable, Encodable {
  public var task: Int32
  /// The sequence of the position to write.
  public var sequence: Int64
  /// The offset to continue from in each input, by the topics' catalogue names.
  public var next: [String: Int64]
  /// The offset of the last record to rebuild from, for each input. Empty if nothing is rebuilt.
  public var rebuildTo: [String: Int64]
  /// The number of rows without a position to remove from the changelog.
  public var rowsRemoved: Int
  /// Whether the group's offsets are used although another client moved them or they are incomplete.
  public var trustsMovedOffsets: Bool
  /// Whether the state stays, because only an input was lost.
  public var keepsState: Bool

  public init(
    task: Int32, sequence: Int64, next: [String: Int64], rebuildTo: [String: Int64], rowsRemoved: Int,
    trustsMovedOffsets: Bool, keepsState: Bool = false
  ) {
    self.task = task
    self.sequence = sequence
    self.next = next
    self.rebuildTo = rebuildTo
    self.rowsRemoved = rowsRemoved
    self.trustsMovedOffsets = trustsMovedOffsets
    self.keepsState = keepsState
  }
}

/// The error of tasks that could not be inspected or repaired.
public struct StateRepairError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The reason and the remedy.
  public let description: String

  init(_ description: String) { self.description = description }
}
