import NudgeSchema

/// The hourly limit (D4): a window begins with an analysis and restarts one hour after it, by the messages' own times.
///
/// A message that is older than the window it is decided in (a conversation's backlog behind another's) counts in the
/// current one: no window has more than its limit, whatever the order.
struct AnalysisWindow: Codable, Sendable, Equatable {
  static let length: Milliseconds = 3_600_000

  var startedAt: Milliseconds
  var used: Int

  /// Asks for an analysis of a message of that time. False: the limit is reached. A limit of 0 allows none; then the
  /// window begins with the first that is refused.
  static func take(_ window: inout AnalysisWindow?, at time: Milliseconds, limit: Int) -> Bool {
    var current = window ?? AnalysisWindow(startedAt: time, used: 0)
    if time - current.startedAt >= length { current = AnalysisWindow(startedAt: time, used: 0) }
    let allowed = current.used < limit
    if allowed { current.used += 1 }
    window = current
    return allowed
  }
}
