/// A former task that is split into several.
public struct SplitTask: Sendable, Equatable, Encodable {
  /// Its number.
  public var task: Int32
  /// Rows that belong to one of the tasks that it is split into, itself among them.
  public var rows: Int
  /// The number of those rows that must still move to a new task.
  public var moving: Int
  /// Copies still to be made of rows that each task has.
  public var copies: Int
  /// Bytes of keys and values to write.
  public var bytes: Int
  /// Records of its inputs, by the topics' catalogue names, that it has not processed and passes on to their new tasks. At most:
  /// transaction markers are counted, too.
  public var waiting: [String: Int64]
}
