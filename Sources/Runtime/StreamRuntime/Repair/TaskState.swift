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
    /// The group has committed offsets, but the changelog has no position; or the changelog was deleted and created again. The task does
    /// not run.
    case lost
    /// An input ends before the position, because its topic was created again or lost records. The task does not run.
    case inputBehind
    /// An input was deleted and created again since the position. The task does not run.
    case inputReplaced
  }

  /// The task's number: the partition of each input, and of the changelog.
  public var task: Int32
  /// The condition of the state.
  public var condition: Condition
  /// The position's number of transactions. Absent without a position.
  public var sequence: Int64?
  /// The position's next offset of each input, by the topics' catalogue names. Empty without a position.
  public var next: [String: Int64]
  /// While state is rebuilt: the offset of the last record to rebuild from, for each input that has not reached it.
  public var rebuildTo: [String: Int64]
  /// The group's committed offsets, by the topics' catalogue names. Inputs without one are absent.
  public var committed: [String: Int64]
  /// The number of the transaction that committed the offsets. Absent if the offsets do not show what was processed: another client
  /// committed one of them, or an input has none.
  public var committedSequence: Int64?
  /// The high watermarks of the inputs that end before the position, by the topics' catalogue names.
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
  /// Whether the repair uses the group's offsets although another client moved them, or some are missing.
  public var trustsMovedOffsets: Bool
  /// Whether the task keeps its state, because its changelog is intact.
  public var keepsState: Bool = false
}

/// A failure to inspect or repair tasks.
public struct StateRepairError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The reason and the remedy.
  public let description: String

  init(_ description: String) { self.description = description }
}
