/// The state of tasks could not be inspected or repaired.
public struct StateRepairError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The reason and the fix.
  public let description: String

  init(_ description: String) { self.description = description }
}
