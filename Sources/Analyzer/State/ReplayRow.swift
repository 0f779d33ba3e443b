/// What is kept of a replay: in a task, and in a task for one person.
public struct ReplayRow: Codable, Sendable, Equatable {
  /// Nothing it asks for is done any more.
  var isStopped = false
  /// Notifications it made: by force in the row of the task, of either kind in a person's.
  var notifications = 0
}
