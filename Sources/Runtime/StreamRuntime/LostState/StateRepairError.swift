/// Why the state of tasks could not be looked at or repaired, with the fix.
public struct StateRepairError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What is wrong, and what to do.
  public let description: String

  init(_ description: String) { self.description = description }
}
