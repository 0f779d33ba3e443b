public import NudgeSchema

/// Where a row belongs when a stage has more tasks than before.
public enum RowHome: Sendable, Equatable {
  /// The task that gets the records with this key. `movedAs` is the row's key in another task than its former one; nil: the same.
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
    /// The same, but for those with this header, which must be processed before.
    case passedOnUnless(header: String)
    /// They must be processed before.
    case mustBeProcessed
  }

  /// By input; an input that is not named: they must be processed before.
  public let waiting: [Topic: Waiting]
  /// Where a row belongs. Throws for a row that the stage does not know.
  public let home: @Sendable (RowKey, UnsafeRawBufferPointer) throws -> RowHome
  /// Where a timer belongs, by its name; nil: where the records with its key go.
  public let homeOfTimer: @Sendable (String) -> RowHome?

  /// Rules.
  public init(
    waiting: [Topic: Waiting] = [:], home: @escaping @Sendable (RowKey, UnsafeRawBufferPointer) throws -> RowHome,
    homeOfTimer: @escaping @Sendable (String) -> RowHome? = { _ in nil }
  ) {
    self.waiting = waiting
    self.home = home
    self.homeOfTimer = homeOfTimer
  }
}
