import NudgeSchema
import ServiceKit

/// The times that a command reads records of.
enum TimeSpan {
  /// The flag `--until`.
  /// - Parameter what: The kind of records, such as `Decisions`.
  static func until(_ what: String) -> Setting<PointInTime?> {
    Setting<PointInTime?>("until", environment: .none, default: nil, help: "\(what) before then. Default: now.")
  }

  /// Both ends in milliseconds since the epoch. nil: not given.
  /// - Throws: `SettingsError` where it ends before it begins.
  static func of(
    since: PointInTime?, until: PointInTime?, now: Milliseconds
  ) throws(SettingsError) -> (from: Milliseconds?, to: Milliseconds?) {
    let (from, to) = (since?.milliseconds(now: now), until?.milliseconds(now: now))
    if let from, from >= to ?? now { throw SettingsError("--since must be before --until") }
    return (from, to)
  }
}
