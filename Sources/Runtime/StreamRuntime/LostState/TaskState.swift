/// How a task's state stands in Kafka.
public struct TaskState: Sendable, Equatable, Encodable {
  /// What there is of it.
  public enum Condition: String, Sendable, Encodable {
    /// It has not ended a transaction: the changelog has no position, and no offsets were committed, or those of a first
    /// transaction that was committed in part. It starts at its inputs' first offsets.
    case neverRan
    /// The changelog has its position.
    case present
    /// The changelog has its position, and it says that lost state is being rebuilt.
    case rebuilding
    /// Offsets were committed but the changelog has no position: it does not run.
    case lost
    /// An input ends before the task's position: its topic was made again, or lost records. It does not run.
    case inputBehind
  }

  /// The task's number: the partition of each input, and of the changelog.
  public var task: Int32
  /// What there is of it.
  public var condition: Condition
  /// How many transactions the task has made, by its position; nil without one.
  public var sequence: Int64?
  /// The next offset of each input, by its position; the keys are the topics' catalogue names.
  public var next: [String: Int64]
  /// Of each input that is being rebuilt from, the offset of the last record that only rebuilds.
  public var rebuildTo: [String: Int64]
  /// What the group has committed of each input; inputs of which nothing was committed are not there.
  public var committed: [String: Int64]
  /// The sequence the offsets were committed with; nil where somebody else than the stage has committed one of them, or
  /// not all inputs have one: then they do not tell what was processed.
  public var committedSequence: Int64?
  /// Where inputs end that end before the position, by the topics' catalogue names.
  public var behind: [String: Int64] = [:]
  /// Names the repair the changelog began with; nil: none.
  public var history: String?

  /// Whether the task waits for an operator.
  public var isLost: Bool { condition == .lost || condition == .inputBehind }
}

/// What is, or would be, written for a task whose state is lost.
public struct TaskRepair: Sendable, Equatable, Encodable {
  /// The task's number.
  public var task: Int32
  /// The sequence of the position: that of the committed offsets.
  public var sequence: Int64
  /// Where it will go on in each input, by the topics' catalogue names.
  public var next: [String: Int64]
  /// Of each input it will rebuild from, the offset of the last record that only rebuilds. Empty: nothing is rebuilt.
  public var rebuildTo: [String: Int64]
  /// Rows without a position that the changelog still holds, and that are removed from it.
  public var rowsRemoved: Int
  /// The group's offsets were moved by somebody else, or are incomplete, and are trusted all the same.
  public var trustsMovedOffsets: Bool
  /// The state is whole and stays: only inputs were lost.
  public var keepsState: Bool

  /// A repair.
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
